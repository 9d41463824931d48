package polling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Text that repeats itself overflows history between two looks, so that what's known
// stands in a wrong place too. Nothing comes twice, and what's missing is missing at a
// gap.
func TestRepeatedTextOverflowsHistory(t *testing.T) {
	numbers := func(from, to int) (lines []string) {
		for i := from; i <= to; i++ {
			lines = append(lines, fmt.Sprint(i))
		}
		return lines
	}
	period := func(p, from, to int) (lines []string) {
		for i := from; i <= to; i++ {
			lines = append(lines, fmt.Sprint("p", i%p))
		}
		return lines
	}
	times := func(n int, line string) []string { return strings.Split(strings.Repeat(line+"\n", n-1)+line, "\n") }
	join := func(parts ...[]string) (lines []string) {
		for _, p := range parts {
			lines = append(lines, p...)
		}
		return lines
	}
	for _, c := range []struct {
		name                 string
		width, height, limit int
		printed              [][]string // a look behind each; the program ends before the last
	}{
		{"the rows of one long line", 5, 8, 20, [][]string{{strings.Repeat("x", 39) + "39", "40"}, nil, numbers(41, 60)}},
		{"less than two periods in history", 4, 4, 10, [][]string{append(period(4, 1, 7), "8"), join([]string{"9", "10"}, period(4, 11, 70), numbers(71, 77))}},
		{"three periods", 4, 8, 10, [][]string{nil, period(5, 1, 15), numbers(16, 22)}},
		{"blank rows as far as known ones would be below the screen", 4, 2, 55, [][]string{numbers(1, 26), append(times(27, ""), "54"), nil, append([]string{"55"}, times(52, "")...)}},
		{"one row of the screen is what it was, by chance", 5, 7, 10, [][]string{join(numbers(1, 6), times(12, "again"), numbers(19, 20), []string{"part21"}), nil, join(times(10, "again"), []string{"32"}, times(5, "again"))}},
		{"the first row of a line is what it was", 4, 3, 10, [][]string{append(times(20, "same"), "part6"), nil, append(times(15, "same"), "part12")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGrid(c.width, c.height, c.limit)
			f := follower{engine: NewEngine(PlainProfile{}, nil, true), maxRows: 100, depth: minDepth, now: time.Unix(1_000_000, 0)}
			for n, lines := range c.printed {
				for _, l := range lines {
					g.printLine(l)
				}
				g.dead = n == len(c.printed)-1
				f.now = f.now.Add(50 * time.Millisecond)
				f.poll(g, func() {})
			}
			for i := range f.gaps {
				f.gaps[i].AtLeast = 0 // of lines that take several rows it can't be told
			}
			if bad := account(g.printed, f.lines, f.gaps); bad != "" {
				t.Errorf("%s\nlines %q\ngaps %v", bad, f.lines, f.gaps)
			}
			if last := g.printed[len(g.printed)-1]; !slices.Contains(f.lines, last) {
				t.Errorf("the last line, %q, isn't whole: %q", last, f.lines)
			}
		})
	}
}
