package polling

import (
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

// Target is what a poller reads.
type Target struct {
	Session  sessions.ID
	Server   string
	Pane     string
	Identity sessions.ServerIdentity // of the server's run that has the pane; zero: whichever runs
	Profile  Profile                 // nil: Generic
	Drained  bool                    // the pane's program can't end before tmux has read all its output
}

// OutputPoller is the one reader of one session's pane. Its goroutine (run)
// owns the engine; others wake it and ask it to stop.
type OutputPoller struct {
	target Target
	source Source
	log    Log
	owner  Owner
	watch  *watch // looks at its pane
	opt    *Options
	slog   *slog.Logger

	wake  chan struct{} // a capture is due; capacity 1
	gone  chan struct{} // closed when the pane was seen to be gone
	stop  chan struct{} // closed when the session is to end
	ended chan struct{} // closed when the poller has ended and cleaned up

	mu       sync.Mutex
	last     sessions.Glance // the look that led to the last capture
	lastSec  int64           // second in which the last capture was taken
	settling bool            // another look is needed
	focus    time.Time
	echoes   []string
	once     struct{ gone, stop sync.Once }

	// Owned by run:
	engine  Engine
	turn    sessions.Turn
	seq     int64
	live    *sessions.Live
	state   sessions.State
	changed time.Time // last change of the pane
	depth   int       // rows of history the next capture takes
}

// due reports whether the pane has to be captured after this look. Activity has
// a resolution of a second, so output later in the second of the last capture
// leaves no trace; therefore that second, and one more for the rounding of two
// clocks, count as changed.
func (p *OutputPoller) due(g sessions.Glance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g == p.last {
		return p.unsettled()
	}
	p.last = sessions.Glance{Pane: p.target.Pane, Activity: g.Activity, State: strings.Clone(g.State)} // g is part of a larger text
	return true
}

// dueAgain is due for a pane that's as it was at the last look.
func (p *OutputPoller) dueAgain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unsettled()
}

func (p *OutputPoller) unsettled() bool { return p.settling || p.last.Activity >= p.lastSec-1 }

func (p *OutputPoller) poke() {
	select {
	case p.wake <- struct{}{}:
	default: // one is due already
	}
}

// vanished tells that the pane isn't there any more.
func (p *OutputPoller) vanished() {
	p.once.gone.Do(func() { close(p.gone) })
}

// typed tells that input was sent: look at once, and often for a while.
func (p *OutputPoller) typed(text string, now time.Time, m *Marker) {
	p.mu.Lock()
	p.focus = now.Add(focusFor)
	p.echoes = append(p.echoes, m.echoOf(text)...)
	if len(p.echoes) > maxEchoes {
		p.echoes = p.echoes[len(p.echoes)-maxEchoes:]
	}
	p.mu.Unlock()
	p.poke()
}

func (p *OutputPoller) focused(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Before(p.focus)
}

