package qos

import (
	"context"
	"slices"
	"time"
)

// Budget decides whether a call may happen. It guards: whatever the scheduler
// wants, no window ever holds more calls than it may, and none is made under a
// penalty. LocalBudget is the one for a single process; one shared by several
// processes fits in the same place, which is why asking is asynchronous.
//
// A window of N calls per W is N slots. A slot is taken when a call is granted,
// and comes back W after the call was answered. A call that's never answered
// counts as answered answerGrace (5 s) after its deadline, also when the process
// dies. (A call that arrived at the platform did so before it was answered, and
// the next one in the same slot leaves W later. So the bound holds at the
// platform for any network delay, with nobody's clocks compared.)
//
// A Budget is safe for use by several goroutines. No method but Run blocks or
// does I/O. `now` is the caller's time.Now(), monotonic reading included, and
// never goes back.
//
// qostest.Budget is the conformance suite.
type Budget interface {
	// Run serves until ctx ends, then makes durable what it was told and returns.
	// It's called once. First it loads what was kept; until that has worked, every
	// Ask is answered Pending (and no error of the store ever opens the budget).
	// hear is called, from any goroutine, with every penalty that this Budget's
	// user didn't report itself: those kept from before, before the first grant,
	// and those that other processes report. freed is called when it's worth asking
	// again about a chat before the time that NotBefore said, because of what other
	// processes did; about all chats if its Chat is empty. Neither blocks.
	Run(ctx context.Context, hear func(Penalty), freed func(ChatKey)) error

	// Configure sets the limits. It's called before Run, and again whenever they
	// change; slots that are taken stay taken.
	Configure(limits Limits)

	// AskSlot asks for the right to make one call. The answer is Granted, NotBefore, or
	// Pending: then reply is called once, from any goroutine, possibly before Ask
	// returns, with Granted or NotBefore, within the time of the call's deadline. A
	// grant is durable: whatever happens to the process, it's counted. Nobody waits
	// in line here: who isn't granted asks again. Within a process who asks is as
	// good as anybody else; between processes SlotQuestion.Class and SlotQuestion.Weight decide.
	AskSlot(now time.Time, ask SlotQuestion, reply func(SlotAnswer)) SlotAnswer

	// Settle says when a granted call was answered. Only then is it known when its
	// slot comes back. An unknown or settled permit is ignored.
	Settle(now time.Time, id PermitID, answered time.Time)

	// Refund gives a slot back, because the call surely never went out. An unknown
	// or settled permit is ignored.
	Refund(now time.Time, id PermitID)

	// Penalize reports that the platform ordered silence. Of several orders for a
	// scope the latest Until counts: a penalty is never shortened.
	Penalize(now time.Time, p Penalty)

	// Learn narrows a scope by what the platform said about it (response headers).
	// It never widens what is configured.
	Learn(now time.Time, scope Scope, learned Learned)

	// Rekey adds all that's known about one chat to another: the chat has migrated.
	Rekey(now time.Time, from, to ChatKey)

	// Use says how the windows of a chat stand, the message family's first, for
	// the status page. Nil if nothing is known about it.
	Use(now time.Time, chat ChatKey) []WindowUse
}

// Limits are all windows of a bot. A call counts in every window that applies to
// it: its chat's for the family, and the bot's.
type Limits struct {
	Bot      Limit            // over all chats and families
	Group    Limit            // of each chat, for its messages; the reserve is kept in the first window
	Private  Limit            // of each chat for which IsPrivate holds
	Families map[Family]Limit // of each chat, for the families that don't count as messages
	// IsPrivate tells private chats by their key. Nil: there are none. It must be
	// a pure function.
	IsPrivate func(ChatKey) bool
}

// Limit is what one scope may do.
type Limit struct {
	Windows []Window
	// Gap is the least time between the beginnings of two calls. It only keeps
	// calls apart; what guards are the windows.
	Gap time.Duration
}

// Window is so many calls in any stretch of time of this length.
type Window struct {
	Calls int
	Per   time.Duration
}

// PermitID names a granted slot, also over restarts.
type PermitID uint64

// SlotQuestion is a question to a Budget.
type SlotQuestion struct {
	Chat   ChatKey
	Family Family
	// Spare is how many slots must stay free, after this call, in the first
	// window of the chat's messages: the reserve. It has no meaning for other
	// families.
	Spare int
	// Deadline is when the call will have ended, if it's granted.
	Deadline time.Time
	// Unguarded asks for a slot that's only counted (mode off): windows don't
	// refuse it. Penalties do.
	Unguarded bool
	// Class is what the slot is for. Of several processes that want the same slot,
	// the one with the better class gets it.
	Class Class
	// Weight is what streams and finals of this process should get of a chat's slots, relative
	// to those of others: the sum of the weights of its sessions that have such to
	// send. 0 counts as 1.
	Weight float64
}

// SlotAnswerState is the kind of a SlotAnswer.
type SlotAnswerState uint8

// The answers.
const (
	// Pending: not known yet; the reply follows.
	Pending SlotAnswerState = iota
	// Granted: the call may be made, until its deadline.
	Granted
	// NotBefore: not now. Asking earlier than SlotAnswer.At can't succeed, unless a
	// call is settled or refunded in between.
	NotBefore
)

// SlotAnswer is a Budget's reply.
type SlotAnswer struct {
	State  SlotAnswerState
	Permit PermitID  // of a grant
	At     time.Time // of NotBefore
	Err    error     // of NotBefore: why it can't be known whether there's a slot (the store fails)
}

// Scope is what a penalty, or something learned, is about: one family of a
// chat, a whole chat (AllFamilies), or the bot (no Chat).
type Scope struct {
	Chat        ChatKey
	Family      Family
	AllFamilies bool
}

