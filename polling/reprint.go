package polling

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// tailLines is how much of the output log a reprint is compared with.
	tailLines = 20_000
	// reprintFor is how long after a change of size a drawing program may take
	// to print everything again; programs wait until the resizing is over.
	reprintFor = 10 * time.Second
	// reprintQuiet is how long it may hesitate before it begins.
	reprintQuiet = 3 * time.Second
)

// reprinted recognises text that was printed before, whatever its line breaks:
// programs wrap the same text differently in another width. It follows the log
// word by word; where it has lost the thread it looks for the next words.
type reprinted struct {
	lines []string
	words []string
	index map[string][]int // each run of gram words → where it begins
	at    int              // the word expected next; len(words): none
	prev  bool             // the last line with words was old
	has   int              // how many lines of the present step the log includes
}

const (
	gram = 4 // words that show where to go on
	// backGram is how many words show that the text begins again further up.
	// Fewer may be something that is really said twice.
	backGram = 12
	// maxPlaces bounds how many places are compared; of words that stand
	// everywhere, the newest count.
	maxPlaces = 64
)

// wordsOf splits text into what the comparison goes by. Decoration (rules, box
// drawing, bullets) changes with the width and doesn't count.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) })
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || r == '-'
}

func newReprinted(log []string) *reprinted {
	r := &reprinted{lines: log, index: map[string][]int{}}
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

// clone shares what doesn't change.
func (r *reprinted) clone() *reprinted {
	c := *r
	return &c
}

func gramKey(words []string) string { return strings.Join(words[:min(gram, len(words))], " ") }

// verdict is what's known about a line: it was printed before (old), or it's new
// from byte cut on. Where a paragraph wraps differently, a line can begin with
// words that are lines already and go on with new ones.
type verdict struct {
	old bool
	cut int
}

// mark decides about consecutive lines.
func (r *reprinted) mark(lines []string) []verdict {
	out := make([]verdict, len(lines))
	if n := r.overlap(lines); n > 0 {
		for i := range n {
			out[i].old = true
		}
		r.at, r.prev = len(r.words), false
		return out
	}
	var words []string
	var of []int // the line of each word
	for i, l := range lines {
		for _, x := range wordsOf(l) {
			words = append(words, x)
			of = append(of, i)
		}
	}
	total, hit, lead := make([]int, len(lines)), make([]int, len(lines)), make([]int, len(lines))
	for i, x := range words {
		l := of[i]
		total[l]++
		if r.at < len(r.words) && r.words[r.at] == x || r.find(words[i:]) {
			hit[l]++
			r.at++
			if hit[l] == total[l] {
				lead[l]++
			}
		}
	}
	for i := range lines {
		if total[i] > 0 {
			r.prev = hit[i]*4 >= total[i]*3 && lead[i] != hit[i] || hit[i] == total[i]
		}
		out[i].old = r.prev
		if !r.prev && lead[i] > 0 && lead[i] == hit[i] {
			out[i].cut = afterWords(lines[i], lead[i])
		}
	}
	return out
}

// afterWords is the byte at which the word behind the first n begins.
func afterWords(line string, n int) int {
	inWord := false
	for i, c := range line {
		if isWord(c) && !inWord {
			if n == 0 {
				return i
			}
			n--
		}
		inWord = isWord(c)
	}
	return 0
}

// overlap is how many of the lines are the log's last ones, as they are: then
// all those are old, and all behind them new. The first line may be the rest of
// one whose beginning is gone. 0: it isn't that simple.
func (r *reprinted) overlap(lines []string) int {
	if n := longestSuffix(r.lines, lines); n >= minOverlap {
		return n
	}
	if len(lines) > 1 {
		if n := longestSuffix(r.lines, lines[1:]); n >= minOverlap {
			return n + 1
		}
	}
	return 0
}

const minOverlap = 3

// longestSuffix is the length of the longest beginning of lines at which the
// log ends (Knuth, Morris and Pratt).
func longestSuffix(log, lines []string) int {
	if len(lines) == 0 {
		return 0
	}
	fail := make([]int, len(lines))
	for i, k := 1, 0; i < len(lines); i++ {
		for k > 0 && lines[i] != lines[k] {
			k = fail[k-1]
		}
		if lines[i] == lines[k] {
			k++
		}
		fail[i] = k
	}
	k := 0
	for _, l := range log[max(0, len(log)-len(lines)):] {
		for k > 0 && (k == len(lines) || l != lines[k]) {
			k = fail[k-1]
		}
		if l == lines[k] {
			k++
		}
	}
	return k
}

// find looks for the next words further on in the log, else, if more of them
// are the same, further up.
func (r *reprinted) find(words []string) bool {
	if len(words) < gram {
		return false
	}
	places := r.index[gramKey(words)]
	lost := r.at >= len(r.words)
	if i, _ := slices.BinarySearch(places, r.at); i < len(places) && !lost {
		r.at = places[i]
		return true
	}
	for _, p := range slices.Backward(places[max(0, len(places)-maxPlaces):]) {
		if r.agree(words, p) >= min(backGram, len(words)) {
			r.at = p
			return true
		}
	}
	return false
}

// agree is how many of the words stand in the log from p on, at most backGram.
func (r *reprinted) agree(words []string, p int) int {
	n := 0
	for n < backGram && n < len(words) && p+n < len(r.words) && r.words[p+n] == words[n] {
		n++
	}
	if p+n == len(r.words) {
		return backGram // the log ends here
	}
	return n
}

// recogniser is one for the log as it is with this step.
func (w *work) recogniser() (*reprinted, error) {
	log, err := w.tail(tailLines)
	if err != nil {
		return nil, err
	}
	r := newReprinted(append(slices.Clone(log), w.step.Lines...))
	r.has = len(w.step.Lines)
	return r, nil
}

// learn makes the recogniser know what the step emitted: what left the screen
// when its size changed may be painted again right after.
func (w *work) learn() {
	if w.rep == nil {
		return
	}
	if more := w.step.Lines[w.rep.has:]; len(more) > 0 {
		r := newReprinted(append(slices.Clone(w.rep.lines), more...))
		if w.rep.at < len(w.rep.words) {
			r.at = w.rep.at
		}
		r.prev = w.rep.prev
		w.rep = r
	}
	w.rep.has = 0
}

// expectReprint begins the time in which everything may be printed again.
func (w *work) expectReprint() error {
	rep, err := w.recogniser()
	if err != nil {
		return err
	}
	w.rep, w.state.ReprintUntil = rep, w.now.Add(reprintFor)
	return nil
}

// reprinting reports whether everything may be being printed again. It's over
// when all is quiet.
func (w *work) reprinting() (bool, error) {
	st := &w.state
	quiet := len(w.prevAbs) > 0 && w.sameScreen() && w.now.After(st.ReprintUntil.Add(reprintQuiet-reprintFor))
	if quiet || !w.now.Before(st.ReprintUntil) {
		st.ReprintUntil, w.rep = time.Time{}, nil
		return false, nil
	}
	if w.rep == nil { // the daemon was started anew
		rep, err := w.recogniser()
		if err != nil {
			return false, err
		}
		w.rep = rep
	}
	return true, nil
}
