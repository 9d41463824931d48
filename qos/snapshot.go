package qos

import "time"

// Pressure says how far a document lags behind its session.
type Pressure struct {
	Behind int64         // lines that are wanted and haven't reached the chat
	Age    time.Duration // for how long the oldest change has waited; 0 if nothing waits
}

// Snapshot is the scheduler's state at one moment, for `panebridge status` and
// the page. It's a copy.
type Snapshot struct {
	At        time.Time
	Mode      Mode
	InFlight  int
	Documents int
	Totals    Totals
	Bot       BotStatus
	Load      Load
	Chats     []ChatStatus // sorted by key; those with documents, work, a penalty or a recent call
}

// Load says how much there is to do, and at what pace it's done.
type Load struct {
	Tick           time.Duration // between two streams, in the chat in which that's longest; 0: there's no pace
	ActiveSessions float64       // sessions that print, averaged, of all chats together
	Oldest         time.Duration // how long the oldest of what waits for a slot has waited; 0: nothing waits
}

// BotStatus is what holds for all chats.
type BotStatus struct {
	PenaltyUntil time.Time // zero: none
	Multiplier   float64   // of the pace, 0.3 to 1
	BudgetErr    error     // why the budget can't say yes; nil when it can
}

// ChatStatus is one chat.
type ChatStatus struct {
	Chat           Chat
	Windows        []WindowUse // what's used
	Reserve        int         // slots a minute that are kept from streams now
	InFlight       bool
	NextSlot       time.Time     // when it's looked at again; zero: when something changes
	PenaltyUntil   time.Time     // zero: none
	BackoffUntil   time.Time     // zero: none
	Multiplier     float64       // of the pace, 0.3 to 1
	Tick           time.Duration // between two streams; 0: there's no pace
	ActiveSessions float64       // sessions that emit, averaged; at least 1
	Waiting        [Cosmetic]Waiting
	Documents      []DocStatus // those that wait
}

// Waiting is what waits in a class.
type Waiting struct {
	Count  int
	Oldest time.Duration // how long the oldest has waited
}

// DocStatus is one document that waits.
type DocStatus struct {
	Doc       DocID
	Session   Session
	Class     Class
	Delivered int64
	Wanted    int64
	Pressure  Pressure
	Uncertain bool
}

// Totals count since the scheduler was made.
type Totals struct {
	Calls     [classes]uint64  // that used a slot, by class
	Outcomes  [outcomes]uint64 // of all calls
	Updates   uint64           // wanted numbers, turn ends and live changes that came in
	Coalesced uint64           // of these, those that needed no call of their own
	Shed      uint64           // cosmetic calls that weren't made
	Penalties uint64           // "too many requests" answers
}

// Errors are the calls that didn't do what they were made for.
func (t *Totals) Errors() (n uint64) {
	for o, count := range t.Outcomes {
		switch Outcome(o) {
		case OutcomeUnknown, Delivered, Unchanged:
		default:
			n += count
		}
	}
	return n
}
