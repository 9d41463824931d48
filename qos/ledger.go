package qos

import (
	"context"
	"time"
)

// Ledger keeps a LocalBudget's state over restarts; a restart must not grant a
// fresh window, nor forget a penalty. There's one per bot. internal/store
// implements it; qostest.Ledger is the conformance suite.
//
// Times are wall clock times, kept to the microsecond or finer, never rounded
// down.
type Ledger interface {
	// Load returns what is kept: slots stamped at or after since, and all
	// penalties, in any order. It's called before the first Write, and again if it
	// failed. It may block and do I/O.
	Load(ctx context.Context, since time.Time) (Kept, error)

	// Write makes the entries durable, in their order, all or none: when it
	// returns nil they survive a crash of the process and of the machine, so that a
	// call may go out whose slot was among them. After an error the same entries,
	// and more, may come again: each is idempotent. It may block and do I/O; it's
	// never called twice at a time. The slice is the callee's until it returns.
	Write(ctx context.Context, entries []Entry) error
}

// Kept is what a Ledger holds.
type Kept struct {
	Slots     []Slot
	Penalties []Penalty
}

// Slot is a slot that's taken.
type Slot struct {
	Permit PermitID
	Chat   Chat
	Family Family
	// Stamp is when the call was answered. Until that is known it's the latest
	// time it could be: the deadline and 5 s. So what a crash leaves behind counts
	// as answered then.
	Stamp time.Time
}

// EntryKind says what an Entry does.
type EntryKind uint8

// The kinds of entries.
const (
	// EntryTake inserts Entry.Slot, before its call goes out. One with the same
	// permit is replaced.
	EntryTake EntryKind = iota + 1
	// EntryStamp sets the Stamp of the slot with Slot.Permit, if there is one.
	EntryStamp
	// EntryRefund deletes the slot with Slot.Permit, if there is one.
	EntryRefund
	// EntryPenalty keeps Entry.Penalty in the place of any other of the same
	// Scope. (It's the later one already.)
	EntryPenalty
	// EntryRekey gives all slots and penalties of Entry.From the chat Entry.To. Of
	// two penalties with the same scope, the later Until and the lower Multiplier
	// are kept.
	EntryRekey
	// EntryForget deletes slots whose Stamp, and penalties whose Until, is before
	// Entry.Before.
	EntryForget
)

// Entry is one change to a Ledger. Only the fields of its kind are set.
type Entry struct {
	Kind     EntryKind
	Slot     Slot
	Penalty  Penalty
	From, To Chat
	Before   time.Time
}
