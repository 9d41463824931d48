package qos

import (
	"context"
	"time"
)

// Deliverer makes the calls. It's implemented by the adapters.
type Deliverer interface {
	// Deliver makes at most one API call and says what came of it. What is sent
	// is rendered now, from the newest state: the call names a document (or a
	// request's key), not a text.
	//
	// It's called from several goroutines at once, but never twice at a time for
	// one chat. It may block and do I/O until ctx ends, and must return soon
	// after. The deadline of ctx is the one the budget was told of: a call must
	// not be written to the network later. It must not retry, must not sleep out
	// a "too many requests", and must not fall back from an edit to a send within
	// one call: each of these is a second call that nobody counted. Return
	// Throttled, or Delivered with More, and a slot comes.
	Deliver(ctx context.Context, call Call) CallResult
}

// Call is a slot that was granted: what to send, and how.
type Call struct {
	Chat    ChatKey
	Class   Class // which class the slot was granted to
	Family  Family
	Session SessionKey

	// A document's slot. Doc is empty for a request.
	Doc       DocID
	Delivered int64 // the last line that reached the chat
	Wanted    int64 // the last line that should; the newest state may be further
	Final     int64 // the line at which the last turn to announce ended; 0: none is to be announced

	// A request's slot. Key is empty for a document.
	Key string

	// Uncertain says that an earlier call for the same thing went out and wasn't
	// answered: it may have reached the chat. What was a send is sent once more and
	// marked as possibly double, unless the platform can tell (an enforced nonce).
	// Edits are simply made again.
	Uncertain bool
}

// CallOutcome says how a call ended. The zero value is no outcome: a Deliverer that
// returns it is treated as if it had returned Uncertain, the careful reading.
type CallOutcome uint8

// What the scheduler does with the slot, and with what was to be sent.
const (
	// OutcomeUnknown is the zero value; see CallOutcome.
	OutcomeUnknown CallOutcome = iota
	// Delivered: the platform accepted the call.
	Delivered
	// Unchanged: no call was made, because the chat shows all of what was asked
	// for already. The slot is given back.
	Unchanged
	// NotSent: surely no call reached the platform (no connection, name not found).
	// The slot is given back; the chat backs off.
	NotSent
	// Throttled: the platform answered "too many requests". See CallResult.RetryAfter.
	Throttled
	// Failed: the platform answered with an error that may pass (5xx), and did
	// surely not do what was asked. The slot is spent; the chat backs off.
	Failed
	// Uncertain: the call was written, and no answer came, or one that leaves open
	// whether it was done. The slot is held as if the answer came 5 s after the
	// deadline, unless CallResult.Over is set; the next call says Uncertain.
	Uncertain
	// Rejected: the platform will never accept this (topic deleted, bad request).
	// The document or request stops, and a SchedulerEvent says so.
	Rejected
	// ChatGone: as Rejected, for all that waits in this chat (bot removed, chat
	// deleted).
	ChatGone
	// Migrated: the chat has another key now, CallResult.Chat. All of its documents,
	// requests, budgets and penalties move there; the call is made again.
	Migrated

	outcomes // how many there are
)

func (o CallOutcome) String() string {
	names := [outcomes]string{
		"unknown", "delivered", "unchanged", "not_sent", "throttled", "failed", "uncertain", "rejected", "chat_gone", "migrated",
	}
	if int(o) < len(names) {
		return names[o]
	}
	return "invalid"
}

