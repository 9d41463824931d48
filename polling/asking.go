package polling

import (
	"slices"
	"time"
)

// asking is where an open dialog stands. A program that prints draws it below its text,
// draws it again whenever something of it changes, and takes it away when it's
// answered: as long as it's open its rows are live. Those that leave the screen become
// lines as all do, and so do those that are left standing when something comes below
// them, for then no dialog is open any more.
type asking struct {
	Open  bool
	First int64   // absolute number of its first row
	Rows  hashRun // its rows as they were seen last
	// Until is for how long after its end nothing is settled where it stood: at the next
	// look it may be half drawn, with the rows that it had before. Zero: it's open, or
	// there was none.
	Until time.Time
}

// ask looks for an open dialog.
func (w *work) ask() {
	if w.s.Alternate || w.s.Dead || !w.reaches() {
		return // it's hidden, or there's more to read at once
	}
	a := &w.state.Asking
	if d := w.profile.Prompt(w.s); d != nil {
		top := max(0, w.s.HistorySize-w.s.First)
		*a = asking{Open: true, First: w.abs(top + d.First), Rows: slices.Clone(w.hashes[top+d.First : top+d.Last+1])}
		return
	}
	if a.Open && !w.leftStanding() {
		a.Until = w.now.Add(floorFor)
	}
	a.Open = false
}

// leftStanding reports whether the dialog that was open is still there, as it was: then
// something has come below it.
func (w *work) leftStanding() bool {
	a := &w.state.Asking
	for n, h := range a.Rows {
		if i := w.index(a.First + int64(n)); i >= len(w.hashes) || i >= 0 && w.hashes[i] != h {
			return false
		}
	}
	return true
}

// asks reports whether a row is of the open dialog.
func (w *work) asks(abs int64) bool { return w.state.Asking.Open && abs >= w.state.Asking.First }

// askedAt reports whether a row is of the open dialog, or stands where one was right
// before.
func (w *work) askedAt(abs int64) bool {
	a := &w.state.Asking
	return abs >= a.First && (a.Open || w.now.Before(a.Until))
}
