package sessions

import "time"

// Kind is where a line's text comes from.
type Kind string

// The kinds of line.
const (
	KindPane   Kind = "pane"   // read from the pane
	KindAnswer Kind = "answer" // an agent's answer, exact Markdown from its transcript
	KindUser   Kind = "user"   // what a person wrote
	KindTool   Kind = "tool"   // a tool call or result, in short
	KindNotice Kind = "notice" // said by panebridge itself
)

// Line is one settled logical line of a session: rows that tmux wrapped are
// joined, trailing blanks are cut.
type Line struct {
	N    int64     `json:"n"` // counts from 1 within the session, without holes
	Kind Kind      `json:"kind"`
	Text string    `json:"text"` // valid UTF-8 without control characters other than tab
	At   time.Time `json:"at"`   // when panebridge read it
	// Begins says that it's the first line of a block of the agent's transcript: an
	// answer, say. The text of a block is its lines, joined with "\n".
	Begins bool `json:"begins,omitempty"`
	// Author is who wrote it, as people are called; of KindUser only.
	Author string `json:"author,omitempty"`
	// Origin is the place that it was written at, as a target of adapters; "": none of
	// theirs. Who's there has seen it.
	Origin string `json:"-"`
}

// Gap stands where output was, or may have been, lost.
type Gap struct {
	After   int64  `json:"after"`    // it stands behind the line of this number; 0: before the first
	AtLeast int64  `json:"at_least"` // lines known to be missing; 0: possibly some
	Reason  string `json:"reason"`   // a sentence
}

// Live is the live region: the part of a screen that is still being redrawn.
// It is shown, never emitted as lines.
type Live struct {
	Rows      []string `json:"rows"`      // top to bottom, trailing blank rows cut
	Alternate bool     `json:"alternate"` // the program draws on the alternate screen: all of it is live
	CursorX   int      `json:"cursor_x"`  // column of the cursor, from 0
	CursorY   int      `json:"cursor_y"`  // row of the cursor within Rows, from 0; -1: hidden or outside
	// Of a known agent program: Writing is the text of the answer that's being written,
	// as far as the screen shows it, until its block is finished and comes as lines.
	// Status says what it's doing: "✢ Osmosing… (3s · ↓ 28 tokens)".
	Writing []string `json:"writing,omitempty"`
	Status  string   `json:"status,omitempty"`
	Known   bool     `json:"known,omitempty"` // the program is known; Writing and Status say all that's new
}

// OutputEvent tells what one poll of a session brought. Its lines and gaps are
// in the output log before anybody hears of them.
type OutputEvent struct {
	Session  ID
	Seq      int64  // counts a session's events from 1 within one run of the daemon
	First    int64  // number of the first of Lines; 0 when there are none
	Lines    []Line // in order, numbered without holes
	Gaps     []Gap  // in order
	Live     *Live  // nil: unchanged since the event before
	Complete bool   // a turn ended with these lines
	Turn     Turn   // the turn after this event
	Exit     *Exit  // the program ended; this is the session's last event but its end
	State    State  // "" when unchanged
	Reason   string // of State
	// Prompt is the dialog that stands on the screen now; nil: none. Asked says that it's
	// another than at the event before.
	Prompt *Dialog
	Asked  bool
}
