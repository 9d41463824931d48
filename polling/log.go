package polling

import (
	"context"

	"github.com/panebridge/panebridge/sessions"
)

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
}

// Appended is a stored batch.
type Appended struct {
	Lines []sessions.Line
	Gaps  []sessions.Gap
	Ended []sessions.Turn // the batch's
	Turn  sessions.Turn   // the session's turn after the batch
	Head  int64           // number of the newest line
}
