package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// Inbox has the fleets, mail and notices in the database. Unlike a Store it's opened by
// many processes at once: the command line's, that run for moments, and the daemon. It
// opens one connection, writes in short transactions, and holds nothing in between.
type Inbox struct {
	path  string
	gate  *entrance
	files fileWatch // that are open

	following sync.RWMutex // held while another file is opened
	db        *sql.DB      // one connection
	wal       *walWatch    // of the file that's open
	index     *indexWatch
}

var _ inbox.Store = (*Inbox)(nil)

// lockedFor is how long a write is tried again that found the database locked, on top of
// each try's own waiting.
const lockedFor = 30 * time.Second

// OpenInbox opens the database at path, and makes it if there is none; of several who do so at
// once, one does. It leaves the schema of an older release as it is, or returns ErrTooOld.
func OpenInbox(ctx context.Context, path string) (_ *Inbox, err error) {
	s := &Inbox{path: path}
	defer func() {
		if err != nil {
			err = errors.Join(explain("open store "+path, path, err), s.Close())
		}
	}()
	if err := FinishRewrite(path); err != nil {
		return nil, err
	}
	awaitRescue(ctx, path)
	if err := beginFirst(path); err != nil {
		return nil, err
	}
	if s.gate, err = openEntrance(path, gateWaitOthers); err != nil {
		return nil, err
	}
	// Opening is at the gate, too: the last to close a database removes its -wal, and a
	// connection that's opened meanwhile is refused without waiting.
	defer s.gate.enter()()
	if err := again(ctx, func() error { return s.open(ctx, makePrivate) }); err != nil {
		return s, err
	}
	return s, endFirst(path)
}

// open opens the file that has the database's name, once prepare has seen to it.
func (s *Inbox) open(ctx context.Context, prepare func(path string) error) error {
	if err := prepare(s.path); err != nil {
		return err
	}
	before, err := os.Lstat(s.path)
	if err != nil {
		return err
	}
	name, err := dsn(s.path, append(slices.Clone(writes), "synchronous(NORMAL)")...)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", name+"&mode=rw") // which makes none
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if err = errors.Join(settleSchema(ctx, conn), conn.Close()); err != nil {
		return errors.Join(err, db.Close())
	}
	index, err := openIndex(s.path)
	if isGone(err) { // it's being written anew
		err = fmt.Errorf("%w: %w", ErrMissing, err)
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	old := s.index
	s.db, s.index = db, index
	if s.wal != nil {
		err = errors.Join(s.wal.close(), old.close())
	}
	s.wal = &walWatch{path: s.path + walSuffix}
	err = errors.Join(err, s.files.remember(s.path))
	s.files.opened(s.path, before)
	return err
}

// isThere is for open where there's a file: one that has gone meanwhile must not be made by anybody but the daemon.
func isThere(path string) error {
	_, err := os.Lstat(path)
	return err
}

// follow goes on with the file that has the database's name now, if another one has than was opened:
// the daemon has written it anew. One that was deleted is gone on with until then.
func (s *Inbox) follow(ctx context.Context) error {
	if err := s.files.check(); !errors.Is(err, ErrReplaced) {
		return nil
	}
	s.following.Lock()
	defer s.following.Unlock()
	if isTorn(s.path) {
		return ErrMissing
	}
	old := s.db
	if err := s.open(ctx, isThere); err != nil {
		if _, gone := os.Lstat(s.path); isGone(gone) || isTorn(s.path) {
			return ErrMissing
		}
		return err
	}
	return old.Close()
}

// awaitRescue waits for the daemon to write the database anew, where it was deleted but what stands
// beside it wasn't. It gives up after rescueWithin: no daemon may run.
func awaitRescue(ctx context.Context, path string) {
	for began := time.Now(); time.Since(began) < rescueWithin && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		_, err := os.Lstat(path)
		_, beside := os.Lstat(path + roomSuffix)
		if (!isGone(err) || beside != nil || isFirst(path)) && !isTorn(path) {
			return
		}
	}
}

// rescueWithin is longer than the daemon takes to look at its file and to write a small one anew.
const rescueWithin = 8 * time.Second

