package polling

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	restartMin = time.Second
	restartMax = 30 * time.Second
	quietAfter = 3 * time.Second // without change, a session without an open dialog is idle
	maxEchoes  = 16
)

// PolledPane is what a poller reads.
type PolledPane struct {
	Session  sessions.ID
	Server   string
	Pane     string
	Identity sessions.ServerIdentity // of the server's run that has the pane; zero: whichever runs
	Profile  ScreenProfile           // nil: PlainProfile
	Drained  bool                    // the pane's program can't end before tmux has read all its output
	// Observe makes the session's observer from what one before it wanted kept (nil:
	// there was none); nil: nothing is known of the program but its screen.
	Observe func(kept []byte) (Observer, error)
}

// OutputPoller is the one reader of one session's pane. Its goroutine (run)
// owns the engine; others wake it and ask it to stop.
type OutputPoller struct {
	target PolledPane
	source PaneSource
	log    Log
	owner  Owner
	watch  *serverWatch // looks at its pane
	opt    *tuned
	slog   *slog.Logger

	wake  chan struct{} // a capture is due; capacity 1
	gone  chan struct{} // closed when the pane was seen to be gone
	stop  chan struct{} // closed when the session is to end
	ended chan struct{} // closed when the poller has ended and cleaned up

	mu         sync.Mutex
	last       sessions.Glance // the look that led to the last capture
	lastSec    int64           // second in which the last capture was taken
	settling   bool            // another look is needed
	focus      time.Time
	followers  int        // who want output to be read as soon as it's written
	following  bool       // a goroutine follows the program's writes
	tty        string     // the pane's terminal at the last look
	looks      LookBudget // what it takes to read the screen and to work it in; what comes of it is stored then
	wroteAt    time.Time  // when a write of the program was noted last
	lookedAt   time.Time  // when the look before this one began
	beganAt    time.Time  // when this one did
	stableAt   time.Time  // when rows that it has found will be stable, if it looks again then
	echoes     []string
	typedTexts []sessions.Typed // since the last look
	once       struct{ gone, stop sync.Once }

	// Owned by run:
	engine  Engine
	turn    sessions.Turn
	seq     int64
	live    *sessions.Live
	state   sessions.State
	asked   *sessions.Dialog // that was told last; nil: none
	unasked bool             // nothing was told since the start of reading
	changed time.Time        // last change of the pane
	depth   int              // rows of history the next capture takes
	hang    hangWatch        // of its captures

	observer Observer           // nil: nothing is known but the screen
	kept     []byte             // what it needs to go on, as it was stored
	before   state              // the engine's, as it was stored last
	text     sessions.LinesFrom // whose lines are the session's
	known    bool               // an agent program runs
	shown    int                // how many of typedTexts the observer was told
	ownTurn  bool               // the turn was opened by the pane's lines, and by no program
	inputs   inputs
	late     *lateEnd
	held     heldLines
	timer    *time.Timer // when the observer wants to be asked again
}

// run reads until the pane or the session ends, or ctx does.
func (p *OutputPoller) run(ctx context.Context) {
	defer close(p.ended)
	delay := restartMin
	for {
		started := time.Now()
		err := p.containLoop(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		p.publishState(sessions.StateError, "reading its output failed and is tried again: "+err.Error())
		p.slog.Error("poller failed", "err", err, "again_in", delay)
		if time.Since(started) > restartMax {
			delay = restartMin
		}
		select {
		case <-ctx.Done():
			return
		case <-p.stop:
			return
		case <-time.After(delay):
		}
		delay = min(2*delay, restartMax)
	}
}

// containLoop is loop with panics turned into errors: one session's trouble is not
// the others'.
func (p *OutputPoller) containLoop(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("panebridge had a fault in its own work here; it's in the log")
			p.slog.Error("a poller panicked", "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
			p.opt.get().Panicked()
		}
	}()
	return p.loop(ctx)
}

