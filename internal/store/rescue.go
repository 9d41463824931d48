package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
)

// closeReaderAfter is when the readers of a file that was replaced are closed: no read takes as long.
const closeReaderAfter = 30 * time.Second

// IsRescuable reports whether Rescue helps against what Health has found.
func IsRescuable(err error) bool {
	return !errors.Is(err, errKept) && (errors.Is(err, ErrMissing) || errors.Is(err, ErrCut) || errors.Is(err, ErrReplaced))
}

// errKept says that what the store holds is in a file with a name already.
var errKept = errors.New("what it held is kept")

// checkNames is files.check, which says where what's held is kept.
func (s *Store) checkNames() error {
	err := s.files.check()
	if kept := s.kept.Load(); kept != nil && errors.Is(err, ErrReplaced) {
		return fmt.Errorf("%w; %w in %s: end panebridge and give it the name %s again", err, errKept, *kept, s.path)
	}
	return err
}

// Rescue writes all that the store holds into a new file in place of one that was deleted, or whose
// write-ahead log was cut, and goes on with that. It blocks until it's done, and all writes wait meanwhile, those of
// other processes too: what they'd write into the old file behind the copy would be lost.
// Where it fails, for want of room for instance, nothing has changed, and it can be tried again. ErrReplaced
// if another file has the name: then the new one stands beside that, is gone on with all the same, and the
// error names it. ErrDamaged if what was cut off isn't known any more.
func (s *Store) Rescue(ctx context.Context) error {
	var cut error
	err := s.write.queue.doAlone(ctx, func(ctx context.Context) error {
		found := s.checkNames()
		if found == nil {
			if cut = s.write.beginWhole(ctx); cut == nil {
				_, _ = s.write.rollback.ExecContext(ctx)
			}
			found = cut
		}
		if !IsRescuable(found) {
			return found
		}
		unlock, err := lockWriters(s.write.index.file)
		if err != nil && !errors.Is(err, errNoOpenFileLocks) {
			return err
		}
		defer unlock()
		if errors.Is(found, ErrReplaced) {
			return s.keepBeside(ctx, found)
		}
		if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
			return err
		}
		return s.writeAnew(ctx)
	})
	switch kind := kindOf(err); {
	case cut == nil:
	case err == nil:
		err = s.Check(ctx)
	case kind == nil, errors.Is(kind, ErrDamaged), errors.Is(kind, ErrCut):
		err = errors.Join(fmt.Errorf("%w: %w", errCut, cut), err)
	}
	return s.reader().explain("write the database anew", err)
}

// keepBeside writes what's held into a file beside the one that has the database's name now, and goes on with
// that: what's written later mustn't be lost either, should the process be killed. Only the queue's leader may
// call it.
func (s *Store) keepBeside(ctx context.Context, found error) error {
	beside := nameAside(s.path, keptSuffix)
	held, err := s.write.copyTo(ctx, beside)
	if err != nil {
		return errors.Join(found, err)
	}
	_ = held.Close()
	if err := s.goOnWith(ctx, beside); err != nil {
		return errors.Join(found, err)
	}
	s.kept.Store(&beside)
	return s.checkNames()
}

// Keep sees to it, before the store is closed, that what it holds has a name: what was deleted is
// written anew, and where another file has the name, into one beside it, which the error names.
func (s *Store) Keep(ctx context.Context) error {
	if found := s.checkNames(); found != nil {
		return s.Rescue(ctx)
	}
	return nil
}

// copyCache is as much as is kept of the database while it's copied, in KiB: of pages that are only known any
// more, none may make room for others.
const copyCache = 1 << 20

// copyTo writes all that the database holds into another file, which it holds: see beginRewrite.
func (w *writeConn) copyTo(ctx context.Context, path string) (held *os.File, err error) {
	if held, err = beginRewrite(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeAll(path), held.Close())
		}
	}()
	if _, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA cache_size(-%d)", copyCache)); err != nil {
		return nil, err
	}
	defer func() {
		_, back := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA cache_size(-%d)", writerCache))
		err = errors.Join(err, back)
	}()
	if _, err := w.conn.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return nil, err
	}
	return held, held.Sync()
}

