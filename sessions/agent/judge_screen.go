package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// lingering is how long a screen may go on as in the turn before without being taken
// for a new one: hooks of the person's own run behind the end of a turn.
const lingering = 10 * time.Second

// A dialog is mostly answered soon, and what follows (an end, or work) is told by the
// screen alone in programs without hooks: it's looked at often for a while.
const (
	keen        = 30 * time.Second
	keenAfter   = 2 * time.Second // behind its end
	keenCadence = 300 * time.Millisecond

	blockCadence = 200 * time.Millisecond
	workCadence  = 500 * time.Millisecond
)

// queuedAfter is how long the screen works on behind the end of a turn before text that
// was queued is what it works at.
const queuedAfter = 500 * time.Millisecond

// lookAt works in a screen.
func (j *Judge) lookAt(e Evidence) {
	l := j.profile.layout(e.Screen, e.Dialog != "")
	if !slices.Equal(l.rows, j.rows) {
		j.rows, j.changed = l.rows, e.Now
	}
	found := j.profile.findSign(l)
	was := j.screen
	j.screen = screenSign{signFound: found, at: e.Now, since: e.Now, interrupted: j.profile.interrupted(l), reason: found.reason()}
	switch {
	case found.state == sessions.StateWaiting && was.state != found.state:
		j.screen.dialog = e.Now
	case found.state == sessions.StateWaiting:
		j.screen.dialog = was.dialog
	case was.state == sessions.StateWaiting:
		j.screen.dialog = e.Now.Add(keenAfter - keen)
	case found.state == sessions.StateWorking:
		j.screen.dialog = was.dialog
	}
	if was.state == found.state {
		j.screen.since = was.since
		if was.in == found.in && was.interrupted == j.screen.interrupted && found.state != sessions.StateError {
			j.screen.reason = was.reason // a spinner turns in it
		}
	}
	s := &j.saved
	switch {
	case s.Open && (found.state == sessions.StateWorking || found.state == sessions.StateWaiting || found.state == sessions.StateError):
		s.Seen = true
	case !s.Open && (found.state == sessions.StateIdle || found.state == sessions.StateWaiting):
		s.Rested = true
	}
}

// reason says a sign as a sentence.
func (s signFound) reason() string {
	text := firstLine(s.text)
	switch s.in {
	case inTitle:
		return "its title says so: " + text
	case inDialog:
		return "a dialog is on the screen: " + text
	case inEnd:
		return "its last words are: " + text
	case inCursor:
		return "the cursor stands behind a prompt"
	default: // the foot, or all of the screen
	}
	if s.state == sessions.StateIdle {
		return "its input box waits"
	}
	return "its screen says: " + text
}

// firstLine cuts a text behind its first line, and one that's longer than a screen's row is. Who
// shows it cuts it to what there's room for, once secrets are masked.
func firstLine(text string) string {
	const most = 400
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}

// current reports whether the screen can have shown by the last look what was told.
func (j *Judge) current() bool {
	if j.screen.state == sessions.StateWaiting && j.screen.at.Before(j.saved.Answered.Add(time.Duration(j.profile.spec.Quiet.Behind))) {
		return false // the dialog is still drawn
	}
	return j.screen.state != "" && !j.screen.at.Before(j.saved.Belief.At.Add(j.behind()))
}

// behind is how long the screen may be behind what was told. A transcript is written
// when the screen is drawn. A dialog is drawn before anything tells of work behind it.
func (j *Judge) behind() time.Duration {
	q, told := j.profile.spec.Quiet, j.saved.Belief
	switch {
	case j.screen.state == sessions.StateWaiting:
		return 0
	case told.Written:
		return time.Duration(q.Confirm)
	}
	return time.Duration(q.Behind)
}

// settleTurn begins and ends turns by what the screen and the time say.
func (j *Judge) settleTurn(now time.Time, v *Verdict) {
	s := &j.saved
	switch {
	case s.Open && !s.Due.IsZero() && (j.isTurnOver() || !s.Records || !now.Before(s.Due)) && !now.Before(j.cutDue()):
		j.endTurn(s.Belief.At, false, v)
	case s.Open && j.resting(now) && !now.Before(j.restDue()):
		j.endTurn(j.screen.since, j.screen.interrupted, v)
		s.Rested = true
	case !s.Open && !v.Ended && j.current() && j.working() && !now.Before(j.workDue()):
		j.beginTurn(j.screen.since, v)
		s.Seen = true
	}
}

// cutDue is when a turn may end that was stopped in the middle of what it said: the screen
// must have shown the rest of it. Zero: at once.
func (j *Judge) cutDue() time.Time {
	if !j.saved.Broken || !j.unsaid {
		return time.Time{}
	}
	return j.saved.Due.Add(time.Duration(j.profile.spec.Quiet.Confirm))
}

// working reports whether the screen shows a turn that nobody told of.
func (j *Judge) working() bool {
	return (j.screen.state == sessions.StateWorking || j.screen.state == sessions.StateError) &&
		(j.saved.Rested || j.screen.at.Sub(j.saved.Ended) >= j.lingers())
}

// lingers is how long the screen may go on behind the end of a turn.
func (j *Judge) lingers() time.Duration {
	if j.saved.Queued {
		return queuedAfter
	}
	return lingering
}

// workDue is when a screen at work begins a turn: some spinners turn for a moment at
// a program's start.
func (j *Judge) workDue() time.Time {
	if j.screen.sure {
		return j.screen.since
	}
	return j.screen.since.Add(time.Duration(j.profile.spec.Quiet.Confirm))
}