func (p *OutputPoller) loop(ctx context.Context) error {
	if err := p.loadState(ctx); err != nil {
		return err
	}
	defer p.closeObserver()
	p.wakeUp()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.gone:
			return p.finishSession(ctx, nil, "its pane is gone")
		case <-p.stop:
			return p.readLast(ctx)
		case <-p.timer.C:
		case <-p.wake:
			if p.waitsForStable() { // the look that comes then is for this, too
				continue
			}
		}
		done, err := p.captureOutput(ctx)
		if done || err != nil {
			return err
		}
	}
}

// keptPoller is what's stored of a poller.
type keptPoller struct {
	state
	Observer json.RawMessage `json:",omitempty"`
	Late     *lateEnd        `json:",omitempty"`
	Answered bool            `json:",omitempty"` // the open turn's input is known
}

// loadState takes up where the output log ends.
func (p *OutputPoller) loadState(ctx context.Context) error {
	blob, turn, err := p.log.Load(ctx, p.target.Session)
	if err != nil {
		return fmt.Errorf("load engine state: %w", err)
	}
	p.engine, p.turn = NewEngine(p.target.Profile, p.opt.get().Marker, p.target.Drained), turn
	p.engine.prompts = p.opt.get().Prompts
	p.held, p.text, p.known, p.unasked = heldLines{}, sessions.TextPane, false, true
	var was keptPoller
	if blob != nil {
		if err := json.Unmarshal(blob, &was); err != nil {
			return fmt.Errorf("load engine state: %w", err)
		}
	}
	p.engine.state, p.before, p.kept, p.late = was.state, was.state, was.Observer, was.Late
	p.inputs.answered, p.changed = was.Answered, time.Now()
	p.timer = time.NewTimer(time.Hour)
	p.timer.Stop()
	if p.target.Observe == nil {
		return nil
	}
	if p.observer, err = p.target.Observe(p.kept); err != nil {
		return fmt.Errorf("observe the program: %w", err)
	}
	p.text = sessions.TextHeld // the first captures may not reach the screen, by which it's decided
	p.engine.profile = p.observer
	return nil
}

func (p *OutputPoller) closeObserver() {
	p.timer.Stop()
	if p.observer == nil {
		return
	}
	if err := p.observer.Close(); err != nil {
		p.slog.Warn("an observer's end", "err", err)
	}
	p.observer = nil
}

// captureOutput reads until it has caught up with the pane, then stores and tells
// what came. done: the session has ended.
func (p *OutputPoller) captureOutput(ctx context.Context) (done bool, err error) {
	defer p.watch.noteCaptured(p)
	p.mu.Lock()
	p.lookedAt, p.beganAt = p.beganAt, time.Now()
	p.lastSec = p.beganAt.Unix()
	p.mu.Unlock()
	window := sessions.RowWindow{Start: -p.depth}
	for asked := (*Need)(nil); ; {
		select {
		case <-p.stop:
			return false, nil // loop sees it
		default:
		}
		step, more, err := p.readSnapshot(ctx, window, asked)
		if err != nil {
			return p.captureFailed(ctx, err)
		}
		p.hang.noteAnswer(p.slog)
		if asked = more; more != nil {
			window = more.Window
			continue
		}
		if err := p.process(ctx, step, false); err != nil {
			return false, err
		}
		if step.Exit != nil && step.engine.hasCaughtUp() {
			p.reportEnd(step.Exit, "its program has ended")
			return true, nil
		}
		if step.engine.hasCaughtUp() {
			p.adjustDepth(step)
			return false, nil
		}
		window = step.engine.windowAhead(p.opt.get().MaxCaptureLines)
	}
}

// readSnapshot takes one snapshot and works it in.
func (p *OutputPoller) readSnapshot(ctx context.Context, win sessions.RowWindow, asked *Need) (*EngineStep, *Need, error) {
	defer p.noteTook(time.Now())
	c, cancel := context.WithTimeout(ctx, p.opt.get().CaptureTimeout)
	defer cancel()
	snap, err := p.source.Snapshot(c, p.target.Pane, win)
	if err != nil {
		return nil, nil, err
	}
	if own := p.target.Identity; own != (sessions.ServerIdentity{}) && snap.Server != own {
		return nil, nil, fmt.Errorf("%w pane: its tmux server was started anew", sessions.ErrUnknown)
	}
	p.mu.Lock()
	p.tty = snap.TTY
	p.engine.echoes, p.engine.marker = p.echoes, p.opt.get().Marker
	p.mu.Unlock()
	p.engine.stoodSince = p.stoodSince()
	tail := func(n int) ([]string, error) { return p.logTail(ctx, n) }
	return p.engine.Apply(&snap, asked, p.opt.get().MaxCaptureLines, tail, time.Now())
}

