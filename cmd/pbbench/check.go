package main

// got is one line or one gap, as a reader has them in order.
type got struct {
	text    string
	gap     bool
	atLeast int64 // of a gap
}

// verdict is what came of a printer's lines.
type verdict struct {
	missing  int // printed, but not read
	twice    int // read, but printed once less, or out of order
	silent   int // missing where no gap stands
	claimed  int // more than is missing where a gap stands
	gaps     int
	matched  int // lines read as printed
	position int // in the script, of the next line expected
}

// check compares what was read with what was printed. Numbered lines tell where
// a reader is; the lines between two of them, which may be alike, have to be
// those that were printed there. Behind a gap the lines before the first
// numbered one are compared backwards from it.
func check(want []string, read []got) verdict {
	at := map[int]int{} // number → position
	for i, w := range want {
		if n, ok := numberOf(w); ok {
			at[n] = i
		}
	}
	var v verdict
	gap, claim := false, int64(0)
	var unplaced []string
	place := func(p int) { // the lines before position p, and what's missing
		from := p
		for len(unplaced) > 0 && from > v.position && unplaced[len(unplaced)-1] == want[from-1] {
			from--
			unplaced = unplaced[:len(unplaced)-1]
		}
		v.twice += len(unplaced)
		unplaced = nil
		v.lost(from-v.position, gap, claim)
		v.matched += p - from
		gap, claim = false, 0
		v.position = p
	}
	for _, r := range read {
		switch n, numbered := numberOf(r.text); {
		case r.gap:
			v.gaps++
			gap = true
			claim += r.atLeast
		case !numbered && !gap && len(unplaced) == 0 && v.position < len(want) && want[v.position] == r.text:
			v.position++
			v.matched++
		case !numbered:
			unplaced = append(unplaced, r.text)
		default:
			p, known := at[n]
			if !known || p < v.position {
				v.twice++
				continue
			}
			place(p)
			v.position++
			v.matched++
		}
	}
	place(len(want))
	return v
}

// lost counts lines that are missing in one place.
func (v *verdict) lost(n int, gap bool, claim int64) {
	v.missing += n
	if !gap {
		v.silent += n
	}
	v.claimed += max(0, int(claim)-n)
}
