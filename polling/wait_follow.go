package polling

import (
	"maps"
	"slices"
	"strings"
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

// waitStep is what one look of a wait found.
type waitStep struct {
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
func newFollower() waitFollower { return waitFollower{engine: NewEngine(PlainProfile{}, nil, true)} }

// hasStarted reports whether the call has been seen: what's on the normal screen.
func (f *waitFollower) hasStarted() bool { return f.engine.state.Started }

// followSnapshot works a snapshot in. Like Engine.Apply it may need another one instead.
func (f waitFollower) followSnapshot(s *sessions.Snapshot, asked *Need, maxRows int, now time.Time) (*waitStep, *Need) {
	w := &waitRun{engineRun: engineRun{Engine: f.engine, s: s, now: now, maxRows: maxRows, step: &EngineStep{}}, f: f, out: &waitStep{}}
	if asked != nil {
		w.asked = *asked
	}
	w.tail = func(int) ([]string, error) { return nil, nil }
	w.state.Shown = cloneShown(f.engine.state.Shown)
	if need := w.lookAtSnapshot(); need != nil {
		return nil, need
	}
	w.out.next = w.f
	w.out.next.engine = w.Engine
	return w.out, nil
}

// waitRun is one look.
type waitRun struct {
	engineRun

	f     waitFollower
	out   *waitStep
	cells []waitCell // of the snapshot's rows from row first on
	first int
}

func (w *waitRun) lookAtSnapshot() *Need {
	s, st := w.s, &w.state
	w.hashes = make([]uint64, len(s.Rows))
	for i, r := range s.Rows {
		w.hashes[i] = rowHash(trimRow(r))
	}
	w.dropDeathNotice()
	w.out.reached = w.reachesBottom()
	if st.Started && s.PID != st.PID {
		w.out.respawned = true
		return nil
	}
	if s.Alternate {
		w.out.suspended = true
		return nil
	}
	w.measureLines()
	w.drawing = w.profile.Drawing(s)
	var need *Need
	switch {
	case !st.Started:
		w.beginAtCall()
	case s.Width != st.Width:
		need = w.realignRows()
	default:
		need = w.followRows()
	}
	if need != nil {
		return need
	}
	w.collectLines()
	w.rememberScreen()
	return nil
}

// beginAtCall takes all there is as what stood there at the call.
func (w *waitRun) beginAtCall() {
	w.state.PID = w.s.PID
	w.first = w.lineStart(w.rowIndex(w.topRow()))
	for i := w.first; i < len(w.s.Rows); i++ {
		c := oldCell(callText(w.s, i))
		w.cells = append(w.cells, c)
	}
}

// lineStart is the row with which the line of row i begins.
func (w *waitRun) lineStart(i int) int {
	i = min(max(0, i), len(w.s.Rows))
	for from := i; i > 0 && from-i < pieceRows && w.s.Wrapped[i-1]; {
		i--
	}
	return i
}

// followRows finds out where the rows belong, as Engine does.
func (w *waitRun) followRows() *Need {
	s, st := w.s, &w.state
	shrank := s.HistorySize < st.HS-max(0, s.Height-st.Height) && !mayDrop(s)
	p, how := w.findAnchor()
	if how == deeper {
		if need := w.needAnchor(p.k); need != nil {
			return need
		}
		p.ambiguous, how = true, found
	}
	if how == found {
		p = w.checkPlace(p)
	} else {
		var need *Need
		if p, how, need = w.resumePrinting(p, how); need != nil {
			return need
		}
	}
	w.out.cleared = shrank || how == cleared
	switch how {
	case cleared:
		return w.realignRows()
	case dropped:
		return w.refillRows()
	case found, weak, deeper:
		w.out.unsure = w.wasWiped()
		w.followAnchor(p)
	}
	if need := w.needNext(); need != nil {
		return need
	}
	for _, g := range w.step.Gaps {
		w.out.dropped = w.out.dropped || g.Reason == reasonDropped
		w.out.unsure = w.out.unsure || g.Reason != reasonDropped
	}
	w.first = max(0, w.rowIndex(st.Next))
	if w.first >= len(s.Rows) { // a window further up, by which the place was found
		w.first = len(s.Rows)
		return nil
	}
	w.cells = w.f.rows.cellsFrom(&w.engineRun, w.first)
	return nil
}

// refillRows goes on at the oldest row kept: tmux dropped all that was known. What stands
// there as it did on the last screen may be that.
func (w *waitRun) refillRows() *Need {
	w.skipDropped()
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
	w.first = min(max(0, w.rowIndex(w.state.Next)), len(w.s.Rows))
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

// collectLines collects the lines with something new in them, and where the next look begins:
// at the line that the screen begins with.
func (w *waitRun) collectLines() {
	if w.first == len(w.s.Rows) {
		return
	}
	next, top := w.first, len(w.s.Rows)
	if w.out.reached {
		top = w.lineStart(w.rowIndex(w.topRow()))
	}
	for i := w.first; i < len(w.s.Rows); {
		j, whole := w.lineEnd(i)
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
	w.state.Next = w.absRow(next)
	w.f.rows = w.f.rows.keepCells(w.state.Next, w.cells[next-w.first:], w.out.reached)
	if w.out.reached {
		w.noteCursor()
	}
}

// noteCursor notices output that leaves no text: the cursor is elsewhere, though the
// screen has the size it had.
func (w *waitRun) noteCursor() {
	s, f := w.s, &w.f
	row := w.topRow() + int64(s.CursorY)
	if f.last != nil && f.last.Width == s.Width && f.last.Height == s.Height && (row != f.cursor || s.CursorX != f.column) {
		w.out.moved = true
	}
	f.last, f.base, f.cursor, f.column = s, w.state.Base, row, s.CursorX
}

// waitRows is what a wait knows of the pane's rows, by absolute number: those that were
// on the screen at its last look, which can still change.
type waitRows struct {
	cells map[int64]waitCell
	end   int64 // behind the last row of the screen
}

// cellsFrom compares the snapshot's rows from row i on with the last look.
func (r waitRows) cellsFrom(w *engineRun, i int) []waitCell {
	cells := make([]waitCell, 0, len(w.s.Rows)-i)
	moved := r.countOverwritten(w)
	for ; i < len(w.s.Rows); i++ {
		abs, text := w.absRow(i), w.s.Rows[i]
		was, ok := r.cells[abs]
		var c waitCell
		switch {
		case ok:
			c = was.goesOn(text)
		case abs >= r.end:
			c = waitCell{text: text}
		default: // history that the screen has taken back
			c = oldCell(text)
		}
		if key := trimRow(text); key != "" && !c.isOld() && moved[key] > 0 {
			moved[key]--
			c = oldCell(text)
		}
		cells = append(cells, c)
	}
	return cells
}

// countOverwritten counts the texts that stood there at the call and were overwritten since the last
// look. If the screen was only changed further down, and they stand elsewhere now,
// they were moved and not printed anew.
func (r waitRows) countOverwritten(w *engineRun) map[string]int {
	top := w.rowIndex(w.topRow())
	if top < 0 || top >= len(w.s.Rows) {
		return nil
	}
	if first, ok := r.cells[w.topRow()]; !ok || trimRow(first.text) != trimRow(w.s.Rows[top]) {
		return nil
	}
	var out map[string]int
	for abs, was := range r.cells {
		i := w.rowIndex(abs)
		key := trimRow(was.text)
		if i < 0 || i >= len(w.s.Rows) || key == "" || !was.isOld() || !was.goesOn(w.s.Rows[i]).rewritten {
			continue
		}
		if out == nil {
			out = map[string]int{}
		}
		out[key]++
	}
	return out
}

// keepCells remembers the cells of the rows from absolute number abs on. If the snapshot
// reached the bottom of the screen, they're all there is.
func (r waitRows) keepCells(abs int64, cells []waitCell, reached bool) waitRows {
	out := waitRows{cells: make(map[int64]waitCell, len(cells)), end: r.end}
	if reached {
		out.end = abs + int64(len(cells))
	} else {
		maps.Copy(out.cells, r.cells)
		maps.DeleteFunc(out.cells, func(n int64, _ waitCell) bool { return n < abs })
	}
	for i, c := range cells {
		if reached {
			out.cells[abs+int64(i)] = c
		}
	}
	return out
}

// realignRows finds on a grid that was reflowed or cleared what stood there at the last look,
// by its lines: their rows have other numbers now.
func (w *waitRun) realignRows() *Need {
	if need := w.needAll(); need != nil {
		return need
	}
	known := w.f.knownLines()
	whole := w.f.last != nil && w.f.last.First == 0 && w.s.First == 0
	w.restartNumbering()
	w.state.PID, w.state.Next = w.s.PID, int64(w.s.First)
	spans, texts := w.cutLines(0)
	cells := make([]waitCell, len(w.s.Rows))
	for i, row := range w.s.Rows {
		cells[i] = waitCell{text: row}
	}
	for n, line := range alignLines(known, texts, w.s.First > 0, whole) {
		sp := spans[n]
		line = line.goesOn(strings.Join(w.s.Rows[sp.i:sp.j+1], ""))
		copy(cells[sp.i:], splitCell(line, w.s.Rows[sp.i:sp.j+1]))
	}
	w.first, w.cells = 0, cells
	w.f.rows = waitRows{}
	return nil
}

// knownLines are the lines of the last look.
func (f *waitFollower) knownLines() []waitCell {
	if f.last == nil {
		return nil
	}
	w := engineRun{Engine: f.engine, s: f.last, maxRows: 4 * pieceRows}
	w.state.Base = f.base
	spans, _ := w.cutLines(0)
	var out []waitCell
	for n, sp := range spans {
		if n == 0 && f.last.First > 0 {
			continue // it may begin further up
		}
		var line waitCell
		fresh := false
		for i := sp.i; i <= sp.j; i++ {
			c, ok := f.rows.cells[w.absRow(i)]
			if !ok {
				c = oldCell(f.last.Rows[i]) // it has left the screen before
			}
			if !fresh {
				line.before = len(line.text) + c.before
			}
			fresh = fresh || !c.isOld()
			line.text += c.text
			line.behind, line.rewritten = c.behind, line.rewritten || c.rewritten
		}
		if !fresh {
			line.before, line.behind = len(line.text), 0
		}
		out = append(out, line)
	}
	for len(out) > 0 && trimRow(out[len(out)-1].text) == "" {
		out = out[:len(out)-1]
	}
	return out
}

// alignLines tells which of the lines were there, as what: by their index. The last known line
// may go on. cut: the first of texts may have lost its beginning. whole: both begin where the
// grid does, so that nothing older stands above the known ones.
func alignLines(known []waitCell, texts []string, cut, whole bool) map[int]waitCell {
	out := map[int]waitCell{}
	if len(known) == 0 {
		return out
	}
	was := make([]string, len(known))
	for i, c := range known {
		was[i] = trimRow(c.text)
	}
	j, o := findRun(was, texts)
	if j < 0 {
		return alignByWords(known, was, texts)
	}
	if whole && j == 0 && runFits(was, texts, 0, 0) && someUnknown(was, texts[:o]) {
		o = 0 // nobody has moved them, and what's above the lower place was printed since
	}
	for i := range o { // above what was seen: older
		out[i] = oldCell(texts[i])
	}
	for i := j; i < len(known) && o+i-j < len(texts); i++ {
		out[o+i-j] = known[i]
	}
	if cut && len(texts) > 0 {
		out[0] = oldCell(texts[0])
	}
	return out
}

// findRun finds the longest end of was, from its line j on, in texts, from line o on: its
// last line may go on. Of several places the lowest is taken, so that nothing old is
// taken for new.
func findRun(was, texts []string) (j, o int) {
	for j := range was {
		for o, text := range slices.Backward(texts) {
			if text != "" && (text == was[j] || len(was) == 1) && runFits(was, texts, j, o) {
				return j, o
			}
		}
	}
	return -1, -1
}

// runFits reports whether the end of was from its line j on stands in texts from line o on.
func runFits(was, texts []string, j, o int) bool {
	last := len(was) - 1
	for i := j; i < last; i++ {
		if o+i-j >= len(texts) || was[i] != texts[o+i-j] {
			return false
		}
	}
	return o+last-j < len(texts) && strings.HasPrefix(texts[o+last-j], was[last])
}

// someUnknown reports whether a text is none of those. A shell that has drawn nothing but
// its prompt again, for the new width, has printed nothing.
func someUnknown(was, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(was, text) })
}

// alignByWords is for a program that printed everything again in its own way: what's there
// as a line, or by its words, is old.
func alignByWords(known []waitCell, was, texts []string) map[int]waitCell {
	out := map[int]waitCell{}
	places := map[string][]int{}
	for i, text := range was {
		places[text] = append(places[text], i)
	}
	verdicts := newReprinted(was).markLines(texts, false)
	for n, text := range texts {
		switch at := places[text]; {
		case len(at) > 0:
			out[n], places[text] = known[at[0]], at[1:]
		case verdicts[n].old:
			out[n] = oldCell(text)
		case verdicts[n].cut > 0:
			out[n] = waitCell{text: text, before: verdicts[n].cut}
		}
	}
	return out
}