// ScopesOf returns the scopes that a call falls under, the bot's first.
func ScopesOf(chat ChatKey, family Family) [3]Scope {
	return [3]Scope{{}, {Chat: chat, AllFamilies: true}, {Chat: chat, Family: family}}
}

// Penalty is the platform's order to be silent until a time.
type Penalty struct {
	Scope Scope
	Until time.Time
	// Multiplier is what the pace was cut to, from 0.3 to 1, so that a restart
	// doesn't forget it.
	Multiplier float64
}

// Learned is what a response said about a limit.
type Learned struct {
	Limit     int       // calls per reset; 0: not said
	Remaining int       // calls left until Reset
	Reset     time.Time // when Remaining is full again
}

// WindowUse is how a window stands.
type WindowUse struct {
	Family Family
	Window Window
	Used   int       // slots taken, calls in flight included
	Free   time.Time // when the next slot comes back; zero if one is free now
}

// takenSlot is a slot that was granted.
type takenSlot struct {
	Slot
	inFlight bool // not answered yet; Stamp is the latest it can be

	began     time.Time // when it was granted
	chat, bot time.Time // when the call before it began in its chat and family, and of the bot
}

// comesBack is when the slot is free again in a window. While its call is in
// flight nobody knows; it can't be before a whole window from now.
func (t *takenSlot) comesBack(now time.Time, w Window) time.Time {
	if t.inFlight && now.Before(t.Stamp) {
		return now.Add(w.Per)
	}
	return t.Stamp.Add(w.Per)
}

// holds says whether the slot is taken now.
func (t *takenSlot) holds(now time.Time, w Window) bool {
	return t.comesBack(now, w).After(now)
}

// used counts the slots of a window that are taken.
func used(now time.Time, slots []*takenSlot, w Window) int {
	n := 0
	for _, t := range slots {
		if t.holds(now, w) {
			n++
		}
	}
	return n
}

// freeAt is when so many slots of a window will be free, if nothing else is
// granted; now if they are already. A window can't have more free slots than
// calls.
func freeAt(now time.Time, slots []*takenSlot, w Window, free int) time.Time {
	most := max(w.Calls-free, 0) // that may be taken then
	if len(slots) <= most {
		return now
	}
	var back []time.Time
	for _, t := range slots {
		if t.holds(now, w) {
			back = append(back, t.comesBack(now, w))
		}
	}
	if len(back) <= most {
		return now
	}
	slices.SortFunc(back, time.Time.Compare)
	return back[len(back)-most-1]
}

// leastKept is for how long slots are remembered at least, so that a window can be
// made longer, up to this, while running.
const leastKept = time.Minute

// longest is for how long the slots of a limit are remembered.
func (l Limit) longest() time.Duration {
	d := leastKept
	for _, w := range l.Windows {
		d = max(d, w.Per)
	}
	return d
}

// longest is for how long the slots of a chat are remembered.
func (l Limits) longest() time.Duration {
	d := max(l.Group.longest(), l.Private.longest())
	for _, limit := range l.Families {
		d = max(d, limit.longest())
	}
	return d
}

// LimitOf returns the limit of a family in a chat, and the family whose windows it counts in.
func (l Limits) LimitOf(chat ChatKey, family Family) (Limit, Family) {
	if limit, own := l.Families[family]; own {
		return limit, family
	}
	if l.IsPrivate != nil && l.IsPrivate(chat) {
		return l.Private, FamilyMessage
	}
	return l.Group, FamilyMessage
}

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
	Load(ctx context.Context, since time.Time) (KeptBudget, error)

	// Write makes the entries durable, in their order, all or none: when it
	// returns nil they survive a crash of the process and of the machine, so that a
	// call may go out whose slot was among them. After an error the same entries,
	// and more, may come again: each is idempotent. It may block and do I/O; it's
	// never called twice at a time. The slice is the callee's until it returns.
	Write(ctx context.Context, entries []LedgerEntry) error
}

// KeptBudget is what a Ledger holds.
type KeptBudget struct {
	Slots     []Slot
	Penalties []Penalty
}

// Slot is a slot that's taken.
type Slot struct {
	Permit PermitID
	Chat   ChatKey
	Family Family
	// Stamp is when the call was answered. Until that is known it's the latest
	// time it could be: the deadline and 5 s. So what a crash leaves behind counts
	// as answered then.
	Stamp time.Time
}

// LedgerEntryKind says what a LedgerEntry does.
type LedgerEntryKind uint8

// The kinds of entries.
const (
	// EntryTake inserts LedgerEntry.Slot, before its call goes out. One with the same
	// permit is replaced.
	EntryTake LedgerEntryKind = iota + 1
	// EntryStamp sets the Stamp of the slot with Slot.Permit, if there is one.
	EntryStamp
	// EntryRefund deletes the slot with Slot.Permit, if there is one.
	EntryRefund
	// EntryPenalty keeps LedgerEntry.Penalty in the place of any other of the same
	// Scope. (It's the later one already.)
	EntryPenalty
	// EntryRekey gives all slots and penalties of LedgerEntry.From the chat LedgerEntry.To. Of
	// two penalties with the same scope, the later Until and the lower Multiplier
	// are kept.
	EntryRekey
	// EntryForget deletes slots whose Stamp, and penalties whose Until, is before
	// LedgerEntry.Before.
	EntryForget
)

// LedgerEntry is one change to a Ledger. Only the fields of its kind are set.
type LedgerEntry struct {
	Kind     LedgerEntryKind
	Slot     Slot
	Penalty  Penalty
	From, To ChatKey
	Before   time.Time
}
