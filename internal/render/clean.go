package render

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// clean replaces what can't be in a message: control characters and what isn't
// UTF-8. The length in bytes stays, so that places do. Lines of the output log
// need none of this.
func clean(s string) string {
	if !strings.ContainsFunc(s, dirty) {
		return s
	}
	b := []byte(s)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b[i] = '?'
		case dirty(r) && r != utf8.RuneError:
			for j := range n {
				b[i+j] = ' '
			}
		}
		i += n
	}
	return string(b)
}

// dirty finds controls but "\n" and "\t". U+FFFD is what the decoder returns for
// what isn't UTF-8; it may also be a real one, which clean leaves alone.
func dirty(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7F && r <= 0x9F || r == utf8.RuneError
}

// unescaped emits text with its backslash escapes and entities resolved.
func (w *walker) unescaped(s text.Segment) {
	raw, at := w.value(s), s.Start
	for {
		i := strings.IndexAny(raw, `\&`)
		if i < 0 || i+1 == len(raw) {
			w.text(raw, at)
			return
		}
		if raw[i] == '\\' {
			skip := 0
			if util.IsPunct(raw[i+1]) {
				skip = 1
			}
			w.text(raw[:i], at)
			// The character behind a backslash is no markup.
			_, n := utf8.DecodeRuneInString(raw[i+1:])
			w.text(raw[i+skip:i+1+n], at+i+skip)
			raw, at = raw[i+1+n:], at+i+1+n
			continue
		}
		value, n := entity(raw[i:])
		w.text(raw[:i], at)
		if n == 1 {
			w.text("&", at+i)
		} else {
			w.atom(value, at+i)
		}
		raw, at = raw[i+n:], at+i+n
	}
}

// maxEntity is longer than any entity, in bytes: "&CounterClockwiseContourIntegral;"
// has 33.
const maxEntity = 40

// entity is what an entity at the start of s stands for, and its length. 1: there's
// none.
func entity(s string) (value string, n int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 {
		return "", 1
	}
	name := s[:end+1]
	value = html.UnescapeString(name)
	// UnescapeString also takes a name without ";" that this one begins with
	// ("&ampx;"), which Markdown doesn't.
	half := strings.HasSuffix(value, ";") && value != ";"
	if value == name || half || strings.ContainsFunc(name[1:end], notInEntity) || strings.ContainsFunc(value, unicode.IsControl) {
		return "", 1
	}
	return value, end + 1
}

func notInEntity(r rune) bool {
	return r != '#' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// maxURL is the longest link that's made, in bytes; it's what browsers take.
const maxURL = 2048

// isWeb says whether a chat can open a link: an absolute URL of the web. Others are
// refused or ignored by the platforms, and tg://user?id=… would be a mention
// (core.telegram.org/bots/api#formatting-options).
func isWeb(s string) bool {
	if len(s) > maxURL || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '<' || r == '>' || r == 0x7F }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && isHost(u.Hostname())
}

// isHost says whether a host is one for everybody: Telegram refuses links to
// "localhost" and other names without a dot, which lead nowhere from a phone either.
func isHost(s string) bool {
	return (strings.Contains(strings.Trim(s, "."), ".") || strings.Contains(s, ":")) && !strings.HasPrefix(s, ".") && !strings.ContainsAny(s, "\\\"'`*_(){}|^,;=+$&!@#%?~ ")
}

// deceives reports whether a link's text has an address other than its target: then people are
// shown both.
func deceives(n ast.Node, src []byte, target string) bool {
	said := strings.TrimSpace(strings.Map(func(r rune) rune {
		if !visible(r) && r != ' ' {
			return -1
		}
		return r
	}, label(n, src)))
	to, err := url.Parse(target)
	if err != nil {
		return false
	}
	for word := range strings.FieldsSeq(said) {
		if is := addressIn(strings.Trim(word, "<>()[]\"'“”,;!")); is != nil && !leadsTo(is, to) {
			return true
		}
	}
	return false
}

// leadsTo reports whether an address is the target, or the beginning of it.
func leadsTo(said, to *url.URL) bool {
	return to.User.String() == said.User.String() && host(said) == host(to) &&
		strings.HasPrefix(strings.TrimSuffix(to.EscapedPath(), "/")+"/", strings.TrimRight(said.EscapedPath(), "/.…")) &&
		(said.RawQuery == "" || strings.HasPrefix(to.RawQuery, strings.TrimRight(said.RawQuery, ".…")))
}

// host is where an address leads, however it's written.
func host(u *url.URL) string {
	return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.") + ":" + u.Port()
}

var (
	schemed = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*://`)
	hosted  = regexp.MustCompile(`(?i)^(?:www\.\S+|(?:[\pL\pN_-]+\.)+(\pL{2,}|xn--[a-z0-9-]+)(?::\d+)?(?:[/?#]\S*)?)$`)
)

// addressIn is the address that a word is; nil: it's none. Names of files and of what's in programs
// have dots as well: without a scheme only what ends like most addresses is one.
func addressIn(word string) *url.URL {
	if !schemed.MatchString(word) {
		m := hosted.FindStringSubmatch(word)
		if m == nil || m[1] != "" && !ends[strings.ToLower(m[1])] {
			return nil
		}
		word = "https://" + word
	}
	u, err := url.Parse(word)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	return u
}

// ends are top-level domains by which people take a word for an address.
var ends = func() map[string]bool { //nolint:gochecknoglobals // a constant table
	out := map[string]bool{}
	for end := range strings.FieldsSeq("com org net edu gov io dev ai app co cloud info biz xyz online site shop store page tech de at ch eu fr nl be it es pt pl cz se dk fi uk ie us ca au nz jp cn kr br mx ru ua tr il za") {
		out[end] = true
	}
	return out
}()

// meant is a text as it's meant: without escapes, with the characters that are written by
// their names or numbers.
func meant(n *ast.Text, src []byte) []byte {
	text := n.Segment.Value(src)
	if n.IsRaw() {
		return text
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(text)))
}

// label is the text of a link as it's written, without its markup.
func label(n ast.Node, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			if b.Write(meant(c, src)); c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(src))
		default:
			b.WriteString(label(c, src))
		}
	}
	return b.String()
}
