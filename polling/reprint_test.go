package polling

import (
	"slices"
	"strings"
	"testing"
)

// What is printed again, broken anywhere, is old; what's new behind it is new.
func FuzzReprintIsRecognised(f *testing.F) {
	f.Add("one two three four five six seven eight nine ten", "fresh words that nobody has printed", uint8(7))
	f.Add("- [ ] Fix the loop\n- [x] Read the code.", "done", uint8(3))
	f.Fuzz(func(t *testing.T, before, after string, every uint8) {
		old, fresh := strings.Split(before, "\n"), wordsOf(after)
		words := wordsOf(before)
		if len(words) < backGram || slices.ContainsFunc(fresh, func(w string) bool { return slices.Contains(words, w) }) {
			return
		}
		width := int(every%20) + 2
		var again []string
		for part := range slices.Chunk(words, width) {
			again = append(again, "  "+strings.Join(part, " "))
		}
		lines := again
		if len(fresh) > 0 {
			lines = append(slices.Clone(again), strings.Join(fresh, " "))
		}
		r := newReprinted(old)
		got := r.markLines(lines, false)
		for i := range again {
			if len(words) == len(slices.Compact(slices.Sorted(slices.Values(words)))) && !got[i].old {
				t.Errorf("%q isn't recognised in %q", again[i], before)
			}
		}
		for i, v := range got {
			if v.cut < 0 || v.cut > len(lines[i]) {
				t.Errorf("cut %d in %q", v.cut, lines[i])
			}
		}
		if len(fresh) > 0 && got[len(got)-1].old {
			t.Errorf("%q is taken for old", lines[len(lines)-1])
		}
	})
}
