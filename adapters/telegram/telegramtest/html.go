package telegramtest

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// htmlTags are the tags Telegram knows, and the entities they make
// (core.telegram.org/bots/api#html-style).
var htmlTags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough",
	"tg-spoiler": "spoiler", "span": "spoiler", "tg-emoji": "custom_emoji",
	"a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
}

var errSurrogates = complain("Text contains invalid Unicode characters after decoding HTML entities, " +
	"check for unmatched surrogate code units")

// htmlTag is a tag that's still open.
type htmlTag struct {
	name     string
	argument string // href, language, emoji
	from     int    // UTF-16 offset of its text
	fromByte int
}

type htmlParser struct {
	markup
	in   string
	at   int
	open []htmlTag
}

// parseHTML reads Telegram's subset of HTML, and complains in its words.
func parseHTML(in string) (string, []Entity, error) {
	p := htmlParser{in: in}
	for p.at < len(in) {
		if err := p.step(); err != nil {
			return "", nil, err
		}
	}
	if n := len(p.open); n > 0 {
		return "", nil, complain(`Can't find end tag corresponding to start tag "%s"`, p.open[n-1].name)
	}
	for i := range p.entities {
		if e := &p.entities[i]; e.Type == "code" {
			e.Language = "" // only a block has one
		}
	}
	return p.text.String(), p.entities, nil
}

func (p *htmlParser) step() error {
	switch p.in[p.at] {
	case '<':
		if strings.HasPrefix(p.in[p.at:], "</") {
			return p.endTag()
		}
		return p.startTag()
	case '&':
		r, n, err := reference(p.in[p.at:])
		if n > 0 || err != nil {
			p.at += n
			p.write(r)
			return err
		}
	}
	r, n := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += n
	p.write(r)
	return nil
}

