package render

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
