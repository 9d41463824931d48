package inbox

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

// Typists are the processes that may type into panes: the daemon for as long as it runs,
// or commands, one at a time, while it doesn't. Two at once would write into each other's
// text, and none could tell a preview that's being typed from one that was left.
type Typists struct {
	Folder string // of the database
}

// typistsFile is locked by who types.
const typistsFile = "typing.lock"

// typistLook is how often the lock is looked at by who waits for it.
const typistLook = 50 * time.Millisecond

// Try takes the turn to type, if nobody has it.
func (t Typists) Try() (give func(), ok bool, err error) {
	f, err := regular.OpenKept(filepath.Join(t.Folder, typistsFile), os.O_CREATE)
	if err != nil {
		return nil, false, fmt.Errorf("open the lock for typing: %w", err)
	}
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return func() {
				_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // a child that's being started may have it open, too
				_ = f.Close()
			}, true, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, false, f.Close()
		default:
			return nil, false, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
		}
	}
}

// Take waits for the turn to type until ctx ends.
func (t Typists) Take(ctx context.Context) (give func(), err error) {
	for {
		give, ok, err := t.Try()
		if err != nil || ok {
			return give, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(typistLook):
		}
	}
}
