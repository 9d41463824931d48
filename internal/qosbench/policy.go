package qosbench

import "time"

// policy is a scheduler that's compared. It's told what happens and makes calls.
// Times are since the beginning of the run and don't go back.
type policy interface {
	// take takes in what happens in the trace.
	take(now time.Duration, ev event)
	// done takes in the answer to a call.
	done(now time.Duration, c *call, a answer)
	// step returns the calls to make now.
	step(now time.Duration) []*call
	// due is when step has something to do if nothing else happens; false: never.
	due() (at time.Duration, ok bool)
}

// call is one call to the platform.
type call struct {
	session int  // of a document's call
	command bool // a command's reply, and no document's call

	// lines is the last line that the chat shows afterwards. If it showed a later
	// one, that's gone: an edit with older text replaces newer.
	lines int
	// The turns whose ends it announces; toTurn 0: none.
	fromTurn, toTurn int
	// forFinal says that it was made for a final, whether it announces it or not.
	forFinal bool

	token any // the policy's own
}
