package polling

// memory is what was on the screen at the last look and isn't lines yet: kept
// for when it vanishes before the next. It isn't stored; after a restart of the
// daemon the screen is read again.
type memory struct {
	normal    []screenRow // undecided rows of the normal screen
	alternate []string    // rows of the alternate screen while that's shown
	// left are the rows, by their hash, that a program has left on the alternate screen
	// whose text was told otherwise.
	left map[uint64]bool
}

// screenRow is a row as last seen.
type screenRow struct {
	abs     int64
	text    string
	wrapped bool
	done    bool // it stood above the cursor, and in no open dialog: the program had finished it
	asked   bool // it may be what's drawn of a dialog all the same
}

// keepScreen remembers the undecided rows.
func (w *work) keepScreen() {
	if w.s.Alternate {
		w.screen.alternate = w.visible()
		return
	}
	w.screen = memory{}
	for i := max(0, w.index(w.state.Next)); i < len(w.s.Rows); i++ {
		if !w.isShown(i) {
			abs := w.abs(i)
			done := abs < w.state.Cursor && !w.asks(abs)
			w.screen.normal = append(w.screen.normal, screenRow{abs: abs, text: w.s.Rows[i], wrapped: w.s.Wrapped[i], done: done, asked: w.askedAt(abs)})
		}
	}
}

// vanish emits the rows of the last screen that weren't lines yet and can't be
// read any more: those up to absolute number to. all: also the cursor's row and
// what stood below it. Of a line that goes on behind, the beginning is kept.
func (w *work) vanish(to int64, all bool) {
	st := &w.state
	rows := w.screen.normal
	for len(rows) > 0 && (rows[len(rows)-1].abs >= to || !all && !rows[len(rows)-1].done) {
		rows = rows[:len(rows)-1]
	}
	goesOn := len(rows) > 0 && rows[len(rows)-1].wrapped && to != everything
	for len(rows) > 0 && !goesOn && trimRow(rows[len(rows)-1].text) == "" {
		rows = rows[:len(rows)-1]
	}
	for _, r := range rows {
		if r.abs < st.Next {
			continue
		}
		st.Begun += r.text[w.unsplit(r.abs, r.text):]
		st.Next = r.abs + 1
		if !r.wrapped {
			w.line(w.begun(), r.abs)
		}
	}
	if to == everything {
		w.interrupt()
	}
}

// begun takes the beginning of a line that's no longer in the grid.
func (w *work) begun() string {
	text := w.state.Begun
	w.state.Begun = ""
	return trimRow(text)
}

const everything = int64(1) << 62 // behind any row

// vanishAlternate emits the alternate screen that was last seen.
func (w *work) vanishAlternate(rows []string) {
	for len(rows) > 0 && trimRow(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	for _, r := range rows {
		if !w.screen.left[rowHash(trimRow(r))] {
			w.line(trimRow(r), 0)
		}
	}
}

// lastScreen emits what stands on the screens when the program dies while it
// shows the alternate one: first what that hides of the normal screen. tmux
// makes room for its notice by scrolling, and the alternate screen has no
// history: its first row is gone, but known if nothing else has changed.
func (w *work) lastScreen() {
	w.vanish(everything, true)
	rows, was := w.visible(), w.screen.alternate
	if len(was) > 1 && scrolledByOne(was, rows) {
		rows = append([]string{was[0]}, rows...)
	} else if len(was) > 0 {
		w.gap(0, reasonDied)
	}
	w.vanishAlternate(rows)
	w.state.Next = w.top() + int64(w.s.Height)
	w.screen = memory{}
}

// scrolledByOne reports whether rows are what was, one further up: the row that
// was the second is the first now, and so are most others that hold text.
func scrolledByOne(was, rows []string) bool {
	texts, same := 0, 0
	for i, r := range rows[:min(len(rows), len(was)-1)] {
		if trimRow(was[i+1]) == "" {
			continue
		}
		texts++
		if trimRow(r) == trimRow(was[i+1]) {
			same++
		}
	}
	return trimRow(rows[0]) == trimRow(was[1]) && 2*same >= texts
}
