package redact

// automaton finds all of many words in one pass over a text (Aho and Corasick, 1975).
// A line feed leaves its state as it is, so that it finds words that are wrapped too.
type automaton struct {
	class [256]uint8 // of bytes that no word tells apart
	shift uint8      // a state's row in next has 1<<shift entries
	next  []uint16   // state<<shift | class → state
	words [][]uint16 // by state, from first on: the words that end there
	first uint16     // the first state at which a word ends
}

// newAutomaton builds the automaton of words. None may be empty or have a line feed
// in it.
func newAutomaton(words []string) *automaton {
	a := &automaton{}
	classes := uint8(1)
	for _, w := range words {
		for i := range len(w) {
			if a.class[w[i]] == 0 {
				a.class[w[i]] = classes
				classes++
			}
		}
	}
	a.class['\n'] = classes
	for 1<<a.shift <= int(classes) {
		a.shift++
	}
	t := newTrie(words, &a.class)
	t.link()
	a.number(t, classes)
	return a
}

// trie is what an automaton is made from. Its node 0 is the root.
type trie struct {
	down  []map[uint8]int
	fail  []int
	words [][]uint16
	order []int // by depth
}

func newTrie(words []string, class *[256]uint8) *trie {
	t := &trie{}
	t.node()
	for n, w := range words {
		at := 0
		for i := range len(w) {
			c := class[w[i]]
			next, ok := t.down[at][c]
			if !ok {
				next = t.node()
				t.down[at][c] = next
			}
			at = next
		}
		t.words[at] = append(t.words[at], uint16(n))
	}
	return t
}

func (t *trie) node() int {
	t.down = append(t.down, map[uint8]int{})
	t.fail = append(t.fail, 0)
	t.words = append(t.words, nil)
	return len(t.down) - 1
}

// link finds for each node the longest end of its text that's a beginning of a word.
func (t *trie) link() {
	t.order = append(t.order, 0)
	for i := 0; i < len(t.order); i++ {
		at := t.order[i]
		for c, next := range t.down[at] {
			t.order = append(t.order, next)
			if at == 0 {
				continue
			}
			t.fail[next] = t.step(t.fail[at], c)
			t.words[next] = append(t.words[next], t.words[t.fail[next]]...)
		}
	}
}

// step is where a character leads to from a node whose links are known.
func (t *trie) step(at int, c uint8) int {
	for {
		if next, ok := t.down[at][c]; ok {
			return next
		}
		if at == 0 {
			return 0
		}
		at = t.fail[at]
	}
}

// number gives the nodes at which words end the highest numbers, so that one comparison
// tells them apart, and fills the table.
func (a *automaton) number(t *trie, feed uint8) {
	state := make([]uint16, len(t.down))
	n := uint16(0)
	for _, ends := range []bool{false, true} {
		if ends {
			a.first = n
		}
		for _, at := range t.order {
			if (len(t.words[at]) > 0) == ends {
				state[at] = n
				n++
			}
		}
	}
	a.words = make([][]uint16, int(n-a.first))
	a.next = make([]uint16, int(n)<<a.shift)
	for _, at := range t.order {
		s := state[at]
		if s >= a.first {
			a.words[s-a.first] = t.words[at]
		}
		row := a.next[int(s)<<a.shift:][:1<<a.shift]
		copy(row, a.next[int(state[t.fail[at]])<<a.shift:][:1<<a.shift]) // done already: it's less deep
		for c, next := range t.down[at] {
			row[c] = state[next]
		}
		row[feed] = s
	}
}

// scan calls each for every word that ends in the text. end is the place behind it.
func (a *automaton) scan(text []byte, each func(word uint16, end int)) {
	s, first := uint16(0), a.first
	next, shift := a.next, a.shift
	for i, c := range text {
		s = next[uint(s)<<shift|uint(a.class[c])]
		if s >= first && c != '\n' {
			for _, w := range a.words[s-first] {
				each(w, i+1)
			}
		}
	}
}