// CallResult is what came of a call. Only the fields of its outcome are read.
type CallResult struct {
	Outcome CallOutcome

	// Delivered: how far the chat is now. A document's Delivered number never goes
	// back, and turns that ended at or before Final count as announced. More says
	// that another call is needed though the numbers are reached (a text that
	// takes several messages). Unchanged sets all three by itself.
	Delivered int64
	Final     int64
	More      bool

	// Unchanged, of a document: when it's asked again, because what waits can't be shown
	// before; nothing counts as reached. News of further lines are an earlier reason.
	// Zero: all is there.
	Again time.Time

	// Over, of Uncertain: the call can't arrive any more, because an answer came that
	// leaves open whether it was done, or its connection was closed. Its slot comes back
	// by when it ended, half a second later.
	Over bool

	// Throttled: the platform's order. Zero is taken as one second. NotSent: after how long
	// it can be sent; zero: it isn't known. Global says
	// that the order is for the whole bot, Narrow that the platform surely means calls of this family in this chat and no others, however long
	// the order and whoever else gets one.
	RetryAfter time.Duration
	Global     bool
	Narrow     bool

	// Migrated: the chat's new key. Delivered, of a document: the key that its further
	// calls fall under (its thread was made, and has limits of its own); empty: as before.
	Chat ChatKey

	// Why, for logs and events. It must hold no text of a user and no secret.
	Err error
}

// ChatKey is the platform's key of limits: everything that shares a limit there
// shares the key. On one platform a chat with all its threads is one chat here, on
// another each thread is a chat of its own. Opaque here.
type ChatKey string

// DocID names a document: the binding's id. Opaque here.
type DocID string

// SessionKey names the session whose output a document mirrors. Slots are shared
// fairly between the sessions of a chat. Opaque here.
type SessionKey string

// Family names the methods that share a window within a chat, beside the
// chat's own. A family that Options.Families doesn't list counts in the chat's
// windows, like FamilyMessage.
type Family string

// Families that platforms have limits of their own for.
const (
	// FamilyMessage is sending, editing, deleting and the creation of topics, which
	// share one budget. Documents always use it. It's the zero value.
	FamilyMessage Family = ""
	// FamilyTyping is the "is typing" indicator.
	FamilyTyping Family = "typing"
	// FamilyDraft is a message preview that vanishes by itself.
	FamilyDraft Family = "draft"
	// FamilyRename is renaming a channel, thread or topic.
	FamilyRename Family = "rename"
)

// Class says how much something matters. A lower value goes first.
type Class uint8

// The classes.
const (
	// Interactive answers a person: command and button replies, prompts, errors.
	Interactive Class = iota
	// Final is the end of a turn.
	Final
	// Stream is text of a turn that goes on.
	Stream
	// Cosmetic is what nobody misses: typing, drafts, badges. Never queued.
	Cosmetic

	classes // how many there are
)

func (c Class) String() string {
	names := [classes]string{"interactive", "final", "stream", "cosmetic"}
	if int(c) < len(names) {
		return names[c]
	}
	return "invalid"
}

// Doc describes a document when it's opened. It holds no text: line numbers are
// those of the session's output log, counted from 1; 0 is "none".
type Doc struct {
	ID      DocID
	Chat    ChatKey
	Session SessionKey

	Delivered int64 // the last line that reached the chat
	Wanted    int64 // the last line that should
	Final     int64 // the line at which a turn ended that isn't announced yet; 0: none
	Uncertain bool  // a call was begun before a restart, and nobody knows how it ended
}

// Request is a single thing to do in a chat that's no document: a command's
// reply, a receipt, a prompt. The payload stays with the adapter, which finds it
// by Key when the slot comes.
type Request struct {
	Chat ChatKey
	// Key is the adapter's own, unique in its chat. Posting a key that waits
	// already adds nothing, but the better class of the two counts; posting one
	// whose call is under way has it called once more.
	Key     string
	Class   Class // Interactive, Final or Stream for Post
	Family  Family
	Session SessionKey // may be empty; closing the session by Cancel drops the request

	Uncertain bool // as in Doc
}

// CloseMode says what happens to what waits when a document or session is
// closed.
type CloseMode uint8

// The ways to close.
const (
	// Flush sends what is wanted by now, as class Final, and then closes. It gives
	// up after Options.FlushLimit; time under a penalty doesn't count.
	Flush CloseMode = iota
	// Cancel closes now: nothing is sent any more, not even a final. A call under
	// way isn't interrupted.
	Cancel
)
