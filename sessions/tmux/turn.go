package tmux

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// turn has control clients come and go one at a time, over all processes of the
// machine. tmux before 3.4 crashes when it has to tell a client of something that is
// just introducing itself, and the end of another client, or of its session, is
// something that it tells (3.3a: 4 crashes in 300 tries with one that came while another
// went, none in 1,000 with turns).
//
// It's a lock on the folder of the server's socket, where nothing has to be made for it.
// Who waits too long goes on without it: somebody else may be able to lock that folder.
type turn struct {
	folder string

	mu   sync.Mutex
	file *os.File // nil: it's not ours
}

// How long a turn is waited for. Another's takes some milliseconds, or until
// connectTimeout and endTimeout where the server stands still.
const (
	turnToCome = 10 * time.Second
	turnToGo   = 2 * time.Second
	turnLook   = 2 * time.Millisecond
)

// take waits for the turn, unless it's ours already.
func (t *turn) take(ctx context.Context, most time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		return
	}
	f, err := os.OpenFile(t.folder, os.O_RDONLY|unix.O_DIRECTORY, 0) // a pipe in its place holds nobody up
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			t.file = f
			return
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			break // there are no locks on it
		}
		select {
		case <-ctx.Done():
		case <-time.After(turnLook):
			continue
		}
		break
	}
	_ = f.Close()
}

// give lets the next one come or go.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		_ = unix.Flock(int(t.file.Fd()), unix.LOCK_UN) // a child that's being started may have it open, too
		_ = t.file.Close()
		t.file = nil
	}
}
