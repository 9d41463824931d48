package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/panebridge/panebridge/sessions"
)

// Errors of this package; find them with errors.Is. Each of them is also a
// sessions.ErrUnavailable.
var (
	// ErrFull: the disk (or a quota) takes no more. Nothing was written.
	ErrFull = fmt.Errorf("%w: the disk or its quota is full; free some space, output stays in tmux meanwhile", sessions.ErrUnavailable)
	// ErrLocked: another process holds the database. Nothing was written.
	ErrLocked = fmt.Errorf("%w: another process holds the database", sessions.ErrUnavailable)
	// ErrReadOnly: the file, its folder or its disk may only be read. Nothing was written.
	ErrReadOnly = fmt.Errorf("%w: the database may only be read; see to its file, its folder and its disk", sessions.ErrUnavailable)
	// ErrDamaged: the file isn't a database, or not a sound one.
	ErrDamaged = fmt.Errorf("%w: the database is damaged", sessions.ErrUnavailable)
	// ErrUnwritable: the disk doesn't take what's written, for another reason than that it's full. Nothing was written.
	ErrUnwritable = fmt.Errorf("%w: the disk can't be written to; see the kernel's log (dmesg)", sessions.ErrUnavailable)
	// ErrUnreadable: the disk didn't give what's stored on it. Nothing is wrong with the database for all that's known.
	ErrUnreadable = fmt.Errorf("%w: the disk can't be read; see the kernel's log (dmesg)", sessions.ErrUnavailable)
	// ErrNotKept: the disk didn't say that it keeps what was written.
	ErrNotKept = fmt.Errorf("%w: the disk didn't keep what was written; see the kernel's log (dmesg)", sessions.ErrUnavailable)
	// ErrClosed: the store was closed.
	ErrClosed = fmt.Errorf("%w: the store is closed", sessions.ErrUnavailable)
)

// explain wraps the error of a write once: see the function. What a write meets its leader records: see recordDamage.
func (s *Store) explain(doing string, err error) error { return explain(doing, s.path, err) }

// explain wraps err once: what was tried, which of the errors above it is, and
// what SQLite said.
func explain(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	kind := kindOf(err)
	if (errors.Is(kind, ErrFull) || errors.Is(kind, ErrUnwritable)) && isOf(err, sqlite3.SQLITE_IOERR) {
		if said := tryDisk(path); said != nil {
			kind = said
		}
	}
	switch {
	case kind == nil:
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(kind, ErrDamaged):
		return damaged(doing, path, err)
	case errors.Is(kind, ErrLocked):
		return fmt.Errorf("%s: %w: %w; %s", doing, kind, err, whoHolds(path))
	case errors.Is(kind, ErrDenied), errors.Is(kind, ErrReadOnly):
		if advice := whatIsDenied(path, mayOpen); advice != "" {
			return fmt.Errorf("%s: %w: %w; %s", doing, kind, err, advice)
		}
		if isOf(err, sqlite3.SQLITE_CANTOPEN) {
			return fmt.Errorf("%s: %w", doing, err) // for another reason: no file can be opened any more, say
		}
		return fmt.Errorf("%s: %w: %w", doing, kind, err)
	case errors.Is(err, kind):
		return fmt.Errorf("%s: %w", doing, err)
	default:
		return fmt.Errorf("%s: %w: %w", doing, kind, err)
	}
}

func damaged(doing, path string, err error) error {
	return fmt.Errorf("%s: %w: %w; restart panebridge: it puts a new database in the place of %s with all that can be read, and keeps the damaged one beside it",
		doing, ErrDamaged, err, path)
}

// whoHolds says how to find out which program has a database locked, and what to do. SQLite tells neither.
func whoHolds(path string) string {
	return fmt.Sprintf("`fuser -v %s` or `lsof %[1]s` shows which programs have it open: an sqlite3 that's in a transaction, a backup, "+
		"a panebridge command that was stopped. End it or wait for it", path)
}

// kindOf tells which of this package's errors an SQLite error is; nil: none.
func kindOf(err error) error {
	switch {
	case errors.Is(err, errCut):
		return ErrDamaged
	case errors.Is(err, ErrCut):
		return ErrCut
	case errors.Is(err, ErrIndexCut):
		return ErrIndexCut
	case errors.Is(err, fs.ErrPermission):
		return ErrDenied
	case errors.Is(err, unix.EIO): // of what's read beside SQLite
		return ErrUnreadable
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return nil
	}
	return kindOfCode(e.Code())
}

// kindOfCode is kindOf for one of SQLite's extended codes.
func kindOfCode(code int) error {
	switch code {
	case sqlite3.SQLITE_IOERR_WRITE: // what SQLite makes of EIO, EDQUOT and EROFS: it knows ENOSPC only. See tryDisk
		return ErrUnwritable
	case sqlite3.SQLITE_IOERR_SHMSIZE: // the -shm file couldn't grow
		return ErrFull
	case sqlite3.SQLITE_IOERR_IN_PAGE: // shared memory ends before what was there
		return ErrIndexCut
	case sqlite3.SQLITE_IOERR_READ:
		return ErrUnreadable
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC:
		return ErrNotKept
	case sqlite3.SQLITE_IOERR_SHORT_READ: // a page should be where its file has ended
		return ErrDamaged
	}
	switch code & 0xff { // the primary code of an extended one
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_READONLY:
		return ErrReadOnly
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrLocked
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrDamaged
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return ErrDenied
	}
	return nil
}

// tryDisk writes to the disk of a file beside that, and returns what's wrong with it: ErrReadOnly, ErrFull (also over a
// quota) or ErrUnwritable; nil: it takes that much. SQLite tells these apart no more than EIO alone. The kernel has a
// disk that has failed only be read while files on it are open, and since Linux 6.15 tells nobody who doesn't try to
// write.
func tryDisk(path string) error {
	folder := filepath.Dir(path)
	if errors.Is(unix.Access(folder, unix.W_OK), unix.EROFS) {
		return ErrReadOnly
	}
	probe, err := os.CreateTemp(folder, filepath.Base(path)+"-probe-")
	if err == nil {
		_, err = probe.Write(make([]byte, probeBytes))
		_ = errors.Join(probe.Close(), os.Remove(probe.Name())) //nolint:gosec // it was made just now
	}
	return kindOfDisk(err)
}

// kindOfDisk tells what a disk's refusal to write means; nil: it's about something else than the disk.
func kindOfDisk(err error) error {
	switch {
	case errors.Is(err, unix.EROFS):
		return ErrReadOnly
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return ErrFull
	case errors.Is(err, unix.EIO):
		return ErrUnwritable
	}
	return nil
}

// isOf tells whether an error is an SQLite error of a primary code.
func isOf(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == code
}

// isBroken tells whether an error of SQLite's isn't about what was written.
func isBroken(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, ErrCut) || errors.Is(err, unix.EIO) || errors.As(err, &e) && e.Code()&0xff != sqlite3.SQLITE_CONSTRAINT && e.Code()&0xff != sqlite3.SQLITE_INTERRUPT
}

// isUnique tells whether SQLite refused a row because another has its key.
func isUnique(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
}