// resting reports whether the screen says that the open turn is over.
func (j *Judge) resting(now time.Time) bool {
	s := &j.saved
	return j.screen.state == sessions.StateIdle && j.current() &&
		(s.Seen || !now.Before(s.Began.Add(time.Duration(j.profile.spec.Quiet.Begin))))
}

// restDue is when a screen at rest ends the turn. Where the transcript is read, its
// last block should have come, but no program writes that a turn was interrupted in time.
func (j *Judge) restDue() time.Time {
	wait := time.Duration(j.profile.spec.Quiet.Confirm)
	if j.unsaid && j.screen.interrupted && j.saved.Records && !j.saved.Last {
		return j.screen.since.Add(time.Duration(j.profile.spec.Quiet.Block)) // the transcript may have it yet
	}
	if j.screen.sure && (!j.saved.Records || j.saved.Last || j.screen.interrupted) {
		wait = 0
	}
	return j.screen.since.Add(wait)
}

// stateNow is the state now.
func (j *Judge) stateNow(e Evidence) belief {
	s := &j.saved
	b := s.Belief
	switch {
	case j.current():
		b = belief{State: j.screen.state, Reason: j.screen.reason, At: j.screen.since}
	case j.profile.byChange() && j.screen.state == "":
		b = j.byChange(e)
	case j.last.At.After(b.At):
		b = j.last // the screen said so before, and says nothing now
		if j.hasClosed(e) {
			b = belief{State: sessions.StateIdle, Reason: "the dialog has left its screen", At: j.screen.since}
		}
	case b.State == "":
		b = belief{State: sessions.StateStarting, Reason: "nothing is known of it yet", At: e.Now}
	}
	switch {
	case b.State == sessions.StateIdle && s.Open && s.Due.IsZero():
		// It isn't sure yet, or the turn would be over.
		return belief{State: sessions.StateWorking, Reason: "its turn is open", At: b.At}
	case (b.State == sessions.StateWorking || b.State == sessions.StateError) && !s.Open && !j.profile.byChange():
		if s.Ended.IsZero() {
			return belief{State: sessions.StateIdle, Reason: "no turn has begun yet", At: b.At}
		}
		return belief{State: sessions.StateIdle, Reason: "its turn has ended" + atClock(s.Ended), At: b.At}
	case b.State == sessions.StateIdle && s.Failed != "":
		return belief{State: sessions.StateError, Reason: "its last turn failed: " + s.Failed, At: b.At}
	}
	return b
}

// hasClosed reports whether the dialog that was seen last has surely left a screen that says
// nothing besides: text in its input box takes the place of the signs of rest, say.
func (j *Judge) hasClosed(e Evidence) bool {
	due := j.closedDue()
	return !due.IsZero() && e.Screen != nil && e.Dialog == "" && !e.Now.Before(due)
}

// closedDue is when a screen is believed that says nothing where a dialog was seen last. Zero:
// none was, or the screen says something.
func (j *Judge) closedDue() time.Time {
	if j.last.State != sessions.StateWaiting || j.screen.state != "" {
		return time.Time{}
	}
	return j.screen.since.Add(time.Duration(j.profile.spec.Quiet.Confirm))
}

// byChange reports whether the program counts as working while its screen changes.
func (p *Profile) byChange() bool { return len(p.spec.Signs) == 0 || p.spec.Shell }

// byChange is what a program without signs seems to do.
func (j *Judge) byChange(e Evidence) belief {
	if e.Dialog != "" {
		return belief{State: sessions.StateWaiting, Reason: "a dialog is on the screen: " + e.Dialog, At: e.Now}
	}
	if !j.changed.IsZero() && e.Now.Sub(j.changed) < time.Duration(j.profile.spec.Quiet.Change) {
		return belief{State: sessions.StateWorking, Reason: "its pane is changing", At: j.changed}
	}
	return belief{State: sessions.StateIdle, Reason: "its pane is quiet", At: j.changed}
}

// lookAgainAt is when a look could change something though nothing changes by itself.
func (j *Judge) lookAgainAt(now time.Time, ended bool) time.Time {
	s, q := &j.saved, j.profile.spec.Quiet
	if len(j.later) > 0 {
		return now
	}
	var next time.Time
	at := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if ended && s.Records {
		at(now.Add(blockCadence)) // more may stand behind the end
	}
	if s.Open && !s.Due.IsZero() {
		at(s.Due)
		at(now.Add(blockCadence)) // its last block may have come
		at(j.cutDue())
	}
	if drawn := s.Answered.Add(time.Duration(q.Behind)); !s.Answered.IsZero() && j.screen.at.Before(drawn) {
		at(drawn)
	}
	if told := s.Belief.At.Add(j.behind()); !s.Belief.At.IsZero() && j.screen.at.Before(told) {
		at(told)
	}
	at(j.closedDue())
	if s.Open && s.Ender == "" {
		at(j.screen.at.Add(workCadence)) // no hook will tell
	}
	if s.Open && j.screen.state == sessions.StateIdle {
		at(j.restDue())
		if !s.Seen {
			at(s.Began.Add(time.Duration(q.Begin)))
		}
	}
	if !s.Open && j.working() {
		at(j.workDue())
	}
	if dialog := j.screen.dialog; !dialog.IsZero() && now.Sub(dialog) < keen {
		at(j.screen.at.Add(keenCadence))
	}
	if !s.Open && !s.Rested && j.screen.state != sessions.StateIdle && !s.Ended.IsZero() {
		at(s.Ended.Add(j.lingers()))
	}
	if j.profile.byChange() {
		at(j.changed.Add(time.Duration(q.Change)))
	}
	return next
}
