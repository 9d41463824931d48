package telegramtest

import (
	"strings"
	"unicode/utf8"
)

// mdNames are the entities as Telegram calls them in complaints.
var mdNames = map[string]string{
	"bold": "Bold", "italic": "Italic", "underline": "Underline", "strikethrough": "Strikethrough",
	"spoiler": "Spoiler", "code": "Code", "pre": "Pre", "text_link": "TextUrl",
	"custom_emoji": "CustomEmoji", "blockquote": "BlockQuote",
}

// mdReserved must be escaped everywhere outside code
// (core.telegram.org/bots/api#markdownv2-style).
const mdReserved = "_*[]()~`>#+-=|{}.!"

// mdOpen is an entity that hasn't ended yet.
type mdOpen struct {
	kind     string
	language string
	from     int // UTF-16 offset of its text
	fromByte int
	begin    int // byte of its mark
}

type mdParser struct {
	markup
	in        string
	at        int
	open      []mdOpen
	lineStart bool // a quote may begin here
}

// parseMarkdownV2 reads Telegram's MarkdownV2, and complains in its words.
func parseMarkdownV2(in string) (string, []Entity, error) {
	p := mdParser{in: in, lineStart: true}
	for p.at < len(in) {
		if err := p.step(); err != nil {
			return "", nil, err
		}
	}
	if err := p.endQuote(); err != nil {
		return "", nil, err
	}
	if len(p.open) > 0 {
		return "", nil, p.unended(p.top())
	}
	return p.text.String(), p.entities, nil
}

func (p *mdParser) unended(o mdOpen) error {
	name := mdNames[o.kind]
	if o.language != "" {
		name = "PreCode"
	}
	return complain("Can't find end of %s entity at byte offset %d", name, o.begin)
}

func (p *mdParser) top() mdOpen {
	if len(p.open) == 0 {
		return mdOpen{}
	}
	return p.open[len(p.open)-1]
}

func (p *mdParser) peek(s string) bool { return strings.HasPrefix(p.in[p.at:], s) }

func (p *mdParser) step() error {
	c := p.in[p.at]
	inCode := natureOf(p.top().kind) == monospace
	switch {
	case c == '\\' && p.at+1 < len(p.in) && p.in[p.at+1] < utf8.RuneSelf-1 && p.in[p.at+1] > 0:
		p.at++
		p.literal()
	case inCode && c != '`':
		p.literal()
	case c == '\n' && !inCode:
		return p.newline()
	case strings.IndexByte(mdReserved, c) < 0:
		p.literal()
	default:
		if mark := p.endMark(); mark != "" {
			return p.end(mark)
		}
		return p.begin()
	}
	return nil
}

// literal takes one character as it is.
func (p *mdParser) literal() {
	r, n := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += n
	p.write(r)
	if r != '\r' {
		p.lineStart = r == '\n'
	}
}

// newline ends a quote whose next line isn't quoted.
func (p *mdParser) newline() error {
	if p.quoted() && !strings.HasPrefix(p.in[p.at+1:], ">") {
		p.write('\n')
		p.at++
		p.lineStart = true
		return p.endQuote()
	}
	p.literal()
	return nil
}

func (p *mdParser) quoted() bool { return len(p.open) > 0 && p.open[0].kind == "blockquote" }

// endQuote ends an open quote. One that ends with || is expandable: those two
// bars have just opened a spoiler of nothing.
func (p *mdParser) endQuote() error {
	if !p.quoted() {
		return nil
	}
	kind := "blockquote"
	if t := p.top(); t.kind == "spoiler" && strings.Trim(p.since(t.fromByte), "\r\n") == "" {
		p.open = p.open[:len(p.open)-1]
		kind = "expandable_blockquote"
	}
	if len(p.open) != 1 {
		return p.unended(p.top())
	}
	p.add(Entity{Type: kind}, p.open[0].from)
	p.open = nil
	return nil
}

// endMark returns the mark at this place if it ends the innermost entity.
func (p *mdParser) endMark() string {
	mark := map[string]string{
		"bold": "*", "italic": "_", "underline": "__", "strikethrough": "~", "spoiler": "||",
		"code": "`", "pre": "```", "text_link": "]", "custom_emoji": "]",
	}[p.top().kind]
	if mark == "" || !p.peek(mark) || mark == "_" && p.peek("__") {
		return ""
	}
	return mark
}

// begin opens an entity, or complains about a character that should have been
// escaped.
func (p *mdParser) begin() error {
	o := mdOpen{from: p.units, fromByte: p.text.Len(), begin: p.at}
	for _, mark := range []struct{ text, kind string }{
		{"__", "underline"},
		{"_", "italic"},
		{"*", "bold"},
		{"~", "strikethrough"},
		{"||", "spoiler"},
		{"[", "text_link"},
		{"![", "custom_emoji"},
		{"```", "pre"},
		{"`", "code"},
		{">", "blockquote"},
	} {
		if p.peek(mark.text) {
			o.kind = mark.kind
			p.at += len(mark.text)
			break
		}
	}
	switch {
	case o.kind == "" || o.kind == "blockquote" && !p.lineStart:
		return complain(`Character '%c' is reserved and must be escaped with the preceding '\'`, p.in[o.begin])
	case o.kind == "blockquote" && p.quoted():
		return nil // the next line of the same quote
	case o.kind == "blockquote" && len(p.open) > 0:
		return p.unended(p.top())
	case o.kind == "pre":
		o.language = p.language()
	}
	p.open = append(p.open, o)
	return nil
}

// language reads what follows ``` up to the end of its line, if that's one word,
// and the line's end.
func (p *mdParser) language() string {
	rest := p.in[p.at:]
	n := strings.IndexFunc(rest, func(r rune) bool { return r < utf8.RuneSelf && (isSpace(byte(r)) || r == '`') })
	language := ""
	if n > 0 && rest[n] != '`' {
		language = rest[:n]
		p.at += n
	}
	for _, end := range []string{"\r\n", "\n\r", "\n", "\r"} {
		if p.peek(end) {
			p.at += len(end)
			break
		}
	}
	return language
}

// end closes the innermost entity at its mark.
func (p *mdParser) end(mark string) error {
	o := p.top()
	p.at += len(mark)
	e := Entity{Type: o.kind, Language: o.language}
	var err error
	switch o.kind {
	case "text_link":
		if e.URL, err = p.address("a URL"); e.URL == "" {
			e.URL = p.since(o.fromByte)
		}
	case "custom_emoji":
		e.CustomEmojiID, err = p.emoji()
	}
	if err != nil {
		return err
	}
	p.open = p.open[:len(p.open)-1]
	p.add(e, o.from)
	return nil
}

// address reads (…) after a link's text; there may be none.
func (p *mdParser) address(what string) (string, error) {
	if !p.peek("(") {
		return "", nil
	}
	p.at++
	begin := p.at
	var out strings.Builder
	for p.at < len(p.in) && p.in[p.at] != ')' {
		if p.in[p.at] == '\\' && p.at+1 < len(p.in) {
			p.at++
		}
		out.WriteByte(p.in[p.at])
		p.at++
	}
	if p.at == len(p.in) {
		return "", complain("Can't find end of %s at byte offset %d", what, begin)
	}
	p.at++
	return out.String(), nil
}

func (p *mdParser) emoji() (string, error) {
	address, err := p.address("a custom emoji URL")
	if err != nil {
		return "", err
	}
	id, ok := strings.CutPrefix(address, "tg://emoji?id=")
	if !ok || id == "" {
		return "", complain("Custom emoji entity must contain a tg://emoji URL")
	}
	return id, nil
}
