package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MessageText is what a message shows, whatever the platform.
type MessageText struct {
	runs []Run
}

// Run is text of one style. Lines end with "\n".
type Run struct {
	Text  string
	Style Style

	// at is where the text comes from. Of an exact run each byte stems from the
	// byte as far behind at; otherwise all of it stems from at.
	at    TextPosition
	exact bool
	// glue is what render puts between texts: line breaks, indentation. Its place
	// is that of what follows.
	glue bool
}

// Runs returns the text's runs, in order. They're not to be changed.
func (t MessageText) Runs() []Run { return t.runs }

// String returns the text without styles.
func (t MessageText) String() string {
	var b strings.Builder
	for _, r := range t.runs {
		b.WriteString(r.Text)
	}
	return b.String()
}

// Blank says that the text shows nothing. Platforms refuse such messages.
func (t MessageText) Blank() bool {
	for _, r := range t.runs {
		if strings.ContainsFunc(r.Text, visible) {
			return false
		}
	}
	return true
}

// visible says whether a rune can be seen.
func visible(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800, 0xFFFC: // fillers, the empty braille pattern, and what stands for an object
		return false
	case 0x30A, 0x333, 0x33F: // a ring and lines above or below what isn't there
		return false
	}
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r)
}

// until is the text's first n bytes.
func (t MessageText) until(n int) MessageText {
	for i, r := range t.runs {
		if n <= len(r.Text) {
			runs := append(t.runs[:i:i], r)
			runs[i].Text = r.Text[:n]
			return MessageText{runs}
		}
		n -= len(r.Text)
	}
	return t
}

// Quote says whether text is quoted.
type Quote uint8

// The kinds of quote.
const (
	NotQuoted  Quote = iota
	Quoted           // shown in full
	QuotedLong       // the platform may fold it, if it can
)

// Style is how text looks. It's comparable, and the zero value is plain text.
type Style struct {
	Bold, Italic, Underline, Strike bool
	// Code is code within a line, Pre a block of it. Both show text as it is.
	Code, Pre bool
	Language  string // of Pre; "": unknown
	Quote     Quote
	URL       string // the text is a link to it; an absolute URL with http or https
	Told      bool   // the target is shown behind the text of the link
}

// Literal says that a text is shown as it is: platforms find no mentions and links
// in it.
func (s Style) Literal() bool { return s.Code || s.Pre }

// meet is the style that two neighbours have in common: that of the line break
// between them.
func (s Style) meet(o Style) Style {
	s.Bold = s.Bold && o.Bold
	s.Italic = s.Italic && o.Italic
	s.Underline = s.Underline && o.Underline
	s.Strike = s.Strike && o.Strike
	s.Code = s.Code && o.Code
	if s.Pre != o.Pre || s.Language != o.Language {
		s.Pre, s.Language = false, ""
	}
	if s.Quote != o.Quote {
		s.Quote = NotQuoted
	}
	if s.URL != o.URL {
		s.URL = ""
		s.Told = false
	}
	return s
}

// ByteRange is a stretch of a text, in bytes.
type ByteRange struct{ Start, End int }

// Mentions returns what a platform could take for mentions of people: an "@" that
// isn't within a word, with the name behind it. More than a name is taken, so that
// "@types/node" stays together.
func Mentions(s string) []ByteRange {
	var out []ByteRange
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '@')
		if i < 0 {
			return out
		}
		i += at
		at = i + 1
		if before, _ := utf8.DecodeLastRuneInString(s[:i]); isWord(before) {
			continue // an e-mail address
		}
		n := strings.IndexFunc(s[at:], func(r rune) bool { return !isWord(r) && !strings.ContainsRune("./-@", r) })
		if n < 0 {
			n = len(s) - at
		}
		name := strings.TrimRight(s[at:at+n], "./-@")
		if name == "" {
			continue
		}
		at += len(name)
		out = append(out, ByteRange{i, at})
	}
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r))
}
