package polling

import (
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// floorFor is how long overwritten rows are taken to be redrawn.
	floorFor = 2 * time.Second
	// stableUsually is how long rows on the screen stay as they are at least before they become lines. Programs that draw in
	// several writes take some milliseconds from one to the next. stableAmong is the same where rows have been overwritten
	// within the last overwritesFor: of a program that draws bars, each state would be a line else.
	stableUsually = 20 * time.Millisecond
	stableAmong   = 900 * time.Millisecond
	overwritesFor = 10 * time.Minute
	// pieceRows is the length in rows at which a line that doesn't end is
	// emitted in pieces, before tmux drops its beginning.
	pieceRows = 500
)

// emitLines decides rows from the first undecided one on, line by line. A dead pane
// gives its last screen once.
func (w *engineRun) emitLines() error {
	if w.state.Died {
		return nil
	}
	w.findOverwritten()
	if err := w.findRepainted(); err != nil {
		return err
	}
	bounds, final := w.findBoundaries()
	spans, texts := w.settledLines(max(final, w.markerRow()))
	again, err := w.isReprinting()
	if err != nil {
		return err
	}
	var all passage
	if again && len(spans) > 0 {
		w.pickUpThread(spans[0].i)
		_, below := w.cutLines(spans[len(spans)-1].j + 1)
		all = newPassage(append(slices.Clone(texts), below...))
	}
	for n, sp := range spans {
		bounds = w.passBoundaries(bounds, func(b boundary) bool { return b.row < w.absRow(sp.i) || !b.begin && b.row == w.absRow(sp.i) })
		var old printedBefore
		if again {
			old = w.rep.decideLine(texts[n], all, n)
		}
		if b := w.state.Begins; old.cut == 0 && b.Row == w.absRow(sp.i) && b.Hash == w.hashes[sp.i] {
			old.cut = min(b.Bytes, len(texts[n]))
		}
		old.cut = max(old.cut, w.splitBytes(w.absRow(sp.i), texts[n]))
		w.decideLine(sp, w.withoutBreakSign(sp, texts[n]), old)
		w.state.Begun = ""
		bounds = w.passBoundaries(bounds, func(b boundary) bool { return b.row <= w.absRow(sp.j) })
	}
	w.passBoundaries(bounds, func(b boundary) bool { return b.row <= w.state.Next })
	w.endReprint()
	if w.s.Dead && w.reachesBottom() {
		w.state.Died = true
		if w.s.Alternate {
			w.emitLastScreen()
		}
		w.shellDied()
	}
	return nil
}

// settledLines are the lines that can be decided now.
func (w *engineRun) settledLines(settledTo int64) (spans []lineSpan, texts []string) {
	last := w.lastRow()
	for i := max(0, w.rowIndex(w.state.Next)); i < len(w.s.Rows); {
		j, whole := w.lineEnd(i)
		if w.absRow(i) >= last || !w.isSettled(i, j, whole, settledTo) {
			break
		}
		spans = append(spans, lineSpan{i, j})
		texts = append(texts, w.lineText(i, j))
		i = j + 1
	}
	if len(texts) > 0 {
		texts[0] = w.state.Begun + texts[0]
	}
	return spans, texts
}

// lastRow is the absolute number behind the last row that can become a line
// now.
func (w *engineRun) lastRow() int64 {
	s := w.s
	switch {
	case s.Alternate:
		return w.topRow()
	case !s.Dead || !w.reachesBottom():
		return w.absRow(len(s.Rows))
	}
	n := len(s.Rows)
	for n > 0 && trimRow(s.Rows[n-1]) == "" {
		n--
	}
	return w.absRow(n)
}

// lineEnd returns the last row of the line that begins at row i, and whether
// its end is in the snapshot. A line that's very long is cut.
func (w *engineRun) lineEnd(i int) (j int, whole bool) {
	for j = i; j < len(w.s.Rows); j++ {
		if !w.s.Wrapped[j] {
			return j, true
		}
		if j-i+1 >= min(pieceRows, w.maxRows/4) && w.absRow(j) < w.topRow() {
			return j, true
		}
	}
	return len(w.s.Rows) - 1, false
}

// isSettled reports whether the line in rows i … j can't change any more, or may
// be taken not to.
func (w *engineRun) isSettled(i, j int, whole bool, settledTo int64) bool {
	s := w.s
	if s.Dead && w.reachesBottom() {
		return true
	}
	if !whole {
		return false
	}
	behind := w.absRow(j) + 1
	if behind <= w.topRow() || behind <= settledTo {
		return true
	}
	if w.drawing || s.Alternate || behind > w.topRow()+int64(s.CursorY) || w.isInDialog(w.absRow(j)) {
		return false
	}
	if w.askedAt(w.absRow(j)) || w.absRow(j) >= w.state.Floor && w.now.Before(w.state.FloorUntil) {
		w.step.Settling = true
		return false
	}
	if w.isStable(i, j) {
		return true
	}
	w.step.Settling = true
	return false
}

