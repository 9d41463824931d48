package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/sessions"
)

// What Health finds besides ErrFull, ErrLocked, ErrDamaged and ErrReadOnly; find them with
// errors.Is.
var (
	// ErrMissing: the file was deleted. What it held is still there as long as the process lives.
	ErrMissing = fmt.Errorf("%w: the database's file was deleted", sessions.ErrUnavailable)
	// ErrReplaced: another file has its name.
	ErrReplaced = fmt.Errorf("%w: another file has taken the database's name", sessions.ErrUnavailable)
	// ErrLittleRoom: it can be written to, but the disk is nearly full.
	ErrLittleRoom = fmt.Errorf("%w: the disk is nearly full", sessions.ErrUnavailable)
)

// littleRoom is the free space, in bytes, below which a disk counts as nearly full: an hour of what a
// very busy daemon writes.
const littleRoom = 64 << 20

// probeBytes is how much is written to see whether it can be.
const probeBytes = 256 << 10

// walSuffix is what the write-ahead log's name has behind the database's.
const walSuffix = "-wal"

// fileWatch are the database's as they were opened.
type fileWatch struct {
	mu  sync.Mutex
	all map[string]os.FileInfo // by their path

	size atomic.Int64 // of the database at the last look, in bytes
}

// remember takes in which files have the names of the database and its write-ahead log now. One that
// has gone already is found missing by the next check.
func (f *fileWatch) remember(path string) error {
	all := map[string]os.FileInfo{}
	for _, one := range []string{path, path + walSuffix} {
		info, err := os.Lstat(one)
		if err != nil && !isGone(err) {
			return err
		}
		all[one] = info
		if one == path && err == nil {
			f.size.Store(info.Size())
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = all
	return nil
}

// opened says which file had a name before it was opened: another may have had it when it was remembered, which check
// then tells.
func (f *fileWatch) opened(path string, before os.FileInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[path] = before
}

// check reports whether they have these names still.
func (f *fileWatch) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var missing error
	for path, was := range f.all {
		now, err := os.Lstat(path)
		switch {
		case isGone(err):
			missing = fmt.Errorf("%w: %s", ErrMissing, path)
		case err != nil:
			return err
		case was != nil && os.SameFile(was, now):
		case strings.HasSuffix(path, walSuffix): // somebody has opened the database without it
			missing = fmt.Errorf("%w: %s", ErrMissing, path)
		default:
			return fmt.Errorf("%w: %s", ErrReplaced, path)
		}
	}
	return missing
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }

// isTorn reports whether a database is there and used, and its write-ahead log isn't: who opened it
// now would begin another log beside the one that's written to.
func isTorn(path string) bool {
	_, db := os.Lstat(path)
	_, used := os.Lstat(path + "-shm")
	_, wal := os.Lstat(path + walSuffix)
	return db == nil && used == nil && isGone(wal)
}

// Health says what's wrong with the store; nil: what's written is safe. It looks at the file's name,
// at the room beside it, at what Check found last, and writes a row if the last write has failed. It
// blocks for as long as that takes, 5 s where another process holds the database.
func (s *Store) Health(ctx context.Context) error {
	if err := s.checkNames(); err != nil {
		return err
	}
	if err := s.lookForCut(ctx); err != nil {
		return err
	}
	if _, err := s.write.index.check(); errors.Is(err, ErrIndexCut) { // a transaction has it made anew
		if err := s.write.queue.do(ctx, 0, func(context.Context) error { return nil }); err != nil {
			return s.explain("look at the store", err)
		}
	}
	strange, err := s.reader().settleNote()
	if err != nil {
		return err
	}
	damage := s.unsound()
	if err := s.write.wal.suspect(); err != nil && !errors.Is(damage, errCut) { // a transaction tells for certain
		if err := s.write.queue.do(ctx, 0, func(context.Context) error { return nil }); err != nil {
			return s.explain("look at the store", err)
		}
	}
	if damage != nil {
		return damage
	}
	if strange { // another process has found damage, or what it was about is over
		if err := s.Check(ctx); err != nil {
			return err
		}
	}
	if s.Failing() != nil {
		if err := s.probe(ctx); err != nil {
			return err
		}
	}
	free, err := Room(s.path)
	if err != nil {
		return fmt.Errorf("ask for the room beside %s: %w", s.path, err)
	}
	if free < littleRoom {
		return fmt.Errorf("%w: %d MB are free beside %s; free some", ErrLittleRoom, free>>20, s.path)
	}
	return nil
}

// errCut says that a part of the file is gone.
var errCut = errors.New("its file is shorter than it was written")

// leastPage is the smallest that a page can be, and so a database, in bytes
// (sqlite.org/fileformat2.html).
const leastPage = 512

// lookForCut finds out whether a part of the database's file is gone, once that's shorter than at
// the last look: what was forgotten may have given its room back. The file isn't opened beside
// SQLite: to close it would take SQLite's locks (sqlite.org/howtocorrupt.html).
func (s *Store) lookForCut(ctx context.Context) error {
	info, err := os.Lstat(s.path)
	if isGone(err) {
		return nil
	}
	size, was := int64(0), s.files.size.Load()
	if err == nil {
		size = info.Size()
	}
	switch {
	case err != nil:
		return err
	case size < leastPage:
		return s.reader().explain("look at the store", errCut)
	case size < was:
		if err := s.Check(ctx); err != nil {
			return err
		}
	}
	s.files.size.Store(size)
	return nil
}

// unsound is what's known of the database's damage; nil: none is. What's written from then on may
// be lost at the next start, so nobody is told that something new is stored.
func (s *Store) unsound() error {
	return s.reader().unsound()
}

// Failing says why the last write failed, where nothing about it was to blame; nil: it didn't. It's known at
// once, and needs no look at the disk.
func (s *Store) Failing() error {
	if err := s.write.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Room is how many bytes this user may still write to the disk of a file or a folder.
func Room(path string) (free uint64, err error) {
	var s unix.Statfs_t
	err = unix.Statfs(path, &s)
	return uint64(s.Bavail) * uint64(s.Bsize), err //nolint:unconvert // the fields' types differ between systems
}

// probe writes as much as a busy session does at once, and takes it back.
func (s *Store) probe(ctx context.Context) error {
	notes := s.Notes("store")
	if err := notes.PutNote(ctx, "probe", strings.Repeat(".", probeBytes)); err != nil {
		return err
	}
	return notes.PutNote(ctx, "probe", "")
}

// Check reads all of the database and says whether it's sound; ErrDamaged if it isn't. A gigabyte
// takes some seconds, in which nobody has to wait for it. Health goes on saying what it found.
func (s *Store) Check(ctx context.Context) error {
	if err := s.checkNames(); errors.Is(err, ErrReplaced) {
		return err // it isn't this store's
	}
	v := s.reader().soundness
	times := v.count()
	err := Examine(ctx, s.path)
	if errors.Is(err, ErrIndexCut) { // which the next transaction mends
		err = s.write.queue.do(ctx, 0, func(context.Context) error { return nil })
		if err == nil {
			err = Examine(ctx, s.path)
		}
	}
	switch {
	case err == nil:
		return v.clear(times)
	case !errors.Is(err, ErrDamaged):
		return err
	}
	counts, failed := v.record(err)
	if !counts {
		return errWrittenAnew
	}
	return errors.Join(err, failed)
}

// Examine looks at a database that may be in use, and changes nothing: nil if it's sound and of a
// version that this panebridge reads or brings up to date. ErrTooNew, ErrDamaged, ErrStrange, fs.ErrNotExist.
// It reads all of it, which takes some seconds for a gigabyte.
func Examine(ctx context.Context, path string) (err error) {
	defer func() { err = explain("examine "+path, path, err) }()
	if err := checkFiles(path); err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	name, err := dsn(path, "query_only(1)")
	if err != nil {
		return err
	}
	db, err := openSingle(ctx, name+"&mode=ro")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	if _, _, err := versions(ctx, db.conn, migrations()); err != nil {
		return err
	}
	problems, err := quickCheck(ctx, db.conn)
	if err == nil && strings.Join(problems, "") != "ok" {
		err = damaged("examine "+path, path, errors.New(strings.Join(problems, "; ")))
	}
	return err
}

// quickCheck is what SQLite finds; "ok" if that's nothing.
func quickCheck(ctx context.Context, conn *sql.Conn) (problems []string, err error) {
	rows, err := conn.QueryContext(ctx, "PRAGMA quick_check(5)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		problems = append(problems, text)
	}
	return problems, rows.Err()
}
