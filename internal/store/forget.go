package store

import (
	"context"
	"errors"

	"github.com/panebridge/panebridge/sessions"
)

// sqlDrop are what's deleted with a session, by its id, the session itself last: with that go its
// log, lines, gaps and turns.
var sqlDrop = []string{ //nolint:gochecknoglobals // a constant table
	`DELETE FROM receipts WHERE session = ?`,
	`DELETE FROM prompt_messages WHERE session = ?1 OR prompt IN (SELECT id FROM prompts WHERE session = ?1)`,
	`DELETE FROM prompt_writers WHERE prompt IN (SELECT id FROM prompts WHERE session = ?)`,
	`DELETE FROM prompts WHERE session = ?`,
	`DELETE FROM offers WHERE session = ?`,
	`DELETE FROM waiting WHERE message ->> 'Session' = ?`,
	`DELETE FROM origins WHERE session = ?`,
	`DELETE FROM missed WHERE session = ?`,
	`DELETE FROM preferences WHERE session = ?`,
	`DELETE FROM standing WHERE session = ?`,
	`DELETE FROM replies WHERE session = ?`,
	`DELETE FROM mail WHERE sender = ?1 OR recipient = ?1`,
	`DELETE FROM notices WHERE session = ?1 OR recipient = ?1`,
	`DELETE FROM listeners WHERE session = ?`,
	`DELETE FROM fleet_members WHERE session = ?`,
	`DELETE FROM reminders WHERE session = ?`,
	`DELETE FROM subscriptions WHERE session = ?1 OR subscriber = ?1`,
	`UPDATE audit SET hash = '' WHERE session = ? AND hash <> ''`, // a short text can be guessed from it
	`DELETE FROM sessions WHERE id = ?`,
}

// dropAtOnce is how many lines of a session go in one transaction: 200,000 take a
// second or more, for which nobody else should have to wait.
const dropAtOnce = 2000

// DropSession deletes a session with all that belongs to it, mail to and from it included: see
// sessions.Store. A long log goes piece by piece, the oldest lines first. Erase then has nothing of
// it be left in the files. Of one that was dropped before it deletes what was stored behind that: what
// was on its way to the session.
func (s *Store) DropSession(ctx context.Context, id sessions.ID) error {
	for gone := false; !gone; {
		err := s.write.queue.do(ctx, dropAtOnce, func(ctx context.Context) (err error) {
			gone, err = s.write.dropSome(ctx, id)
			return err
		})
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
	if errors.Is(err, sessions.ErrUnknown) {
		return true, w.dropRest(ctx, id)
	}
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
	return true, w.dropRest(ctx, id)
}

// dropRest deletes all of a session but its lines.
func (w *writer) dropRest(ctx context.Context, id sessions.ID) error {
	for _, stmt := range sqlDrop {
		if _, err := w.conn.ExecContext(ctx, stmt, clean(id)); err != nil {
			return err
		}
	}
	return nil
}
