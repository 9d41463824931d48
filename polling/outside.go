package polling

import (
	"context"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// PaneSource is a tmux server as the pollers need it. Its methods block until the
// server has answered or ctx ends, and may be called by many at once.
type PaneSource interface {
	// Glances looks at many panes at once, cheaply: at all where since is 0,
	// else at least at those that are dead, or whose window had output in that
	// second (since 1970) or later. all: these are all panes there are, also
	// where fewer were asked for.
	Glances(ctx context.Context, since int64) (panes []sessions.Glance, all bool, err error)
	// Snapshot takes one pane's state and rows at one instant. A pane that's
	// gone is sessions.ErrUnknown.
	Snapshot(ctx context.Context, pane string, w sessions.RowWindow) (sessions.Snapshot, error)
}

// Owner hears what becomes of pollers. It's called from their goroutines and
// must not call back into the coordinator.
type Owner interface {
	// Output is called after an event's lines are in the log.
	Output(ev sessions.OutputEvent)
	// Ended is called once, when a poller has read its last: the pane is gone
	// or its program has ended. All output was handed on before.
	Ended(id sessions.ID, exit *sessions.Exit, reason string)
	// Reconcile is called when a look at server found panes that no look before
	// had found.
	Reconcile(server string)
}

// Log is the output log as a poller needs it. Methods may do disk I/O. They're
// called by one poller per session, and by many sessions at once.
type Log interface {
	// Load returns the engine state that was stored with the session's last
	// Append (nil if there was none) and the session's turn.
	Load(ctx context.Context, id sessions.ID) (engine []byte, turn sessions.Turn, err error)
	// Append stores a batch in one transaction: all of it or nothing. The log
	// numbers the lines; it returns the batch's lines and gaps with their
	// numbers, and the number of the newest line (0: none yet).
	Append(ctx context.Context, b Batch) (Appended, error)
	// Tail returns the last n lines, oldest first.
	Tail(ctx context.Context, id sessions.ID, n int) ([]sessions.Line, error)
}

// Batch is what one poll of a session adds to its log.
type Batch struct {
	Session sessions.ID
	Lines   []sessions.Line // N is set by the log
	Gaps    []sessions.Gap  // After counts the lines of this batch before the gap: 0 … len(Lines)
	Engine  []byte          // replaces the stored engine state; nil leaves it
	// Ended are turns that ended within the batch and before Turn, in their order, with
	// lines as in Turn. A LastLine of -1 is the line before the batch.
	Ended []sessions.Turn
	Turn  *sessions.Turn // replaces the stored turn; FirstLine and LastLine count within the batch from 1, 0 leaves them; nil leaves the turn
	// Spent is what answers of models took, each of which is counted once; Usage replaces how things stand,
	// its sums are the log's to fill in; nil, without Spent: leaves it.
	Spent []sessions.Spending
	Usage *sessions.Usage
}

// Appended is a stored batch.
type Appended struct {
	Lines []sessions.Line
	Gaps  []sessions.Gap
	Ended []sessions.Turn // the batch's
	Turn  sessions.Turn   // the session's turn after the batch
	Head  int64           // number of the newest line
	Usage *sessions.Usage // the batch's, with its sums
}

// ScreenProfile is what's known about a program's way of using the screen. Methods are
// pure.
type ScreenProfile interface {
	// Drawing reports whether the program is drawing on the screen, so that
	// nothing visible is settled. It's asked for the normal screen only.
	Drawing(s *sessions.Snapshot) bool
	// Dialog returns the phrase by which an open dialog is recognised in the
	// visible rows, or "".
	Dialog(rows []string) string
	// Prompt returns the dialog that's open on the screen, with the rows that it stands
	// in; nil: none is, or it isn't known which rows are its. It's asked for the normal
	// screen only.
	Prompt(s *sessions.Snapshot) *sessions.Dialog
}

// PlainProfile is the profile of a program nothing is known about.
type PlainProfile struct{}

// Drawing holds when the cursor is hidden or something stands below it: a
// printer's cursor is at the end of its text.
func (PlainProfile) Drawing(s *sessions.Snapshot) bool {
	if !s.CursorVisible {
		return true
	}
	below := s.HistorySize + s.CursorY + 1 - s.First
	for _, row := range s.Rows[min(max(below, 0), len(s.Rows)):] {
		if strings.TrimSpace(row) != "" {
			return true
		}
	}
	return false
}

// Dialog finds none: what dialogs look like is known to observers.
func (PlainProfile) Dialog([]string) string { return "" }

// Prompt finds none either.
func (PlainProfile) Prompt(*sessions.Snapshot) *sessions.Dialog { return nil }

// Observer knows more of the program in a pane than its screen tells: its
// transcript, its hooks, what its signs mean. It's used by its session's poller
// alone, one call at a time; its Profile is that of the program that runs now.
type Observer interface {
	ScreenProfile
	// Observe works in one look. Whoever gets an error, or can't store what the
	// sessions.Observation says, makes a new observer from what was stored last.
	Observe(ctx context.Context, l sessions.Poll) (sessions.Observation, error)
	Close() error
}
