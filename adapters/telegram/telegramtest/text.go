package telegramtest

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of texts, in UTF-16 code units after parsing, and of what's sent,
// in bytes before it. "1-4096 characters after entities parsing" and "0-1024"
// (core.telegram.org/bots/api#sendmessage, #senddocument); 32 KiB is the Bot API
// server's own limit (github.com/tdlib/telegram-bot-api, Client.cpp).
const (
	maxText    = 4096
	maxCaption = 1024
	maxRawText = 32 << 10
)

// formatted is a text as it's stored and shown.
type formatted struct {
	text     string
	entities []Entity
}

// textOf reads and checks the text of a message.
func (s *Server) textOf(c *call) (formatted, *refusal) {
	if c.text("text") == "" {
		return formatted{}, badRequest("message text is empty")
	}
	f, r := s.format(c.text("text"), c.text("parse_mode"), c.text("entities"))
	if r == nil {
		r = f.asMessage()
	}
	return f, r
}

// asMessage checks what a message may be.
func (f formatted) asMessage() *refusal {
	switch {
	case isBlank(f.text):
		return badRequest("text must be non-empty")
	case utf16Len(f.text) > maxText:
		return badRequest("message is too long")
	}
	return nil
}

// Shown returns what a person would see of a message with this text and these
// entities, or as an error the words it would be refused with. Nothing is sent or
// counted.
func (s *Server) Shown(text string, entities []Entity) (string, []Entity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, r := formatted{}, checkRaw(text)
	if r == nil {
		entities, r = s.takeEntities(entities)
	}
	if r == nil {
		f, r = shape(text, entities)
	}
	if r == nil {
		r = f.asMessage()
	}
	if r != nil {
		return "", nil, complaint(r.text)
	}
	return f.text, f.entities, nil
}

// captionOf reads and checks the caption of a file, which may be empty.
func (s *Server) captionOf(c *call) (formatted, *refusal) {
	f, r := s.format(c.text("caption"), c.text("parse_mode"), c.text("caption_entities"))
	if r == nil && utf16Len(f.text) > maxCaption {
		r = badRequest("message caption is too long")
	}
	return f, r
}

// format parses, checks, cleans and trims a text, in Telegram's order.
func (s *Server) format(raw, mode, entities string) (formatted, *refusal) {
	if r := checkRaw(raw); r != nil {
		return formatted{}, r
	}
	text, list, r := s.parseText(raw, mode, entities)
	if r != nil {
		return formatted{}, r
	}
	return shape(text, list)
}

func checkRaw(raw string) *refusal {
	if len(raw) > maxRawText {
		return badRequest("text is too long")
	}
	if !validUTF8(raw) {
		return badRequest("strings must be encoded in UTF-8")
	}
	return nil
}

// shape checks the entities of a text, and does with both what Telegram does.
func shape(text string, list []Entity) (formatted, *refusal) {
	for _, check := range []func() *refusal{
		func() *refusal { return placeEntities(text, list) },
		func() *refusal { return sizeEntities(list) },
		func() *refusal { return nestEntities(list) },
	} {
		if r := check(); r != nil {
			return formatted{}, r
		}
	}
	text, list = cleanText(text, list)
	text, list = trimText(text, list)
	list = append(list, findEntities(text, list)...)
	sortEntities(list)
	return formatted{text, list}, nil
}

// parseText returns text and entities, which come from markup if there's a parse
// mode, and else from the call. Telegram's old "Markdown" mode isn't offered: it
// can't be written safely.
func (s *Server) parseText(raw, mode, entities string) (string, []Entity, *refusal) {
	var parse func(string) (string, []Entity, error)
	switch strings.ToLower(mode) {
	case "", "none":
		list, r := s.readEntities(entities)
		return raw, list, r
	case "html":
		parse = parseHTML
	case "markdownv2":
		parse = parseMarkdownV2
	default:
		return "", nil, badRequest("unsupported parse_mode")
	}
	text, list, err := parse(raw)
	if err != nil {
		return "", nil, badRequest("can't parse entities: %v", err)
	}
	return text, s.keepLinks(list), nil
}

// keepLinks drops links from markup that lead nowhere. In markup, unlike in
// entities, Telegram shows their text and says nothing.
func (s *Server) keepLinks(list []Entity) []Entity {
	kept := make([]Entity, 0, len(list))
	for _, e := range list {
		if e.Type == "text_link" {
			var r *refusal
			if e, r = s.linkEntity(Entity{Type: e.Type, Offset: e.Offset, Length: e.Length}, e.URL); r != nil {
				continue
			}
		}
		kept = append(kept, e)
	}
	return kept
}