// run reads until the pane or the session ends, or ctx does.
func (p *OutputPoller) run(ctx context.Context) {
	defer close(p.ended)
	delay := restartMin
	for {
		started := time.Now()
		err := p.guarded(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		p.report(sessions.StateError, "reading its output failed and is tried again: "+err.Error())
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

// guarded is loop with panics turned into errors: one session's trouble is not
// the others'.
func (p *OutputPoller) guarded(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return p.loop(ctx)
}

func (p *OutputPoller) loop(ctx context.Context) error {
	if err := p.load(ctx); err != nil {
		return err
	}
	p.poke()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.gone:
			return p.finish(ctx, nil, "its pane is gone")
		case <-p.stop:
			return p.stopped(ctx)
		case <-p.wake:
		}
		done, err := p.capture(ctx)
		if done || err != nil {
			return err
		}
	}
}

// load takes up where the output log ends.
func (p *OutputPoller) load(ctx context.Context) error {
	blob, turn, err := p.log.Load(ctx, p.target.Session)
	if err != nil {
		return fmt.Errorf("load engine state: %w", err)
	}
	p.engine, p.turn = NewEngine(p.target.Profile, p.opt.Marker, p.target.Drained), turn
	if blob == nil {
		return nil
	}
	if err := json.Unmarshal(blob, &p.engine.state); err != nil {
		return fmt.Errorf("load engine state: %w", err)
	}
	return nil
}

// capture reads until it has caught up with the pane, then stores and tells
// what came. done: the session has ended.
func (p *OutputPoller) capture(ctx context.Context) (done bool, err error) {
	defer p.watch.captured(p)
	p.mu.Lock()
	p.lastSec = time.Now().Unix()
	p.mu.Unlock()
	window := sessions.Window{Start: -p.depth}
	for asked := (*Need)(nil); ; {
		select {
		case <-p.stop:
			return false, nil // loop sees it
		default:
		}
		step, more, err := p.read(ctx, window, asked)
		if err != nil {
			return p.captureFailed(ctx, err)
		}
		if asked = more; more != nil {
			window = more.Window
			continue
		}
		if err := p.store(ctx, step); err != nil {
			return false, err
		}
		if step.Exit != nil && step.engine.caughtUp() {
			return true, p.end(step.Exit, "its program has ended")
		}
		if step.engine.caughtUp() {
			p.rate(step)
			return false, nil
		}
		window = step.engine.ahead(p.opt.MaxCaptureLines)
	}
}

// read takes one snapshot and works it in.
func (p *OutputPoller) read(ctx context.Context, win sessions.Window, asked *Need) (*Step, *Need, error) {
	c, cancel := context.WithTimeout(ctx, p.opt.CaptureTimeout)
	defer cancel()
	snap, err := p.source.Snapshot(c, p.target.Pane, win)
	if err != nil {
		return nil, nil, err
	}
	if own := p.target.Identity; own != (sessions.ServerIdentity{}) && snap.Server != own {
		return nil, nil, fmt.Errorf("%w pane: its tmux server was started anew", sessions.ErrUnknown)
	}
	p.mu.Lock()
	p.engine.echoes = p.echoes
	p.mu.Unlock()
	tail := func(n int) ([]string, error) { return p.tail(ctx, n) }
	return p.engine.Apply(&snap, asked, p.opt.MaxCaptureLines, tail, time.Now())
}

func (p *OutputPoller) tail(ctx context.Context, n int) ([]string, error) {
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
		return true, p.finish(ctx, nil, "its pane is gone")
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sessions.ErrUnavailable):
		p.again()
		return false, nil
	}
	p.again()
	return false, err
}

// again makes the next look capture, whatever it finds.
func (p *OutputPoller) again() {
	p.mu.Lock()
	p.settling = true
	p.mu.Unlock()
}

// store commits a step, and then keeps the engine and tells the owner.
func (p *OutputPoller) store(ctx context.Context, step *Step) error {
	now := time.Now()
	turn := p.nextTurn(step, now)
	ev := sessions.OutputEvent{Session: p.target.Session, Complete: step.Complete, Exit: step.Exit, Turn: p.turn}
	if step.Changed || turn != nil || len(step.Gaps) > 0 {
		blob, err := json.Marshal(&step.engine.state)
		if err != nil {
			return fmt.Errorf("store engine state: %w", err)
		}
		b := Batch{Session: p.target.Session, Gaps: step.Gaps, Engine: blob, Turn: turn}
		for _, l := range step.Lines {
			b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindPane, Text: l, At: now})
		}
		done, err := p.log.Append(ctx, b)
		if err != nil {
			return fmt.Errorf("store output: %w", err)
		}
		ev.Lines, ev.Gaps, ev.Turn = done.Lines, done.Gaps, done.Turn
		if len(done.Lines) > 0 {
			ev.First = done.Lines[0].N
		}
		p.turn = done.Turn
	}
	p.engine = step.Engine()
	p.mu.Lock()
	p.settling = step.Settling
	if step.Complete {
		p.focus, p.echoes = time.Time{}, nil // the turn has ended: rest
	}
	p.mu.Unlock()
	p.tell(ev, step, now)
	return nil
}

// nextTurn is the turn after a step, nil if it doesn't change. A turn opens
// with its first line, and ends with the line that holds the marker; that line
// may come later than the end, if the marker stood at the cursor.
func (p *OutputPoller) nextTurn(step *Step, now time.Time) *sessions.Turn {
	t := p.turn
	late := 0 // lines that belong to the turn that has ended
	if !t.Open && !step.Complete {
		late = step.TurnEnd
	}
	opens := !t.Open && (step.Complete || len(step.Lines) > late)
	t.FirstLine, t.LastLine = 0, int64(late)
	if opens {
		t = sessions.Turn{Number: t.Number + 1, Open: true, StartedAt: now}
		if len(step.Lines) > late {
			t.FirstLine = int64(late) + 1
		}
	}
	if step.Complete {
		t.Open, t.EndedAt, t.LastLine = false, now, int64(step.TurnEnd)
		if step.TurnEnd == 0 {
			t.LastLine = int64(len(step.Lines))
		}
	}
	if !opens && !step.Complete && late == 0 {
		return nil
	}
	return &t
}

