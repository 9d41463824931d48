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
	// pieceRows is the length in rows at which a line that doesn't end is
	// emitted in pieces, before tmux drops its beginning.
	pieceRows = 500
)

// emit decides rows from the first undecided one on, line by line. A dead pane
// gives its last screen once.
func (w *engineRun) emit() error {
	if w.state.Died {
		return nil
	}
	w.overwritten()
	if err := w.repaint(); err != nil {
		return err
	}
	bounds, final := w.boundaries()
	spans, texts := w.settledLines(max(final, w.markerRow()))
	again, err := w.reprinting()
	if err != nil {
		return err
	}
	var all passage
	if again && len(spans) > 0 {
		w.pickUp(spans[0].i)
		_, below := w.lines(spans[len(spans)-1].j + 1)
		all = newPassage(append(slices.Clone(texts), below...))
	}
	for n, sp := range spans {
		bounds = w.pass(bounds, func(b boundary) bool { return b.row < w.abs(sp.i) || !b.begin && b.row == w.abs(sp.i) })
		var old printedBefore
		if again {
			old = w.rep.decide(texts[n], all, n)
		}
		if b := w.state.Begins; old.cut == 0 && b.Row == w.abs(sp.i) && b.Hash == w.hashes[sp.i] {
			old.cut = min(b.Bytes, len(texts[n]))
		}
		old.cut = max(old.cut, w.unsplit(w.abs(sp.i), texts[n]))
		w.decide(sp, w.unbroken(sp, texts[n]), old)
		w.state.Begun = ""
		bounds = w.pass(bounds, func(b boundary) bool { return b.row <= w.abs(sp.j) })
	}
	w.pass(bounds, func(b boundary) bool { return b.row <= w.state.Next })
	w.reprintOver()
	if w.s.Dead && w.reaches() {
		w.state.Died = true
		if w.s.Alternate {
			w.lastScreen()
		}
		w.shellDied()
	}
	return nil
}

// settledLines are the lines that can be decided now.
func (w *engineRun) settledLines(settledTo int64) (spans []lineSpan, texts []string) {
	last := w.lastRow()
	for i := max(0, w.index(w.state.Next)); i < len(w.s.Rows); {
		j, whole := w.logical(i)
		if w.abs(i) >= last || !w.settled(i, j, whole, settledTo) {
			break
		}
		spans = append(spans, lineSpan{i, j})
		texts = append(texts, w.text(i, j))
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
		return w.top()
	case !s.Dead || !w.reaches():
		return w.abs(len(s.Rows))
	}
	n := len(s.Rows)
	for n > 0 && trimRow(s.Rows[n-1]) == "" {
		n--
	}
	return w.abs(n)
}

// logical returns the last row of the line that begins at row i, and whether
// its end is in the snapshot. A line that's very long is cut.
func (w *engineRun) logical(i int) (j int, whole bool) {
	for j = i; j < len(w.s.Rows); j++ {
		if !w.s.Wrapped[j] {
			return j, true
		}
		if j-i+1 >= min(pieceRows, w.maxRows/4) && w.abs(j) < w.top() {
			return j, true
		}
	}
	return len(w.s.Rows) - 1, false
}

// settled reports whether the line in rows i … j can't change any more, or may
// be taken not to.
func (w *engineRun) settled(i, j int, whole bool, settledTo int64) bool {
	s := w.s
	if s.Dead && w.reaches() {
		return true
	}
	if !whole {
		return false
	}
	behind := w.abs(j) + 1
	if behind <= w.top() || behind <= settledTo {
		return true
	}
	if w.drawing || s.Alternate || behind > w.top()+int64(s.CursorY) || w.asks(w.abs(j)) {
		return false
	}
	if w.askedAt(w.abs(j)) || w.abs(j) >= w.state.Floor && w.now.Before(w.state.FloorUntil) {
		w.step.Settling = true
		return false
	}
	if w.stable(i, j) {
		return true
	}
	w.step.Settling = true
	return false
}

// stable reports whether two looks in a row found these rows the same. Those in
// history can't change.
func (w *engineRun) stable(i, j int) bool {
	for i = max(i, w.index(w.top())); i <= j; i++ {
		if h, ok := w.prevAbs[w.abs(i)]; !ok || h != w.hashes[i] {
			return false
		}
	}
	return true
}

// decide emits a line unless it was emitted before: old says so by its words,
// its rows by their place.
func (w *engineRun) decide(sp lineSpan, text string, old printedBefore) {
	shown, orphan := true, true
	for k := sp.i; k <= sp.j; k++ {
		shown = shown && w.isShown(k)
		orphan = orphan && w.orphans.has(w.hashes[k], w.now)
	}
	for k := sp.i; k <= sp.j; k++ {
		if w.abs(k) >= w.top() {
			w.state.Shown[w.abs(k)] = w.hashes[k]
		}
		if !shown && orphan {
			w.orphans.take(w.hashes[k])
		}
	}
	w.state.Next = w.abs(sp.j) + 1
	if shown && w.abs(sp.i) < w.state.Doubtful {
		w.gap(0, reasonRepeats)
	}
	if !shown && !orphan && !old.old {
		w.line(text[old.cut:], w.abs(sp.j))
	}
}

