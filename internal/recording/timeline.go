package recording

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Span is a time during which the agent was in one state.
type Span struct {
	From, To time.Duration
	State    sessions.State // idle, working or waiting
	Why      string
}

// Timeline says what the agent was really doing, as spans in order that don't
// overlap. It has none where the model's requests weren't recorded, or the
// machine was busy.
//
// It's derived from the model's own clock, not from what the agent shows:
//
//   - working: from the first request of a turn to the end of its last, and while
//     a tool runs in between;
//   - waiting: from the call of a hook that says so, or from when the dialog was
//     seen, to the key that answered it;
//   - idle: from then on, or, where a person ended the turn, from when the program
//     hung up on the model or the key that refused.
//
// Left out, because the truth lies between the model and the program: start-up,
// the time from the key that submits to the first request, from a hook that
// announces a dialog to its being seen, from the end of the last request to the
// program's own sign of the end (a hook, or without hooks the last line of the
// transcript, at most maxAfter), and what comes after the recording's last action.
func (r *Recording) Timeline() ([]Span, error) {
	var k Known
	var err error
	if k.Model, err = r.Model(); err != nil || len(k.Model) == 0 || r.Busy {
		return nil, err
	}
	if k.Actions, err = r.Actions(); err != nil {
		return nil, err
	}
	if k.Hooks, err = r.Hooks(); err != nil {
		return nil, err
	}
	for _, part := range []func() ([]time.Duration, error){r.lineTimes, r.rowTimes} {
		at, err := part()
		if err != nil {
			return nil, err
		}
		k.Written = append(k.Written, at...)
	}
	return k.Spans(), nil
}

// Known is what a timeline is derived from; all in order, of one session. The
// last action ends it.
type Known struct {
	Model   []Request
	Actions []Action
	Hooks   []Hook
	Written []time.Duration // when the transcript grew
	After   time.Duration   // for how long the program may go on after its model is done; 0: maxAfter
}

// Spans are the timeline; see Recording.Timeline.
func (k Known) Spans() []Span {
	if len(k.Model) == 0 || len(k.Actions) == 0 {
		return nil
	}
	t := &timeline{model: k.Model, actions: k.Actions, hooks: k.Hooks, written: k.Written, after: cmp.Or(k.After, maxAfter)}
	return t.spans()
}

// maxAfter is how long a program may go on after its model is done.
const maxAfter = 3 * time.Second

func (r *Recording) lineTimes() ([]time.Duration, error) {
	lines, err := r.Lines()
	out := make([]time.Duration, len(lines))
	for i, l := range lines {
		out[i] = l.At
	}
	return out, err
}

func (r *Recording) rowTimes() ([]time.Duration, error) {
	rows, err := r.Rows()
	out := make([]time.Duration, len(rows))
	for i, row := range rows {
		out[i] = row.At
	}
	return out, err
}

// timeline works out the spans of one recording.
type timeline struct {
	model   []Request
	actions []Action
	hooks   []Hook
	written []time.Duration // when the transcript grew
	after   time.Duration

	out []Span
}

func (t *timeline) spans() []Span {
	idle := time.Duration(-1) // since when it's idle
	for _, a := range t.actions {
		if a.Kind == "ready" {
			idle = a.At
			break
		}
	}
	for turn := range t.turns() {
		from := turn[0].Begin
		if idle >= 0 {
			t.add(idle, t.submitted(from), sessions.StateIdle, "between turns")
		}
		idle = t.turn(turn, from)
	}
	last := t.actions[len(t.actions)-1].At
	if idle >= 0 && !slices.ContainsFunc(t.out, func(s Span) bool { return s.State == sessions.StateWaiting && s.To >= last }) {
		t.add(idle, last, sessions.StateIdle, "after the last turn")
	}
	return t.out
}

func (t *timeline) add(from, to time.Duration, state sessions.State, why string) {
	if to <= from {
		return
	}
	if n := len(t.out); n > 0 && t.out[n-1].State == state && t.out[n-1].To == from {
		t.out[n-1].To = to
		return
	}
	t.out = append(t.out, Span{from, to, state, why})
}

// turns yields the requests of each turn: a new one begins when a person
// submitted something after the last had ended, or had been ended by a person.
func (t *timeline) turns() func(func([]Request) bool) {
	return func(yield func([]Request) bool) {
		start := 0
		for i := 1; i <= len(t.model); i++ {
			if i < len(t.model) && !t.begins(t.model[i-1], t.model[i]) {
				continue
			}
			if !yield(t.model[start:i]) {
				return
			}
			start = i
		}
	}
}

// begins says whether the request now begins a turn.
func (t *timeline) begins(before, now Request) bool {
	if now.Step == 0 && !before.Failed && now.Rule != before.Rule {
		return true
	}
	return now.Step == 0 && !before.Failed && now.User != before.User || now.Step == 0 && before.HungUp
}

// submitted is when the key was pressed, or the text typed, that led to a
// request.
func (t *timeline) submitted(request time.Duration) time.Duration {
	at := request
	for _, a := range t.actions {
		if a.At > request {
			break
		}
		// Text lands in the input box before the key that submits it.
		if a.Kind == "paste" || a.Kind == "type" {
			at = a.At
		}
	}
	return at
}

