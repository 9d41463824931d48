package polling

import (
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// grid is a model of a tmux pane in which a program prints: wrapping, history
// with its limit, clearing. It knows all that was ever printed.
type grid struct {
	width, height, limit int

	rows    []string
	wrapped []bool
	hs      int // rows of history
	y       int // the cursor's visible row
	dead    bool

	printed []string // finished lines
	line    string   // the line the cursor is in
	written int64    // counts what was written
	dropped int      // rows that fell out of history
}

func newGrid(width, height, limit int) *grid {
	g := &grid{width: width, height: height, limit: limit}
	g.pad()
	return g
}

func (g *grid) pad() {
	for len(g.rows) < g.hs+g.height {
		g.rows, g.wrapped = append(g.rows, ""), append(g.wrapped, false)
	}
}

// write prints text without a line end. Text is ASCII.
func (g *grid) write(text string) {
	for i := range len(text) {
		at := g.hs + g.y
		if len(g.rows[at]) == g.width {
			g.wrapped[at] = true
			g.down()
			at = g.hs + g.y
		}
		g.rows[at] += text[i : i+1]
	}
	g.line += text
}

// newline ends the line.
func (g *grid) newline() {
	g.down()
	g.printed = append(g.printed, g.line)
	g.line = ""
}

func (g *grid) printLine(text string) {
	g.write(text)
	g.newline()
}

// down moves the cursor down, scrolling as tmux does: at its limit, history
// drops a tenth first.
func (g *grid) down() {
	g.written++
	if g.y < g.height-1 {
		g.y++
		return
	}
	if g.hs >= g.limit {
		n := max(1, g.limit/10)
		g.rows, g.wrapped = g.rows[n:], g.wrapped[n:]
		g.hs -= n
		g.dropped += n
	}
	g.hs++
	g.pad()
}

// clear is what the command of that name does: screen and history are empty.
func (g *grid) clear() {
	g.rows, g.wrapped, g.hs, g.y = nil, nil, 0, 0
	g.pad()
	if g.line != "" {
		g.printed = append(g.printed, g.line)
		g.line = ""
	}
}

// clearHistory is tmux's command of that name.
func (g *grid) clearHistory() {
	g.rows, g.wrapped, g.hs = g.rows[g.hs:], g.wrapped[g.hs:], 0
}

func (g *grid) snapshot(w sessions.RowWindow) sessions.Snapshot {
	last := g.hs + g.height - 1
	first := max(0, g.hs+min(0, w.Start))
	if w.Rows > 0 {
		last = max(0, min(last, g.hs+w.Start+w.Rows-1))
	}
	if last < first {
		first, last = last, first
	}
	return sessions.Snapshot{
		Pane: "%1", PID: 1, Width: g.width, Height: g.height, HistorySize: g.hs, HistoryLimit: g.limit,
		CursorX: min(len(g.rows[g.hs+g.y]), g.width), CursorY: g.y, CursorVisible: true, Dead: g.dead, Activity: g.written, First: first,
		Rows:    append([]string(nil), g.rows[first:last+1]...),
		Wrapped: append([]bool(nil), g.wrapped[first:last+1]...),
	}
}

// follower polls a grid as an OutputPoller does.
type follower struct {
	engine  Engine
	maxRows int
	depth   int
	now     time.Time
	lines   []string
	gaps    []sessions.Gap
	live    *sessions.Live
	asked   int  // most windows that were asked for in a row
	again   bool // another look is wanted, though nothing may change
}

// screenful is what can be captured.
type screenful interface {
	snapshot(w sessions.RowWindow) sessions.Snapshot
}

// poll catches up with the grid. between is called before each further capture:
// the program may go on meanwhile.
func (f *follower) poll(g screenful, between func()) {
	tail := func(n int) ([]string, error) { return f.lines[max(0, len(f.lines)-n):], nil }
	window := sessions.RowWindow{Start: -f.depth}
	tries := 0
	captures := 0
	for asked := (*Need)(nil); ; {
		if captures++; captures > 1000 {
			panic("it never catches up")
		}
		s := g.snapshot(window)
		step, more, err := f.engine.Apply(&s, asked, f.maxRows, tail, f.now)
		if err != nil {
			panic(err)
		}
		if asked = more; more != nil {
			tries++
			f.asked = max(f.asked, tries)
			window = more.Window
			between()
			continue
		}
		tries = 0
		f.take(step)
		if step.engine.hasCaughtUp() {
			f.depth = min(minDepth+2*max(0, step.Grown), f.maxRows)
			return
		}
		window = step.engine.windowAhead(f.maxRows)
		between()
	}
}

func (f *follower) take(step *EngineStep) {
	for _, gap := range step.Gaps {
		gap.After += int64(len(f.lines))
		f.gaps = append(f.gaps, gap)
	}
	f.lines = append(f.lines, step.Lines...)
	f.live, f.again = step.Live, step.Settling
	f.engine = step.Engine()
}

// dropBlank takes blank lines out.
func (f *follower) dropBlank() {
	kept := f.lines[:0:0]
	behind := []int64{0} // new number of each line
	for _, l := range f.lines {
		if l != "" {
			kept = append(kept, l)
		}
		behind = append(behind, int64(len(kept)))
	}
	for i := range f.gaps {
		f.gaps[i].After = behind[f.gaps[i].After]
	}
	f.lines = kept
}

// account checks lines and gaps against what was printed: without a gap between
// them, lines are consecutive; over a gap at least as many are left out as it
// claims. Text that repeats itself fits in several places; one must do. A line
// that was cut by gaps may lack its end, its beginning or both. It returns "" or
// what's wrong.
func account(printed, lines []string, gaps []sessions.Gap) string {
	at := places{only: []int{0}}
	next := 0
	for i := 0; ; i++ {
		for next < len(gaps) && gaps[next].After == int64(i) {
			at = at.skip(int(gaps[next].AtLeast))
			next++
		}
		if i == len(lines) {
			break
		}
		cut := next < len(gaps) && gaps[next].After == int64(i+1)
		if at = at.after(printed, lines[i], cut); at.none() {
			return "line " + lines[i] + " can't stand here, behind\n" + strings.Join(lines[max(0, i-10):i], "\n")
		}
	}
	end := len(printed)
	for end > 0 && printed[end-1] == "" {
		end--
	}
	if !at.reaches(end, len(printed)) {
		return "the end is missing"
	}
	return ""
}

// places are the numbers of the printed line that may come next: those in only,
// or all from number from on, where the line's beginning may be missing.
type places struct {
	only []int
	open bool
	from int
}

func (p places) none() bool { return !p.open && len(p.only) == 0 }

func (p places) least() int {
	if p.open {
		return p.from
	}
	return p.only[0]
}

func (p places) skip(n int) places { return places{open: true, from: p.least() + n} }

func (p places) after(printed []string, line string, cut bool) places {
	var out places
	add := func(i int) {
		if n := len(out.only); n == 0 || out.only[n-1] < i {
			out.only = append(out.only, i)
		}
	}
	try := func(i int) {
		if i >= len(printed) {
			return
		}
		switch {
		case cut && strings.HasPrefix(printed[i], line) && printed[i] != line:
			add(i)
		case cut && p.open && strings.Contains(printed[i], line) && !strings.HasSuffix(printed[i], line):
			add(i)
		case printed[i] == line, p.open && strings.HasSuffix(printed[i], line):
			add(i + 1)
		}
	}
	if p.open {
		for i := max(0, p.from-1); i < len(printed); i++ {
			try(i)
		}
		return out
	}
	for _, i := range p.only {
		try(i)
	}
	return out
}

func (p places) reaches(end, all int) bool {
	if p.open {
		return p.from <= all
	}
	for _, i := range p.only {
		if i >= end {
			return true
		}
	}
	return false
}