// checkLink returns an address as Telegram keeps it, or why it refuses it. A
// link without a scheme is taken for http; a host needs a dot, so localhost and
// names of local files without one are refused.
func checkLink(address string) (normal, why string) {
	const wrong = "Wrong HTTP URL"
	text := strings.TrimSpace(address)
	if !hasScheme(text) {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", wrong
	}
	switch u.Scheme = strings.ToLower(u.Scheme); u.Scheme {
	case "http", "https":
	case "tg", "ton", "tonsite":
		return u.String(), ""
	default:
		return "", "Unsupported URL protocol"
	}
	host := u.Hostname()
	if !strings.Contains(strings.Trim(host, "."), ".") && !strings.Contains(host, ":") {
		return "", wrong
	}
	if strings.ContainsAny(host, " \t\n<>\"'`{}|\\^") {
		return "", wrong
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), ""
}

// hasScheme tells name:rest from host:80 and path/to/file.
func hasScheme(s string) bool {
	name, rest, ok := strings.Cut(s, ":")
	if !ok || name == "" || strings.ContainsAny(name, "./?#") {
		return false
	}
	_, err := strconv.Atoi(strings.SplitN(rest, "/", 2)[0])
	return err != nil
}

// mentionedUser returns the user of tg://user?id=…, or 0.
func mentionedUser(address string) int64 {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(address)), "tg://user?")
	if !ok {
		return 0
	}
	values, err := url.ParseQuery(rest)
	if err != nil {
		return 0
	}
	id, err := strconv.ParseInt(values.Get("id"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// finder finds one kind of entity that Telegram makes by itself.
type finder struct {
	kind    string
	pattern *regexp.Regexp
	before  func(rune) bool // what must not stand before it
}

// finders, the first has precedence. The lengths are Telegram's
// (core.telegram.org/api/entities); addresses without a scheme aren't found.
var finders = []finder{
	{"url", regexp.MustCompile(`https?://[^\s<>"'` + "`" + `]*[^\s<>"'` + "`" + `.,;:!?()\[\]{}]`), isWord},
	{"email", regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`), isWord},
	{"mention", regexp.MustCompile(`@[A-Za-z0-9_]{2,32}\b`), isWord},
	{"bot_command", regexp.MustCompile(`/[A-Za-z0-9_]{1,64}(@[A-Za-z0-9_]{3,32})?\b`), isWordOrTag},
	{"hashtag", regexp.MustCompile(`#[\p{L}\p{Nd}_]{0,255}\p{L}[\p{L}\p{Nd}_]{0,255}`), isWord},
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

func isWordOrTag(r rune) bool { return isWord(r) || strings.ContainsRune("/<>", r) }

// findEntities returns what Telegram finds in a text by itself. It doesn't look
// into code, links and mentions.
func findEntities(text string, given []Entity) []Entity {
	units := unitsByByte(text)
	taken := takenUnits(units[len(text)], given)
	var list []Entity
	for _, f := range finders {
		for _, at := range f.pattern.FindAllStringIndex(text, -1) {
			if !f.standsAlone(text, at) {
				continue
			}
			e := Entity{Type: f.kind, Offset: units[at[0]], Length: units[at[1]] - units[at[0]]}
			if !anyTaken(taken, e) {
				mark(taken, e)
				list = append(list, e)
			}
		}
	}
	return list
}

func (f finder) standsAlone(text string, at []int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
	after, _ := utf8.DecodeRuneInString(text[at[1]:])
	if at[0] > 0 && f.before(before) {
		return false
	}
	return f.kind != "bot_command" || at[1] == len(text) || !isWordOrTag(after)
}

func takenUnits(units int, given []Entity) []bool {
	taken := make([]bool, units)
	for _, e := range given {
		if n := natureOf(e.Type); n == monospace || n == single {
			mark(taken, e)
		}
	}
	return taken
}

func mark(taken []bool, e Entity) {
	for i := e.Offset; i < e.end(); i++ {
		taken[i] = true
	}
}

func anyTaken(taken []bool, e Entity) bool {
	for i := e.Offset; i < e.end(); i++ {
		if taken[i] {
			return true
		}
	}
	return false
}
