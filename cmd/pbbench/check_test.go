package main

import (
	"slices"
	"testing"
)

func lines(text ...string) []got {
	var out []got
	for _, t := range text {
		out = append(out, got{text: t})
	}
	return out
}

func TestCheckCountsLossAndDoubles(t *testing.T) {
	want := []string{"1", "2", "", "again", "again", "3", "4", "", "5"}
	gap := func(n int64) []got { return []got{{gap: true, atLeast: n}} }
	for name, c := range map[string]struct {
		read []got
		want verdict
	}{
		"all":                        {lines(want...), verdict{matched: 9, position: 9}},
		"a line silently":            {lines("1", "2", "", "again", "again", "4", "", "5"), verdict{missing: 1, silent: 1, matched: 8, position: 9}},
		"a repeated line silently":   {lines("1", "2", "", "again", "3", "4", "", "5"), verdict{missing: 1, silent: 1, matched: 8, position: 9}},
		"a repeated line twice":      {lines("1", "2", "", "again", "again", "again", "3", "4", "", "5"), verdict{twice: 1, matched: 9, position: 9}},
		"a numbered line twice":      {lines("1", "2", "", "again", "again", "3", "3", "4", "", "5"), verdict{twice: 1, matched: 9, position: 9}},
		"with a gap":                 {slices.Concat(lines("1", "2"), gap(2), lines("again", "3", "4", "", "5")), verdict{missing: 2, gaps: 1, matched: 7, position: 9}},
		"with a gap that says more":  {slices.Concat(lines("1", "2"), gap(9), lines("again", "3", "4", "", "5")), verdict{missing: 2, claimed: 7, gaps: 1, matched: 7, position: 9}},
		"the end silently":           {lines("1", "2", "", "again", "again", "3"), verdict{missing: 3, silent: 3, matched: 6, position: 9}},
		"the beginning, with a gap":  {slices.Concat(gap(5), lines("3", "4", "", "5")), verdict{missing: 5, gaps: 1, matched: 4, position: 9}},
		"a blank line where none is": {lines("1", "", "2", "", "again", "again", "3", "4", "", "5"), verdict{twice: 1, matched: 9, position: 9}},
	} {
		t.Run(name, func(t *testing.T) {
			if v := check(want, c.read); v != c.want {
				t.Errorf("verdict is %+v, want %+v", v, c.want)
			}
		})
	}
}

func TestScriptEndsWithANumberedLine(t *testing.T) {
	for n := 1; n < 200; n++ {
		s := script(n, true)
		if len(s) < n || len(s) > n+4 {
			t.Fatalf("script of %d has %d lines", n, len(s))
		}
		if _, ok := numberOf(s[len(s)-1]); !ok {
			t.Fatalf("script of %d ends with %q", n, s[len(s)-1])
		}
	}
}
