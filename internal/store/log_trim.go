package store

import "context"

const (
	sqlDropLines = `DELETE FROM lines WHERE session = ? AND n < ?`
	sqlDropGaps  = `DELETE FROM gaps WHERE session = ? AND after < ?`
	sqlDropTurns = `DELETE FROM turns WHERE session = ? AND number < ? AND last_line < ?`
)

// trim drops the oldest lines of a log that is longer than maxLines, and the
// gaps and turns that stood before or between them. It lets the log grow a
// little beyond, so that not every append has to, and drops a bounded number at
// a time: after the bound was lowered a log shrinks over several appends
// instead of stopping everybody for one.
func (w *writer) trim(ctx context.Context, log *logState, maxLines, added int64) error {
	over := log.head - log.oldest + 1 - maxLines
	if over <= min(maxLines/100, 100) {
		return nil
	}
	log.oldest += min(over, max(2*added, 1000))
	if _, err := w.dropLines.ExecContext(ctx, log.session, log.oldest); err != nil {
		return err
	}
	// The gap right before the oldest line stays: who has read up to there gets to see it.
	if _, err := w.dropGaps.ExecContext(ctx, log.session, log.oldest-1); err != nil {
		return err
	}
	_, err := w.dropTurns.ExecContext(ctx, log.session, log.turn.Number, log.oldest)
	return err
}
