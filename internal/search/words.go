package search

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is how many bytes of a word are indexed. What's longer is found by its beginning, and compared.
const maxWord = 64

// maxParts is at how many places within one word others begin, at most.
const maxParts = 8

// fold is text without what a search takes no notice of: the case of letters, and accents.
func fold(text string) string {
	return strings.ToLower(withoutAccents(text))
}

// withoutAccents is text in NFC without the marks that stand above, below and across letters of alphabets: people leave them
// out as they search. Marks of other scripts, such as vowels, stay.
func withoutAccents(text string) string {
	if isASCII(text) {
		return text
	}
	bare := strings.Map(func(r rune) rune {
		if '\u0300' <= r && r <= '\u036f' {
			return -1
		}
		return r
	}, norm.NFD.String(text))
	return norm.NFC.String(bare)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// spaceless are scripts that put no spaces between words.
var spaceless = []*unicode.RangeTable{ //nolint:gochecknoglobals // a constant table
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// runeClass is what a rune is for words.
type runeClass int

const (
	classOther runeClass = iota // it stands between words
	classSmall                  // a letter that's no capital, or a mark on one
	classCapital
	classDigit
	classSpaceless
)

func classOf(r rune) runeClass {
	switch {
	case 'a' <= r && r <= 'z':
		return classSmall
	case 'A' <= r && r <= 'Z':
		return classCapital
	case '0' <= r && r <= '9':
		return classDigit
	case r < utf8.RuneSelf:
		return classOther
	case unicode.In(r, spaceless...):
		return classSpaceless
	case unicode.IsUpper(r):
		return classCapital
	case unicode.IsLetter(r), unicode.IsMark(r):
		return classSmall
	case unicode.IsDigit(r):
		return classDigit
	}
	return classOther
}

// begins reports whether a word begins with the first letter of rest, whose class is c, behind one of the class before in the
// same row. The capital behind others begins one if two small letters follow: HTTPServer has one, URLs has none.
func begins(before, c runeClass, rest string) bool {
	if before != classCapital || c != classCapital {
		return before == classSmall && c == classCapital || (before == classDigit) != (c == classDigit)
	}
	_, n := utf8.DecodeRuneInString(rest)
	r, m := utf8.DecodeRuneInString(rest[n:])
	next, _ := utf8.DecodeRuneInString(rest[n+m:])
	return classOf(r) == classSmall && classOf(next) == classSmall
}

// eachWord calls fn for each word of text, which is withoutAccents: where it begins, and where its row of letters and digits ends. In
// scripts without spaces a word begins with each letter.
func eachWord(text string, fn func(begin, end int, isSpaceless bool)) {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		c := classOf(r)
		if c == classOther {
			at += n
			continue
		}
		end := rowEnd(text, at, c == classSpaceless)
		before, parts := c, 0
		for i, r := range text[at:end] {
			c := classOf(r)
			if c == classSpaceless || parts == 0 || begins(before, c, text[at+i:end]) && parts < maxParts {
				fn(at+i, end, c == classSpaceless)
				parts++
			}
			before = c
		}
		at = end
	}
}

// rowEnd is where the row ends that begins at a place: of letters and digits, or of a script without spaces.
func rowEnd(text string, at int, isSpaceless bool) int {
	for i, r := range text[at:] {
		if c := classOf(r); c == classOther || (c == classSpaceless) != isSpaceless {
			return at + i
		}
	}
	return len(text)
}

// appendWords appends the words by which a line is found, as they're indexed: of a script without spaces, each letter with
// the next.
func appendWords(words []string, line string) []string {
	line = withoutAccents(line)
	eachWord(line, func(begin, end int, isSpaceless bool) {
		if isSpaceless {
			words = append(words, pairAt(line[begin:end]))
		} else {
			words = append(words, cutWord(line[begin:end]))
		}
	})
	return words
}

// pairAt are the first two letters of a row.
func pairAt(row string) string {
	_, n := utf8.DecodeRuneInString(row)
	_, m := utf8.DecodeRuneInString(row[n:])
	return cutWord(row[:n+m])
}

// cutWord is a word as it's indexed.
func cutWord(word string) string {
	word = fold(cutBytes(word, 4*maxWord)) // a letter may take fewer bytes then
	return cutBytes(word, maxWord)
}

// cutBytes is as much of text as n bytes hold, in whole letters.
func cutBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// WordQuery is what's looked for. The zero value is no query.
type WordQuery struct {
	texts []soughtText // that a line has to have
	match string       // the same for FTS5
}

// soughtText is a text that's looked for, folded. If its last row of letters and digits is to be whole, it doesn't go on in
// the line.
type soughtText struct {
	folded  string
	isWhole bool
	match   string // what FTS5 knows of it; empty: nothing
}

// maxQuery is how many letters a query may have.
const maxQuery = 400

// Errors of ParseQuery.
var (
	ErrNoWords = errors.New("write a word to look for, with letters or digits")
	ErrTooLong = fmt.Errorf("look for at most %d letters", maxQuery)
)

// ParseQuery reads a query. What's in quotation marks is one text, with its spaces.
func ParseQuery(text string) (WordQuery, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) > maxQuery {
		return WordQuery{}, ErrTooLong
	}
	var q WordQuery
	var terms []string
	for i, part := range strings.Split(text, `"`) {
		texts := []string{part}
		if i%2 == 0 {
			texts = strings.Fields(part)
		}
		for _, t := range texts {
			found, isWhole := termsOf(t)
			if len(found) == 0 && strings.TrimSpace(t) == "" {
				continue
			}
			q.texts = append(q.texts, soughtText{fold(t), isWhole, strings.Join(found, " ")})
			terms = append(terms, found...)
		}
	}
	if len(terms) == 0 {
		return WordQuery{}, ErrNoWords
	}
	q.match = strings.Join(terms, " ")
	return q, nil
}

