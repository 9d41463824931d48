package sessions

import "time"

// Text says whose lines are a session's.
type Text string

// One at a time, so that nothing comes twice.
const (
	TextPane       Text = "pane"       // those of the pane
	TextHeld       Text = "held"       // it isn't decided; the pane's are held back
	TextTranscript Text = "transcript" // those of the agent's transcript; the pane's are dropped
)

// Why a session waits whose program reads a line. What stands in its row isn't said: some
// of it may have been typed.
const (
	ReasonAsksLine   = "its program asks for a line, and waits for it"
	ReasonAsksHidden = "its program asks for something that it doesn't show, a password perhaps, and waits for it"
)

// Look is what a look at a pane showed.
type Look struct {
	Screen *Snapshot // goes down to the bottom of the screen; nil: not looked at, or the pane is gone
	Dialog string    // the phrase of the profile that's on the screen; "": none
	Marked bool      // a turn marker was seen
	Typed  []Typed   // what panebridge typed since the last look
	Last   bool      // there will be no other: the session ends
	Now    time.Time
}

// Typed is something that panebridge typed into a pane.
type Typed struct {
	Text string // "": Enter or other keys
	At   time.Time
}

// Sight is what is made of a look with all that's known of the program in the pane.
type Sight struct {
	Text  Text
	Lines []Line // of the transcript, since the last look; N isn't set
	// Known says that an agent program runs. Then what follows is about it, and needs no
	// guess from how its screen changes.
	Known        bool
	State        State
	Reason       string
	Began, Ended bool   // a turn began, or ended, with this look
	Failed       string // why the turn failed that ended, in one line; "": it went well, or nobody knows
	// Writing are the rows of the screen that show text which isn't in the transcript
	// yet, and Status is the row that says what the program is doing.
	Writing []string
	Status  string
	// Prompt is the dialog on the screen, as far as it can be answered; nil: there's
	// none. Prompts says that the look could tell.
	Prompt  *Dialog
	Prompts bool
	// Said, if set, says that the program has ended, and the pane's lines are the
	// session's again. It reports whether a row shows what the transcript had.
	Said func(row string) bool
	// Quiet is how long nothing has to change until the turn is over, where neither an
	// agent program runs nor a shell says where its commands end; 0: that's no sign.
	Quiet time.Duration
	// Front is the name of the program that the pane's shell runs in its foreground, where
	// no agent program does; "": it runs none, or that isn't known.
	Front string
	// Asks is why a program that isn't known waits for a line that a person has to type,
	// as a sentence; "": it doesn't.
	Asks  string
	Again time.Time // when to look again though nothing changes; zero: no need
	More  bool      // there's more to tell, at once and without another look
	Keep  []byte    // JSON: what's needed to go on behind this look
}
