package store

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// errNoOpenFileLocks isn't returned here: see index_lock_other.go.
var errNoOpenFileLocks = errors.New("this system has no locks of open files")

// lockWriters keeps those who write the database away from its index until unlock, which is never nil. It waits for
// who writes, as long as SQLite does; ErrLocked after that.
func lockWriters(index *os.File) (unlock func(), err error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: indexWriteLock, Len: 1}
	for began := time.Now(); ; time.Sleep(time.Millisecond) { // it's of an open file, so this process' other ones count, too
		err := unix.FcntlFlock(index.Fd(), unix.F_OFD_SETLK, &lock)
		if err == nil {
			break
		}
		if time.Since(began) > busyTimeout {
			return func() {}, fmt.Errorf("%w: %w", ErrLocked, err)
		}
	}
	return func() {
		lock.Type = unix.F_UNLCK
		_ = unix.FcntlFlock(index.Fd(), unix.F_OFD_SETLK, &lock)
	}, nil
}
