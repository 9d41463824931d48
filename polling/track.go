package polling

import (
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// The reasons of gaps, as people read them.
const (
	reasonBefore    = "older output had left tmux's history before the first look"
	reasonDropped   = sessions.GapOverrun
	reasonRepeats   = "the output repeats itself, so that its place can't be told; some of it may be missing"
	reasonCleared   = "the screen was cleared; what was printed right before may be missing"
	reasonResized   = "the pane changed its width and nothing on it was recognised; lines may be missing or doubled"
	reasonRespawned = "the program was started anew; what was printed right before may be missing"
	reasonDied      = "the program ended while it was printing, and tmux may have dropped the end of it"
	reasonGone      = "the pane ended before its last output could be read"
)

// trackRows finds out where the snapshot's rows belong in the numbering.
func (w *engineRun) trackRows() (*Need, error) {
	st, s := &w.state, w.s
	switch {
	case !st.Started:
		return w.beginNumbering(), nil
	case s.Width != st.Width && s.Alternate && !s.Dead:
		w.frozen = true // the normal screen's rows are reflowed when it's back
		return nil, nil //nolint:nilnil // nothing more is needed
	case s.Width != st.Width:
		return w.rebaseRows(reasonResized)
	}
	if s.Height != st.Height && (w.drawing || st.Drew) {
		if err := w.expectReprint(); err != nil {
			return nil, err
		}
	}
	p, how := w.findAnchor()
	if how == deeper {
		if need := w.needAnchor(p.k); need != nil {
			return need, nil
		}
		p.ambiguous, how = true, found // what's below that place is new for sure
	}
	if how == found {
		p = w.checkPlace(p)
	} else {
		var need *Need
		if p, how, need = w.resumePrinting(p, how); need != nil {
			return need, nil
		}
	}
	switch how {
	case cleared:
		if s.Alternate && !s.Dead {
			w.frozen = true
			return nil, nil //nolint:nilnil // nothing more is needed
		}
		return w.rebaseRows(reasonCleared)
	case dropped:
		w.skipDropped()
	case found, weak, deeper:
		if w.wasWiped() {
			return w.rebaseRows(reasonCleared)
		}
		w.followAnchor(p)
	}
	return w.needNext(), nil
}

// findAnchor looks for the anchor. History that is shorter, though nothing was
// dropped and the screen hasn't grown into it, was cleared.
func (w *engineRun) findAnchor() (anchorPlace, searchResult) {
	st, s := &w.state, w.s
	if !mayDrop(s) && s.HistorySize < st.HS-max(0, s.Height-st.Height) {
		return anchorPlace{}, cleared
	}
	next := st.Next - int64(max(0, st.Height-s.Height)) // blank rows go off a pane that gets lower
	return locateAnchor(st.Anchor, st.Base, next, st.HS, w.asked.place, s, w.hashes)
}

// beginNumbering starts at the oldest row kept.
func (w *engineRun) beginNumbering() *Need {
	s := w.s
	if need := w.needNext(); need != nil {
		return need
	}
	if s.HistorySize >= s.HistoryLimit-max(1, s.HistoryLimit/10) && s.HistorySize > 0 {
		w.addGap(0, reasonBefore)
	}
	w.state.PID = s.PID
	w.step.Changed = true
	return nil
}

// followAnchor goes on from where the anchor was found.
func (w *engineRun) followAnchor(p anchorPlace) {
	st, s := &w.state, w.s
	same := p.base == st.Base && s.HistorySize == st.HS && s.Activity == st.Activity
	w.step.Grown = int(p.base-st.Base) + s.HistorySize - st.HS
	respawned := s.PID != st.PID
	oldTop := st.Base + int64(st.HS)
	st.Base = p.base
	w.droppedRows()
	if p.ambiguous && !same {
		w.addGap(0, reasonRepeats)
		w.renumbered()
	}
	if respawned {
		w.respawned(oldTop)
	}
}

// renumbered forgets what's known of rows by their numbers: they may be others now.
func (w *engineRun) renumbered() {
	st := &w.state
	w.prevAbs, w.orphans, w.copies, w.screen.normal, st.Asking = nil, orphans{}, nil, nil, openDialog{}
	if !w.reachesBottom() {
		st.Shown = rowHashes{} // nothing more can be seen of them before what comes behind
	}
	for abs := range st.Shown {
		st.Doubtful = max(st.Doubtful, abs+1)
	}
}

// droppedRows makes good for undecided rows that tmux has dropped since the last
// look: those that a printer had finished are known, of others a gap tells.
func (w *engineRun) droppedRows() {
	st := &w.state
	if !st.Drew {
		w.emitVanished(st.Base, false)
	}
	if missing := st.Base - st.Next; missing > 0 {
		w.addGap(w.linesIn(missing), reasonDropped)
		st.Next = st.Base
	}
}

// endBegunLine emits the beginning of a line whose rest is lost.
func (w *engineRun) endBegunLine() {
	if w.state.Begun != "" {
		w.emitLine(w.takeBegun(), w.state.Next-1)
	}
}

// respawned keeps what stood on the screen of the program before, which tmux
// has cleared but for what had scrolled off it since the last look. oldTop is
// the first row that was on that screen.
func (w *engineRun) respawned(oldTop int64) {
	st := &w.state
	unsure := st.Drew
	for _, r := range w.screen.normal {
		unsure = unsure || trimRow(r.text) != ""
	}
	before := w.screen.normal
	w.emitVanished(behindAll, true)
	for abs := range st.Shown {
		if i := w.rowIndex(abs); i >= 0 && abs >= w.topRow() {
			delete(st.Shown, abs)
		}
	}
	for _, r := range before {
		if r.abs < w.topRow() {
			st.Shown[r.abs] = rowHash(trimRow(r.text))
		}
	}
	if unsure {
		w.addGap(0, reasonRespawned)
	}
	st.Next, st.PID = min(st.Next, oldTop), w.s.PID
	st.Cursor, st.FloorUntil = 0, time.Time{}
	w.prevAbs, w.screen = nil, memory{}
}

// skipDropped goes on at the oldest row kept, behind a gap. tmux drops rows in
// multiples of limit/10, so at least that many are gone that no row of the
// anchor is left.
func (w *engineRun) skipDropped() {
	st, s := &w.state, w.s
	if !st.Drew {
		w.emitVanished(behindAll, false)
	}
	w.endBegunLine()
	oldest := w.oldestDrop()
	rows := max(0, oldest-st.Next)
	st.Base = max(oldest, st.Next)
	st.Next = st.Base
	st.PID = s.PID
	st.Shown, st.Asking = rowHashes{}, openDialog{}
	w.prevAbs, w.screen = nil, memory{}
	w.addGap(w.linesIn(rows), reasonDropped)
	w.step.Grown = s.HistorySize
}

// oldestDrop is the least number that grid row 0 can have when no row of the
// anchor is left. Without an anchor, maybe nothing was dropped at all.
func (w *engineRun) oldestDrop() int64 {
	st, ny := &w.state, dropRows(w.s)
	if len(st.Anchor.Hashes) == 0 {
		return st.Base
	}
	return st.Base + ((st.Anchor.End-1-st.Base)/ny+1)*ny
}

// measureLines keeps how many rows the longest line takes that was ever seen.
func (w *engineRun) measureLines() {
	n := int64(0)
	for _, wrapped := range w.s.Wrapped {
		n++
		w.state.Longest = max(w.state.Longest, n)
		if !wrapped {
			n = 0
		}
	}
}

// linesIn is how many lines so many lost rows are at least, if lost lines were no
// longer than the longest that was ever seen. 0: they may all be of one line,
// the rest of which is the oldest in the grid.
func (w *engineRun) linesIn(rows int64) int64 {
	if w.s.First == 0 && len(w.s.Wrapped) > 0 && w.s.Wrapped[0] {
		return 0
	}
	return rows / max(1, w.state.Longest)
}

// wasWiped reports whether a screen without history was cleared: none of the rows
// that were finished is where it was, and the cursor went up. Otherwise it was
// overwritten in place.
func (w *engineRun) wasWiped() bool {
	st, s := &w.state, w.s
	if len(st.Anchor.Hashes) > 0 || !w.isPrinting() || st.Base+int64(s.HistorySize+s.CursorY) >= st.Cursor {
		return false
	}
	rows := w.lastFinished()
	rows.asked = nil
	texts, differ := rows.standAt(st.Base, w)
	return texts == 0 && differ > 0
}

// addGap puts a gap behind the lines so far.
func (w *engineRun) addGap(atLeast int64, reason string) {
	w.endBegunLine()
	n := len(w.step.Gaps)
	if n > 0 && w.step.Gaps[n-1].After == int64(len(w.step.Lines)) {
		w.step.Gaps[n-1].AtLeast += atLeast
		return
	}
	w.step.Gaps = append(w.step.Gaps, sessions.Gap{After: int64(len(w.step.Lines)), AtLeast: atLeast, Reason: reason})
}

// maxTries is how many windows are asked for in a row. A pane that prints
// faster than it can be looked at moves on between two of them.
const maxTries = 16

// needNext asks for a window with the first undecided row, if it's above this
// one. Without an anchor, rows that were lines may have been overwritten and gone
// off the screen since: the window is to hold them too.
func (w *engineRun) needNext() *Need {
	st := &w.state
	next := st.Next
	if len(st.Anchor.Hashes) == 0 {
		for abs := range st.Shown {
			next = max(st.Base, min(next, abs))
		}
	}
	if w.s.First == 0 || w.rowIndex(next) >= 0 {
		return nil
	}
	if need := w.askWindow(int(max(0, next-st.Base-int64(len(st.Anchor.Hashes)))), 0); need != nil {
		return need
	}
	if w.rowIndex(st.Next) >= 0 {
		return nil
	}
	lost := w.linesIn(w.absRow(0)-st.Next) - 1 // the last may go on in this window
	w.addGap(max(0, lost), reasonDropped)      // it would never be caught up with
	st.Next = w.absRow(0)
	return nil
}

// needAnchor asks for a window with the place k of the anchor, or with all there
// is. nil: it has been tried often enough.
func (w *engineRun) needAnchor(k int) *Need {
	st := &w.state
	if w.s.HistorySize <= w.maxRows*3/4 {
		return w.askWindow(0, k)
	}
	g := int(st.Anchor.End-st.Base) - k*int(dropRows(w.s)) - len(st.Anchor.Hashes)
	return w.askWindow(max(0, g), k)
}

// askWindow is one from grid row g on, with room for what comes until it's taken:
// the more the oftener it was too little. It goes to the bottom if that's near
// enough; the room never keeps it from that.
func (w *engineRun) askWindow(g, place int) *Need {
	s := w.s
	if w.asked.tries >= maxTries {
		return nil
	}
	slack := min(w.maxRows/2, 256<<min(w.asked.tries, 8))
	if down := s.HistorySize - g; down <= w.maxRows {
		slack = min(slack, w.maxRows-down)
	}
	return &Need{Window: captureWindow(g-s.HistorySize-slack, w.maxRows), tries: w.asked.tries + 1, place: place}
}