// writeAnew writes all that's held into a file that gets the database's name, and goes on with it. Only the queue's
// leader may call it.
func (s *Store) writeAnew(ctx context.Context) error {
	copied, whole := s.path+newSuffix, s.path+wholeSuffix
	held, err := s.write.copyTo(ctx, copied)
	if err != nil {
		return err
	}
	if err = os.Rename(copied, whole); err == nil {
		err = giveName(whole, s.path)
	}
	if _, gone := os.Lstat(s.path); err != nil && !isGone(gone) { // what has the name goes on being written to
		err = errors.Join(err, removeAll(copied), removeAll(whole))
	}
	if err = errors.Join(err, held.Close()); err != nil {
		return err
	}
	if err := s.goOnWith(ctx, s.path); err != nil {
		return err
	}
	s.kept.Store(nil)
	return s.files.remember(s.path)
}

// goOnWith writes to and reads from another file. Only the queue's leader may call it.
func (s *Store) goOnWith(ctx context.Context, path string) error {
	link, err := openLink(ctx, path, s.write.log)
	if err != nil {
		return err
	}
	read, err := openReader(ctx, link.soundness)
	if err != nil {
		return errors.Join(err, link.close())
	}
	was := s.write.dbLink
	err = was.retire() // before anything can be noted about the new one
	old := s.read.Swap(read)
	time.AfterFunc(closeReaderAfter, func() { _ = old.close() })
	s.write.dbLink, s.write.full = link, false
	return errors.Join(err, was.close())
}

// removeAll removes a database with what stands beside it; it may not be there.
func removeAll(path string) (err error) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		err = errors.Join(err, removeIfThere(path+suffix))
	}
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !isGone(err) {
		return err
	}
	return nil
}

// A database that's written anew has one of these behind its name until it has that. Who writes it holds a lock on the
// file, so that a kill can be told from one that's at work.
const (
	// newSuffix: it isn't whole yet.
	newSuffix = "-new"
	// wholeSuffix: it has all that was stored, and what has the name still hasn't.
	wholeSuffix = "-whole"
	// salvagedSuffix: it has all that can be read of the damaged one, as long as that has the name.
	salvagedSuffix = "-salvaged"
)

// FinishRewrite does to its end what a kill has left of writing the database anew: what's whole gets the name, and what
// isn't needed is deleted. It's called before the database is opened, may be called by several at once, and does nothing
// to what somebody is at work on. ErrStrange if one of the database's files is none.
func FinishRewrite(path string) error {
	if err := checkFiles(path); err != nil {
		return err
	}
	return explain("finish writing the database anew", path, errors.Join(
		ifLeft(path+newSuffix, removeAll),
		ifLeft(path+salvagedSuffix, func(left string) error {
			if _, err := os.Lstat(path); !isGone(err) {
				return errors.Join(err, removeAll(left))
			}
			return giveName(left, path)
		}),
		ifLeft(path+wholeSuffix, func(left string) error { return giveName(left, path) }),
	))
}

// ifLeft does something to a file if it's there, and nobody is at work on it.
func ifLeft(left string, do func(left string) error) (err error) {
	file, err := regular.OpenKept(left, 0)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := lock(file, unix.LOCK_EX|unix.LOCK_NB); err != nil || !isAt(file, left) {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = nil
		}
		return err
	}
	return do(left)
}

// beginRewrite makes an empty file and holds it until it's closed, which must be before SQLite has it open for longer:
// it would lose its locks.
func beginRewrite(path string) (*os.File, error) {
	if err := removeAll(path); err != nil {
		return nil, err
	}
	for {
		file, err := regular.OpenKept(path, os.O_CREATE)
		if err != nil {
			return nil, err
		}
		if err := lock(file, unix.LOCK_EX); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if isAt(file, path) {
			return file, nil
		}
		_ = file.Close() // somebody has taken it for one that was left
	}
}

func isAt(file *os.File, path string) bool {
	here, err := file.Stat()
	there, gone := os.Lstat(path)
	return err == nil && gone == nil && os.SameFile(here, there)
}

// giveName gives a database that's whole the name of another, of which nothing is left then. At each moment either has
// all of it, and the note beside the other is about that.
func giveName(whole, path string) error {
	if err := removeAll(path); err != nil {
		return err
	}
	if err := os.RemoveAll(path + unsoundSuffix); err != nil {
		return err
	}
	return os.Rename(whole, path)
}
