package polling

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// history is one random life of a pane and its poller.
type history struct {
	*rapid.T
	g        *grid
	f        follower
	n        int  // lines printed
	periodic bool // text that repeats itself was printed
	cleared  bool
	period   int  // of that text, in lines
	long     bool // how many lines are lost can't be told from rows
	profile  ScreenProfile
	dialog   []string // the rows of the open dialog; nil: none
	dialogs  int      // drawn so far
	shift    int64    // row numbers are so much more than they should be
	placed   bool     // shift is known
}

func newHistory(t *rapid.T) *history {
	h := &history{T: t, profile: PlainProfile{}, period: rapid.IntRange(2, 11).Draw(t, "period")}
	h.g = newGrid(rapid.IntRange(4, 12).Draw(t, "width"), rapid.IntRange(2, 8).Draw(t, "height"),
		rapid.SampledFrom([]int{10, 10, 10, 20, 20, 55, 100, 300, 1000}).Draw(t, "limit"))
	h.f = follower{
		engine:  NewEngine(PlainProfile{}, nil, true),
		maxRows: rapid.SampledFrom([]int{100, 200, 5000}).Draw(t, "max rows"),
		depth:   minDepth, now: time.Unix(1_000_000, 0),
	}
	return h
}

// print prints n lines of one kind.
func (h *history) print(kind string, n int) {
	if h.dialog != nil && kind == "blank" {
		kind = "number" // with nothing but blank rows below it, it looks open still
	}
	h.leaveDialog()
	for range n {
		h.n++
		switch kind {
		case "blank":
			h.g.printLine("")
			h.periodic = true
		case "same":
			h.g.printLine("again")
			h.periodic = true
		case "period":
			h.g.printLine(fmt.Sprint("p", h.n%h.period))
			h.periodic = true
		case "long":
			h.g.printLine(strings.Repeat("x", h.n%40) + fmt.Sprint(h.n))
		default:
			h.g.printLine(fmt.Sprint(h.n))
		}
	}
}

func (h *history) printSome() {
	kind := rapid.SampledFrom([]string{"number", "number", "number", "long", "blank", "same", "period"}).Draw(h.T, "kind")
	n := rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, 5), rapid.IntRange(1, 60), rapid.IntRange(1, 3*h.g.limit), h.rounds()).Draw(h.T, "lines")
	h.print(kind, n)
}

// rounds are lengths over which both a period and tmux's dropping come round, or nearly.
func (h *history) rounds() *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) int {
		n := h.period * max(1, h.g.limit/10) * rapid.IntRange(1, 3).Draw(t, "rounds")
		return min(n+rapid.IntRange(0, 2).Draw(t, "more"), 4*h.g.limit)
	})
}

func (h *history) poll() {
	left := 100 // a program that's always faster than the captures is never caught up with
	h.look(func() {
		if left--; left > 0 && rapid.IntRange(0, 3).Draw(h.T, "meanwhile") == 0 {
			h.print("number", rapid.IntRange(1, h.g.limit).Draw(h.T, "lines meanwhile"))
		}
	})
}

func (h *history) look(meanwhile func()) {
	h.f.now = h.f.now.Add(time.Duration(rapid.IntRange(50, 3000).Draw(h.T, "ms")) * time.Millisecond)
	gaps := len(h.f.gaps)
	h.f.poll(h.g, meanwhile)
	h.wantPlace(len(h.f.gaps) > gaps)
	h.wantWholeScreen()
	h.wantHeld()
}

// wantPlace: without a gap, rows have the numbers they had.
func (h *history) wantPlace(gap bool) {
	shift := h.f.engine.state.Base - int64(h.g.dropped)
	if !gap && h.placed && shift != h.shift {
		h.Fatalf("the numbers of rows have moved by %d, and no gap says so", shift-h.shift)
	}
	h.shift, h.placed = shift, true
}

