package adaptertest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// texts makes lines that tell themselves apart.
type texts struct{ n int }

// lines returns so many lines of about a width in bytes. No part of one repeats.
func (t *texts) lines(count, width int) []string {
	var out []string
	for range count {
		t.n++
		out = append(out, t.words(width, " "))
	}
	return out
}

// words is text that counts.
func (t *texts) words(width int, between string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d.", t.n)
	for i := 1; s.Len() < width; i++ {
		fmt.Fprintf(&s, "%s%d", between, i)
	}
	return s.String()
}

// random returns lines of all sorts: short, long beyond any message, blank, of many
// bytes and of many runes per character.
func (t *texts) random(r *rand.Rand, longest int) []string {
	count := []int{1, 1, 2, 5, 20, 200}[r.IntN(6)]
	var out []string
	for range count {
		switch r.IntN(12) {
		case 0:
			out = append(out, "")
		case 1:
			out = append(out, t.lines(1, 1+r.IntN(3*longest))[0])
		case 2:
			out = append(out, t.lines(1, 1)[0]+t.words(r.IntN(300), "日本"))
		case 3:
			out = append(out, t.lines(1, 1)[0]+" "+t.words(r.IntN(2000), "👩‍👩‍👧‍👦"))
		case 4:
			out = append(out, strings.Repeat(" ", r.IntN(2*longest))+t.lines(1, 1+r.IntN(longest))[0]+strings.Repeat(" ", r.IntN(longest))+".")
		default:
			out = append(out, t.lines(1, 1+r.IntN(60))[0])
		}
		if count > 20 && r.IntN(4) == 0 {
			out = append(out, "")
		}
	}
	return out
}