// line emits one line; abs is its last row.
func (w *engineRun) line(text string, abs int64) {
	w.step.Lines = append(w.step.Lines, text)
	w.step.Changed = true
	if w.rep != nil {
		w.rep.learn(text)
	}
	if !w.marker.ends(text, w.echoes) {
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

// text joins rows i … j.
func (w *engineRun) text(i, j int) string {
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
	if s.Alternate || !w.reaches() || w.marker == nil {
		return 0
	}
	for i := max(w.index(w.state.Next), s.HistorySize-s.First, 0); i < len(s.Rows); {
		j, whole := w.logical(i)
		abs := w.abs(j)
		if whole && abs >= w.state.Marked && !w.isShown(i) && !w.asks(abs) && w.marker.ends(w.text(i, j), w.echoes) {
			switch {
			case !w.stable(i, j):
				w.step.Settling = true
			case w.endedEarly(w.text(i, j), abs):
				w.state.Marked = abs + 1
			case abs == w.top()+int64(s.CursorY):
				w.step.Complete = true
				w.state.Marked, w.state.MarkedEarly = abs+1, w.text(i, j)
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
	top := w.top()
	for abs := range w.state.Shown {
		top = min(top, abs)
	}
	for abs := range w.prevAbs {
		top = min(top, abs)
	}
	return top
}

// overwritten finds rows that were visible and aren't what they were. Those that were
// lines are lines no more; where the program goes on overwriting, nothing is
// settled early for a while. Rows that were moved aren't printed anew, but only
// if what stands above them stayed: else the screen was cleared.
func (w *engineRun) overwritten() {
	st := &w.state
	if w.s.Alternate {
		return
	}
	was, ok := w.prevAbs[w.top()]
	first := w.index(w.top())
	moved := ok && first >= 0 && first < len(w.hashes) && was == w.hashes[first]
	for i := max(0, w.index(w.oldTop())); i < len(w.s.Rows); i++ {
		abs := w.abs(i)
		if was, ok := st.Shown[abs]; ok && was != w.hashes[i] {
			if moved && (!w.copies[abs] || !w.pends(was)) {
				w.orphans.add(was, w.now)
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
		}
	}
}

// pends reports whether a row stands undecided where it stood at the last look. Where a copy of
// it was taken for a line, and is gone, that one will be the line.
func (w *engineRun) pends(hash uint64) bool {
	for i := max(0, w.index(w.state.Next)); i < len(w.s.Rows); i++ {
		if w.hashes[i] == hash && w.prevAbs[w.abs(i)] == hash && !w.isShown(i) {
			return true
		}
	}
	return false
}

// doubtfulLine is the row with which the line of the snapshot's i-th row begins, where
// rows that seem to be lines may be others: then it's another line from its beginning on.
func (w *engineRun) doubtfulLine(i int) int64 {
	for i > 0 && w.s.Wrapped[i-1] && w.abs(i-1) < w.state.Doubtful && w.abs(i-1) >= w.top() {
		i--
		delete(w.state.Shown, w.abs(i))
	}
	return w.abs(i)
}

var blankHash = rowHash("") //nolint:gochecknoglobals // a constant that needs a call

// orphans are rows that were lines and then were overwritten: if the same text
// comes again nearby, it was moved and not printed anew.
type orphans struct {
	until time.Time
	count map[uint64]int
}

const orphanFor = 10 * time.Second

func (o *orphans) add(h uint64, now time.Time) {
	if o.count == nil || now.After(o.until) {
		o.count = map[uint64]int{}
	}
	o.count[h]++
	o.until = now.Add(orphanFor)
}

func (o *orphans) has(h uint64, now time.Time) bool {
	return o.count[h] > 0 && !now.After(o.until)
}

func (o *orphans) take(h uint64) { o.count[h]-- }

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

// ask looks for an open dialog.
func (w *engineRun) ask() {
	if w.s.Alternate || w.s.Dead || !w.reaches() {
		return // it's hidden, or there's more to read at once
	}
	a := &w.state.Asking
	if d := w.profile.Prompt(w.s); d != nil {
		top := max(0, w.s.HistorySize-w.s.First)
		*a = openDialog{Open: true, First: w.abs(top + d.First), Rows: slices.Clone(w.hashes[top+d.First : top+d.Last+1])}
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
		if i := w.index(a.First + int64(n)); i >= len(w.hashes) || i >= 0 && w.hashes[i] != h {
			return false
		}
	}
	return true
}

// asks reports whether a row is of the open dialog.
func (w *engineRun) asks(abs int64) bool { return w.state.Asking.Open && abs >= w.state.Asking.First }

// askedAt reports whether a row is of the open dialog, or stands where one was right
// before.
func (w *engineRun) askedAt(abs int64) bool {
	a := &w.state.Asking
	return abs >= a.First && (a.Open || w.now.Before(a.Until))
}