// termsOf are the words, as FTS5 reads them, that a line has which has a text; isWhole says that the row of letters and digits
// that the text ends with doesn't go on.
func termsOf(text string) (terms []string, isWhole bool) {
	text = withoutAccents(text)
	rowOf := -1 // where the row ends that has been seen
	eachWord(text, func(begin, end int, isSpaceless bool) {
		isFirst := end != rowOf
		rowOf = end
		_, n := utf8.DecodeRuneInString(text[begin:])
		isLast := begin+n == end
		switch {
		case isSpaceless && (!isLast || isFirst): // the last alone may be another pair's first
			terms = append(terms, term(pairAt(text[begin:end]), isLast))
		case !isSpaceless && isFirst:
			isWhole = end == len(text) && !mayGoOn(text[begin:])
			terms = append(terms, term(cutWord(text[begin:end]), end == len(text) && !isWhole))
		}
	})
	return terms, isWhole
}

// mayGoOn reports whether a row that a text ends with may go on in the line. One of one or two letters would be too frequent to
// be found soon. Hangul puts two or three into one.
func mayGoOn(row string) bool {
	n := utf8.RuneCountInString(row)
	first, _ := utf8.DecodeRuneInString(row)
	return n > 2 || n == 2 && unicode.Is(unicode.Hangul, first)
}

// term is a word as FTS5 reads it; isOpen says that it may go on.
func term(word string, isOpen bool) string {
	if isOpen || len(word) > maxWord-utf8.UTFMax { // it may have been cut
		return `"` + word + `" *`
	}
	return `"` + word + `"`
}

// Matches reports whether a line is found.
func (q WordQuery) Matches(line string) bool {
	line = withoutAccents(line)
	for _, text := range q.texts {
		if !hasText(line, text) {
			return false
		}
	}
	return len(q.texts) > 0
}

// hasText reports whether a line withoutAccents has a folded text, from the beginning of a word on if the text begins with one.
func hasText(line string, text soughtText) bool { return placeOf(line, text) >= 0 }

// placeOf is where in a line withoutAccents the first place begins at which hasText finds a text; -1: there's none.
func placeOf(line string, text soughtText) int {
	first, _ := utf8.DecodeRuneInString(text.folded)
	if classOf(first) == classOther {
		for i := range line {
			if text.begins(line[i:]) {
				return i
			}
		}
		return -1
	}
	at := -1
	eachWord(line, func(begin, _ int, _ bool) {
		if at < 0 && text.begins(line[begin:]) {
			at = begin
		}
	})
	return at
}

// Places are where in a line that's found the query's texts begin, each at its first place, in bytes.
func (q WordQuery) Places(line string) (places []int) {
	var bare strings.Builder
	var begins []int // in line, of each byte of bare
	for i, r := range line {
		bare.WriteString(withoutAccents(string(r)))
		for len(begins) < bare.Len() {
			begins = append(begins, i)
		}
	}
	for _, text := range q.texts {
		if at := placeOf(bare.String(), text); at >= 0 && at < len(begins) {
			places = append(places, begins[at])
		}
	}
	return places
}

// begins reports whether a line begins with the text.
func (t soughtText) begins(line string) bool {
	for _, want := range t.folded {
		r, n := utf8.DecodeRuneInString(line)
		if n == 0 || unicode.ToLower(r) != want {
			return false
		}
		line = line[n:]
	}
	next, _ := utf8.DecodeRuneInString(line)
	c := classOf(next)
	return !t.isWhole || c == classOther || c == classSpaceless
}
