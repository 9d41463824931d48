package polling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
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
	// Observe makes the session's observer from what one before it wanted kept (nil:
	// there was none); nil: nothing is known of the program but its screen.
	Observe func(kept []byte) (Observer, error)
}

// OutputPoller is the one reader of one session's pane. Its goroutine (run)
// owns the engine; others wake it and ask it to stop.
type OutputPoller struct {
	target Target
	source Source
	log    Log
	owner  Owner
	watch  *watch // looks at its pane
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
	hang    hang             // of its captures

	observer Observer      // nil: nothing is known but the screen
	kept     []byte        // what it needs to go on, as it was stored
	before   state         // the engine's, as it was stored last
	text     sessions.Text // whose lines are the session's
	known    bool          // an agent program runs
	shown    int           // how many of typedTexts the observer was told
	ownTurn  bool          // the turn was opened by the pane\'s lines, and by no program
	inputs   inputs
	late     *lateEnd
	held     held
	timer    *time.Timer // when the observer wants to be asked again
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
			err = errors.New("panebridge had a fault in its own work here; it's in the log")
			p.slog.Error("a poller panicked", "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
			p.opt.get().Panicked()
		}
	}()
	return p.loop(ctx)
}

func (p *OutputPoller) loop(ctx context.Context) error {
	if err := p.load(ctx); err != nil {
		return err
	}
	defer p.unload()
	p.poke()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.gone:
			return p.finish(ctx, nil, "its pane is gone")
		case <-p.stop:
			return p.stopped(ctx)
		case <-p.timer.C:
		case <-p.wake:
		}
		done, err := p.capture(ctx)
		if done || err != nil {
			return err
		}
	}
}

// resumed is what's stored of a poller.
type resumed struct {
	state
	Observer json.RawMessage `json:",omitempty"`
	Late     *lateEnd        `json:",omitempty"`
	Answered bool            `json:",omitempty"` // the open turn's input is known
}

// load takes up where the output log ends.
func (p *OutputPoller) load(ctx context.Context) error {
	blob, turn, err := p.log.Load(ctx, p.target.Session)
	if err != nil {
		return fmt.Errorf("load engine state: %w", err)
	}
	p.engine, p.turn = NewEngine(p.target.Profile, p.opt.get().Marker, p.target.Drained), turn
	p.engine.prompts = p.opt.get().Prompts
	p.held, p.text, p.known, p.unasked = held{}, sessions.TextPane, false, true
	var was resumed
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

func (p *OutputPoller) unload() {
	p.timer.Stop()
	if p.observer == nil {
		return
	}
	if err := p.observer.Close(); err != nil {
		p.slog.Warn("an observer's end", "err", err)
	}
	p.observer = nil
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
		if err := p.work(ctx, step, false); err != nil {
			return err
		}
		if step.engine.caughtUp() {
			break
		}
		window = step.engine.ahead(p.opt.get().MaxCaptureLines)
	}
	return p.finish(ctx, nil, "")
}

// finish emits what stood on the screen when it was last seen, and ends. reason
// "": the session is being closed, and whoever closes it knows.
func (p *OutputPoller) finish(ctx context.Context, exit *sessions.Exit, reason string) error {
	step := p.engine.Vanish(reason != "")
	step.Exit = exit
	if err := p.work(ctx, step, true); err != nil {
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
