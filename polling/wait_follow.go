package polling

import (
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// waitContext is how many rows above the screen a look holds besides what's new, so that
// the place is found again in text that repeats itself.
const waitContext = 128

// waitFollower follows a pane for a wait: which of its text is output after the call. Like
// Engine it's a value without I/O. It finds its place by the engine's anchor; what it
// doesn't share is the deciding of lines: a wait has to search what can still change,
// each time it has changed.
type waitFollower struct {
	engine Engine
	rows   waitRows
	last   *sessions.Snapshot // the last that reached the bottom of the screen
	base   int64              // absolute number of its grid row 0
	cursor int64              // absolute number of its cursor's row
	column int                // of its cursor
}

// sighting is what one look of a wait found.
type sighting struct {
	lines     []waitLine // with something new in them, oldest first
	settled   int        // how many of them can't change any more
	moved     bool       // there was output, if only blank
	dropped   bool       // tmux dropped rows that weren't seen
	cleared   bool       // history was cleared
	unsure    bool       // rows may have been dropped or cleared that weren't seen
	respawned bool       // another program runs: nothing of it was searched
	suspended bool       // the alternate screen is shown: nothing was searched
	reached   bool       // the bottom of the screen was reached
	next      waitFollower
}

// newFollower returns a follower that begins with the first snapshot it's given.
func newFollower() waitFollower { return waitFollower{engine: NewEngine(Generic{}, nil, true)} }

// started reports whether the call has been seen: what's on the normal screen.
func (f *waitFollower) started() bool { return f.engine.state.Started }

// look works a snapshot in. Like Engine.Apply it may need another one instead.
func (f waitFollower) look(s *sessions.Snapshot, asked *Need, maxRows int, now time.Time) (*sighting, *Need) {
	w := &waitWork{work: work{Engine: f.engine, s: s, now: now, maxRows: maxRows, step: &Step{}}, f: f, out: &sighting{}}
	if asked != nil {
		w.asked = *asked
	}
	w.tail = func(int) ([]string, error) { return nil, nil }
	w.state.Shown = cloneShown(f.engine.state.Shown)
	if need := w.look(); need != nil {
		return nil, need
	}
	w.out.next = w.f
	w.out.next.engine = w.Engine
	return w.out, nil
}

// waitWork is one look.
type waitWork struct {
	work

	f     waitFollower
	out   *sighting
	cells []waitCell // of the snapshot's rows from row first on
	first int
}

func (w *waitWork) look() *Need {
	s, st := w.s, &w.state
	w.hashes = make([]uint64, len(s.Rows))
	for i, r := range s.Rows {
		w.hashes[i] = rowHash(trimRow(r))
	}
	w.dropDeathNotice()
	w.out.reached = w.reaches()
	if st.Started && s.PID != st.PID {
		w.out.respawned = true
		return nil
	}
	if s.Alternate {
		w.out.suspended = true
		return nil
	}
	w.measure()
	w.drawing = w.profile.Drawing(s)
	var need *Need
	switch {
	case !st.Started:
		w.begin()
	case s.Width != st.Width:
		need = w.realign()
	default:
		need = w.follow()
	}
	if need != nil {
		return need
	}
	w.search()
	w.remember()
	return nil
}

// begin takes all there is as what stood there at the call.
func (w *waitWork) begin() {
	w.state.PID = w.s.PID
	w.first = w.lineStart(w.index(w.top()))
	for i := w.first; i < len(w.s.Rows); i++ {
		c := oldCell(callText(w.s, i))
		w.cells = append(w.cells, c)
	}
}

// lineStart is the row with which the line of row i begins.
func (w *waitWork) lineStart(i int) int {
	i = min(max(0, i), len(w.s.Rows))
	for from := i; i > 0 && from-i < pieceRows && w.s.Wrapped[i-1]; {
		i--
	}
	return i
}

// follow finds out where the rows belong, as Engine does.
func (w *waitWork) follow() *Need {
	s, st := w.s, &w.state
	shrank := s.HistorySize < st.HS-max(0, s.Height-st.Height) && !mayDrop(s)
	p, how := w.locate()
	if how == deeper {
		if need := w.needAnchor(p.k); need != nil {
			return need
		}
		p.ambiguous, how = true, found
	}
	if how == found {
		p = w.doubt(p)
	} else {
		var need *Need
		if p, how, need = w.resume(p, how); need != nil {
			return need
		}
	}
	w.out.cleared = shrank || how == cleared
	switch how {
	case cleared:
		return w.realign()
	case dropped:
		return w.refill()
	case found, weak, deeper:
		w.out.unsure = w.wiped()
		w.work.follow(p)
	}
	if need := w.needNext(); need != nil {
		return need
	}
	for _, g := range w.step.Gaps {
		w.out.dropped = w.out.dropped || g.Reason == reasonDropped
		w.out.unsure = w.out.unsure || g.Reason != reasonDropped
	}
	w.first = max(0, w.index(st.Next))
	if w.first >= len(s.Rows) { // a window further up, by which the place was found
		w.first = len(s.Rows)
		return nil
	}
	w.cells = w.f.rows.cellsFrom(&w.work, w.first)
	return nil
}

// refill goes on at the oldest row kept: tmux dropped all that was known. What stands
// there as it did on the last screen may be that.
func (w *waitWork) refill() *Need {
	w.lost()
	if need := w.needNext(); need != nil {
		return need
	}
	w.out.dropped = true
	was := map[string]int{}
	for _, c := range w.f.rows.cells {
		if key := trimRow(c.text); key != "" && c.isOld() {
			was[key]++
		}
	}
	w.first = min(max(0, w.index(w.state.Next)), len(w.s.Rows))
	for i := w.first; i < len(w.s.Rows); i++ {
		c := waitCell{text: w.s.Rows[i]}
		if key := trimRow(c.text); i-w.first < w.s.Height && was[key] > 0 {
			was[key]--
			c = oldCell(c.text)
		}
		w.cells = append(w.cells, c)
	}
	w.f.rows = waitRows{}
	return nil
}

// search collects the lines with something new in them, and where the next look begins:
// at the line that the screen begins with.
func (w *waitWork) search() {
	if w.first == len(w.s.Rows) {
		return
	}
	next, top := w.first, len(w.s.Rows)
	if w.out.reached {
		top = w.lineStart(w.index(w.top()))
	}
	for i := w.first; i < len(w.s.Rows); {
		j, whole := w.logical(i)
		if !whole && !w.out.reached {
			break
		}
		if l := joinCells(w.cells[i-w.first : j+1-w.first]); len(l.fresh) > 0 {
			w.out.lines = append(w.out.lines, l)
			if j < top {
				w.out.settled++
			}
		}
		if i = j + 1; i <= top {
			next = i
		}
	}
	w.out.moved = len(w.out.lines) > 0
	if next = min(next, len(w.s.Rows)); next < w.first {
		next = w.first
	}
	if w.out.reached && top < w.first { // a higher screen has taken back history
		back := make([]waitCell, 0, w.first-top)
		for i := top; i < w.first; i++ {
			back = append(back, oldCell(w.s.Rows[i]))
		}
		w.cells, w.first, next = append(back, w.cells...), top, top
	}
	w.state.Next = w.abs(next)
	w.f.rows = w.f.rows.keep(w.state.Next, w.cells[next-w.first:], w.out.reached)
	if w.out.reached {
		w.seeCursor()
	}
}

// seeCursor notices output that leaves no text: the cursor is elsewhere, though the
// screen has the size it had.
func (w *waitWork) seeCursor() {
	s, f := w.s, &w.f
	row := w.top() + int64(s.CursorY)
	if f.last != nil && f.last.Width == s.Width && f.last.Height == s.Height && (row != f.cursor || s.CursorX != f.column) {
		w.out.moved = true
	}
	f.last, f.base, f.cursor, f.column = s, w.state.Base, row, s.CursorX
}
