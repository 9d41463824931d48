package ttywatch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// TTYWatch watches one terminal. It has an inotify instance of its own: of equal events in a row the kernel keeps one, so that
// however much is written, no more than one waits.
type TTYWatch struct {
	events *os.File
	buf    [4096]byte
}

// Open watches a terminal by its path, such as /dev/pts/3, until Close. It doesn't open the terminal. The error is the
// kernel's: a user has 128 instances by default.
func Open(path string) (*TTYWatch, error) {
	if err := checkTerminal(path); err != nil {
		return nil, err
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	w := &TTYWatch{events: os.NewFile(uintptr(fd), "inotify")}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY|unix.IN_DONT_FOLLOW); err != nil {
		return nil, errors.Join(fmt.Errorf("watch %s: %w", path, err), w.Close())
	}
	return w, nil
}

// Wait blocks until something has been written since it returned last, or ctx ends. One goroutine calls it. After an error
// other than ctx' it's of no use any more.
func (w *TTYWatch) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.events.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("wait for a terminal's output: %w", err)
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = w.events.SetReadDeadline(time.Unix(1, 0)) // it fails once it's closed
		close(interrupted)
	})
	n, err := w.events.Read(w.buf[:])
	if !stop() {
		<-interrupted // else it would interrupt the next Wait
	}
	switch {
	case err != nil && ctx.Err() != nil: // with an event the write is told, else nobody would hear of it
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("wait for a terminal's output: %w", err)
	case n < unix.SizeofInotifyEvent || isIgnored(w.buf[:n]):
		return fmt.Errorf("wait for a terminal's output: %w", os.ErrClosed) // it's gone
	}
	return nil
}

// Close ends the watch. A Wait returns.
func (w *TTYWatch) Close() error { return w.events.Close() }

// isIgnored reports whether the kernel says among events that there will be none any more.
func isIgnored(events []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		if mask := binary.NativeEndian.Uint32(events[4:]); mask&(unix.IN_IGNORED|unix.IN_UNMOUNT) != 0 {
			return true
		}
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		events = events[min(size, len(events)):]
	}
	return false
}