// reference decodes &lt; &gt; &amp; &quot; and numbers; the semicolon may be
// missing. Length 0 means that it's none, and stands for itself.
func reference(s string) (rune, int, error) {
	base, digits := 0, len("&")
	switch {
	case strings.HasPrefix(s, "&#x"):
		base, digits = 16, len("&#x")
	case strings.HasPrefix(s, "&#"):
		base, digits = 10, len("&#")
	}
	end := digits
	for end < len(s) && ofReference(s[end], base) {
		end++
	}
	r := named(s[digits:end])
	if base > 0 {
		r = numbered(s[digits:end], base)
	}
	if r == 0 {
		return 0, 0, nil
	}
	if !utf8.ValidRune(r) {
		return 0, 0, errSurrogates
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	return r, end, nil
}

func ofReference(c byte, base int) bool {
	switch digit := '0' <= c && c <= '9'; base {
	case 10:
		return digit
	case 16:
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	default:
		return isAlnum(c) && !digit
	}
}

// numbered returns 0 for what's no character, or longer than Telegram reads.
func numbered(digits string, base int) rune {
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n >= utf8.MaxRune || len(digits) > 7 {
		return 0
	}
	return rune(n)
}

func named(name string) rune {
	switch name {
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "amp":
		return '&'
	case "quot":
		return '"'
	}
	return 0
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isSpace(c byte) bool { return strings.IndexByte(" \t\r\n\v\f\x00", c) >= 0 }

// startTag reads <name attributes>.
func (p *htmlParser) startTag() error {
	begin := p.at
	p.at++
	name := strings.ToLower(p.until(func(c byte) bool { return isSpace(c) || c == '>' }))
	if p.at == len(p.in) {
		return complain("Unclosed start tag at byte offset %d", begin)
	}
	if htmlTags[name] == "" {
		return complain(`Unsupported start tag "%s" at byte offset %d`, name, begin)
	}
	tag := htmlTag{name: name, from: p.units, fromByte: p.text.Len()}
	for {
		more, err := p.attribute(&tag, begin)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if name == "span" && tag.argument != "tg-spoiler" {
		return complain(`Tag "span" must have class "tg-spoiler" at byte offset %d`, begin)
	}
	p.open = append(p.open, tag)
	return nil
}

// until reads up to a byte that ends it, or to the end of the text.
func (p *htmlParser) until(ends func(byte) bool) string {
	from := p.at
	for p.at < len(p.in) && !ends(p.in[p.at]) {
		p.at++
	}
	return p.in[from:p.at]
}

func (p *htmlParser) skipSpaces() { p.until(func(c byte) bool { return !isSpace(c) }) }

// attribute reads one attribute of a tag, or the tag's end.
func (p *htmlParser) attribute(tag *htmlTag, begin int) (more bool, err error) {
	unclosed := complain("Unclosed start tag at byte offset %d", begin)
	p.skipSpaces()
	if p.at == len(p.in) {
		return false, unclosed
	}
	if p.in[p.at] == '>' {
		p.at++
		return false, nil
	}
	name := p.until(func(c byte) bool { return isSpace(c) || strings.IndexByte(`=>/"'`, c) >= 0 })
	if name == "" {
		return false, complain(`Empty attribute name in the tag "%s" at byte offset %d`, tag.name, begin)
	}
	p.skipSpaces()
	value := ""
	if p.at < len(p.in) && p.in[p.at] == '=' {
		p.at++
		if value, err = p.attributeValue(); err != nil {
			return false, err
		}
	}
	if p.at == len(p.in) {
		return false, unclosed
	}
	tag.set(strings.ToLower(name), value)
	return true, nil
}

// attributeValue reads a quoted value, or a bare word of letters, digits, dots
// and hyphens.
func (p *htmlParser) attributeValue() (string, error) {
	p.skipSpaces()
	if p.at == len(p.in) {
		return "", nil
	}
	begin, mark := p.at, p.in[p.at]
	if mark != '"' && mark != '\'' {
		word := p.until(func(c byte) bool { return !isAlnum(c) && c != '.' && c != '-' })
		if p.at < len(p.in) && !isSpace(p.in[p.at]) && p.in[p.at] != '>' {
			return "", complain("Unexpected end of name token at byte offset %d", begin)
		}
		return strings.ToLower(word), nil
	}
	p.at++
	quoted := p.until(func(c byte) bool { return c == mark })
	p.at = min(p.at+1, len(p.in))
	return dereference(quoted)
}

// dereference decodes all references of an attribute's value.
func dereference(s string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '&' {
			r, n, err := reference(s[i:])
			if err != nil {
				return "", err
			}
			if n > 0 {
				out.WriteRune(r)
				i += n
				continue
			}
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String(), nil
}

// set keeps the attributes that mean something.
func (t *htmlTag) set(name, value string) {
	switch t.name + " " + name {
	case "a href", "tg-emoji emoji-id", "span class":
		t.argument = value
	case "code class":
		if language, ok := strings.CutPrefix(value, "language-"); ok {
			t.argument = language
		}
	case "blockquote expandable":
		t.argument = "expandable"
	}
}

// endTag reads </name>; </> ends whatever is open.
func (p *htmlParser) endTag() error {
	begin := p.at
	if len(p.open) == 0 {
		return complain("Unexpected end tag at byte offset %d", begin)
	}
	p.at += len("</")
	name := strings.ToLower(p.until(func(c byte) bool { return isSpace(c) || c == '>' }))
	p.skipSpaces()
	if p.at == len(p.in) || p.in[p.at] != '>' {
		return complain("Unclosed end tag at byte offset %d", begin)
	}
	p.at++
	tag := p.open[len(p.open)-1]
	if name != "" && name != tag.name {
		return complain(`Unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, begin, tag.name, name)
	}
	p.open = p.open[:len(p.open)-1]
	return p.close(tag)
}

// close makes the entity of a tag.
func (p *htmlParser) close(tag htmlTag) error {
	e := Entity{Type: htmlTags[tag.name]}
	switch tag.name {
	case "a":
		if e.URL = tag.argument; e.URL == "" {
			e.URL = p.since(tag.fromByte)
		}
	case "tg-emoji":
		if n, err := strconv.ParseInt(tag.argument, 10, 64); err != nil || n == 0 {
			return complain("Invalid custom emoji identifier specified")
		}
		e.CustomEmojiID = tag.argument
	case "blockquote":
		if tag.argument != "" {
			e.Type = "expandable_blockquote"
		}
	case "pre", "code":
		p.closeCode(e, tag)
		return nil
	}
	p.add(e, tag.from)
	return nil
}

// closeCode joins <pre><code class="language-go"> to one block with a language.
// A code tag alone has none, but keeps it until it's known whether it is alone.
func (p *htmlParser) closeCode(e Entity, tag htmlTag) {
	if n := len(p.entities); n > 0 {
		inner := &p.entities[n-1]
		same := inner.Offset == tag.from && inner.end() == p.units && natureOf(inner.Type) == monospace
		if same && inner.Type != e.Type {
			inner.Type = "pre"
			inner.Language += tag.argument
			return
		}
	}
	before := len(p.entities)
	p.add(e, tag.from)
	if len(p.entities) > before {
		p.entities[before].Language = tag.argument
	}
}

// markup collects the text and the entities that a parser finds, and knows where
// it is in UTF-16 units.
type markup struct {
	text     strings.Builder
	units    int
	entities []Entity
}

func (m *markup) write(r rune) {
	m.text.WriteRune(r)
	m.units += unitsOf(r)
}

// add makes an entity of what has been written since an offset; of nothing, none.
func (m *markup) add(e Entity, from int) {
	if e.Offset, e.Length = from, m.units-from; e.Length > 0 {
		m.entities = append(m.entities, e)
	}
}

// since returns the text written since a byte of it.
func (m *markup) since(from int) string { return m.text.String()[from:] }