// wantWholeScreen: what's on the screen is a line or live.
func (h *history) wantWholeScreen() {
	all := map[string]bool{}
	for _, l := range h.f.lines {
		all[l] = true
	}
	live := map[string]bool{}
	for _, r := range h.f.live.Rows {
		live[r] = true
	}
	s := h.g
	for i := s.hs; i < len(s.rows); {
		j := i
		text := s.rows[j]
		for s.wrapped[j] {
			j++
			text += s.rows[j]
		}
		ok := text == "" || all[text] || i == s.hs && (s.hs == 0 || s.wrapped[i-1])
		for k := i; k <= j && !ok; k++ {
			ok = live[s.rows[k]]
		}
		if !ok {
			h.Fatalf("%q is neither a line nor live", text)
		}
		i = j + 1
	}
}

// clear empties the screen, or its history only, now and then, between two
// polls: what's printed and cleared between two can't be seen. How many lines
// are missing can't be told from rows then: a history that was cleared and has
// filled again looks like one that has dropped rows.
func (h *history) clear() {
	if rapid.IntRange(0, 4).Draw(h.T, "clear") > 0 {
		return
	}
	if h.g.line != "" {
		h.g.newline() // an unfinished line may be cleared: nobody misses it
	}
	h.poll()
	defer h.poll()
	h.cleared, h.long, h.placed = true, true, false
	if rapid.Bool().Draw(h.T, "history only") {
		h.g.clearHistory()
	} else {
		h.clearDialog()
		h.g.clear()
	}
}

// reload is a restart of the daemon.
func (h *history) reload() {
	b, err := json.Marshal(&h.f.engine.state)
	if err != nil {
		h.Fatal(err)
	}
	h.f.engine = NewEngine(h.profile, nil, true)
	if err := json.Unmarshal(b, &h.f.engine.state); err != nil {
		h.Fatal(err)
	}
	h.f.depth = minDepth
}

// wantSettled: when all is quiet, only the line with the cursor is live.
func (h *history) wantSettled() {
	for range 2 {
		h.f.now = h.f.now.Add(5 * time.Second)
		h.f.poll(h.g, func() {})
	}
	rows := len(h.dialog) + (len(h.g.line)+h.g.width-1)/h.g.width + 1
	if n := len(h.f.live.Rows); n > rows {
		h.Fatalf("%d live rows: %q", n, h.f.live.Rows)
	}
}

// end lets the program die, and checks the account.
func (h *history) end() {
	if rapid.Bool().Draw(h.T, "quiet at the end") {
		h.wantSettled()
	}
	h.g.dead = true
	h.f.now = h.f.now.Add(time.Second)
	h.f.poll(h.g, func() {})
	h.leaveDialog()
	printed := h.g.printed
	if h.g.line != "" {
		printed = append(printed, h.g.line)
	}
	if h.long || slices.ContainsFunc(printed, func(l string) bool { return len(l) > h.g.width }) {
		for i := range h.f.gaps {
			h.f.gaps[i].AtLeast = 0
		}
	}
	if h.cleared { // a screen that held nothing but blank lines looks cleared already
		printed = slices.DeleteFunc(slices.Clone(printed), func(l string) bool { return l == "" })
		h.f.dropBlank()
	}
	if bad := account(printed, h.f.lines, h.f.gaps); bad != "" {
		h.Fatalf("%s\nprinted: %q\nlines: %q\ngaps: %v", bad, printed, h.f.lines, h.f.gaps)
	}
	mayDrop := h.g.hs >= h.g.limit-max(1, h.g.limit/10)
	for _, gap := range h.f.gaps {
		if !h.periodic && !h.cleared && !mayDrop && h.g.dropped == 0 {
			h.Fatalf("a gap though nothing was dropped: %v", gap)
		}
	}
}

// Whatever is printed and whenever it's looked at: nothing comes twice or out of
// order, where lines are missing there's a gap, and it claims no more than that.
func TestLinesAreAccountedFor(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 10).Draw(t, "step") {
			case 0, 1, 2, 3:
				h.printSome()
			case 4:
				h.g.write("part")
			case 5:
				h.reload()
			case 6:
				h.clear()
			default:
				h.poll()
			}
		}
		h.end()
	})
}
