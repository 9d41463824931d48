package polling

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// work has a step observed, and stores what comes of it.
func (p *OutputPoller) work(ctx context.Context, step *Step, last bool) error {
	sight, err := p.observe(ctx, step, last)
	if err != nil {
		return err
	}
	if err := p.store(ctx, step, sight, last); err != nil {
		return err
	}
	p.typedDone()
	return p.rest(ctx, sight, last)
}

// store commits a step and what the observer saw, and then keeps the engine and
// tells the owner. last: the session ends with it.
func (p *OutputPoller) store(ctx context.Context, step *Step, sight sessions.Sight, last bool) error {
	now := time.Now()
	undecided := p.held.begun
	lines, gaps, hold := p.own(step, sight, last, now)
	decided := undecided && !hold
	b := Batch{Session: p.target.Session, Lines: append(lines, sight.Lines...), Gaps: gaps}
	ofProgram := len(b.Lines)
	if sight.Said != nil { // the pane's own come behind what the program said
		b.Lines, ofProgram = append(slices.Clone(sight.Lines), lines...), len(sight.Lines)
		for i := range b.Gaps {
			b.Gaps[i].After += int64(len(sight.Lines))
		}
	}
	complete := step.Complete
	if sight.Known {
		complete = sight.Ended
		b.Turn = p.observedTurn(ofProgram, sight, now)
		p.keepLate(step)
	} else {
		p.ownTurns(&b, step, sight, now)
		complete = complete || len(b.Ended) > 0
	}
	own := p.ownTurn
	if b.Turn != nil || len(b.Ended) > 0 {
		own = !sight.Known
	}
	ev := sessions.OutputEvent{Session: p.target.Session, Complete: complete, Exit: step.Exit, Turn: p.turn}
	if step.Changed || decided || b.Turn != nil || len(b.Ended)+len(step.cuts) > 0 || len(b.Lines)+len(b.Gaps) > 0 || !bytes.Equal(sight.Keep, p.kept) {
		done, err := p.append(ctx, b, step, sight.Keep, hold)
		if err != nil {
			return fmt.Errorf("store output: %w", err)
		}
		p.tellEnded(&done)
		ev.Lines, ev.Gaps, ev.Turn = done.Lines, done.Gaps, done.Turn
		ev.Complete = complete && len(done.Ended) == 0
		if len(done.Lines) > 0 {
			ev.First = done.Lines[0].N
		}
		p.turn = done.Turn
	}
	p.engine, p.text, p.known, p.ownTurn = step.Engine(), sight.Text, sight.Known, own
	p.mu.Lock()
	p.settling = step.Settling
	if complete {
		p.focus, p.echoes = time.Time{}, nil // the turn has ended: rest
	}
	p.mu.Unlock()
	p.tell(ev, step, sight, now)
	return nil
}

// append stores a batch with the engine as it is behind it; while lines are held,
// with the engine as it was before them.
func (p *OutputPoller) append(ctx context.Context, b Batch, step *Step, keep []byte, hold bool) (Appended, error) {
	engine := &step.engine.state
	if hold {
		engine = &p.before
	}
	blob, err := json.Marshal(resumed{*engine, keep, p.late, p.inputs.answered})
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

// tellEnded tells of the turns that ended within a batch, each with its lines and what
// comes before them, and leaves the rest.
func (p *OutputPoller) tellEnded(done *Appended) {
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

// tell hands an event on, if there's anything in it.
func (p *OutputPoller) tell(ev sessions.OutputEvent, step *Step, sight sessions.Sight, now time.Time) {
	live := step.Live
	if live != nil && sight.Known {
		live.Known, live.Writing, live.Status = true, sight.Writing, sight.Status
	}
	if live != nil && !sameLive(live, p.live) {
		ev.Live, p.live = live, live
	}
	if step.Changed || ev.Live != nil {
		p.changed = now
	}
	state, reason := sight.State, sight.Reason
	if !sight.Known {
		state, reason = p.nextState(step, sight, now)
	}
	if state != p.state {
		ev.State, ev.Reason, p.state = state, reason, state
	}
	p.ask(&ev, sight)
	if len(ev.Lines) == 0 && len(ev.Gaps) == 0 && ev.Live == nil && !ev.Complete && ev.Exit == nil && ev.State == "" && !ev.Asked {
		return
	}
	p.seq++
	ev.Seq = p.seq
	p.owner.Output(ev)
}

// ask has an event tell of the dialog on the screen, and whether that's another than
// before. Where a look couldn't tell, it's the one before.
func (p *OutputPoller) ask(ev *sessions.OutputEvent, sight sessions.Sight) {
	if sight.Prompts {
		was := p.asked
		p.asked = sight.Prompt
		ev.Asked = p.unasked || (was == nil) != (p.asked == nil) || was != nil && !was.TellsAs(p.asked)
		p.unasked = false
	}
	ev.Prompt = p.asked
}

// nextState is what a program without a profile of its own seems to do.
func (p *OutputPoller) nextState(step *Step, sight sessions.Sight, now time.Time) (sessions.State, string) {
	switch {
	case step.Exit != nil:
		return sessions.StateIdle, "its program has ended"
	case sight.Asks != "":
		return sessions.StateWaiting, sight.Asks
	case step.Dialog != "" && !p.quoted(sight):
		return sessions.StateWaiting, "a dialog is on the screen: " + step.Dialog
	case p.asks(sight):
		return sessions.StateWaiting, "its screen looks like a question, which isn't recognised"
	case step.Complete:
		return sessions.StateIdle, "its turn has ended"
	case p.live != nil && p.live.Alternate && (p.engine.state.Shell.known() || sight.Front != ""):
		return sessions.StateWorking, "its shell runs " + cmp.Or(sight.Front, "a full-screen program")
	case p.engine.state.Shell.Running:
		return sessions.StateWorking, "its shell runs a command"
	case p.engine.state.Shell.known() && !p.engine.state.Shell.Running:
		return sessions.StateIdle, "its shell's prompt is back"
	case p.turn.Open && now.Sub(p.changed) < quietAfter:
		p.again() // to see it fall quiet
		return sessions.StateWorking, "its pane is changing"
	case !p.turn.Open && p.turn.Number > 0 && len(step.Lines) == 0:
		return sessions.StateIdle, "its turn has ended"
	}
	return sessions.StateIdle, "its pane is quiet"
}

// asks reports whether a dialog that isn't recognised is on the screen.
func (p *OutputPoller) asks(sight sessions.Sight) bool {
	d := p.asked
	if sight.Prompts {
		d = sight.Prompt
	}
	return d != nil && d.Kind == sessions.PromptUnread
}

// quoted reports whether a dialog's words on the screen are only quoted there: a shell
// that waits for a command asks nothing.
func (p *OutputPoller) quoted(sight sessions.Sight) bool {
	shell := p.engine.state.Shell
	return sight.Prompt == nil && (shell.known() && !shell.Running || sight.Quiet > 0)
}

// report tells a state alone.
func (p *OutputPoller) report(state sessions.State, reason string) {
	p.state = state
	p.seq++
	p.owner.Output(sessions.OutputEvent{Session: p.target.Session, Seq: p.seq, State: state, Reason: reason, Turn: p.turn, Prompt: p.asked})
}

func sameLive(a, b *sessions.Live) bool {
	return b != nil && a.Known == b.Known && a.Status == b.Status && slices.Equal(a.Writing, b.Writing) && a.Alternate == b.Alternate && a.CursorX == b.CursorX && a.CursorY == b.CursorY && slices.Equal(a.Rows, b.Rows)
}
