package agent

import (
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// Evidence is what became known about a program since the last look.
type Evidence struct {
	Now     time.Time
	Screen  *sessions.Snapshot // its visible rows are the last Height of Rows; nil: not looked at
	Dialog  string             // phrase of a dialog that Profile.Dialog found on Screen; "" none
	Hooks   []Hook             // in the order in which they were called
	Records []transcript.Record
	Marked  bool // a turn marker was seen
	Typed   bool // text was typed and submitted by panebridge
	Running bool // the program's process lives
	// Unsaid: the screen showed something that was being written and that the transcript
	// doesn't have.
	Unsaid bool
}

// Verdict is what a judge believes.
type Verdict struct {
	State  sessions.State
	Reason string // why, as a sentence: the sign that was believed
	// Began and Ended say that a turn began, or ended, with this evidence. They
	// alternate over time; both with one look are a turn that was seen only then.
	Began, Ended bool
	Interrupted  bool // the turn ended by a person's hand or a failure
	// Failed is why the turn failed that ended, in one line; "": it went well, a person ended
	// it, or nobody knows.
	Failed string
	// Again is when to look again though nothing changes; zero: no need.
	Again time.Time
}
