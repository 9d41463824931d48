package adapters

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Store keeps bindings and documents over restarts. Methods do disk I/O, and may
// be called at the same time. What they wrote survives a crash of the process when
// they return nil; after an error nothing was written. adaptertest.Store is the
// conformance suite.
type Store interface {
	// Bindings returns all bindings with their documents, oldest first.
	Bindings(ctx context.Context) ([]Kept, error)
	// PutBinding inserts or replaces a binding by ID. A document, if given, replaces
	// its own; a new binding needs one. Another binding of the same session and
	// target is an error that wraps sessions.ErrConflict.
	PutBinding(ctx context.Context, b Binding, d *Document) error
	// DropBinding deletes a binding with its document; one that isn't there is no
	// error.
	DropBinding(ctx context.Context, id BindingID) error
	// PutDocument replaces a binding's document, and remembers a message that was
	// sent, if there's one. Without such a binding nothing happens. With an Intent
	// it survives a crash of the machine, too, when it returns: the call goes out
	// next.
	PutDocument(ctx context.Context, id BindingID, d Document, sent *Message) error
	// MessageAt returns the platform's id of the first message, of those that are
	// remembered, that shows a line or what comes behind it; "" if it's not known
	// whether it's the first.
	MessageAt(ctx context.Context, id BindingID, line int64) (string, error)
	// NewSessions returns the sessions that were stored and not taken up since. Those that were
	// stored before that was kept aren't among them.
	NewSessions(ctx context.Context) ([]sessions.ID, error)
	// TakeUp keeps that a session has the bindings that the rules wanted when it began, for good;
	// again, or of one that isn't there, it's no error.
	TakeUp(ctx context.Context, id sessions.ID) error
	// Moves returns all chats that have another id, in the order in which they got it.
	Moves(ctx context.Context) ([]Move, error)
	// PutMove keeps that a chat has another id, for good; again, it's no error.
	PutMove(ctx context.Context, m Move) error
}

// Move says that a chat of an adapter has another id: a group has become a supergroup.
type Move struct{ Adapter, From, To string }

// Kept is a binding as a Store keeps it.
type Kept struct {
	Binding  Binding
	Document Document
}

// Log is the output log as documents are rendered from it. Methods do disk I/O,
// and may be called at the same time. Errors wrap sessions.ErrUnknown for a
// session that isn't there.
type Log interface {
	// Read returns at most limit lines with number ≥ from, oldest first, and the gaps
	// that stand before or between them. Where lines from `from` on have been dropped
	// the first line's number is larger, and a gap that says so may come first.
	Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error)
	// Progress returns how far a session is. All of one moment.
	Progress(ctx context.Context, id sessions.ID) (Progress, error)
	// Turns returns at most limit turns with number ≥ from that have ended, the oldest first.
	// Turns whose lines have been dropped may be missing.
	Turns(ctx context.Context, id sessions.ID, from int64, limit int) ([]sessions.Turn, error)
}

// Progress is how far a session is.
type Progress struct {
	Head    int64 // number of the newest line; 0: none yet
	Turn    int64 // number of the newest turn that has ended; 0: none has
	TurnEnd int64 // the line at which it ended; 0: it had none
	// TurnFirst is its first line; 0: it had none. TurnBegan and TurnEnded are when it
	// began and ended.
	TurnFirst            int64
	TurnBegan, TurnEnded time.Time
	Status               *int   // exit status of the command that it was; nil: unknown, or it was none
	Failed               string // why the turn failed; "": it went well, or nobody knows
}

// Sessions is the registry of sessions. Its methods return at once.
type Sessions interface {
	List() []sessions.Session
	// Get finds a session by its id. The error wraps sessions.ErrUnknown.
	Get(id string) (sessions.Session, error)
}

// Screens knows live regions. Live returns at once; nil: nothing is known of the
// session's. The value isn't changed afterwards.
type Screens interface {
	Live(id sessions.ID) *sessions.Live
}
