package polling

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Engine turns snapshots of one pane into lines. It's a value without
// goroutines or I/O: Apply works on a copy, and the caller keeps the result
// only after its lines are stored.
type Engine struct {
	state   state
	profile ScreenProfile
	marker  *Marker
	prompts []*regexp.Regexp // what shells' prompts look like
	drained bool             // the pane's program can't end before tmux has read its output

	screen  memory              // the undecided rows of the last look, for when they vanish
	prevAbs map[int64]uint64    // hashes of the last snapshot's visible rows
	since   map[int64]time.Time // when a snapshot found them so first
	// stoodSince is since when rows that the next snapshot finds first have stood as they are, at the latest; zero: since
	// it finds them.
	stoodSince time.Time
	overwrote  time.Time // when rows above the cursor were last found to be others
	orphans    orphans
	copies     map[int64]bool // rows of state.Shown of which the first copy may still be undecided
	rep        *reprinted     // recognises what was printed before; nil: nothing is printed again now
	echoes     []string       // what was typed lately and holds the turn marker
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
	Anchor        rowAnchor
	Shown         rowHashes // visible rows that are lines already
	Doubtful      int64     // rows before this one that seem to be lines already may be others
	Drew          bool      // the program was drawing
	Cursor        int64     // absolute number of the cursor's row
	Marked        int64     // absolute number behind the newest row in which a turn marker was honoured
	MarkedEarly   string    // its text, while that isn't a line yet
	Floor         int64     // rows from here on were overwritten lately, until FloorUntil
	FloorUntil    time.Time
	ReprintUntil  time.Time  // the program may be printing everything again
	Begins        lineBegins // a line that begins with what was printed before
	Died          bool       // the pane is dead, and its last screen has been emitted
	CaughtUp      bool       // the last snapshot reached the bottom of the screen
	Shell         shellState
	Asking        openDialog
}

// EngineStep is what one snapshot brought.
type EngineStep struct {
	Lines    []string
	Gaps     []sessions.Gap // After counts the lines of this step before the gap
	Live     *sessions.Live
	Complete bool      // a turn marker was seen
	TurnEnd  int       // how many of Lines there are up to the newest with a turn marker; 0: none
	Changed  bool      // the pane isn't as it was at the last snapshot
	Settling bool      // something waits for another look, though the pane may stay as it is
	StableAt time.Time // when rows that wait for it will have stood long enough to be lines; zero: none wait for that
	Dialog   string
	Exit     *sessions.Exit
	Grown    int // rows that came since the last snapshot
	cuts     []turnCut
	engine   Engine
	screen   *sessions.Snapshot // that it was made of
}

// Engine is the engine after the step.
func (s *EngineStep) Engine() Engine { return s.engine }

// dueAt notes when rows will be stable, if that's the earliest.
func (s *EngineStep) dueAt(at time.Time) {
	if s.StableAt.IsZero() || at.Before(s.StableAt) {
		s.StableAt = at
	}
}

// Need says that the snapshot didn't reach far enough: take one with this
// window and apply that instead.
type Need struct {
	Window sessions.RowWindow
	tries  int // how many windows were asked for in a row
	place  int // the places of the anchor below this one were looked at
}

// Tail gives the newest lines of the output log, oldest first, at most n. It's
// asked only where text may have been printed again.
type Tail func(n int) ([]string, error)

// NewEngine returns an engine at the start of a pane. marker may be nil.
// drained: when the pane's program has ended, all it printed is there.
func NewEngine(p ScreenProfile, m *Marker, drained bool) Engine {
	return Engine{profile: p, marker: m, drained: drained}
}

// Apply works a snapshot in. If it doesn't reach far enough, Apply changes
// nothing and says what it needs; that's given back with the next snapshot as
// asked, and is nil otherwise. maxRows bounds the rows of history it asks for;
// 4 × anchorRows is the least.
func (e Engine) Apply(s *sessions.Snapshot, asked *Need, maxRows int, tail Tail, now time.Time) (*EngineStep, *Need, error) {
	w := &engineRun{Engine: e, s: s, now: now, tail: tail, maxRows: maxRows, step: &EngineStep{}}
	if asked != nil {
		w.asked = *asked
	}
	if e.rep != nil {
		w.rep = e.rep.clone()
	}
	w.state.Shown = cloneShown(e.state.Shown)
	w.orphans, w.copies = e.orphans.clone(), maps.Clone(e.copies)
	if need, err := w.applySnapshot(); need != nil || err != nil {
		return nil, need, err
	}
	w.step.engine, w.step.screen = w.Engine, s
	return w.step, nil, nil
}

// engineRun is one Apply.
type engineRun struct {
	Engine
	s       *sessions.Snapshot
	hashes  []uint64
	now     time.Time
	tail    Tail
	maxRows int
	asked   Need
	step    *EngineStep
	drawing bool
	frozen  bool // the grid can't be followed at the moment
}

func (w *engineRun) applySnapshot() (*Need, error) {
	s := w.s
	w.hashes = make([]uint64, len(s.Rows))
	for i, r := range s.Rows {
		w.hashes[i] = rowHash(trimRow(r))
	}
	w.dropDeathNotice()
	w.measureLines()
	w.drawing = s.Alternate || w.profile.Drawing(s)
	need, err := w.trackRows()
	if need != nil || err != nil {
		return need, err
	}
	if !w.frozen {
		w.findDialog()
		if err := w.emitLines(); err != nil {
			return nil, err
		}
	}
	w.describeScreen()
	w.rememberScreen()
	return nil, nil //nolint:nilnil // nothing more is needed
}

// dropDeathNotice blanks the row that tmux writes into a dead pane.
func (w *engineRun) dropDeathNotice() {
	n := len(w.s.Rows)
	if w.s.Dead && n > 0 && strings.HasPrefix(w.s.Rows[n-1], "Pane is dead (") {
		w.s.Rows[n-1] = ""
		w.hashes[n-1] = rowHash("")
	}
}

// reachesBottom reports whether the snapshot goes down to the bottom of the screen.
func (w *engineRun) reachesBottom() bool {
	return w.s.First+len(w.s.Rows) >= w.s.HistorySize+w.s.Height
}

// absRow is the absolute number of the snapshot's i-th row.
func (w *engineRun) absRow(i int) int64 { return w.state.Base + int64(w.s.First+i) }

// rowIndex is the snapshot's row with an absolute number; it may be outside.
func (w *engineRun) rowIndex(abs int64) int { return int(abs-w.state.Base) - w.s.First }

// topRow is the absolute number of the first visible row.
func (w *engineRun) topRow() int64 { return w.state.Base + int64(w.s.HistorySize) }

// describeScreen fills in what the snapshot shows besides lines.
func (w *engineRun) describeScreen() {
	s, st := w.s, w.step
	if !w.reachesBottom() {
		st.Changed, st.Settling = true, true // more to read at once
		return
	}
	visible := w.visibleRows()
	st.Dialog = w.profile.Dialog(visible)
	st.Changed = st.Changed || !w.sameScreen()
	st.Live = w.liveRegion()
	if s.Dead {
		if !w.drained && (st.Changed || st.Grown > 0) {
			w.addGap(0, reasonDied)
		}
		st.Exit = &sessions.Exit{Status: s.DeadStatus, Signal: s.DeadSignal}
	}
}

// visibleRows are the rows of the visible screen.
func (w *engineRun) visibleRows() []string {
	return w.s.Rows[min(max(0, w.s.HistorySize-w.s.First), len(w.s.Rows)):]
}

// sameScreen compares the visible rows with those of the last snapshot.
func (w *engineRun) sameScreen() bool {
	if len(w.prevAbs) != len(w.visibleRows()) {
		return false
	}
	for i := max(0, w.s.HistorySize-w.s.First); i < len(w.s.Rows); i++ {
		if h, ok := w.prevAbs[w.absRow(i)]; !ok || h != w.hashes[i] {
			return false
		}
	}
	return true
}

