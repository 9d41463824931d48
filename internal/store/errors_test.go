package store

import (
	"errors"
	"io/fs"
	"testing"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/panebridge/panebridge/sessions"
)

// Each way in which a disk fails has a name of its own.
func TestWhatADiskSaysHasAName(t *testing.T) {
	for code, want := range map[int]error{
		sqlite3.SQLITE_FULL:             ErrFull,
		sqlite3.SQLITE_IOERR_WRITE:      ErrUnwritable, // unless the disk is over a quota, or may only be read
		sqlite3.SQLITE_IOERR_SHMSIZE:    ErrFull,
		sqlite3.SQLITE_READONLY:         ErrReadOnly,
		sqlite3.SQLITE_READONLY_DBMOVED: ErrReadOnly,
		sqlite3.SQLITE_IOERR_READ:       ErrUnreadable,
		sqlite3.SQLITE_IOERR_FSYNC:      ErrNotKept,
		sqlite3.SQLITE_IOERR_DIR_FSYNC:  ErrNotKept,
		sqlite3.SQLITE_IOERR_SHORT_READ: ErrDamaged,
		sqlite3.SQLITE_IOERR_IN_PAGE:    ErrIndexCut,
		sqlite3.SQLITE_CORRUPT:          ErrDamaged,
		sqlite3.SQLITE_BUSY_SNAPSHOT:    ErrLocked,
	} {
		if err := kindOfCode(code); !errors.Is(err, want) || !errors.Is(err, sessions.ErrUnavailable) {
			t.Errorf("%d is %v", code, err)
		}
	}
}

// What a disk answers to who tries to write is told apart where SQLite says the same.
func TestADiskThatIsFullIsNotOneThatFails(t *testing.T) {
	for errno, want := range map[error]error{
		unix.ENOSPC: ErrFull, unix.EDQUOT: ErrFull, unix.EROFS: ErrReadOnly, unix.EIO: ErrUnwritable, unix.EMFILE: nil,
	} {
		if got := kindOfDisk(&fs.PathError{Op: "write", Err: errno}); !errors.Is(got, want) {
			t.Errorf("%v is %v", errno, got)
		}
	}
}