// isStable reports whether these rows have been the same in all looks for a while, in two at least. Those in
// history can't change. If they aren't stable yet, the step says when they will be.
func (w *engineRun) isStable(i, j int) bool {
	stable, newest := true, time.Time{}
	for i = max(i, w.rowIndex(w.topRow())); i <= j; i++ {
		abs, since := w.absRow(i), w.foundAt()
		h, seen := w.prevAbs[abs]
		if seen = seen && h == w.hashes[i]; seen {
			since = w.since[abs]
		}
		stable = stable && seen && w.now.Sub(since) >= w.stableFor()
		if since.After(newest) {
			newest = since
		}
	}
	if !stable {
		w.step.dueAt(newest.Add(w.stableFor()))
	}
	return stable
}

// stableFor is how long rows stay as they are before they become lines.
func (w *engineRun) stableFor() time.Duration {
	if !w.overwrote.IsZero() && w.now.Sub(w.overwrote) < overwritesFor {
		return stableAmong
	}
	return stableUsually
}

// decideLine emits a line unless it was emitted before: old says so by its words,
// its rows by their place.
func (w *engineRun) decideLine(sp lineSpan, text string, old printedBefore) {
	shown, orphan := true, true
	for k := sp.i; k <= sp.j; k++ {
		shown = shown && w.isShown(k)
		orphan = orphan && w.orphans.hasRow(w.hashes[k], w.now)
	}
	for k := sp.i; k <= sp.j; k++ {
		if w.absRow(k) >= w.topRow() {
			w.state.Shown[w.absRow(k)] = w.hashes[k]
		}
		if !shown && orphan {
			w.orphans.takeRow(w.hashes[k])
		}
	}
	w.state.Next = w.absRow(sp.j) + 1
	if shown && w.absRow(sp.i) < w.state.Doubtful {
		w.addGap(0, reasonRepeats)
	}
	if !shown && !orphan && !old.old {
		w.emitLine(text[old.cut:], w.absRow(sp.j))
	}
}

// emitLine emits one line; abs is its last row.
func (w *engineRun) emitLine(text string, abs int64) {
	w.step.Lines = append(w.step.Lines, text)
	w.step.Changed = true
	if w.rep != nil {
		w.rep.learnLine(text)
	}
	if !w.marker.endsTurn(text, w.echoes) {
		return
	}
	w.step.TurnEnd = len(w.step.Lines)
	if w.endedEarly(text, abs) {
		w.state.MarkedEarly = ""
		return
	}
	w.step.Complete = true
	w.state.Marked, w.state.MarkedEarly = abs+1, ""
}

// endedEarly reports whether a line with a turn marker is the one with which
// the turn was ended when it stood at the cursor and wasn't a line yet.
func (w *engineRun) endedEarly(text string, abs int64) bool {
	st := &w.state
	return st.MarkedEarly != "" && strings.HasPrefix(text, st.MarkedEarly) && (abs < st.Marked || st.Marked == 0)
}

// lineText joins rows i … j.
func (w *engineRun) lineText(i, j int) string {
	if i == j {
		return trimRow(w.s.Rows[i])
	}
	return trimRow(strings.Join(w.s.Rows[i:j+1], ""))
}

// markerRow looks for a turn marker on the screen that two looks found the
// same. A turn marker settles all above it: the answer is done. It returns the
// absolute number behind the marker's row, unless that's the cursor's, which
// may go on.
func (w *engineRun) markerRow() (settledTo int64) {
	s := w.s
	if s.Alternate || !w.reachesBottom() || w.marker == nil {
		return 0
	}
	for i := max(w.rowIndex(w.state.Next), s.HistorySize-s.First, 0); i < len(s.Rows); {
		j, whole := w.lineEnd(i)
		abs := w.absRow(j)
		if whole && abs >= w.state.Marked && !w.isShown(i) && !w.isInDialog(abs) && w.marker.endsTurn(w.lineText(i, j), w.echoes) {
			switch {
			case !w.isStable(i, j):
				w.step.Settling = true
			case w.endedEarly(w.lineText(i, j), abs):
				w.state.Marked = abs + 1
			case abs == w.topRow()+int64(s.CursorY):
				w.step.Complete = true
				w.state.Marked, w.state.MarkedEarly = abs+1, w.lineText(i, j)
			default:
				settledTo = abs + 1
			}
		}
		i = j + 1
	}
	return settledTo
}

// oldTop is the number of the first row of the last screen, or of this one.
func (w *engineRun) oldTop() int64 {
	top := w.topRow()
	for abs := range w.state.Shown {
		top = min(top, abs)
	}
	for abs := range w.prevAbs {
		top = min(top, abs)
	}
	return top
}

