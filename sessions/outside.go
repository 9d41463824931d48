package sessions

import (
	"context"
	"time"
)

// TmuxServer is a tmux server as Manager needs it. Methods that take a context
// block until the server has answered or it ends; they fail with
// ErrUnavailable while there's no connection, and with ErrUnknown for a pane
// that's gone. They may be called by many at once.
type TmuxServer interface {
	Name() string
	// Identity tells which run of the server the connection is to; false: none.
	Identity() (ServerIdentity, bool)
	// Gone reports that no server is running (rather than not answering).
	Gone() bool
	// Reach connects to a server that answers, if there's no connection yet: Panes and the
	// others don't wait for one.
	Reach(ctx context.Context) error
	Panes(ctx context.Context) ([]PaneInfo, error)
	// Create makes a tmux session with one marked pane, which remains when its
	// program ends; it starts a server if there's none. It fails with ErrInvalid, and
	// leaves nothing, if the folder can't be entered or if something can't be given to
	// a program as it is.
	Create(ctx context.Context, id ID, req PaneRequest) (PaneInfo, error)
	// Respawn ends what runs in a pane and starts a program there; of req only Cwd, Env
	// and Command count. No Command: the one that the pane was made with, or respawned.
	// It fails with ErrInvalid as Create does; if only tmux finds that the folder can't
	// be entered, what ran has ended by then.
	Respawn(ctx context.Context, pane string, req PaneRequest) error
	// Mark sets the pane's option @panebridge_id; "" unsets it.
	Mark(ctx context.Context, pane string, id ID) error
	Kill(ctx context.Context, pane string) error
	// Leave lets a server end that has no session but our hidden one.
	Leave(ctx context.Context) error
	Snapshot(ctx context.Context, pane string, w RowWindow) (Snapshot, error)
	Screen(ctx context.Context, pane string) (Screen, error)
	Terminal(tty string) (Terminal, error)
	// Paste and Press touch the pane only if the guard holds, in one atomic
	// step. With ErrUncertain it's unknown whether they did; with any other
	// error they didn't.
	Paste(ctx context.Context, g PaneGuard, text string) (GuardOutcome, error)
	Press(ctx context.Context, g PaneGuard, keys ...string) (GuardOutcome, error)
	// Grow makes a pane of a run of the server so many rows high, if nobody can see it:
	// ErrConflict says that somebody may, or that it isn't alone in its window. before is
	// what tmux has made of the old screen, before the program can have drawn anything. Until
	// Settle others' looks (RowWindow.Tall) and Screen are ErrUnavailable. Shrink makes it as
	// it was before, which tmux itself does after most.
	Grow(ctx context.Context, pane string, server ServerIdentity, rows int, most time.Duration) (before Snapshot, err error)
	Shrink(ctx context.Context, pane string) error
	Settle(pane string)
}

// PaneRequest describes a pane to make.
type PaneRequest struct {
	Session       string   // name of the new tmux session; letters, digits, - and _
	Cwd           string   // absolute; "": wherever tmux starts programs
	Env           []string // NAME=value; not those that tmux and shells set themselves, as SHELL or PWD
	Command       []string // program and arguments
	HistoryLimit  int      // rows
	Width, Height int      // cells
}

// Terminal is how the terminal behind a pane is set at the moment. tmux can't
// tell; the kernel can, because panes are on this host.
type Terminal struct {
	// Canonical: the kernel collects a line before the program gets it. No
	// Enter can be swallowed there, and a line of more than MaxLine bytes is
	// cut by the kernel.
	Canonical bool
	MaxLine   int
	Echo      bool
	// Unread is how many bytes the program hasn't read yet. In canonical mode
	// only complete lines count.
	Unread int
}

// Pollers read sessions. Start doesn't block; Stop returns when the session's
// last output is in the log and nothing more will come.
type Pollers interface {
	Start(s Session) error
	Stop(ctx context.Context, id ID) error
	// NoteTyped tells that text was typed: the pane is looked at now.
	NoteTyped(id ID, text string)
	// ServerGone ends the pollers of all panes of a server.
	ServerGone(server string)
}

// LineLog writes what doesn't come out of a session into its output log.
type LineLog interface {
	// AppendLines appends one line or more, behind a gap if one is given (its After is set by the
	// log). It returns them with their numbers.
	AppendLines(ctx context.Context, id ID, lines []Line, gap *Gap) ([]Line, []Gap, error)
}

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
	// Oldest is the number of the oldest line that is kept, of what Read returns; one more than the
	// newest: none is.
	Oldest int64
}
