package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// eraseAtOnce is how many free pages of 4 KB are given back in one go, which takes some
	// 10 ms: nobody else should have to wait longer.
	eraseAtOnce = 1000
	// rewriteAtMost is how large a database may be that's written anew so that it can give room
	// back: some 2 s, for which all writes wait.
	rewriteAtMost = 256 << 20
	// eraseWait is how long a reader may be in the way, and eraseTries how often it may.
	eraseWait  = 200 * time.Millisecond
	eraseTries = 50
)

// Erase has nothing of what was deleted be left in the files: the room that it took is given back,
// and the write-ahead log is emptied. It blocks until that's done, 10 s at most where readers are in
// the way; ErrLocked if they are for longer.
//
// A database that an older panebridge made can't give room back. It's written anew once if it's no
// larger than 256 MB; a larger one keeps its size, and what's deleted in it from now on is overwritten.
func (s *Store) Erase(ctx context.Context) error {
	return s.explain("erase what was deleted", s.erase(ctx))
}

func (s *Store) erase(ctx context.Context) error {
	for more := true; more; {
		err := s.write.queue.doAlone(ctx, func(ctx context.Context) (err error) {
			more, err = s.write.giveBack(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	var busy bool
	for range eraseTries {
		err := s.write.queue.doAlone(ctx, func(ctx context.Context) (err error) {
			busy, err = s.write.emptyLog(ctx)
			return err
		})
		if err != nil || !busy {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(eraseWait):
		}
	}
	return fmt.Errorf("%w: somebody reads it all the time", ErrLocked)
}

// giveBack shortens the file by some of its free pages. More says that it can be shortened further.
func (w *writeConn) giveBack(ctx context.Context) (more bool, err error) {
	var mode, free, size int64
	err = w.conn.QueryRowContext(ctx, `SELECT auto_vacuum, freelist_count, page_count * page_size
		FROM pragma_auto_vacuum, pragma_freelist_count, pragma_page_count, pragma_page_size`).Scan(&mode, &free, &size)
	switch {
	case err != nil:
	case mode == incremental:
		_, err = w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", eraseAtOnce))
		more = free > eraseAtOnce
	case size <= rewriteAtMost:
		_, err = w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA auto_vacuum = %d; VACUUM", incremental))
	}
	return more && err == nil, err
}

// emptyLog writes what's in the write-ahead log into the database, and empties it. Busy says that
// somebody still reads what's in it.
func (w *writeConn) emptyLog(ctx context.Context) (busy bool, err error) {
	// A reader is waited for outside, where nobody else's write waits too.
	if _, err := w.conn.ExecContext(ctx, "PRAGMA busy_timeout = 20"); err != nil {
		return false, err
	}
	defer func() {
		_, reset := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout.Milliseconds()))
		err = errors.Join(err, reset)
	}()
	var log, done int64
	err = w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &done)
	if err == nil && !busy {
		w.wal.forget()
	}
	return busy, err
}