// again does something until the database isn't locked any more, but not for ever.
func again(ctx context.Context, do func() error) error {
	for began := time.Now(); ; {
		err := do()
		cut := errors.Is(kindOf(err), ErrIndexCut)
		if !errors.Is(kindOf(err), ErrLocked) && !IsRescuable(err) && !cut || ctx.Err() != nil || time.Since(began) > lockedFor {
			return err
		}
		if IsRescuable(err) || cut { // the daemon is about to write it anew
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// Close closes the file. Nothing may be done after it.
func (s *Inbox) Close() error {
	if s.db == nil {
		return s.gate.close()
	}
	leave := s.gate.enter()
	err := errors.Join(s.db.Close(), s.wal.close(), s.index.close())
	leave()
	return errors.Join(err, s.gate.close())
}

// write does something in a transaction of its own. do may be called again after one that
// was rolled back. Once it has begun, it's carried through.
func (s *Inbox) write(ctx context.Context, doing string, do func(ctx context.Context, conn *sql.Conn) error) error {
	return s.writeAs(ctx, doing, func(conn *sql.Conn) error { return s.transact(context.WithoutCancel(ctx), conn, do) })
}

// writeAs has transact make the transaction of a write on a connection that it has alone. It may be called again.
func (s *Inbox) writeAs(ctx context.Context, doing string, transact func(conn *sql.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // which costs SQLite's driver no goroutine per statement, either
	unknown := false
	return s.explain(doing, again(ctx, func() error {
		defer s.gate.enter()()
		if err := s.follow(ctx); err != nil {
			return err
		}
		s.following.RLock()
		defer s.following.RUnlock()
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }() // back to the pool
		err = transact(conn)
		if unknown && errors.Is(err, sessions.ErrConflict) { // that was this one
			return nil
		}
		unknown = unknown || errors.Is(err, errUnknown)
		return err
	}))
}

// accept is write for something new, which is refused once the database is known to be damaged: it may be lost
// at the daemon's next start, which ends the damage.
func (s *Inbox) accept(ctx context.Context, doing string, do func(ctx context.Context, conn *sql.Conn) error) error {
	if err := Unsound(s.path); err != nil {
		return err
	}
	return s.write(ctx, doing, do)
}

// transact does something in a transaction, if the write-ahead log is whole: the daemon sees to it that it is
// again. What a gap was found before only afterwards, since this process hadn't known the log, is no success.
func (s *Inbox) transact(ctx context.Context, conn *sql.Conn, do func(ctx context.Context, conn *sql.Conn) error) error {
	check := func(context.Context, *sql.Conn) error {
		if err := s.files.check(); errors.Is(err, ErrReplaced) { // while this waited for the lock
			return err
		}
		if _, err := s.index.check(); err != nil {
			return err
		}
		return s.wal.check()
	}
	s.wal.passOverEmptied(ctx, conn)
	var begun indexState
	done := false
	err := transact(ctx, conn, func(ctx context.Context, conn *sql.Conn) error {
		err := check(ctx, conn)
		if err == nil {
			err = do(ctx, conn)
		}
		if err == nil {
			begun, err = s.index.check() // what was read was whole
			done = err == nil
		}
		return err
	})
	if err != nil && done && s.index.isToBlame(err) {
		if s.hasCommitted(ctx, conn, begun) {
			err = nil
		} else {
			err = fmt.Errorf("%w: %w", errUnknown, err)
		}
	}
	if err != nil || s.wal.check() == nil {
		return err
	}
	if err = transact(ctx, conn, check); errors.Is(err, ErrCut) { // for certain: nobody writes meanwhile
		err = fmt.Errorf("%w: %s", errCut, err.Error())
		return errors.Join(err, noteUnsound(s.path, err))
	}
	return nil
}

// errUnknown says that a transaction may have been committed all the same.
var errUnknown = errors.New("it may be stored")

// hasCommitted finds out what became of a transaction when the index was cut while it was committed, once the daemon
// has made that anew: see writer.hasCommitted.
func (s *Inbox) hasCommitted(ctx context.Context, conn *sql.Conn, begun indexState) (has bool) {
	for began := time.Now(); time.Since(began) < rescueWithin; time.Sleep(time.Millisecond) {
		err := transact(ctx, conn, func(context.Context, *sql.Conn) error {
			is, err := s.index.check()
			has = err == nil && is.committedSince(begun)
			return err
		})
		if err == nil {
			break
		}
	}
	return has
}

func transact(ctx context.Context, conn *sql.Conn, do func(ctx context.Context, conn *sql.Conn) error) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do(ctx, conn)
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // fails where SQLite has rolled back already
	}
	return err
}

// query reads rows, one after the other.
func (s *Inbox) query(ctx context.Context, doing, query string, args []any, each func(*sql.Rows) error) error {
	err := again(ctx, func() (err error) {
		if err := s.follow(ctx); err != nil {
			return err
		}
		s.following.RLock()
		defer s.following.RUnlock()
		rows, err := s.db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return s.explain(doing, err)
}

func (s *Inbox) explain(doing string, err error) error {
	if err == nil || errors.Is(err, inbox.ErrState) || errors.Is(err, inbox.ErrNotYours) || errors.Is(err, os.ErrNotExist) {
		return err
	}
	return explain(doing, s.path, err)
}
