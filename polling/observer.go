package polling

import (
	"context"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Observer knows more of the program in a pane than its screen tells: its
// transcript, its hooks, what its signs mean. It's used by its session's poller
// alone, one call at a time; its Profile is that of the program that runs now.
type Observer interface {
	Profile
	// Observe works in one look. Whoever gets an error, or can't store what the
	// sessions.Sight says, makes a new observer from what was stored last.
	Observe(ctx context.Context, l sessions.Look) (sessions.Sight, error)
	Close() error
}

const (
	maxHeldLines = 2000
	maxTyped     = 32
	// drainWithin is for how long what an observer still has is worked in when a session is
	// closed: a file that grows for ever has no end.
	drainWithin = 3 * time.Second
)

// observe asks the observer about a step, if there is one and the step shows all
// of the screen.
func (p *OutputPoller) observe(ctx context.Context, step *Step, last bool) (sessions.Sight, error) {
	p.shown = 0
	if p.observer == nil {
		return sessions.Sight{Text: sessions.TextPane}, nil
	}
	if step.Exit == nil && !last && !step.engine.caughtUp() {
		return sessions.Sight{Text: p.text, Known: p.known, State: p.state, Keep: p.kept}, nil
	}
	p.mu.Lock()
	typed := slices.Clone(p.typedTexts)
	p.mu.Unlock()
	p.shown = len(typed)
	l := sessions.Look{Screen: step.screen, Dialog: step.Dialog, Marked: step.Complete, Typed: typed, Last: last || step.Exit != nil, Now: time.Now()}
	return p.observer.Observe(ctx, l)
}

// typedDone forgets what was typed before the look that's stored.
func (p *OutputPoller) typedDone() {
	p.mu.Lock()
	p.typedTexts = slices.Delete(p.typedTexts, 0, p.shown)
	p.inputsDone()
	p.mu.Unlock()
	p.shown = 0
}

// rest works in what an observer still has behind a look.
func (p *OutputPoller) rest(ctx context.Context, sight sessions.Sight, last bool) error {
	p.mu.Lock()
	settling := p.settling // the look itself left rows that aren't settled
	p.mu.Unlock()
	var stopping time.Time
	for sight.More {
		if now := time.Now(); p.isStopping() && stopping.IsZero() {
			stopping = now
		} else if !stopping.IsZero() && now.Sub(stopping) > drainWithin {
			p.slog.WarnContext(ctx, "the session is closed before all was told that its program has written")
			break
		}
		var err error
		if sight, err = p.observer.Observe(ctx, sessions.Look{Last: last, Now: time.Now()}); err != nil {
			return err
		}
		step := &Step{engine: p.engine, Settling: settling}
		if err := p.store(ctx, step, sight, last); err != nil {
			return err
		}
	}
	again := sight.Again
	if at := p.quietAt(sight); again.IsZero() || !at.IsZero() && at.Before(again) {
		again = at
	}
	p.lookAgain(again)
	return nil
}

// isStopping reports whether Stop was called.
func (p *OutputPoller) isStopping() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// lookAgain has the pane captured at a time, though it may not change.
func (p *OutputPoller) lookAgain(at time.Time) {
	if at.IsZero() {
		p.timer.Stop()
		return
	}
	p.timer.Reset(max(time.Until(at), 10*time.Millisecond))
}

// own are the pane's lines and gaps that become the session's with a step: none
// while another text is, or may become, the session's. hold: the engine has read
// lines that aren't decided about, and mustn't be stored as if they were. What was
// read together with the end of the program is the program's or the pane's own: that's
// decided when all of it is read, and all that the program had to say is told.
func (p *OutputPoller) own(step *Step, sight sessions.Sight, last bool, now time.Time) (lines []sessions.Line, gaps []sessions.Gap, hold bool) {
	p.held.add(step, p.engine.screen.normal, now)
	read := step.engine.caughtUp() || step.Exit != nil || last
	switch {
	case sight.Said != nil:
		p.held.disown(&step.engine, sight.Said)
	case sight.Text == sessions.TextTranscript && (sight.More || !read):
		return nil, nil, true
	case sight.Text == sessions.TextTranscript:
		p.held = held{}
		return nil, nil, false
	case sight.Text == sessions.TextHeld && (len(p.held.lines) < maxHeldLines || !step.engine.caughtUp()):
		return nil, nil, true
	}
	lines, gaps = p.held.lines, p.held.gaps
	p.held = held{}
	return lines, gaps, false
}