// tell hands an event on, if there's anything in it.
func (p *OutputPoller) tell(ev sessions.OutputEvent, step *Step, now time.Time) {
	if step.Live != nil && !sameLive(step.Live, p.live) {
		ev.Live, p.live = step.Live, step.Live
	}
	if step.Changed || ev.Live != nil {
		p.changed = now
	}
	state, reason := p.nextState(step, now)
	if state != p.state {
		ev.State, ev.Reason, p.state = state, reason, state
	}
	if len(ev.Lines) == 0 && len(ev.Gaps) == 0 && ev.Live == nil && !ev.Complete && ev.Exit == nil && ev.State == "" {
		return
	}
	p.seq++
	ev.Seq = p.seq
	p.owner.Output(ev)
}

// nextState is what a program without a profile of its own seems to do.
func (p *OutputPoller) nextState(step *Step, now time.Time) (sessions.State, string) {
	switch {
	case step.Exit != nil:
		return sessions.StateIdle, "its program has ended"
	case step.Dialog != "":
		return sessions.StateWaiting, "a dialog is on the screen: " + step.Dialog
	case step.Complete:
		return sessions.StateIdle, "its turn has ended"
	case p.turn.Open && now.Sub(p.changed) < quietAfter:
		p.again() // to see it fall quiet
		return sessions.StateWorking, "its pane is changing"
	case !p.turn.Open && p.turn.Number > 0 && len(step.Lines) == 0:
		return sessions.StateIdle, "its turn has ended"
	}
	return sessions.StateIdle, "its pane is quiet"
}

// report tells a state alone.
func (p *OutputPoller) report(state sessions.State, reason string) {
	p.state = state
	p.seq++
	p.owner.Output(sessions.OutputEvent{Session: p.target.Session, Seq: p.seq, State: state, Reason: reason, Turn: p.turn})
}

// stopped reads what's there for a last time, within the capture time-out.
func (p *OutputPoller) stopped(ctx context.Context) error {
	window := sessions.Window{Start: -p.depth}
	for asked := (*Need)(nil); ; {
		step, more, err := p.read(ctx, window, asked)
		if err != nil {
			break // gone already, or hung: what was seen last counts
		}
		if asked = more; more != nil {
			window = more.Window
			continue
		}
		if err := p.store(ctx, step); err != nil {
			return err
		}
		if step.engine.caughtUp() {
			break
		}
		window = step.engine.ahead(p.opt.MaxCaptureLines)
	}
	return p.finish(ctx, nil, "")
}

// finish emits what stood on the screen when it was last seen, and ends. reason
// "": the session is being closed, and whoever closes it knows.
func (p *OutputPoller) finish(ctx context.Context, exit *sessions.Exit, reason string) error {
	step := p.engine.Vanish(reason != "")
	step.Exit = exit
	if err := p.store(ctx, step); err != nil {
		return err
	}
	return p.end(exit, reason)
}

func (p *OutputPoller) end(exit *sessions.Exit, reason string) error {
	if reason != "" {
		p.owner.Ended(p.target.Session, exit, reason)
	}
	return nil
}

// rate sets how deep the next capture goes: far enough for twice what came
// since the last, so that one is enough at a steady rate.
func (p *OutputPoller) rate(step *Step) {
	want := minDepth + 2*max(0, step.Grown)
	p.depth = min(max(want, p.depth*3/4), p.opt.MaxCaptureLines)
}

const (
	minDepth        = anchorRows + 16 // 16 new rows cost one capture; deeper would cost all captures more
	minCaptureLines = 4*anchorRows + 4
)

func sameLive(a, b *sessions.Live) bool {
	return b != nil && a.Alternate == b.Alternate && a.CursorX == b.CursorX && a.CursorY == b.CursorY && slices.Equal(a.Rows, b.Rows)
}