// turn adds the spans of one turn and says since when it's idle; -1 if it didn't
// end.
func (t *timeline) turn(requests []Request, from time.Duration) time.Duration {
	for i, q := range requests {
		next := time.Duration(-1)
		if i+1 < len(requests) {
			next = requests[i+1].Begin
		}
		if len(q.Called) == 0 {
			if next >= 0 {
				continue // it failed and was tried again
			}
			t.add(from, q.End, sessions.StateWorking, "the model answers")
			if q.HungUp {
				return q.End
			}
			return t.ended(q.End)
		}
		var refused bool
		from, refused = t.dialogs(from, q, next)
		if refused {
			return from
		}
	}
	return -1
}

// dialogs adds the spans from the request q, which called tools, to the next one
// at the time next (-1: there's none). It says from when on it works, or, after a
// refusal that ended the turn, is idle.
func (t *timeline) dialogs(from time.Duration, q Request, next time.Duration) (time.Duration, bool) {
	limit := next
	if limit < 0 {
		limit = t.nextSubmission(q.End)
	}
	begin := max(from, q.End-time.Second)
	for dialogs := 0; ; dialogs++ {
		asked, ok := t.asked(from, max(from, begin), limit)
		if dialogs > 0 && dialogs < min(len(q.Called), t.announced(begin, from)) {
			asked, ok = from, true // the next was waiting behind it
		}
		switch {
		case !ok && next >= 0:
			return from, false
		case !ok && dialogs > 0:
			return from, true
		case !ok:
			return -1, true // nobody saw what became of it
		}
		t.add(from, asked, sessions.StateWorking, "the model answers, or a tool runs")
		answered, ok := t.answered(asked, limit)
		if dialogs == 0 {
			asked = t.seen(asked, answered)
		}
		t.add(asked, answered, sessions.StateWaiting, "a dialog is open")
		if !ok {
			return -1, true
		}
		from = answered
	}
}

// asked is when a dialog opened between two times: a hook said so, or it was
// seen, whichever came first. Hooks alone won't do: Gemini CLI's announce all
// dialogs of a reply at once, and it asks one after the other.
func (t *timeline) asked(last, from, to time.Duration) (time.Duration, bool) {
	first := to
	for _, h := range t.hooks {
		if h.At >= from && h.At > last && h.At < first && asking(h) {
			first = h.At
		}
	}
	for _, a := range t.actions {
		if a.At >= from && a.At > last && a.At < first && a.Kind == "seen" && opens(a) {
			first = a.At
		}
	}
	return first, first < to
}

// seen is when a dialog that a hook told of at the time from was on the screen:
// Gemini CLI shows it when its hooks have ended. Without a sighting it's from.
func (t *timeline) seen(from, to time.Duration) time.Duration {
	for _, a := range t.actions {
		if a.At >= from && a.At < to && a.Kind == "seen" && opens(a) {
			return a.At
		}
	}
	return from
}

// announced is how many dialogs hooks have told of between two times.
func (t *timeline) announced(from, to time.Duration) int {
	n := 0
	for _, h := range t.hooks {
		if h.At >= from && h.At <= to && asking(h) {
			n++
		}
	}
	return n
}

// opens says whether what was seen is a dialog.
func opens(a Action) bool {
	return strings.Contains(a.Pattern, "Allow") || strings.Contains(a.Pattern, "Do you want") || strings.Contains(a.Pattern, "Would you like") ||
		strings.Contains(a.Pattern, "Permission required") || strings.Contains(a.Pattern, "Which storage")
}

// asking says whether a hook tells of a dialog.
func asking(h Hook) bool {
	switch strings.TrimPrefix(h.Event, "event:") {
	case "PermissionRequest", "permission.asked", "question.asked":
		return true
	case "Notification":
		return strings.Contains(string(h.Stdin), "ToolPermission")
	case "PreToolUse":
		return strings.Contains(string(h.Stdin), `"request_user_input"`)
	case "BeforeTool":
		return strings.Contains(string(h.Stdin), `"ask_user"`)
	}
	return false
}

// answered is when a key closed the dialog that opened at from; false: none did,
// up to the end of the recording.
func (t *timeline) answered(from, to time.Duration) (time.Duration, bool) {
	for _, h := range t.hooks {
		if h.At > from && h.At <= to && h.Event == "PermissionRequest.answered" {
			return h.At, true
		}
	}
	for _, a := range t.actions {
		if a.At <= from || a.At > to || a.Kind != "keys" {
			continue
		}
		for i, k := range a.Keys {
			if k != "Down" && k != "Up" {
				return a.At + time.Duration(i)*150*time.Millisecond, true // the pause between keys
			}
		}
	}
	return min(to, t.actions[len(t.actions)-1].At), false
}

// nextSubmission is when something was typed after a time, or the recording's
// end.
func (t *timeline) nextSubmission(after time.Duration) time.Duration {
	for _, a := range t.actions {
		if a.At > after && (a.Kind == "paste" || a.Kind == "type") {
			return a.At
		}
	}
	return t.actions[len(t.actions)-1].At
}

// ended is when the program itself was done, after its model was at the time end.
func (t *timeline) ended(end time.Duration) time.Duration {
	at, limit := end, min(end+t.after, t.nextSubmission(end))
	for _, h := range t.hooks {
		if h.At >= end && h.At < limit {
			switch strings.TrimPrefix(h.Event, "event:") {
			case "Stop", "AfterAgent", "session.idle":
				return h.At
			}
		}
	}
	for _, w := range t.written {
		if w >= end && w < limit {
			at = max(at, w)
		}
	}
	return at
}