// liveRegion is the part of the screen that hasn't become lines: from the first
// undecided row to the last that isn't blank.
func (w *engineRun) liveRegion() *sessions.Live {
	s := w.s
	from := min(max(0, w.rowIndex(w.state.Next)), len(s.Rows))
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
func (w *engineRun) isShown(i int) bool {
	h, ok := w.state.Shown[w.absRow(i)]
	return ok && h == w.hashes[i]
}

// rememberRows keeps the visible rows, and since when they've been as they are.
func (w *engineRun) rememberRows() {
	rows, since := make(map[int64]uint64, w.s.Height), make(map[int64]time.Time, w.s.Height)
	for i := max(0, w.s.HistorySize-w.s.First); i < len(w.s.Rows); i++ {
		abs := w.absRow(i)
		rows[abs], since[abs] = w.hashes[i], w.foundAt()
		if h, ok := w.prevAbs[abs]; ok && h == w.hashes[i] {
			since[abs] = w.since[abs]
		}
	}
	w.prevAbs, w.since = rows, since
}

// foundAt is since when rows have stood that are new in this snapshot.
func (w *engineRun) foundAt() time.Time {
	if at := w.stoodSince; !at.IsZero() && at.Before(w.now) {
		return at
	}
	return w.now
}

// rememberScreen keeps what the next snapshot is compared with.
func (w *engineRun) rememberScreen() {
	s, st := w.s, &w.state
	if w.reachesBottom() {
		w.rememberRows()
	}
	if w.frozen {
		st.CaughtUp = true
		w.keepScreen()
		return
	}
	st.Started, st.PID, st.Width, st.Height, st.HS = true, s.PID, s.Width, s.Height, s.HistorySize
	st.CaughtUp, st.Activity = w.reachesBottom(), s.Activity
	st.Anchor = newAnchor(st.Base, s, w.hashes, st.Anchor, w.maxRows/4)
	top := w.topRow()
	for abs := range st.Shown {
		if abs < top && abs < st.Next {
			delete(st.Shown, abs)
		}
	}
	if !w.reachesBottom() {
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
func (w *engineRun) showReturned() {
	for i := max(0, w.s.HistorySize-w.s.First); i < len(w.s.Rows) && w.absRow(i) < w.state.Next && !w.s.Alternate; i++ {
		if _, ok := w.state.Shown[w.absRow(i)]; !ok {
			w.state.Shown[w.absRow(i)] = w.hashes[i]
		}
	}
}

func cloneShown(m rowHashes) rowHashes {
	out := make(rowHashes, len(m))
	maps.Copy(out, m)
	return out
}

// hasCaughtUp reports whether the last snapshot reached the bottom of the screen.
func (e *Engine) hasCaughtUp() bool { return e.state.CaughtUp }

// windowAhead is the window behind the last snapshot, which didn't reach the bottom.
func (e *Engine) windowAhead(maxRows int) sessions.RowWindow {
	st := &e.state
	g := int(st.Next-st.Base) - len(st.Anchor.Hashes)
	return captureWindow(g-st.HS-maxRows/4, maxRows)
}

// captureWindow begins at a row relative to the top of the screen. It has at most
// maxRows rows of history, and goes to the bottom of the screen if these are
// all.
func captureWindow(start, maxRows int) sessions.RowWindow {
	if start < -maxRows {
		return sessions.RowWindow{Start: start, Rows: maxRows}
	}
	return sessions.RowWindow{Start: min(0, start)}
}

// Vanish ends a pane that can't be read any more: what was on the screen when
// it was last seen becomes lines. unsure: there may have been more.
func (e Engine) Vanish(unsure bool) *EngineStep {
	w := &engineRun{Engine: e, s: &sessions.Snapshot{}, step: &EngineStep{Changed: true}}
	w.state.Shown = cloneShown(e.state.Shown)
	w.rep = nil // nothing is compared any more
	w.emitVanished(behindAll, true)
	w.emitAlternate(w.screen.alternate)
	if unsure {
		w.addGap(0, reasonGone)
	}
	w.screen = memory{}
	w.step.engine = w.Engine
	return w.step
}

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
func (w *engineRun) keepScreen() {
	if w.s.Alternate {
		w.screen.alternate = w.visibleRows()
		return
	}
	w.screen = memory{}
	for i := max(0, w.rowIndex(w.state.Next)); i < len(w.s.Rows); i++ {
		if !w.isShown(i) {
			abs := w.absRow(i)
			done := abs < w.state.Cursor && !w.isInDialog(abs)
			w.screen.normal = append(w.screen.normal, screenRow{abs: abs, text: w.s.Rows[i], wrapped: w.s.Wrapped[i], done: done, asked: w.askedAt(abs)})
		}
	}
}

// emitVanished emits the rows of the last screen that weren't lines yet and can't be
// read any more: those up to absolute number to. all: also the cursor's row and
// what stood below it. Of a line that goes on behind, the beginning is kept.
func (w *engineRun) emitVanished(to int64, all bool) {
	st := &w.state
	rows := w.screen.normal
	for len(rows) > 0 && (rows[len(rows)-1].abs >= to || !all && !rows[len(rows)-1].done) {
		rows = rows[:len(rows)-1]
	}
	goesOn := len(rows) > 0 && rows[len(rows)-1].wrapped && to != behindAll
	for len(rows) > 0 && !goesOn && trimRow(rows[len(rows)-1].text) == "" {
		rows = rows[:len(rows)-1]
	}
	for _, r := range rows {
		if r.abs < st.Next {
			continue
		}
		st.Begun += r.text[w.splitBytes(r.abs, r.text):]
		st.Next = r.abs + 1
		if !r.wrapped {
			w.emitLine(w.takeBegun(), r.abs)
		}
	}
	if to == behindAll {
		w.endBegunLine()
	}
}

// takeBegun takes the beginning of a line that's no longer in the grid.
func (w *engineRun) takeBegun() string {
	text := w.state.Begun
	w.state.Begun = ""
	return trimRow(text)
}

const behindAll = int64(1) << 62 // behind any row

// emitAlternate emits the alternate screen that was last seen.
func (w *engineRun) emitAlternate(rows []string) {
	for len(rows) > 0 && trimRow(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	for _, r := range rows {
		if !w.screen.left[rowHash(trimRow(r))] {
			w.emitLine(trimRow(r), 0)
		}
	}
}

// emitLastScreen emits what stands on the screens when the program dies while it
// shows the alternate one: first what that hides of the normal screen. tmux
// makes room for its notice by scrolling, and the alternate screen has no
// history: its first row is gone, but known if nothing else has changed.
func (w *engineRun) emitLastScreen() {
	w.emitVanished(behindAll, true)
	rows, was := w.visibleRows(), w.screen.alternate
	if len(was) > 1 && scrolledByOne(was, rows) {
		rows = append([]string{was[0]}, rows...)
	} else if len(was) > 0 {
		w.addGap(0, reasonDied)
	}
	w.emitAlternate(rows)
	w.state.Next = w.topRow() + int64(w.s.Height)
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

// The engine's state is stored with every capture that brings something, so its
// hashes are packed: as numbers in JSON they'd take three times the space.

// hashRun are the hashes of consecutive rows.
type hashRun []uint64

// rowHashes are hashes of rows by their absolute numbers.
type rowHashes map[int64]uint64

var errPacked = errors.New("packed row hashes are cut short")

// MarshalText packs the hashes, eight bytes each.
func (h hashRun) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 8*len(h))
	for _, v := range h {
		raw = binary.LittleEndian.AppendUint64(raw, v)
	}
	return base64.RawStdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText is the reverse.
func (h *hashRun) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	if len(raw)%8 != 0 {
		return errPacked
	}
	*h = make(hashRun, 0, len(raw)/8)
	for ; len(raw) > 0; raw = raw[8:] {
		*h = append(*h, binary.LittleEndian.Uint64(raw))
	}
	return nil
}

// MarshalText packs the rows in their order: the distance from the row before,
// then the hash.
func (h rowHashes) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 9*len(h)+8)
	last := int64(0)
	for _, abs := range slices.Sorted(maps.Keys(h)) {
		raw = binary.AppendVarint(raw, abs-last)
		raw = binary.LittleEndian.AppendUint64(raw, h[abs])
		last = abs
	}
	return base64.RawStdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText is the reverse.
func (h *rowHashes) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	*h = rowHashes{}
	for abs := int64(0); len(raw) > 0; {
		step, n := binary.Varint(raw)
		if n <= 0 || len(raw) < n+8 {
			return errPacked
		}
		abs += step
		(*h)[abs] = binary.LittleEndian.Uint64(raw[n:])
		raw = raw[n+8:]
	}
	return nil
}