// noteTook takes in how long a look took, and tells of it.
func (p *OutputPoller) noteTook(since time.Time) {
	now := time.Now()
	took := now.Sub(since)
	p.mu.Lock()
	p.looks.Charge(now, took)
	p.mu.Unlock()
	p.opt.get().Captured(took)
}

func (p *OutputPoller) logTail(ctx context.Context, n int) ([]string, error) {
	lines, err := p.log.Tail(ctx, p.target.Session, n)
	if err != nil {
		return nil, fmt.Errorf("read the end of the log: %w", err)
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out, nil
}

// captureFailed decides what an error of the source means. A server that
// doesn't answer isn't this poller's business: its tick is skipped.
func (p *OutputPoller) captureFailed(ctx context.Context, err error) (bool, error) {
	switch {
	case errors.Is(err, sessions.ErrUnknown):
		return true, p.finishSession(ctx, nil, "its pane is gone")
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		p.hang.noteSilence(p.opt.get(), p.slog)
		p.captureAgain()
		return false, nil
	case errors.Is(err, sessions.ErrUnavailable):
		p.captureAgain()
		return false, nil
	}
	p.captureAgain()
	return false, err
}

// captureAgain makes the next look capture, whatever it finds.
func (p *OutputPoller) captureAgain() {
	p.mu.Lock()
	p.settling = true
	p.mu.Unlock()
}

// adjustDepth sets how deep the next capture goes: far enough for twice what came
// since the last, so that one is enough at a steady rate.
func (p *OutputPoller) adjustDepth(step *EngineStep) {
	want := minDepth + 2*max(0, step.Grown)
	p.depth = min(max(want, p.depth*3/4), p.opt.get().MaxCaptureLines)
}

const (
	minDepth        = anchorRows + 16 // 16 new rows cost one capture; deeper would cost all captures more
	minCaptureLines = 4*anchorRows + 4
)

// process has a step observed, and stores what comes of it.
func (p *OutputPoller) process(ctx context.Context, step *EngineStep, last bool) error {
	obs, err := p.observeStep(ctx, step, last)
	if err != nil {
		return err
	}
	if err := p.commit(ctx, step, obs, last); err != nil {
		return err
	}
	p.forgetTyped()
	return p.observeRest(ctx, obs, last, step.StableAt)
}

// commit commits a step and what the observer saw, and then keeps the engine and
// tells the owner. last: the session ends with it.
func (p *OutputPoller) commit(ctx context.Context, step *EngineStep, obs sessions.Observation, last bool) error {
	now := time.Now()
	undecided := p.held.begun
	lines, gaps, hold := p.takeOwnLines(step, obs, last, now)
	decided := undecided && !hold
	b := Batch{Session: p.target.Session, Lines: append(lines, obs.Lines...), Gaps: gaps, Spent: obs.Spent, Usage: obs.Usage}
	ofProgram := len(b.Lines)
	if obs.Said != nil { // the pane's own come behind what the program said
		b.Lines, ofProgram = append(slices.Clone(obs.Lines), lines...), len(obs.Lines)
		for i := range b.Gaps {
			b.Gaps[i].After += int64(len(obs.Lines))
		}
	}
	complete := step.Complete
	if obs.Known {
		complete = obs.Ended
		b.Turn = p.observedTurn(ofProgram, obs, now)
		p.keepLateEnd(step)
	} else {
		p.findOwnTurns(&b, step, obs, now)
		complete = complete || len(b.Ended) > 0
	}
	own := p.ownTurn
	if b.Turn != nil || len(b.Ended) > 0 {
		own = !obs.Known
	}
	ev := sessions.OutputEvent{Session: p.target.Session, Complete: complete, Exit: step.Exit, Turn: p.turn}
	if step.Changed || decided || b.Turn != nil || b.Usage != nil || len(b.Ended)+len(step.cuts) > 0 || len(b.Lines)+len(b.Gaps) > 0 || !bytes.Equal(obs.Keep, p.kept) {
		done, err := p.appendBatch(ctx, b, step, obs.Keep, hold)
		if err != nil {
			return fmt.Errorf("store output: %w", err)
		}
		p.publishEndedTurns(&done)
		ev.Lines, ev.Gaps, ev.Turn, ev.Usage = done.Lines, done.Gaps, done.Turn, done.Usage
		ev.Complete = complete && len(done.Ended) == 0
		if len(done.Lines) > 0 {
			ev.First = done.Lines[0].N
		}
		p.turn = done.Turn
	}
	p.engine, p.text, p.known, p.ownTurn = step.Engine(), obs.Text, obs.Known, own
	p.mu.Lock()
	p.settling = step.Settling
	if complete {
		p.focus, p.echoes = time.Time{}, nil // the turn has ended: rest
	}
	p.mu.Unlock()
	p.publish(ev, step, obs, now)
	return nil
}

// appendBatch stores a batch with the engine as it is behind it; while lines are held,
// with the engine as it was before them.
func (p *OutputPoller) appendBatch(ctx context.Context, b Batch, step *EngineStep, keep []byte, hold bool) (Appended, error) {
	engine := &step.engine.state
	if hold {
		engine = &p.before
	}
	blob, err := json.Marshal(keptPoller{*engine, keep, p.late, p.inputs.answered})
	if err != nil {
		return Appended{}, err
	}
	b.Engine = blob
	done, err := p.log.Append(ctx, b)
	if err != nil {
		return done, err
	}
	p.kept = keep
	if !hold {
		p.before = *engine
	}
	return done, nil
}

// publishEndedTurns tells of the turns that ended within a batch, each with its lines and what
// comes before them, and leaves the rest.
func (p *OutputPoller) publishEndedTurns(done *Appended) {
	for _, t := range done.Ended {
		p.seq++
		ev := sessions.OutputEvent{Session: p.target.Session, Seq: p.seq, Turn: t, Complete: true, Prompt: p.asked}
		n := slices.IndexFunc(done.Lines, func(l sessions.Line) bool { return l.N > t.LastLine })
		if n < 0 {
			n = len(done.Lines)
		}
		if ev.Lines, done.Lines = done.Lines[:n], done.Lines[n:]; n > 0 {
			ev.First = ev.Lines[0].N
		}
		n = slices.IndexFunc(done.Gaps, func(g sessions.Gap) bool { return g.After > t.LastLine })
		if n < 0 {
			n = len(done.Gaps)
		}
		ev.Gaps, done.Gaps = done.Gaps[:n], done.Gaps[n:]
		p.owner.Output(ev)
	}
}

// publish hands an event on, if there's anything in it.
func (p *OutputPoller) publish(ev sessions.OutputEvent, step *EngineStep, obs sessions.Observation, now time.Time) {
	live := step.Live
	if live != nil && obs.Known {
		live.Known, live.Writing, live.Status = true, obs.Writing, obs.Status
	}
	if live != nil && !sameLive(live, p.live) {
		ev.Live, p.live = live, live
	}
	if step.Changed || ev.Live != nil {
		p.changed = now
	}
	state, reason := obs.State, obs.Reason
	if !obs.Known {
		state, reason = p.nextState(step, obs, now)
	}
	if state != p.state {
		ev.State, ev.Reason, p.state = state, reason, state
	}
	p.addDialog(&ev, obs)
	if len(ev.Lines) == 0 && len(ev.Gaps) == 0 && ev.Live == nil && !ev.Complete && ev.Exit == nil && ev.State == "" && !ev.Asked && ev.Usage == nil {
		return
	}
	p.seq++
	ev.Seq = p.seq
	p.owner.Output(ev)
}

// addDialog has an event tell of the dialog on the screen, and whether that's another than
// before. Where a look couldn't tell, it's the one before.
func (p *OutputPoller) addDialog(ev *sessions.OutputEvent, obs sessions.Observation) {
	if obs.Prompts {
		was := p.asked
		p.asked = obs.Prompt
		ev.Asked = p.unasked || (was == nil) != (p.asked == nil) || was != nil && !was.TellsAs(p.asked)
		p.unasked = false
	}
	ev.Prompt = p.asked
}

func sameLive(a, b *sessions.Live) bool {
	return b != nil && a.Known == b.Known && a.Status == b.Status && slices.Equal(a.Writing, b.Writing) && a.Alternate == b.Alternate && a.CursorX == b.CursorX && a.CursorY == b.CursorY && slices.Equal(a.Rows, b.Rows)
}

// publishState tells a state alone.
func (p *OutputPoller) publishState(state sessions.State, reason string) {
	p.state = state
	p.seq++
	p.owner.Output(sessions.OutputEvent{Session: p.target.Session, Seq: p.seq, State: state, Reason: reason, Turn: p.turn, Prompt: p.asked})
}

// readLast reads what's there for a last time, within the capture time-out.
func (p *OutputPoller) readLast(ctx context.Context) error {
	window := sessions.RowWindow{Start: -p.depth}
	for asked := (*Need)(nil); ; {
		step, more, err := p.readSnapshot(ctx, window, asked)
		if err != nil {
			break // gone already, or hung: what was seen last counts
		}
		if asked = more; more != nil {
			window = more.Window
			continue
		}
		if err := p.process(ctx, step, false); err != nil {
			return err
		}
		if step.engine.hasCaughtUp() {
			break
		}
		window = step.engine.windowAhead(p.opt.get().MaxCaptureLines)
	}
	return p.finishSession(ctx, nil, "")
}

// finishSession emits what stood on the screen when it was last seen, and ends. reason
// "": the session is being closed, and whoever closes it knows.
func (p *OutputPoller) finishSession(ctx context.Context, exit *sessions.Exit, reason string) error {
	step := p.engine.Vanish(reason != "")
	step.Exit = exit
	if err := p.process(ctx, step, true); err != nil {
		return err
	}
	p.reportEnd(exit, reason)
	return nil
}

func (p *OutputPoller) reportEnd(exit *sessions.Exit, reason string) {
	if reason != "" {
		p.owner.Ended(p.target.Session, exit, reason)
	}
}

// isDue reports whether the pane has to be captured after this look. Activity has
// a resolution of a second, so output later in the second of the last capture
// leaves no trace; therefore that second, and one more for the rounding of two
// clocks, count as changed.
func (p *OutputPoller) isDue(g sessions.Glance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g == p.last {
		return p.isUnsettled()
	}
	p.last = sessions.Glance{Pane: p.target.Pane, Activity: g.Activity, State: strings.Clone(g.State)} // g is part of a larger text
	return true
}

// isDueAgain is isDue for a pane that's as it was at the last look.
func (p *OutputPoller) isDueAgain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isUnsettled()
}

func (p *OutputPoller) isUnsettled() bool { return p.settling || p.last.Activity >= p.lastSec-1 }

func (p *OutputPoller) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default: // one is due already
	}
}

// notePaneGone tells that the pane isn't there any more.
func (p *OutputPoller) notePaneGone() {
	p.once.gone.Do(func() { close(p.gone) })
}

// noteTyped tells that input was sent: look at once, and often for a while.
func (p *OutputPoller) noteTyped(text string, now time.Time, m *Marker) {
	p.mu.Lock()
	p.focus = now.Add(focusFor)
	if text != "" {
		p.inputs.last = now
	}
	p.echoes = append(p.echoes, m.echoOf(text)...)
	if len(p.echoes) > maxEchoes {
		p.echoes = p.echoes[len(p.echoes)-maxEchoes:]
	}
	if p.target.Observe != nil && len(p.typedTexts) < maxTyped {
		p.typedTexts = append(p.typedTexts, sessions.Typed{Text: text, At: now})
	}
	p.mu.Unlock()
	p.wakeUp()
}

func (p *OutputPoller) isFocused(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Before(p.focus)
}
