package telegramtest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
