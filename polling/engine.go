package polling

import (
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Engine turns snapshots of one pane into lines. It's a value without
// goroutines or I/O: Apply works on a copy, and the caller keeps the result
// only after its lines are stored.
type Engine struct {
	state   state
	profile Profile
	marker  *Marker
	prompts []*regexp.Regexp // what shells' prompts look like
	drained bool             // the pane's program can't end before tmux has read its output

	screen  memory           // the undecided rows of the last look, for when they vanish
	prevAbs map[int64]uint64 // hashes of the last snapshot's visible rows
	orphans orphans
	copies  map[int64]bool // rows of state.Shown of which the first copy may still be undecided
	rep     *reprinted     // recognises what was printed before; nil: nothing is printed again now
	echoes  []string       // what was typed lately and holds the turn marker
}

// state is what survives a restart of the daemon.
type state struct {
	Started       bool
	PID           int
	Width, Height int
	Base          int64  // absolute number of grid row 0
	HS            int    // history size
	Activity      int64  // second of the last output
	Next          int64  // absolute number of the first row that's undecided
	Longest       int64  // rows of the longest line so far
	Begun         string // beginning of the line at Next that has been dropped
	Anchor        anchor
	Shown         rowHashes // visible rows that are lines already
	Doubtful      int64     // rows before this one that seem to be lines already may be others
	Drew          bool      // the program was drawing
	Cursor        int64     // absolute number of the cursor's row
	Marked        int64     // absolute number behind the newest row in which a turn marker was honoured
	MarkedEarly   string    // its text, while that isn't a line yet
	Floor         int64     // rows from here on were overwritten lately, until FloorUntil
	FloorUntil    time.Time
	ReprintUntil  time.Time // the program may be printing everything again
	Begins        begins    // a line that begins with what was printed before
	Died          bool      // the pane is dead, and its last screen has been emitted
	CaughtUp      bool      // the last snapshot reached the bottom of the screen
	Shell         shellState
	Asking        asking
}

// Step is what one snapshot brought.
type Step struct {
	Lines    []string
	Gaps     []sessions.Gap // After counts the lines of this step before the gap
	Live     *sessions.Live
	Complete bool // a turn marker was seen
	TurnEnd  int  // how many of Lines there are up to the newest with a turn marker; 0: none
	Changed  bool // the pane isn't as it was at the last snapshot
	Settling bool // something waits for another look, though the pane may stay as it is
	Dialog   string
	Exit     *sessions.Exit
	Grown    int // rows that came since the last snapshot
	cuts     []cut
	engine   Engine
	screen   *sessions.Snapshot // that it was made of
}

// Engine is the engine after the step.
func (s *Step) Engine() Engine { return s.engine }

// Need says that the snapshot didn't reach far enough: take one with this
// window and apply that instead.
type Need struct {
	Window sessions.Window
	tries  int // how many windows were asked for in a row
	place  int // the places of the anchor below this one were looked at
}

// Tail gives the newest lines of the output log, oldest first, at most n. It's
// asked only where text may have been printed again.
type Tail func(n int) ([]string, error)

// NewEngine returns an engine at the start of a pane. marker may be nil.
// drained: when the pane's program has ended, all it printed is there.
func NewEngine(p Profile, m *Marker, drained bool) Engine {
	return Engine{profile: p, marker: m, drained: drained}
}

// Apply works a snapshot in. If it doesn't reach far enough, Apply changes
// nothing and says what it needs; that's given back with the next snapshot as
// asked, and is nil otherwise. maxRows bounds the rows of history it asks for;
// 4 × anchorRows is the least.
func (e Engine) Apply(s *sessions.Snapshot, asked *Need, maxRows int, tail Tail, now time.Time) (*Step, *Need, error) {
	w := &work{Engine: e, s: s, now: now, tail: tail, maxRows: maxRows, step: &Step{}}
	if asked != nil {
		w.asked = *asked
	}
	if e.rep != nil {
		w.rep = e.rep.clone()
	}
	w.state.Shown = cloneShown(e.state.Shown)
	w.orphans, w.copies = e.orphans.clone(), maps.Clone(e.copies)
	if need, err := w.apply(); need != nil || err != nil {
		return nil, need, err
	}
	w.step.engine, w.step.screen = w.Engine, s
	return w.step, nil, nil
}

// work is one Apply.
type work struct {
	Engine
	s       *sessions.Snapshot
	hashes  []uint64
	now     time.Time
	tail    Tail
	maxRows int
	asked   Need
	step    *Step
	drawing bool
	frozen  bool // the grid can't be followed at the moment
}

func (w *work) apply() (*Need, error) {
	s := w.s
	w.hashes = make([]uint64, len(s.Rows))
	for i, r := range s.Rows {
		w.hashes[i] = rowHash(trimRow(r))
	}
	w.dropDeathNotice()
	w.measure()
	w.drawing = s.Alternate || w.profile.Drawing(s)
	need, err := w.track()
	if need != nil || err != nil {
		return need, err
	}
	if !w.frozen {
		w.ask()
		if err := w.emit(); err != nil {
			return nil, err
		}
	}
	w.look()
	w.remember()
	return nil, nil //nolint:nilnil // nothing more is needed
}

// dropDeathNotice blanks the row that tmux writes into a dead pane.
func (w *work) dropDeathNotice() {
	n := len(w.s.Rows)
	if w.s.Dead && n > 0 && strings.HasPrefix(w.s.Rows[n-1], "Pane is dead (") {
		w.s.Rows[n-1] = ""
		w.hashes[n-1] = rowHash("")
	}
}

// reaches reports whether the snapshot goes down to the bottom of the screen.
func (w *work) reaches() bool { return w.s.First+len(w.s.Rows) >= w.s.HistorySize+w.s.Height }

// abs is the absolute number of the snapshot's i-th row.
func (w *work) abs(i int) int64 { return w.state.Base + int64(w.s.First+i) }

// index is the snapshot's row with an absolute number; it may be outside.
func (w *work) index(abs int64) int { return int(abs-w.state.Base) - w.s.First }

// top is the absolute number of the first visible row.
func (w *work) top() int64 { return w.state.Base + int64(w.s.HistorySize) }

// look fills in what the snapshot shows besides lines.
func (w *work) look() {
	s, st := w.s, w.step
	if !w.reaches() {
		st.Changed, st.Settling = true, true // more to read at once
		return
	}
	visible := w.visible()
	st.Dialog = w.profile.Dialog(visible)
	st.Changed = st.Changed || !w.sameScreen()
	st.Live = w.live()
	if s.Dead {
		if !w.drained && (st.Changed || st.Grown > 0) {
			w.gap(0, reasonDied)
		}
		st.Exit = &sessions.Exit{Status: s.DeadStatus, Signal: s.DeadSignal}
	}
}

// visible are the rows of the visible screen.
func (w *work) visible() []string {
	return w.s.Rows[min(max(0, w.s.HistorySize-w.s.First), len(w.s.Rows)):]
}

// sameScreen compares the visible rows with those of the last snapshot.
func (w *work) sameScreen() bool {
	if len(w.prevAbs) != len(w.visible()) {
		return false
	}
	for i := max(0, w.s.HistorySize-w.s.First); i < len(w.s.Rows); i++ {
		if h, ok := w.prevAbs[w.abs(i)]; !ok || h != w.hashes[i] {
			return false
		}
	}
	return true
}

// live is the part of the screen that hasn't become lines: from the first
// undecided row to the last that isn't blank.
func (w *work) live() *sessions.Live {
	s := w.s
	from := min(max(0, w.index(w.state.Next)), len(s.Rows))
	if s.Alternate {
		from = max(0, s.HistorySize-s.First)
	}
	for from < len(s.Rows) && w.isShown(from) {
		from++
	}
	to := len(s.Rows)
	cursor := s.HistorySize + s.CursorY - s.First
	for to > from && trimRow(s.Rows[to-1]) == "" && to-1 != cursor {
		to--
	}
	l := &sessions.Live{Rows: make([]string, 0, to-from), Alternate: s.Alternate, CursorX: s.CursorX, CursorY: -1}
	for _, r := range s.Rows[min(from, to):to] {
		l.Rows = append(l.Rows, trimRow(r))
	}
	if s.CursorVisible && cursor >= from && cursor < to {
		l.CursorY = cursor - from
	}
	return l
}

// isShown reports whether the snapshot's i-th row is a line already.
func (w *work) isShown(i int) bool {
	h, ok := w.state.Shown[w.abs(i)]
	return ok && h == w.hashes[i]
}

// remember keeps what the next snapshot is compared with.
func (w *work) remember() {
	s, st := w.s, &w.state
	if w.reaches() {
		w.prevAbs = make(map[int64]uint64, s.Height)
		for i := max(0, s.HistorySize-s.First); i < len(s.Rows); i++ {
			w.prevAbs[w.abs(i)] = w.hashes[i]
		}
	}
	if w.frozen {
		st.CaughtUp = true
		w.keepScreen()
		return
	}
	st.Started, st.PID, st.Width, st.Height, st.HS = true, s.PID, s.Width, s.Height, s.HistorySize
	st.CaughtUp, st.Activity = w.reaches(), s.Activity
	st.Anchor = newAnchor(st.Base, s, w.hashes, st.Anchor, w.maxRows/4)
	top := w.top()
	for abs := range st.Shown {
		if abs < top && abs < st.Next {
			delete(st.Shown, abs)
		}
	}
	if !w.reaches() {
		return
	}
	w.showReturned()
	if !s.Alternate {
		st.Drew = w.drawing
		st.Cursor = top + int64(s.CursorY)
	}
	w.keepScreen()
}

// showReturned marks visible rows that were decided as history: a pane that gets
// higher takes them back, and what's visible may be overwritten.
func (w *work) showReturned() {
	for i := max(0, w.s.HistorySize-w.s.First); i < len(w.s.Rows) && w.abs(i) < w.state.Next && !w.s.Alternate; i++ {
		if _, ok := w.state.Shown[w.abs(i)]; !ok {
			w.state.Shown[w.abs(i)] = w.hashes[i]
		}
	}
}

func cloneShown(m rowHashes) rowHashes {
	out := make(rowHashes, len(m))
	maps.Copy(out, m)
	return out
}

// caughtUp reports whether the last snapshot reached the bottom of the screen.
func (e *Engine) caughtUp() bool { return e.state.CaughtUp }

// ahead is the window behind the last snapshot, which didn't reach the bottom.
func (e *Engine) ahead(maxRows int) sessions.Window {
	st := &e.state
	g := int(st.Next-st.Base) - len(st.Anchor.Hashes)
	return window(g-st.HS-maxRows/4, maxRows)
}

// window begins at a row relative to the top of the screen. It has at most
// maxRows rows of history, and goes to the bottom of the screen if these are
// all.
func window(start, maxRows int) sessions.Window {
	if start < -maxRows {
		return sessions.Window{Start: start, Rows: maxRows}
	}
	return sessions.Window{Start: min(0, start)}
}

// Vanish ends a pane that can't be read any more: what was on the screen when
// it was last seen becomes lines. unsure: there may have been more.
func (e Engine) Vanish(unsure bool) *Step {
	w := &work{Engine: e, s: &sessions.Snapshot{}, step: &Step{Changed: true}}
	w.state.Shown = cloneShown(e.state.Shown)
	w.rep = nil // nothing is compared any more
	w.vanish(everything, true)
	w.vanishAlternate(w.screen.alternate)
	if unsure {
		w.gap(0, reasonGone)
	}
	w.screen = memory{}
	w.step.engine = w.Engine
	return w.step
}
