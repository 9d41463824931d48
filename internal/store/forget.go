package store

import (
	"context"
	"errors"

	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlDropSession  = `DELETE FROM sessions WHERE id = ?` // and with it its log, lines, gaps and turns
	sqlDropReceipts = `DELETE FROM receipts WHERE session = ?`
)

// dropAtOnce is how many lines of a session go in one transaction: 200,000 take a
// second or more, for which nobody else should have to wait.
const dropAtOnce = 2000

// DropSession deletes a session with all that belongs to it: see sessions.Store. A
// long log goes piece by piece, the oldest lines first.
func (s *Store) DropSession(ctx context.Context, id sessions.ID) error {
	for gone := false; !gone; {
		err := s.write.queue.do(ctx, dropAtOnce, func(ctx context.Context) (err error) {
			gone, err = s.write.dropSome(ctx, id)
			return err
		})
		if errors.Is(err, sessions.ErrUnknown) {
			return nil
		}
		if err != nil {
			return s.explain("drop session "+string(id), err)
		}
	}
	return nil
}

// dropSome deletes the oldest lines of a session, and when these were the last, the
// session.
func (w *writer) dropSome(ctx context.Context, id sessions.ID) (gone bool, err error) {
	log, err := scanLog(w.logState.QueryRowContext(ctx, clean(id)))
	if err != nil {
		return false, err
	}
	log.oldest = min(log.oldest+dropAtOnce, log.head+1)
	if _, err := w.dropLines.ExecContext(ctx, log.session, log.oldest); err != nil {
		return false, err
	}
	delete(w.logs.committed, id)
	if log.oldest <= log.head {
		_, err := w.updateLog.ExecContext(ctx, log.head, log.oldest, log.lastOutputAt, log.turn.Number, nil, log.session)
		return false, err
	}
	for _, stmt := range []string{sqlDropReceipts, sqlDropPrompts, sqlDropSession} {
		if _, err := w.conn.ExecContext(ctx, stmt, clean(id)); err != nil {
			return false, err
		}
	}
	return true, nil
}
