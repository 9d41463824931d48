package entities_test

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/render/entities"
)

// faults holds a message against Telegram's rules
// (core.telegram.org/bots/api#messageentity, core.telegram.org/api/entities, and
// what TDLib's fix_formatted_text changes or refuses). It knows nothing of how
// messages are made.
func faults(m entities.Message, limit int) []string {
	var bad []string
	fault := func(format string, a ...any) { bad = append(bad, fmt.Sprintf(format, a...)) }
	if !utf8.ValidString(m.Text) {
		fault("not UTF-8")
	}
	units := utf16.Encode([]rune(m.Text))
	if len(units) > limit {
		fault("%d units, limit %d", len(units), limit)
	}
	if !strings.ContainsFunc(m.Text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		fault("nothing to see in %q", m.Text)
	}
	if strings.Trim(m.Text, " \n") != m.Text {
		fault("blanks at the ends of %q", m.Text)
	}
	if strings.ContainsFunc(m.Text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
		fault("control characters in %q", m.Text)
	}
	if len(m.Entities) > 100 {
		fault("%d entities", len(m.Entities))
	}
	for i, e := range m.Entities {
		end := e.Offset + e.Length
		if e.Offset < 0 || e.Length <= 0 || end > len(units) {
			fault("%+v is outside of the text, or empty", e)
			continue
		}
		if low(units[e.Offset]) || end < len(units) && low(units[end]) {
			fault("%+v divides a surrogate pair", e)
		}
		text := string(utf16.Decode(units[e.Offset:end]))
		if strings.Trim(text, " \n") != text {
			fault("%+v has blanks at the ends of %q", e, text)
		}
		if wrong := wrongFields(e); wrong != "" {
			fault("%+v %s", e, wrong)
		}
		for _, o := range m.Entities[:i] {
			if wrong := wrongPair(o, e); wrong != "" {
				fault("%+v and %+v %s", o, e, wrong)
			}
		}
	}
	if who := mentioned(units, m.Entities); who != "" {
		fault("%q mentions %s", m.Text, who)
	}
	return bad
}

func low(u uint16) bool { return u >= 0xDC00 && u <= 0xDFFF }

func wrongFields(e entities.Entity) string {
	switch e.Type {
	case "bold", "italic", "underline", "strikethrough", "code", "blockquote", "expandable_blockquote":
		if e.URL != "" || e.Language != "" {
			return "has an argument that its type doesn't have"
		}
	case "pre":
		if e.URL != "" || strings.ContainsAny(e.Language, " \n\t") {
			return "has a wrong argument"
		}
	case "text_link":
		u, err := url.Parse(e.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || e.Language != "" {
			return "isn't a link of the web"
		}
	default:
		return "has an unknown type"
	}
	return ""
}

// wrongPair says what's wrong with two entities, of which o stands before e in the
// list.
func wrongPair(o, e entities.Entity) string {
	oEnd, eEnd := o.Offset+o.Length, e.Offset+e.Length
	if oEnd <= e.Offset {
		return ""
	}
	if e.Offset < o.Offset || e.Offset == o.Offset && e.Length > o.Length {
		return "are out of order"
	}
	if eEnd > oEnd {
		return "intersect"
	}
	quote := func(t entities.Type) bool { return t == "blockquote" || t == "expandable_blockquote" }
	code := func(t entities.Type) bool { return t == "pre" || t == "code" }
	switch {
	case code(o.Type):
		return "are one in code"
	case code(e.Type) && !quote(o.Type):
		return "are code in something else"
	case o.Type == e.Type || quote(o.Type) && quote(e.Type):
		return "are the same, one in the other"
	case quote(e.Type):
		return "are a quote in something else"
	}
	return ""
}

// mentioned returns a name that Telegram would make a mention of: "@" that's not
// behind a letter, digit or underscore, and at least one such character of ASCII
// behind it.
func mentioned(units []uint16, all []entities.Entity) string {
	covered := make([]bool, len(units))
	for _, e := range all {
		if e.Type == "pre" || e.Type == "code" || e.Type == "text_link" {
			for i := range e.Length {
				covered[e.Offset+i] = true
			}
		}
	}
	at := 0
	before := ' '
	runes := utf16.Decode(units)
	for i, r := range runes {
		word := before == '_' || unicode.IsLetter(before) || unicode.IsNumber(before)
		if r == '@' && !word && !covered[at] && i+1 < len(runes) && asciiWord(runes[i+1]) {
			return string(runes[i:min(i+10, len(runes))])
		}
		before = r
		at += utf16.RuneLen(r)
	}
	return ""
}

func asciiWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