// findOverwritten finds rows that were visible and aren't what they were. Those that were
// lines are lines no more; where the program goes on overwriting, nothing is
// settled early for a while. Rows that were moved aren't printed anew, but only
// if what stands above them stayed: else the screen was cleared.
func (w *engineRun) findOverwritten() {
	st := &w.state
	if w.s.Alternate {
		return
	}
	was, ok := w.prevAbs[w.topRow()]
	first := w.rowIndex(w.topRow())
	moved := ok && first >= 0 && first < len(w.hashes) && was == w.hashes[first]
	for i := max(0, w.rowIndex(w.oldTop())); i < len(w.s.Rows); i++ {
		abs := w.absRow(i)
		if was, ok := st.Shown[abs]; ok && was != w.hashes[i] {
			if moved && (!w.copies[abs] || !w.isPending(was)) {
				w.orphans.addRow(was, w.now)
			}
			delete(st.Shown, abs)
			delete(w.copies, abs)
			st.Next = min(st.Next, w.doubtfulLine(i))
		}
		was, ok := w.prevAbs[abs]
		if ok && was != w.hashes[i] && was != blankHash && abs < st.Cursor {
			if w.now.After(st.FloorUntil) || abs < st.Floor {
				st.Floor = abs
			}
			st.FloorUntil = w.now.Add(floorFor)
			w.overwrote = w.now
		}
	}
}

// isPending reports whether a row stands undecided where it stood at the last look. Where a copy of
// it was taken for a line, and is gone, that one will be the line.
func (w *engineRun) isPending(hash uint64) bool {
	for i := max(0, w.rowIndex(w.state.Next)); i < len(w.s.Rows); i++ {
		if w.hashes[i] == hash && w.prevAbs[w.absRow(i)] == hash && !w.isShown(i) {
			return true
		}
	}
	return false
}

// doubtfulLine is the row with which the line of the snapshot's i-th row begins, where
// rows that seem to be lines may be others: then it's another line from its beginning on.
func (w *engineRun) doubtfulLine(i int) int64 {
	for i > 0 && w.s.Wrapped[i-1] && w.absRow(i-1) < w.state.Doubtful && w.absRow(i-1) >= w.topRow() {
		i--
		delete(w.state.Shown, w.absRow(i))
	}
	return w.absRow(i)
}

var blankHash = rowHash("") //nolint:gochecknoglobals // a constant that needs a call

// orphans are rows that were lines and then were overwritten: if the same text
// comes again nearby, it was moved and not printed anew.
type orphans struct {
	until time.Time
	count map[uint64]int
}

const orphanFor = 10 * time.Second

func (o *orphans) addRow(h uint64, now time.Time) {
	if o.count == nil || now.After(o.until) {
		o.count = map[uint64]int{}
	}
	o.count[h]++
	o.until = now.Add(orphanFor)
}

func (o *orphans) hasRow(h uint64, now time.Time) bool {
	return o.count[h] > 0 && !now.After(o.until)
}

func (o *orphans) takeRow(h uint64) { o.count[h]-- }

func (o orphans) clone() orphans {
	if len(o.count) == 0 {
		return orphans{}
	}
	c := orphans{until: o.until, count: make(map[uint64]int, len(o.count))}
	maps.Copy(c.count, o.count)
	return c
}

// openDialog is where an open dialog stands. A program that prints draws it below its text,
// draws it again whenever something of it changes, and takes it away when it's
// answered: as long as it's open its rows are live. Those that leave the screen become
// lines as all do, and so do those that are left standing when something comes below
// them, for then no dialog is open any more.
type openDialog struct {
	Open  bool
	First int64   // absolute number of its first row
	Rows  hashRun // its rows as they were seen last
	// Until is for how long after its end nothing is settled where it stood: at the next
	// look it may be half drawn, with the rows that it had before. Zero: it's open, or
	// there was none.
	Until time.Time
}

// findDialog looks for an open dialog.
func (w *engineRun) findDialog() {
	if w.s.Alternate || w.s.Dead || !w.reachesBottom() {
		return // it's hidden, or there's more to read at once
	}
	a := &w.state.Asking
	if d := w.profile.Prompt(w.s); d != nil {
		top := max(0, w.s.HistorySize-w.s.First)
		*a = openDialog{Open: true, First: w.absRow(top + d.First), Rows: slices.Clone(w.hashes[top+d.First : top+d.Last+1])}
		return
	}
	if a.Open && !w.leftStanding() {
		a.Until = w.now.Add(floorFor)
	}
	a.Open = false
}

// leftStanding reports whether the dialog that was open is still there, as it was: then
// something has come below it.
func (w *engineRun) leftStanding() bool {
	a := &w.state.Asking
	for n, h := range a.Rows {
		if i := w.rowIndex(a.First + int64(n)); i >= len(w.hashes) || i >= 0 && w.hashes[i] != h {
			return false
		}
	}
	return true
}

// isInDialog reports whether a row is of the open dialog.
func (w *engineRun) isInDialog(abs int64) bool {
	return w.state.Asking.Open && abs >= w.state.Asking.First
}

// askedAt reports whether a row is of the open dialog, or stands where one was right
// before.
func (w *engineRun) askedAt(abs int64) bool {
	a := &w.state.Asking
	return abs >= a.First && (a.Open || w.now.Before(a.Until))
}
