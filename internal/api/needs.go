package api

import (
	"context"

	"github.com/panebridge/panebridge/sessions"
)

// Sessions is what the API needs of sessions.Manager. All methods may be
// called by many requests at once. Errors wrap those of package sessions.
type Sessions interface {
	// List returns all known sessions, ended ones that are still kept included.
	// It does no I/O.
	List() []sessions.Session
	// Get returns one by id or by unique name. It does no I/O.
	Get(idOrName string) (sessions.Session, error)
	// Agents are the names of the programs that can be started, sorted. SearchAgents says which
	// of them the configuration doesn't name, and where they were looked for. Both look at files.
	Agents() []string
	SearchAgents() sessions.AgentSearch
	// New and Adopt run tmux commands and may take seconds.
	New(ctx context.Context, r sessions.NewRequest) (sessions.Session, error)
	Adopt(ctx context.Context, r sessions.AdoptRequest) ([]sessions.Session, error)
	// Close ends the mirroring, and the pane if panebridge made it. It returns
	// when the session has ended.
	Close(ctx context.Context, id sessions.ID) error
	// Forget drops a session that has ended, with its output log. ErrConflict while
	// it lives.
	Forget(ctx context.Context, id sessions.ID) error
	// Input stores a text to be typed. It returns when the text is stored; how
	// far it gets is asked for by Receipt.
	Input(ctx context.Context, id sessions.ID, r sessions.InputRequest) (sessions.Receipt, error)
	// Receipt returns the present state of an input.
	Receipt(ctx context.Context, id string) (sessions.Receipt, error)
	// Cancel takes back an input that isn't typed yet; ErrConflict when it is.
	Cancel(ctx context.Context, receiptID string) (sessions.Receipt, error)
	// Waiting returns a session's inputs that aren't done, in their order. It does no I/O.
	Waiting(id sessions.ID) []sessions.Receipt
	// SendAnyway sends a text that only a dialog's phrase holds, on the screen that quoted
	// stands for: see sessions.Receipt. It returns when that's done, or surely isn't, which
	// may take some seconds. ErrConflict says why it isn't.
	SendAnyway(ctx context.Context, receiptID, quoted, by string) (sessions.Receipt, error)
	// Revive begins the agent again that a held text was written to, in one of the
	// receipt's Revivals; else as SendAnyway.
	Revive(ctx context.Context, receiptID, quoted, by string, way sessions.Revival) (sessions.Receipt, error)
	// Keys presses keys, named as tmux names them.
	Keys(ctx context.Context, id sessions.ID, p sessions.KeyPress) error
	// Prompts returns the questions that are open or being answered, oldest first, and
	// PromptOf a session's. They do no I/O.
	Prompts() []sessions.Prompt
	PromptOf(id sessions.ID) (sessions.Prompt, bool)
	// Prompt returns one, whatever became of it.
	Prompt(ctx context.Context, id string) (sessions.Prompt, error)
	// Answer answers one. It returns when that was done in the pane, which may take ten
	// seconds, or surely wasn't. ErrConflict when it was answered already or is gone.
	Answer(ctx context.Context, id string, answer sessions.Answer) (sessions.Prompt, error)
	// Screen captures the pane.
	Screen(ctx context.Context, id sessions.ID) (sessions.Screen, error)
}

// Log is the output log as the API reads it. All methods do disk I/O and may
// be called by many requests at once.
type Log interface {
	// Read returns at most limit lines with numbers ≥ from (0: from the oldest
	// kept), oldest first, and the gaps that stand before or between them; one
	// right behind the last line may come with the page asked for next only.
	Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error)
	// ReadSince reads on from a position: line is the number of the newest line
	// seen (-1: none, and lines that were dropped aren't wanted), gap the row of
	// the newest gap seen (0: none of those behind that line). It returns at most
	// limit lines with greater numbers, and the gaps of greater rows that stand
	// behind line, between these lines and right behind the last of them, in the
	// order in which they stand, which is that of their rows. Where lines behind
	// line were dropped, a gap that has no row may say so first. nextLine and
	// nextGap are the position behind all that.
	ReadSince(ctx context.Context, id sessions.ID, line, gap int64, limit int) (out sessions.Output, nextLine, nextGap int64, err error)
	// Failures returns the turns that failed and ended behind one of the lines from … to: their
	// LastLine says behind which (0: before the first). At most limit, the newest first.
	Failures(ctx context.Context, id sessions.ID, from, to int64, limit int) ([]sessions.Turn, error)
	// Head returns the position behind everything that is in the log now.
	Head(ctx context.Context, id sessions.ID) (line, gap int64, err error)
}
