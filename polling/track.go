package polling

import (
	"github.com/panebridge/panebridge/sessions"
)

// The reasons of gaps, as people read them.
const (
	reasonBefore    = "older output had left tmux's history before the first look"
	reasonDropped   = "more was printed between two looks than tmux's history keeps"
	reasonRepeats   = "the output repeats itself, so that its place can't be told; some of it may be missing"
	reasonCleared   = "the screen was cleared; what was printed right before may be missing"
	reasonResized   = "the pane changed its width and nothing on it was recognised; lines may be missing or doubled"
	reasonRespawned = "the program was started anew; what was printed right before may be missing"
	reasonDied      = "the program ended while it was printing, and tmux may have dropped the end of it"
	reasonGone      = "the pane ended before its last output could be read"
)

// track finds out where the snapshot's rows belong in the numbering.
func (w *work) track() (*Need, error) {
	st, s := &w.state, w.s
	if !st.Started {
		return w.begin(), nil
	}
	if s.Width != st.Width {
		if s.Alternate {
			w.frozen = true // the normal screen's rows are reflowed when it's back
			return nil, nil
		}
		return w.rebase(reasonResized)
	}
	p, how := locate(st.Anchor, st.Base, st.HS, s, w.hashes)
	if how == deeper {
		if need := w.needAnchor(); need != nil {
			return need, nil
		}
		how = dropped
	}
	switch how {
	case dropped:
		w.lost()
	case cleared:
		if s.Alternate {
			w.frozen = true
			return nil, nil
		}
		return w.rebase(reasonCleared)
	case found, deeper:
		if w.wiped() {
			return w.rebase(reasonCleared)
		}
		w.follow(p)
	}
	return w.needNext(), nil
}

// begin starts at the oldest row kept.
func (w *work) begin() *Need {
	s := w.s
	if need := w.needNext(); need != nil {
		return need
	}
	if s.HistorySize >= s.HistoryLimit-max(1, s.HistoryLimit/10) && s.HistorySize > 0 {
		w.gap(0, reasonBefore)
	}
	w.state.PID = s.PID
	w.step.Changed = true
	return nil
}

// follow goes on from where the anchor was found.
func (w *work) follow(p place) {
	st, s := &w.state, w.s
	same := p.base == st.Base && s.HistorySize == st.HS && (w.prevAbs == nil || w.sameScreen())
	w.step.Grown = int(p.base-st.Base) + s.HistorySize - st.HS
	st.Base = p.base
	if p.ambiguous && !same {
		w.gap(0, reasonRepeats)
	}
	if s.PID != st.PID {
		w.respawned()
	}
}

// respawned keeps what stood on the screen of the program before.
func (w *work) respawned() {
	st := &w.state
	unsure := st.Drew
	for _, r := range w.screen {
		unsure = unsure || trimRow(r.text) != ""
	}
	if w.vanish(true); unsure {
		w.gap(0, reasonRespawned)
	}
	st.Shown = map[int64]uint64{}
	st.Next = max(st.Next, w.top())
	w.prevAbs, w.screen = nil, nil
}

// lost goes on at the oldest row kept, behind a gap. tmux drops rows in
// multiples of limit/10, so at least that many are gone that no row of the
// anchor is left.
func (w *work) lost() {
	st, s := &w.state, w.s
	if !st.Drew {
		w.vanish(false)
	}
	ny := int64(max(1, s.HistoryLimit/10))
	k := int64(1)
	if len(st.Anchor.Hashes) > 0 {
		k = (st.Anchor.End-1-st.Base)/ny + 1
	}
	rows := max(0, st.Base+k*ny-st.Next)
	st.Base = max(st.Base+k*ny, st.Next)
	st.Next = st.Base
	st.Marked = 0
	st.Shown = map[int64]uint64{}
	w.prevAbs, w.screen = nil, nil
	w.gap(rows/w.rowsPerLine(), reasonDropped)
	w.step.Grown = s.HistorySize
}

// rowsPerLine is the length of the longest line in the snapshot, in rows: lost
// rows are at least a line for each so many.
func (w *work) rowsPerLine() int64 {
	longest, n := int64(1), int64(1)
	for _, wrapped := range w.s.Wrapped {
		if !wrapped {
			n = 0
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// wiped reports whether a screen without history was cleared: rows that were
// lines are gone, and the cursor went up. Otherwise it was overwritten in
// place.
func (w *work) wiped() bool {
	st, s := &w.state, w.s
	if len(st.Anchor.Hashes) > 0 || s.Alternate || len(st.Shown) == 0 || s.PID != st.PID {
		return false
	}
	if st.Base+int64(s.HistorySize+s.CursorY) >= st.Cursor {
		return false
	}
	for i := range s.Rows {
		if w.isShown(i) && trimRow(s.Rows[i]) != "" {
			return false
		}
	}
	return true
}

// vanish emits the rows of the last screen that weren't lines yet and can't be
// read any more. all: also the cursor's row and what stood below it.
func (w *work) vanish(all bool) {
	rows := w.screen
	for len(rows) > 0 && (trimRow(rows[len(rows)-1].text) == "" || !all && !rows[len(rows)-1].done) {
		rows = rows[:len(rows)-1]
	}
	text := ""
	for i, r := range rows {
		text += r.text
		w.state.Next = max(w.state.Next, r.abs+1)
		if r.wrapped && i+1 < len(rows) {
			continue
		}
		w.line(trimRow(text), r.abs)
		text = ""
	}
}

func (w *work) gap(atLeast int64, reason string) {
	n := len(w.step.Gaps)
	if n > 0 && w.step.Gaps[n-1].After == int64(len(w.step.Lines)) {
		w.step.Gaps[n-1].AtLeast += atLeast
		return
	}
	w.step.Gaps = append(w.step.Gaps, sessions.Gap{After: int64(len(w.step.Lines)), AtLeast: atLeast, Reason: reason})
}

// needNext asks for a window with the first undecided row, if it's above this
// one.
func (w *work) needNext() *Need {
	if w.s.First == 0 || w.index(w.state.Next) >= 0 {
		return nil
	}
	g := w.state.Next - w.state.Base - int64(len(w.state.Anchor.Hashes))
	return w.window(int(max(0, g)))
}

// needAnchor asks for a window with the next place the anchor may be at. nil:
// there is no place left.
func (w *work) needAnchor() *Need {
	st, s := &w.state, w.s
	if s.HistorySize+s.Height <= w.maxRows {
		return w.window(0)
	}
	ny := max(1, s.HistoryLimit/10)
	k := w.attempt
	if s.HistorySize < st.HS {
		k++ // at least one drop lies between
	}
	g := int(st.Anchor.End-st.Base) - k*ny - len(st.Anchor.Hashes)
	if g+len(st.Anchor.Hashes) <= 0 || w.attempt > 10 {
		return nil
	}
	return w.window(max(0, g))
}

// window is one from grid row g on, with room for what comes until it's taken.
// It goes to the bottom if that's near enough.
func (w *work) window(g int) *Need {
	s := w.s
	if w.s.First == 0 && len(w.s.Rows) >= s.HistorySize+s.Height {
		return nil // all there is was looked at
	}
	slack := min(w.maxRows/4, 256<<min(w.attempt, 8))
	start := g - s.HistorySize - slack
	n := &Need{Window: sessions.Window{Start: min(0, start)}}
	if -start+s.Height > w.maxRows {
		n.Window.Rows = w.maxRows
	}
	return n
}
