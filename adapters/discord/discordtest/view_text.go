package discordtest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/chatview"
)

// viewText reads Discord's Markdown as a phone shows it
// (support.discord.com/hc/articles/210298617). name returns what a mention says: of a
// person by "@" and the id, of a channel by "#" and the id; "": nobody knows it.
func viewText(markdown string, name func(mention string) string) chatview.Text {
	r := &textReader{name: name}
	r.blocks(markdown)
	text := strings.TrimRight(r.out.String(), "\n")
	size := units(text)
	entities := slices.DeleteFunc(r.entities, func(e chatview.Entity) bool { return e.Offset >= size || e.Length == 0 })
	for i := range entities {
		entities[i].Length = min(entities[i].Length, size-entities[i].Offset)
	}
	return chatview.Text{Text: text, Entities: append([]chatview.Entity{}, entities...)}
}

type textReader struct {
	name     func(mention string) string
	out      strings.Builder
	at       int // of out, in UTF-16 units
	entities []chatview.Entity
	depth    int
}

// maxNested bounds how deep marks may stand in each other.
const maxNested = 30

func (r *textReader) write(s string) {
	r.out.WriteString(s)
	r.at += units(s)
}

// within has an entity around what inside writes.
func (r *textReader) within(e chatview.Entity, inside func()) {
	i := len(r.entities)
	e.Offset = r.at
	r.entities = append(r.entities, e)
	inside()
	r.entities[i].Length = r.at - e.Offset
}

var (
	fence   = regexp.MustCompile("(?s)^```(?:([A-Za-z0-9_+.#-]*)\n)?(.*?)\n?```")
	heading = regexp.MustCompile(`^(#{1,3}|-#) +(.+)`)
	bullet  = regexp.MustCompile(`^( *)[-*] +(.+)`)
)

// blocks reads lines: code, quotes, headings, items.
func (r *textReader) blocks(s string) {
	for s != "" {
		if m := fence.FindStringSubmatch(s); m != nil {
			r.within(chatview.Entity{Type: "pre", Language: m[1]}, func() { r.write(m[2]) })
			s = strings.TrimPrefix(s[len(m[0]):], "\n")
			r.write("\n")
			continue
		}
		if quoted, rest := quote(s); quoted != "" {
			i := len(r.entities)
			r.within(chatview.Entity{Type: "blockquote"}, func() { r.blocks(quoted) })
			r.entities[i].Length-- // the end of its last line stands behind it
			s = rest
			continue
		}
		line, rest := cutLine(s)
		switch m := heading.FindStringSubmatch(line); {
		case m != nil && m[1] == "-#":
			r.within(chatview.Entity{Type: "subtext"}, func() { r.inline(m[2]) })
		case m != nil:
			r.within(chatview.Entity{Type: "heading" + string(rune('0'+len(m[1])))}, func() { r.inline(m[2]) })
		default:
			if m := bullet.FindStringSubmatch(line); m != nil {
				r.write(m[1] + "• ")
				line = m[2]
			}
			r.inline(line)
		}
		r.write("\n")
		s = rest
	}
}

// cutLine cuts a text behind its first line, which goes on to the end of code that
// begins within it.
func cutLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	if at := strings.Index(line, "```"); at > 0 && fence.MatchString(s[at:]) {
		return s[:at], s[at:]
	}
	return line, rest
}

// quote takes the lines of a quote from a text's beginning, without their marks.
func quote(s string) (quoted, rest string) {
	if all, ok := strings.CutPrefix(s, ">>> "); ok {
		return all, ""
	}
	for strings.HasPrefix(s, "> ") {
		line, after, _ := strings.Cut(s[2:], "\n")
		quoted += line + "\n"
		s = after
	}
	return quoted, s
}

// marks are the signs around a text, longer ones first.
var marks = []struct{ sign, kind string }{
	{"**", "bold"}, {"__", "underline"}, {"~~", "strikethrough"}, {"||", "spoiler"}, {"*", "italic"}, {"_", "italic"},
}

var (
	named   = regexp.MustCompile(`^\[([^\]\n]+)\]\(<?(https?://[^\s)>]+)>?\)`)
	address = regexp.MustCompile(`^(?:<(https?://[^\s>]+)>|(https?://[^\s<>]+[^\s<>.,:;"')\]]))`)
	mention = regexp.MustCompile(`^<(@|#)!?([0-9]{1,20})>`)
)

// inline reads a text within a line.
func (r *textReader) inline(s string) {
	if r.depth++; r.depth > maxNested {
		r.write(s)
		s = ""
	}
	for s != "" {
		s = s[r.next(s):]
	}
	r.depth--
}

// next reads what a text begins with, and returns how many bytes that was.
func (r *textReader) next(s string) int {
	if s[0] == '\\' && len(s) > 1 && s[1] < utf8.RuneSelf && (unicode.IsPunct(rune(s[1])) || unicode.IsSymbol(rune(s[1]))) {
		r.write(s[1:2])
		return 2
	}
	if n := r.code(s) + r.link(s); n > 0 {
		return n
	}
	for _, m := range marks {
		inside, ok := between(s, m.sign)
		if ok {
			r.within(chatview.Entity{Type: m.kind}, func() { r.inline(inside) })
			return len(inside) + 2*len(m.sign)
		}
	}
	_, n := utf8.DecodeRuneInString(s)
	r.write(s[:n])
	return n
}

// code reads code within a line; 0: there's none.
func (r *textReader) code(s string) int {
	signs := s[:len(s)-len(strings.TrimLeft(s, "`"))]
	if signs == "" {
		return 0
	}
	inside, _, ok := strings.Cut(s[len(signs):], signs)
	if !ok || inside == "" {
		return 0
	}
	r.within(chatview.Entity{Type: "code"}, func() { r.write(inside) })
	return len(inside) + 2*len(signs)
}

// link reads a link or a mention; 0: there's none.
func (r *textReader) link(s string) int {
	if m := named.FindStringSubmatch(s); m != nil {
		r.within(chatview.Entity{Type: "text_link", URL: m[2]}, func() { r.inline(m[1]) })
		return len(m[0])
	}
	if m := address.FindStringSubmatch(s); m != nil {
		r.within(chatview.Entity{Type: "url"}, func() { r.write(m[1] + m[2]) })
		return len(m[0])
	}
	if m := mention.FindStringSubmatch(s); m != nil {
		if called := r.name(m[1] + m[2]); called != "" {
			r.within(chatview.Entity{Type: "mention"}, func() { r.write(m[1] + called) })
			return len(m[0])
		}
	}
	return 0
}

// between returns what stands between a sign that a text begins with and the next one.
func between(s, sign string) (inside string, ok bool) {
	if !strings.HasPrefix(s, sign) {
		return "", false
	}
	s = s[len(sign):]
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '`':
			end := strings.IndexByte(s[i+1:], '`')
			if end < 0 {
				return "", false
			}
			i += end + 1
		case strings.HasPrefix(s[i:], sign) && i > 0:
			return s[:i], s[0] != ' ' || sign != "*" && sign != "_"
		case s[i] == sign[0] && i+1 < len(s) && s[i+1] == sign[0]:
			i++ // of a longer sign
		}
	}
	return "", false
}
