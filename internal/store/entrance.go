package store

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
)

// entrance has those who want to write stand in a line. SQLite's own lock is what keeps
// writers apart; but who finds it taken looks again after a while, up to 100 ms later,
// and with many writers somebody may never come when it's free. The kernel wakes who
// waits for a file lock at once. There are two: who comes waits for the line, and who has
// that waits for the room. So who has just been in the room can't be in it again before
// the one who waits at its door.
//
// It's a courtesy: who doesn't get in in time goes on to SQLite's lock all the same, so a
// process that was stopped in there is in nobody's way for long.
type entrance struct {
	line, room *os.File
	wait       time.Duration // at most
}

// How long writers wait at the entrance. The daemon, for which others wait, is less
// patient.
const (
	gateWaitDaemon = 250 * time.Millisecond
	gateWaitOthers = 5 * time.Second
)

// What the names of the two files have behind the database's: SQLite's own lock is in the
// file itself.
const (
	lineSuffix = "-line"
	roomSuffix = "-room"
)

func openEntrance(path string, wait time.Duration) (*entrance, error) {
	line, err := regular.OpenKept(path+lineSuffix, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	room, err := regular.OpenKept(path+roomSuffix, os.O_CREATE)
	if err != nil {
		return nil, errors.Join(err, line.Close())
	}
	return &entrance{line, room, wait}, nil
}

// enter waits until nobody else is inside, or long enough. It must not be called again
// before leave.
func (e *entrance) enter() (leave func()) {
	if lock(e.line, unix.LOCK_EX|unix.LOCK_NB) == nil {
		inside := lock(e.room, unix.LOCK_EX|unix.LOCK_NB) == nil
		_ = lock(e.line, unix.LOCK_UN)
		if inside {
			return e.leave
		}
	}
	in := make(chan struct{})
	var mu sync.Mutex
	gone := false
	go func() {
		_ = lock(e.line, unix.LOCK_EX) // what fails here isn't waited for
		_ = lock(e.room, unix.LOCK_EX)
		_ = lock(e.line, unix.LOCK_UN)
		mu.Lock()
		defer mu.Unlock()
		if gone {
			e.leave()
			return
		}
		close(in)
	}()
	enough := time.NewTimer(e.wait)
	defer enough.Stop()
	select {
	case <-in:
		return e.leave
	case <-enough.C:
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case <-in:
		return e.leave
	default:
	}
	gone = true
	return func() {}
}

func lock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (e *entrance) leave() { _ = lock(e.room, unix.LOCK_UN) }

// close gives up the entrance, and lets in who comes next.
func (e *entrance) close() error {
	if e == nil {
		return nil
	}
	return errors.Join(e.line.Close(), e.room.Close())
}
