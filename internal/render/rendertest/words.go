package rendertest

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// firstMark is the first of the ideographs that words are made of.
const firstMark = 0x4E00

// lastMark is the last of them: a document can have 20,000.
const lastMark = 0x9C1F

// IsMark says whether a rune is one of those that no two of are the same.
func IsMark(r rune) bool { return r >= firstMark && r <= lastMark }

// Marks returns the marks of a text, in order.
func Marks(s string) []rune {
	var out []rune
	for _, r := range s {
		if IsMark(r) {
			out = append(out, r)
		}
	}
	return out
}

// Bare is a text without blanks, and without what renderers put between texts: the
// signs of lists and quotes, the lines of tables, and the space that has no width.
func Bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("•☐☑│─┼\u200b", r) {
			return -1
		}
		return r
	}, s)
}

// Words makes words of which each has a mark that no other has.
type Words struct {
	Rand *rand.Rand
	next rune
}

// Mark returns the next mark.
func (w *Words) Mark() string {
	w.next++
	return string(firstMark + w.next - 1)
}

// pick returns one of several.
func (w *Words) pick(of ...string) string { return of[w.Rand.IntN(len(of))] }

// Word returns a word: a mark, and what else there is in texts of people and agents.
func (w *Words) Word() string {
	switch w.Rand.IntN(12) {
	case 0:
		return w.Mark() + w.pick("👩‍💻", "🇩🇪", "👍🏽", "❤️", "1️⃣", "🚀")
	case 1:
		return w.Mark() + w.pick("e\u0301", "a\u0308\u0323", "नि", "שלום", "مرحبا", "한국")
	case 2:
		return w.pick("snake_case", "a.b", "x-y", "3~5", "10%", "a/b") + w.Mark()
	case 3:
		return w.Mark() + w.Mark() + w.pick("", "、", "。")
	default:
		return w.pick("", "a", "the", "foo", "ä") + w.Mark() + w.pick("", "b", "Z")
	}
}
