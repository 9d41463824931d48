package polling

import (
	"strings"
	"unicode"
)

// tailLines is how much of the output log a reprint is compared with.
const tailLines = 20_000

// reprinted recognises text that was printed before, whatever its line breaks:
// programs wrap the same text differently in another width. It follows the log
// word by word; where it has lost the thread it looks for the next gram words.
type reprinted struct {
	words []string
	index map[string][]int // each run of gram words → where it begins
	at    int              // the word expected next; len(words): none
	prev  bool             // the last line with words was old
}

const gram = 4

// wordsOf splits text into what the comparison goes by. Decoration (rules, box
// drawing, bullets) changes with the width and doesn't count.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '-'
	})
}

func newReprinted(log []string) *reprinted {
	r := &reprinted{index: map[string][]int{}}
	for _, l := range log {
		r.words = append(r.words, wordsOf(l)...)
	}
	for i := range r.words {
		key := gramKey(r.words[i:])
		r.index[key] = append(r.index[key], i)
	}
	r.at = len(r.words)
	return r
}

func gramKey(words []string) string { return strings.Join(words[:min(gram, len(words))], " ") }

// mark decides about consecutive lines: true where a line was printed before.
func (r *reprinted) mark(lines []string) []bool {
	type ref struct{ line int }
	var words []string
	var of []ref
	for i, l := range lines {
		for _, x := range wordsOf(l) {
			words = append(words, x)
			of = append(of, ref{i})
		}
	}
	total, hit := make([]int, len(lines)), make([]int, len(lines))
	for i, x := range words {
		total[of[i].line]++
		if r.at < len(r.words) && r.words[r.at] == x || r.find(words[i:]) {
			hit[of[i].line]++
			r.at++
		}
	}
	old := make([]bool, len(lines))
	for i := range lines {
		if total[i] > 0 {
			r.prev = hit[i]*4 >= total[i]*3
		}
		old[i] = r.prev
	}
	return old
}

// find looks for the next words further on in the log, else anywhere.
func (r *reprinted) find(words []string) bool {
	if len(words) < gram {
		return false
	}
	places := r.index[gramKey(words)]
	if len(places) == 0 {
		return false
	}
	for _, p := range places {
		if p >= r.at || r.at >= len(r.words) {
			r.at = p
			return true
		}
	}
	r.at = places[len(places)-1]
	return true
}

// old decides about one more line.
func (r *reprinted) old(line string) bool { return r.mark([]string{line})[0] }
