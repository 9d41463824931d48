package polling

import (
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// inputs is what's known of the inputs of a program whose turns are told by its lines. What
// it says by itself (a banner, what comes behind the end of a turn) opens a turn as
// an answer does; the input, if it comes later, begins that turn anew.
type inputs struct {
	last time.Time // when text was typed last that wasn't worked in yet; zero: none. Guarded by OutputPoller.mu
	used time.Time // that of last which the step at hand works in
	// answered: the open turn's input is known.
	answered bool
}

// says reports whether lines have any text. Blank ones behind the end of a turn are
// none of the next.
func says(lines []sessions.Line) bool {
	return slices.ContainsFunc(lines, func(l sessions.Line) bool { return strings.TrimSpace(l.Text) != "" })
}

// began is when the input of the open turn was typed, if it was typed with this step;
// zero: it wasn't. opens: a turn opens with this step.
func (p *OutputPoller) began(step *Step, opens bool, now time.Time) time.Time {
	in := &p.inputs
	p.mu.Lock()
	in.used = in.last
	p.mu.Unlock()
	typed, was := in.used, in.answered
	switch {
	case opens:
		in.answered = !typed.IsZero() && !step.Complete
		return time.Time{}
	case !p.turn.Open || step.Complete && was:
		in.used = time.Time{} // it's the next turn's
	}
	in.answered = p.turn.Open && !step.Complete && was
	if !p.turn.Open || was || p.asked != nil || step.Dialog != "" {
		return time.Time{} // what's typed into a turn, or answers a question, begins none
	}
	// Of what's typed at the pane's keyboard only that's known that something changes.
	if typed.IsZero() && p.turn.Number == 1 && step.Changed && now.Sub(p.changed) >= quietAfter {
		typed = now
	}
	in.answered = !typed.IsZero() && !step.Complete
	return typed
}

// inputsDone forgets the input that the stored step worked in.
func (p *OutputPoller) inputsDone() {
	if in := &p.inputs; in.last.Equal(in.used) {
		in.last = time.Time{}
	}
}
