package agent

import (
	"regexp"
	"strings"
)

// phraseForm is what a dialog's phrase looks like: short, so that it doesn't wrap, in
// lower case, beginning with two letters, and without characters that mean something
// in a regular expression, for tmux searches with it (POSIX extended syntax).
var phraseForm = regexp.MustCompile(`^[a-z][a-z][a-z0-9 ,:'/-]{2,46}$`)

// phraseIndex finds phrases in rows, whatever their capitals.
type phraseIndex struct {
	phrases []string
	// starts has the phrases by the letters with which they begin: few places of a
	// screen are looked at twice.
	starts *[1 << 10][]int
}

func indexPhrases(phrases []string) phraseIndex {
	x := phraseIndex{phrases: phrases, starts: new([1 << 10][]int)}
	for n, phrase := range phrases {
		at := letterPair(phrase[0], phrase[1])
		x.starts[at] = append(x.starts[at], n)
	}
	return x
}

// findPhrase returns the first phrase in the order of the index that's in the rows, or "".
// It's one pass: it's asked with every capture, and a search for each phrase in a copy
// in lower case was a tenth of the daemon's CPU.
func (x *phraseIndex) findPhrase(rows []string) string {
	first := len(x.phrases)
	for _, row := range rows {
		x.eachPhrase(row, func(n int) { first = min(first, n) })
	}
	if first == len(x.phrases) {
		return ""
	}
	return x.phrases[first]
}

// eachPhrase calls found for the phrases in a row.
func (x *phraseIndex) eachPhrase(row string, found func(n int)) {
	for i := 1; i < len(row); i++ {
		for _, n := range x.starts[letterPair(row[i-1], row[i])] {
			if hasPrefixFold(row[i-1:], x.phrases[n]) {
				found(n)
			}
		}
	}
}

// letterPair is a number for two letters, the same for capitals. Other characters
// share it with some letter.
func letterPair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
