package sessions

import (
	"context"
	"time"
)

// Store keeps sessions and receipts over restarts. Every method may do disk
// I/O; each call is one transaction and is durable against a crash of the
// process when it returns. A full or locked disk is an error and changes
// nothing.
type Store interface {
	// Sessions returns all sessions that are known, ended ones included, oldest first.
	Sessions(ctx context.Context) ([]Session, error)
	// PutSession inserts or replaces one by ID. It doesn't touch Lines, Turn
	// and LastOutputAt, which the output log owns.
	PutSession(ctx context.Context, s Session) error
	// DropSession deletes one with its output log, its receipts and its prompts; one
	// that isn't there is no error.
	DropSession(ctx context.Context, id ID) error
	// PutReceipt inserts or replaces one by ID. Another with the same Key, if it's not
	// "", is an ErrConflict.
	PutReceipt(ctx context.Context, r Receipt) error
	// ReceiptByKey returns the one with a Key; ErrUnknown if there is none.
	ReceiptByKey(ctx context.Context, key string) (Receipt, error)
	// Receipt returns one; ErrUnknown if there is none.
	Receipt(ctx context.Context, id string) (Receipt, error)
	// OpenReceipts returns those that are not Final, oldest first.
	OpenReceipts(ctx context.Context) ([]Receipt, error)
	// UnansweredReceipts returns those that are ReceiptSubmitted or ReceiptFailed and have
	// been since a time, oldest first.
	UnansweredReceipts(ctx context.Context, since time.Time) ([]Receipt, error)
	// PutPrompt inserts or replaces one by ID. One that's Final drops those that have
	// been for long.
	PutPrompt(ctx context.Context, p Prompt) error
	// Prompt returns one; ErrUnknown if there is none.
	Prompt(ctx context.Context, id string) (Prompt, error)
	// OpenPrompts returns those that are not Final, oldest first.
	OpenPrompts(ctx context.Context) ([]Prompt, error)
	// PutClosedPane, ClosedPanes and DropClosedPane keep the panes that were
	// closed by hand, so that no pattern adopts them again.
	PutClosedPane(ctx context.Context, p Pane) error
	ClosedPanes(ctx context.Context) ([]Pane, error)
	DropClosedPane(ctx context.Context, p Pane) error
}

// Output is a piece of a session's output log.
type Output struct {
	Lines []Line // numbers ≥ the one asked for, oldest first
	Gaps  []Gap  // those that stand before or between Lines; right behind them only when read by cursor
	Next  int64  // the number to ask for next; the one asked for when there's nothing new
}
