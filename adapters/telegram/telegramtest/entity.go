package telegramtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Entity is a part of a text that's shown differently. Offset and Length are in
// UTF-16 code units (core.telegram.org/bots/api#messageentity).
type Entity struct {
	Type          string `json:"type"`
	Offset        int    `json:"offset"`
	Length        int    `json:"length"`
	URL           string `json:"url,omitempty"`
	User          *User  `json:"user,omitempty"`
	Language      string `json:"language,omitempty"`
	CustomEmojiID string `json:"custom_emoji_id,omitempty"`
}

func (e Entity) end() int { return e.Offset + e.Length }

// The limits of entities in one message. Telegram ignores what comes after the
// hundredth without a word (github.com/rubenlagus/TelegramBots/issues/854), and
// refuses when their total size passes about 9,500
// (github.com/tdlib/telegram-bot-api/issues/165); the stand-in refuses both.
const (
	maxEntities     = 100
	maxEntitiesSize = 9500
	entitySize      = 12 // type, offset and length of one
	maxOffset       = 1_000_000
)

// nature is how an entity may lie among others.
type nature int

const (
	unknownNature nature = iota
	style                // bold and the like: in and around everything but code
	quote                // around everything but another quote
	monospace            // code: nothing in it, and only in a quote
	single               // links and mentions: not in each other
	found                // what Telegram finds by itself and doesn't take from a bot
)

func natureOf(kind string) nature {
	switch kind {
	case "bold", "italic", "underline", "strikethrough", "spoiler":
		return style
	case "blockquote", "expandable_blockquote":
		return quote
	case "code", "pre":
		return monospace
	case "text_link", "text_mention", "custom_emoji":
		return single
	case "mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card_number":
		return found
	}
	return unknownNature
}

// readEntities reads the entities of a call. What Telegram finds by itself is
// left out, as Telegram does; everything else must be of a known type and
// complete.
func (s *Server) readEntities(raw string) ([]Entity, *refusal) {
	if raw == "" || raw == "null" {
		return nil, nil
	}
	var list []Entity
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		return nil, badRequest("can't parse MessageEntity: %v", err)
	}
	return s.takeEntities(list)
}

func (s *Server) takeEntities(list []Entity) ([]Entity, *refusal) {
	kept := make([]Entity, 0, len(list))
	for _, e := range list {
		nature := natureOf(e.Type)
		if nature == unknownNature {
			return nil, badRequest("can't parse MessageEntity: Unsupported type specified")
		}
		if nature == found {
			continue
		}
		e, r := s.completeEntity(e)
		if r != nil {
			return nil, r
		}
		kept = append(kept, e)
	}
	return kept, nil
}

// completeEntity checks what belongs to an entity of its type and drops the
// rest.
func (s *Server) completeEntity(e Entity) (Entity, *refusal) {
	bare := Entity{Type: e.Type, Offset: e.Offset, Length: e.Length}
	switch e.Type {
	case "pre":
		bare.Language = e.Language
	case "text_link":
		return s.linkEntity(bare, e.URL)
	case "text_mention":
		if e.User == nil {
			return bare, badRequest(`can't parse MessageEntity: Can't find field "user"`)
		}
		u, ok := s.users[e.User.ID]
		if !ok {
			return bare, badRequest("user not found")
		}
		bare.User = &u
	case "custom_emoji":
		if e.CustomEmojiID == "" || e.CustomEmojiID == "0" {
			return bare, badRequest("invalid custom emoji identifier specified")
		}
		bare.CustomEmojiID = e.CustomEmojiID
	}
	return bare, nil
}

// linkEntity makes a link of an address, or a mention of tg://user?id=….
func (s *Server) linkEntity(e Entity, address string) (Entity, *refusal) {
	if id := mentionedUser(address); id != 0 {
		u, ok := s.users[id]
		if !ok {
			return e, badRequest("user not found")
		}
		e.Type, e.User = "text_mention", &u
		return e, nil
	}
	url, why := checkLink(address)
	if why != "" {
		return e, badRequest("entity URL '%s' is invalid: %s", address, why)
	}
	e.URL = url
	return e, nil
}

// placeEntities checks that every entity lies in the text and on boundaries of
// characters, in Telegram's words.
func placeEntities(text string, list []Entity) *refusal {
	table := unitTable(text)
	end := len(table) - 1
	for _, e := range list {
		switch {
		case e.Offset < 0 || e.Offset > maxOffset:
			return badRequest("receive an entity with incorrect offset %d", e.Offset)
		case e.Length < 0 || e.Length > maxOffset:
			return badRequest("receive an entity with incorrect length %d", e.Length)
		case e.Length == 0:
			// Telegram drops it. Nobody makes one on purpose.
			return badRequest("can't parse entities: %s at UTF-16 offset %d is empty", e.Type, e.Offset)
		case e.Offset >= end:
			return badRequest("entity begins after the end of the text at UTF-16 offset %d", e.Offset)
		case e.end() > end:
			return badRequest("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, e.end())
		case table[e.Offset] == notABoundary:
			return badRequest("entity begins in a middle of a UTF-16 symbol at byte offset %d", table[e.Offset-1])
		case table[e.end()] == notABoundary:
			return badRequest("entity beginning at UTF-16 offset %d ends in a middle of a UTF-16 symbol at byte offset %d", e.Offset, table[e.end()-1])
		}
	}
	return nil
}

// sizeEntities checks number and total size.
func sizeEntities(list []Entity) *refusal {
	size := entitySize * len(list)
	for _, e := range list {
		size += len(e.URL) + len(e.Language)
	}
	if len(list) > maxEntities || size > maxEntitiesSize {
		return badRequest("ENTITIES_TOO_LONG")
	}
	return nil
}

// nestEntities checks the rules of core.telegram.org/bots/api#formatting-options:
// two entities are disjoint, or one is inside the other; there's nothing inside
// or around code but a quote around it; quotes aren't in quotes; links and
// mentions not in each other. Telegram repairs what breaks them, which shows as
// formatting that's missing; so the stand-in refuses.
func nestEntities(list []Entity) *refusal {
	sortEntities(list)
	var around []Entity
	for _, e := range list {
		for len(around) > 0 && around[len(around)-1].end() <= e.Offset {
			around = around[:len(around)-1]
		}
		for _, outer := range around {
			if e.end() > outer.end() {
				return badRequest("can't parse entities: %s at UTF-16 offset %d crosses %s at %d", e.Type, e.Offset, outer.Type, outer.Offset)
			}
			if !mayContain(outer, e) {
				return badRequest("can't parse entities: %s at UTF-16 offset %d is inside %s at %d", e.Type, e.Offset, outer.Type, outer.Offset)
			}
		}
		around = append(around, e)
	}
	return nil
}

// mayContain: sortEntities puts quotes and links around styles where they cover
// the same text.
func mayContain(outer, inner Entity) bool {
	o, i := natureOf(outer.Type), natureOf(inner.Type)
	switch {
	case o == monospace || i == monospace:
		return o == quote
	case o == quote || i == quote:
		return o != i && (o == quote || o == style)
	case o == style || i == style:
		return true
	}
	return false
}

// sortEntities puts outer before inner.
func sortEntities(list []Entity) {
	rank := func(e Entity) int {
		switch natureOf(e.Type) {
		case quote:
			return 0
		case monospace:
			return 1
		case single, found:
			return 2
		default:
			return 3
		}
	}
	slices.SortStableFunc(list, func(a, b Entity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length), cmp.Compare(rank(a), rank(b)))
	})
}

// notABoundary marks the second half of a surrogate pair in an offset table.
const notABoundary = -1

// utf16Len returns the length of s in UTF-16 code units, in which Telegram
// measures offsets, lengths and limits
// (core.telegram.org/api/entities#entity-length).
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

// unitsOf returns how many UTF-16 code units r takes.
func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// unitTable returns, for each UTF-16 offset of s and for its end, the byte it
// stands at, or notABoundary inside a surrogate pair.
func unitTable(s string) []int {
	table := make([]int, 0, len(s)+1)
	for i, r := range s {
		table = append(table, i)
		if unitsOf(r) == 2 {
			table = append(table, notABoundary)
		}
	}
	return append(table, len(s))
}

// unitsByByte returns the UTF-16 offset of each byte of s that begins a character,
// and of its end.
func unitsByByte(s string) []int {
	table := make([]int, len(s)+1)
	units := 0
	for i, r := range s {
		table[i] = units
		units += unitsOf(r)
	}
	table[len(s)] = units
	return table
}

// unitSlice returns the part of s from one UTF-16 offset, that many units long.
// Offsets that aren't boundaries are moved to the next one.
func unitSlice(s string, offset, length int) string {
	table := unitTable(s)
	return s[boundary(table, offset):boundary(table, offset+length)]
}

func boundary(table []int, offset int) int {
	for ; offset < len(table); offset++ {
		if table[offset] != notABoundary {
			return table[offset]
		}
	}
	return table[len(table)-1]
}

// validUTF8 reports whether s may go over Telegram's wire at all.
func validUTF8(s string) bool { return utf8.ValidString(s) }

// cleanText does to a text what Telegram does before it stores it: control
// characters and tabs become spaces, carriage returns, line separators,
// directional overrides and three combining lines vanish, and entities move
// along.
func cleanText(text string, list []Entity) (string, []Entity) {
	var out strings.Builder
	moved := make([]int, 0, len(text)+1) // new offset by old one
	units := 0
	for _, r := range text {
		kept := cleanRune(r)
		for range unitsOf(r) {
			moved = append(moved, units)
		}
		if kept >= 0 {
			out.WriteRune(kept)
			units += unitsOf(kept)
		}
	}
	moved = append(moved, units)
	return out.String(), moveEntities(list, func(offset int) int { return moved[offset] })
}

// cleanRune returns what's stored for r, or -1 for nothing.
func cleanRune(r rune) rune {
	switch {
	case r == '\r', r >= 0x2028 && r <= 0x202e, r == 0x333, r == 0x33f, r == 0x30a:
		return -1
	case r != '\n' && r < ' ':
		return ' '
	}
	return r
}

// moveEntities gives every entity new ends, and drops those of which nothing is
// left.
func moveEntities(list []Entity, move func(offset int) int) []Entity {
	kept := make([]Entity, 0, len(list))
	for _, e := range list {
		from, to := move(e.Offset), move(e.end())
		if from < to {
			e.Offset, e.Length = from, to-from
			kept = append(kept, e)
		}
	}
	return kept
}

// trimText cuts spaces and newlines at both ends, as Telegram does: at the end
// always, at the beginning only as far as no entity covers them.
func trimText(text string, list []Entity) (string, []Entity) {
	text = strings.TrimRight(text, " \n")
	end := utf16Len(text)
	list = moveEntities(list, func(offset int) int { return min(offset, end) })
	lead := len(text) - len(strings.TrimLeft(text, " \n"))
	for _, e := range list {
		lead = min(lead, e.Offset) // spaces and newlines are one byte and one unit each
	}
	return text[lead:], moveEntities(list, func(offset int) int { return offset - lead })
}

// isBlank reports whether a person would see nothing of the text.
func isBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !isInvisible(r) })
}

func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) ||
		slices.Contains([]rune{0x115f, 0x1160, 0x2800, 0x3164, 0xfffc}, r)
}
