package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Judge makes up its mind about one program: what it's doing, and where its turns
// begin and end. It's a pure function of its state and the evidence, without
// goroutines, I/O or a clock. It's for one goroutine.
//
// What's believed, in the order of trust:
//
//  1. A dialog on the screen: nothing else is drawn in its place.
//  2. A hook or a record of the transcript, for as long as the screen may be behind it
//     (quiet.behind): they tell at once and exactly, but may never come.
//  3. The screen's sign: the titles and last rows of all six programs are sure.
//  4. What was believed before.
//
// A turn begins with a hook, a user's record or a working screen, and ends once: with
// a hook (the transcript's last block is waited for, quiet.block), the transcript's own
// end of turn, a screen that says idle and goes on saying so (quiet.confirm), or, of a
// program that has none of these, a turn marker. The screen is the only end of an
// interrupted turn in most programs. A screen that goes on working behind an end is no new turn before it was
// idle in between: Stop hooks run while the spinner still turns.
type Judge struct {
	profile *Profile
	saved   judged

	screen  screenSign
	last    belief    // of the last verdict
	later   []event   // what came behind the end of a turn, for the next look
	changed time.Time // when the screen changed last, as far as it was looked at
	unsaid  bool      // Evidence.Unsaid
	rows    []string
}

// judged is what a judge must remember over a restart of the daemon.
type judged struct {
	Version int       `json:"v"`
	Open    bool      `json:"open"`
	Began   time.Time `json:"began,omitzero"`
	Ended   time.Time `json:"ended,omitzero"` // when the last turn ended
	// Belief is the last thing that a hook or record told.
	Belief belief `json:"belief,omitzero"`
	// Seen: the screen showed the turn at work since it began.
	Seen bool `json:"seen,omitempty"`
	// Rested: the screen was seen at rest since the last turn ended.
	Rested bool `json:"rested,omitempty"`
	// Last: the transcript has the last block of the turn, or of the one that has ended.
	Last bool `json:"last,omitempty"`
	// Due is when a turn whose end was told is over even without its last block.
	Due    time.Time `json:"due,omitzero"`
	Broken bool      `json:"broken,omitempty"` // that end is no complete answer
	// Block is the beginning of the answer's last block, "" when something else came
	// behind it; Said that of the answer as the hook told it.
	Block  string `json:"block,omitempty"`
	Said   string `json:"said,omitempty"`
	Failed string `json:"failed,omitempty"` // why the last turn failed
	// FailedAt is when a hook told so; zero: a record did. The transcript may be behind the hook.
	FailedAt time.Time `json:"failed_at,omitzero"`
	// Passing is why the open turn doesn't go on just now: a failure that may pass by itself. It
	// has failed if that's how it ends.
	Passing string `json:"passing,omitempty"`
	// Records: the transcript is being read.
	Records bool `json:"records,omitempty"`
	// Asked: the transcript has what was asked in this turn.
	Asked bool `json:"asked,omitempty"`
	Asks  int  `json:"asks,omitempty"` // dialogs that hooks told of and that weren't answered
	// Answered is when a hook told that the last open dialog was answered.
	Answered time.Time `json:"answered,omitzero"`
	// Queued: something was asked while the turn was open. It may be taken up in it, or
	// begin the next turn without a hook.
	Queued   bool `json:"queued,omitempty"`
	Prompted bool `json:"prompted,omitempty"` // a hook told of what was asked in this turn
	// Untold: the end of the turn that a hook told the beginning of last isn't told yet. It may
	// be over for long.
	Untold       bool   `json:"untold,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Ender        string `json:"ender,omitempty"` // event of the hook that tells of turns' ends
}

const judgedVersion = 1

// belief is a state with its reason, as of a time.
type belief struct {
	State  sessions.State `json:"state,omitempty"`
	Reason string         `json:"reason,omitempty"`
	At     time.Time      `json:"at,omitzero"`
	// Written: it's from the transcript, not from a hook.
	Written bool `json:"written,omitempty"`
}

// screenSign is the sign that the screen showed at the last look.
type screenSign struct {
	signFound
	at          time.Time // of the last look
	since       time.Time // since when it has shown this state
	dialog      time.Time // since when there's a dialog to be keen on
	interrupted bool      // the conversation's end says so
	reason      string
}

// NewJudge returns a judge of a program that goes on where saved ends; nil: from the
// beginning. What can't be read counts as nil: the screen will tell.
func NewJudge(p *Profile, saved []byte) *Judge {
	j := &Judge{profile: p, saved: judged{Version: judgedVersion, Rested: true}}
	var s judged
	if len(saved) > 0 && json.Unmarshal(saved, &s) == nil && s.Version == judgedVersion {
		j.saved = s
	}
	return j
}

// Save returns what NewJudge needs to go on. It's the same as long as nothing was
// learned.
func (j *Judge) Save() []byte {
	b, err := json.Marshal(j.saved)
	if err != nil {
		panic(fmt.Sprintf("agent: a judge's state can't be written: %v", err)) // it's plain data
	}
	return b
}

// See works in what became known.
func (j *Judge) See(e Evidence) Verdict {
	var v Verdict
	events := slices.Concat(j.later, eventsOf(e))
	j.later, j.unsaid = nil, e.Unsaid
	for i, ev := range events {
		if j.isTurnOver() && ev.isAsked() {
			j.endTurn(j.saved.Belief.At, false, &v)
		}
		if v.Ended && j.opensTurn(ev) {
			j.later = slices.Clone(events[i:]) // the next turn is the next verdict's
			break
		}
		j.takeEvent(ev, &v)
	}
	if e.Screen != nil {
		j.lookAt(e)
	}
	if e.Marked && !j.tellsEnds() {
		j.endByMarker(e.Now, &v)
	}
	if !e.Running {
		j.endGone(e.Now, &v)
	}
	j.settleTurn(e.Now, &v)
	b := j.stateNow(e)
	j.last = b
	v.State, v.Reason = b.State, b.Reason
	v.Again = j.lookAgainAt(e.Now, v.Ended)
	return v
}

// beginTurn opens a turn.
func (j *Judge) beginTurn(at time.Time, v *Verdict) {
	s := &j.saved
	s.Open, s.Began, s.Due, s.Queued = true, at, time.Time{}, false
	s.Seen, s.Last, s.Broken, s.Asked, s.Prompted, s.Failed, s.Asks = false, false, false, false, false, "", 0
	s.Block, s.Said, s.Passing, s.Answered, s.FailedAt = "", "", "", time.Time{}, time.Time{}
	v.Began = true
}

// endTurn closes the turn.
func (j *Judge) endTurn(at time.Time, interrupted bool, v *Verdict) {
	s := &j.saved
	if s.Failed == "" && !interrupted && !s.Broken {
		s.Failed = s.Passing
	}
	s.Passing = ""
	v.Ended, v.Interrupted, v.Failed = true, interrupted || s.Broken || s.Failed != "", s.Failed
	s.Open, s.Ended, s.Due, s.Rested = false, at, time.Time{}, false
}

// isTurnOver reports whether all of the open turn is known, but for its end having been told.
func (j *Judge) isTurnOver() bool {
	return j.saved.Open && !j.saved.Due.IsZero() && (j.saved.Last || j.saved.sameBlock())
}

// sameBlock reports whether the transcript has the block that a hook told of.
func (s *judged) sameBlock() bool {
	n := min(len(s.Block), len(s.Said))
	return s.Block != "" && s.Block[:n] == s.Said[:n]
}

// head is the beginning of an answer, to compare it.
func head(text string) string {
	const most = 64 // bytes
	text = strings.TrimSpace(text)
	return text[:min(len(text), most)]
}

// tellsEnds reports whether the program itself tells where its turns end. A turn marker
// on its screen is then something that it was asked to write, or quotes.
func (j *Judge) tellsEnds() bool { return !j.profile.byChange() || j.saved.Ender != "" }

// endByMarker ends the turn whose marker was seen; one that nobody saw begin was short.
func (j *Judge) endByMarker(now time.Time, v *Verdict) {
	if v.Ended || !j.saved.Open && now.Sub(j.saved.Ended) < lingering {
		return // the program itself has told of this end
	}
	if !j.saved.Open {
		j.beginTurn(now, v)
	}
	j.saved.Belief = belief{State: sessions.StateIdle, Reason: "its turn marker was seen" + atClock(now), At: now}
	j.endTurn(now, false, v)
}

// endGone ends the turn of a program that isn't there any more.
func (j *Judge) endGone(now time.Time, v *Verdict) {
	if j.saved.Open && !v.Ended {
		j.endTurn(now, true, v)
	}
	if reason := "its program has ended"; j.saved.Belief.Reason != reason {
		j.saved.Belief = belief{State: sessions.StateIdle, Reason: reason, At: now}
	}
	j.screen = screenSign{}
}

// atClock is a time as reasons have it.
func atClock(at time.Time) string { return " at " + at.Format(time.TimeOnly) }
