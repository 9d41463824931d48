package agent

import (
	"cmp"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// event is a hook or a record, whichever it is.
type event struct {
	at     time.Time
	hook   *Hook
	record *transcript.Record
}

// slack is how far apart the times of a hook and a record of the same thing may be.
const slack = 300 * time.Millisecond

// eventsOf are the hooks and records of some evidence in the order of their times.
// What has no time, or one that hasn't come yet, happened now.
func eventsOf(e Evidence) []event {
	events := make([]event, 0, len(e.Hooks)+len(e.Records))
	add := func(ev event, last time.Time) time.Time {
		if ev.at.IsZero() || ev.at.After(e.Now) {
			ev.at = e.Now
		}
		if ev.at.Before(last) {
			ev.at = last // the order is sure, the times may be of several clocks
		}
		events = append(events, ev)
		return ev.at
	}
	var last time.Time
	for i := range e.Records {
		last = add(event{at: e.Records[i].At, record: &e.Records[i]}, last)
	}
	last = time.Time{}
	for i := range e.Hooks {
		last = add(event{at: e.Hooks[i].At, hook: &e.Hooks[i]}, last)
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	return events
}

// opensTurn reports whether an event would open a turn.
func (j *Judge) opensTurn(ev event) bool {
	if j.saved.Open {
		return false
	}
	if ev.hook != nil {
		return ev.hook.Signal == PromptSent && ev.at.After(j.saved.Ended) || ev.at.After(j.saved.Ended.Add(slack)) && atWork(ev.hook.Signal)
	}
	// A late block belongs to the turn that has ended, if that has no end there yet.
	switch ev.record.Kind {
	case transcript.User:
		return j.saved.Last || ev.at.After(j.saved.Ended)
	case transcript.Answer, transcript.Tool, transcript.ToolResult, transcript.Question:
		return j.saved.Last || ev.at.After(j.saved.Ended.Add(slack))
	default:
		return false
	}
}

// isAsked reports whether an event is something that the person wrote.
func (ev event) isAsked() bool {
	if ev.hook != nil {
		return ev.hook.Signal == PromptSent
	}
	return ev.record.Kind == transcript.User
}

// atWork reports whether a hook is called in a turn only.
func atWork(s Signal) bool {
	return s == ToolStart || s == ToolEnd || s == Asking || s == Answered
}

// takeEvent works in one event.
func (j *Judge) takeEvent(ev event, v *Verdict) {
	if ev.record != nil {
		j.takeRecord(ev, v)
		return
	}
	j.takeHook(ev, v)
}

// refused is the reply by which a person refuses a permission, as opencode's hook tells it.
const refused = "reject"

func (j *Judge) takeHook(ev event, v *Verdict) {
	h, s := ev.hook, &j.saved
	if h.Signal == "" || h.Signal == Nudge || j.isForeign(h) {
		return
	}
	switch {
	case j.opensTurn(ev):
		j.beginTurn(ev.at, v)
	case h.Signal == PromptSent && s.Open && s.Prompted:
		s.Queued = true
	}
	s.Prompted = s.Prompted || s.Open && h.Signal == PromptSent
	s.Untold = s.Untold || h.Signal == PromptSent
	reason := "hook " + h.Event + atClock(ev.at)
	switch h.Signal {
	case PromptSent:
		s.Asks = 0
		if s.Open && !s.Due.IsZero() {
			// Text that was queued while the program worked.
			s.Due = time.Time{}
		}
		j.believeEvent(sessions.StateWorking, reason, ev.at)
	case ToolStart, ToolEnd, Answered:
		if h.Signal == Answered && h.Text == refused && s.Open {
			// opencode ends the turn; its own sign comes up to 0.5 s later.
			s.Broken, s.Due = true, ev.at.Add(time.Duration(j.profile.spec.Quiet.Block))
			j.believeEvent(sessions.StateIdle, reason+": refused", ev.at)
			return
		}
		j.takeWork(h.Signal, reason, ev.at)
	case Asking:
		if s.Open {
			s.Asks++
			s.Answered = time.Time{}
			j.believeEvent(sessions.StateWaiting, reason, ev.at)
		}
	case TurnDone, TurnBroken:
		j.takeEnd(ev, reason)
	case SessionEnd:
		if s.Open {
			s.Due, s.Broken = ev.at, true
		}
		j.believeEvent(sessions.StateIdle, reason, ev.at)
	case SessionStart:
		if !s.Open {
			j.believeEvent(sessions.StateIdle, reason, ev.at)
		}
	default: // it says nothing
	}
}

// takeWork notes that a hook told of work in a turn.
func (j *Judge) takeWork(signal Signal, reason string, at time.Time) {
	s := &j.saved
	if !s.Open {
		return
	}
	s.Due = time.Time{}
	if signal == Answered {
		if s.Asks = max(0, s.Asks-1); s.Asks > 0 {
			return // the next dialog is open already
		}
	}
	if signal == Answered {
		s.Answered = at
	}
	j.believeEvent(sessions.StateWorking, reason, at)
}

// unsaid is why a turn failed of which that alone is told.
const unsaid = "for a reason that it doesn't say"

// takeEnd notes that a hook told of the end of the turn.
func (j *Judge) takeEnd(ev event, reason string) {
	s := &j.saved
	if ev.hook.Signal == TurnDone {
		// A program may tell by two hooks, and the second one late, in the next turn.
		if s.Ender == "" {
			s.Ender = ev.hook.Event
		}
		if s.Ender != ev.hook.Event {
			return
		}
	}
	before := s.Untold && !s.Prompted // it's of the turn before, and late
	s.Untold = false
	if !s.Open || ev.at.Before(s.Began) || before {
		return
	}
	s.Broken = s.Broken || ev.hook.Signal == TurnBroken
	if ev.hook.Failed && s.Failed == "" {
		s.Failed, s.FailedAt = cmp.Or(firstLine(ev.hook.Text), unsaid), ev.at
	}
	if s.Due.IsZero() {
		s.Due = ev.at.Add(time.Duration(j.profile.spec.Quiet.Block))
	}
	s.Said = head(ev.hook.Text)
	j.believeEvent(sessions.StateIdle, reason, ev.at)
}

// isForeign reports whether a hook is of another conversation than the pane's: programs
// have conversations of their own, to find a title, say.
func (j *Judge) isForeign(h *Hook) bool {
	if h.Conversation == "" {
		return false
	}
	switch h.Signal {
	case SessionStart, PromptSent:
		j.saved.Conversation = h.Conversation
		return false
	case Asking, Answered:
		return false // a sub-agent's dialogs are on this screen too
	default:
	}
	return j.saved.Conversation != "" && h.Conversation != j.saved.Conversation
}

func (j *Judge) takeRecord(ev event, v *Verdict) {
	r, s := ev.record, &j.saved
	s.Records = true
	if j.opensTurn(ev) {
		j.beginTurn(ev.at, v)
	}
	if !s.Open {
		s.Last = s.Last || r.Kind == transcript.TurnEnd
		return
	}
	switch r.Kind {
	case transcript.Answer:
		s.Block = head(r.Text)
	case transcript.User, transcript.Tool, transcript.ToolResult, transcript.Question:
		s.Block = ""
	default: // nothing that was said
	}
	switch r.Kind {
	case transcript.Answer, transcript.User, transcript.Tool, transcript.ToolResult, transcript.Question:
		if s.FailedAt.IsZero() || ev.at.After(s.FailedAt) { // it went on
			s.Failed, s.Passing, s.FailedAt = "", "", time.Time{}
		}
	default:
	}
	reason := "its transcript"
	switch r.Kind {
	case transcript.User:
		s.Asked = true
		j.believeRecord(sessions.StateWorking, reason+" has what was asked"+atClock(ev.at), ev.at)
	case transcript.Answer, transcript.Tool, transcript.ToolResult:
		j.believeRecord(sessions.StateWorking, reason+" went on"+atClock(ev.at), ev.at)
	case transcript.Question:
		j.believeRecord(sessions.StateWaiting, reason+" has a question"+atClock(ev.at), ev.at)
	case transcript.Failure:
		if r.Waits {
			s.Passing = firstLine(r.Text)
			j.believeRecord(sessions.StateError, firstLine(r.Text), ev.at)
			return
		}
		s.Failed = firstLine(r.Text)
	case transcript.TurnEnd:
		if !s.Asked && ev.at.Before(s.Began.Add(-slack)) {
			return // of a turn before
		}
		s.Last, s.Broken = true, s.Broken || r.Interrupted
		if s.Due.IsZero() {
			s.Due = ev.at
		}
		j.believeRecord(sessions.StateIdle, reason+" has the end of the turn"+atClock(ev.at), ev.at)
	default: // nothing about the state
	}
}

// believeRecord notes what a record told.
func (j *Judge) believeRecord(state sessions.State, reason string, at time.Time) {
	j.believeEvent(state, reason, at)
	j.saved.Belief.Written = j.saved.Belief.At.Equal(at)
}

// believeEvent notes what an event told, unless a later one has told already.
func (j *Judge) believeEvent(state sessions.State, reason string, at time.Time) {
	if !at.Before(j.saved.Belief.At) {
		j.saved.Belief = belief{State: state, Reason: reason, At: at}
	}
}
