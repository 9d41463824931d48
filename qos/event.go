package qos

import (
	"log/slog"
	"time"
)

// EventKind says what an Event tells.
type EventKind uint8

// The events.
const (
	// DocClosed: a document was closed as asked; Delivered and Wanted say what it
	// left behind.
	DocClosed EventKind = iota + 1
	// DocStopped: the platform will never take this document (Err). It's closed;
	// open it again when its cause is repaired.
	DocStopped
	// DocAbandoned: a flush took longer than Options.FlushLimit. It's closed, and
	// what it left behind is in Delivered, Wanted and Final.
	DocAbandoned
	// RequestDropped: a request was given up: the platform will never take it
	// (Err), or its session was closed by Cancel.
	RequestDropped
	// ChatMoved: Chat has the key To now. Use it from now on.
	ChatMoved
	// ChatSilenced: a penalty holds until Until. Chat is empty if it's for the whole
	// bot. People who wait can be told in another place.
	ChatSilenced
)

func (k EventKind) String() string {
	switch k {
	case DocClosed:
		return "doc_closed"
	case DocStopped:
		return "doc_stopped"
	case DocAbandoned:
		return "doc_abandoned"
	case RequestDropped:
		return "request_dropped"
	case ChatMoved:
		return "chat_moved"
	case ChatSilenced:
		return "chat_silenced"
	default:
		return "invalid"
	}
}

// Event is something that the scheduler's user must know, because nothing may
// be lost silently.
type Event struct {
	Kind    EventKind
	Chat    Chat
	To      Chat // ChatMoved
	Doc     DocID
	Session Session
	Key     string // RequestDropped

	Delivered, Wanted, Final int64 // of the document
	Until                    time.Time
	Err                      error
}

// Observer is told what the scheduler does, for metrics. It's called on the
// scheduler's own goroutine: it must return at once, and not wait for a method of
// the scheduler.
type Observer interface {
	// Called: a slot was used, or given back (Unchanged, NotSent). wait is how long
	// the work had waited for it, took how long the call took.
	Called(class Class, family Family, outcome Outcome, wait, took time.Duration)
	// Coalesced: n updates needed no call of their own.
	Coalesced(n int)
	// Shed: a cosmetic call wasn't made.
	Shed(family Family)
	// Penalized: the platform said "too many requests" and asked for so long a
	// silence.
	Penalized(family Family, retryAfter time.Duration)
}

// discard is the Observer of those who have none.
type discard struct{}

func (discard) Called(Class, Family, Outcome, time.Duration, time.Duration) {}
func (discard) Coalesced(int)                                               {}
func (discard) Shed(Family)                                                 {}
func (discard) Penalized(Family, time.Duration)                             {}

func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }
