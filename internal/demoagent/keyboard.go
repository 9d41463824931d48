package demoagent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/host"
)

// A key is a byte that was typed, or one of the constants.
type key int

const (
	keyEnter key = '\n'
	keyEsc   key = 0x1b

	keyUp key = 256 + iota
	keyDown
	keyOther // an escape sequence of no meaning here
)

// escapeGap is how long an Esc waits for the rest of an escape sequence, which
// a terminal writes in one go.
const escapeGap = 50 * time.Millisecond

// fdSetSize is how many files select can watch (FD_SETSIZE).
const fdSetSize = 1024

// keyboard reads lines and keys from a terminal or a pipe. It waits in select,
// which, unlike a blocking read, can be ended by a context and, unlike poll,
// knows terminals on macOS too.
type keyboard struct {
	in   *os.File
	fd   int
	tty  bool
	buf  []byte // read and not yet taken by readLine
	keys []byte // read in single keys mode and not yet taken by readKey
	eof  bool
	wake *os.File // becomes readable when the context is done: closed, or interrupted: a byte
	stop func()
}

// errInterrupted says that somebody pressed Ctrl-C.
var errInterrupted = errors.New("interrupted")

func newKeyboard(ctx context.Context, in *os.File, interrupts <-chan os.Signal) (*keyboard, error) {
	wake, wakeEnd, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	k := &keyboard{in: in, fd: int(in.Fd()), wake: wake}
	if max(k.fd, int(wake.Fd())) >= fdSetSize {
		_, _ = wake.Close(), wakeEnd.Close()
		return nil, errors.New("read the terminal: too many files are open")
	}
	_, err = host.ReadTermios(k.fd)
	k.tty = err == nil

	ctx, cancel := context.WithCancel(ctx)
	woken := make(chan struct{})
	go func() {
		defer close(woken)
		defer func() { _ = wakeEnd.Close() }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-interrupts:
				_, _ = wakeEnd.Write([]byte{0})
			}
		}
	}()
	k.stop = func() {
		cancel()
		<-woken
		_ = wake.Close()
	}
	return k, nil
}

func (k *keyboard) close() { k.stop() }

// readLine returns the next line without its end, or io.EOF behind the last.
func (k *keyboard) readLine(ctx context.Context) (string, error) {
	for {
		if i := bytes.IndexByte(k.buf, '\n'); i >= 0 {
			line := string(k.buf[:i])
			k.buf = k.buf[i+1:]
			return strings.TrimSuffix(line, "\r"), nil
		}
		if k.eof {
			if len(k.buf) == 0 {
				return "", io.EOF
			}
			line := string(k.buf)
			k.buf = nil
			return line, nil
		}
		if err := k.fill(ctx, &k.buf); err != nil {
			return "", err
		}
	}
}

// hasLine tells whether readLine would return at once.
func (k *keyboard) hasLine(ctx context.Context) (bool, error) {
	if err := k.drain(ctx); err != nil {
		return false, err
	}
	return k.eof || bytes.IndexByte(k.buf, '\n') >= 0, nil
}

// singleKeys makes the terminal hand over each key at once, without showing it,
// until restore is called. What was typed before is kept for readLine: it was
// meant for the prompt and must not answer a dialog that nobody has seen. What
// is typed behind the answer goes to readLine as well.
func (k *keyboard) singleKeys(ctx context.Context) (restore func() error, err error) {
	if !k.tty {
		return func() error { return nil }, nil
	}
	before, err := host.ReadTermios(k.fd)
	if err != nil {
		return nil, fmt.Errorf("read the terminal's mode: %w", err)
	}
	single := *before
	single.Lflag &^= unix.ICANON | unix.ECHO
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 1, 0
	if err := host.SetTermios(k.fd, &single); err != nil {
		return nil, fmt.Errorf("set the terminal's mode: %w", err)
	}
	restore = func() error {
		k.buf, k.keys = append(k.buf, k.keys...), nil
		if err := host.SetTermios(k.fd, before); err != nil {
			return fmt.Errorf("restore the terminal's mode: %w", err)
		}
		return nil
	}
	if err := k.drain(ctx); err != nil {
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}

// readKey returns the next key; on a pipe, which has no single keys, the first
// one of the next line. To be called between singleKeys and its restore.
func (k *keyboard) readKey(ctx context.Context) (key, error) {
	if !k.tty {
		line, err := k.readLine(ctx)
		if err != nil {
			return 0, err
		}
		pressed, _ := parseKey([]byte(line + "\n"))
		return pressed, nil
	}
	for {
		if len(k.keys) > 0 {
			pressed, length := parseKey(k.keys)
			if length == 0 { // more may follow, or it was Esc alone
				more, err := k.wait(ctx, escapeGap)
				if err != nil {
					return 0, err
				}
				if !more || k.eof {
					length = len(k.keys)
				}
			}
			if length > 0 {
				k.keys = k.keys[length:]
				return pressed, nil
			}
		}
		if k.eof {
			return 0, io.EOF
		}
		if err := k.fill(ctx, &k.keys); err != nil {
			return 0, err
		}
	}
}

// parseKey names the key that the bytes begin with and says how many of them it
// takes: 0 when that depends on what follows, and then pressed is the key if
// nothing does.
func parseKey(b []byte) (pressed key, length int) {
	switch b[0] {
	case '\r':
		return keyEnter, 1
	case 0x04: // Ctrl-D
		return keyEsc, 1
	case byte(keyEsc):
	default:
		return key(b[0]), 1
	}
	if len(b) == 1 {
		return keyEsc, 0
	}
	if b[1] != '[' && b[1] != 'O' {
		return keyEsc, 1
	}
	// Parameters up to a final byte from @ to ~ (ECMA-48, 5.4).
	for i, c := range b[2:] {
		if c < '@' || c > '~' {
			continue
		}
		switch c {
		case 'A':
			return keyUp, i + 3
		case 'B':
			return keyDown, i + 3
		}
		return keyOther, i + 3
	}
	return keyOther, 0
}

// columns is the terminal's width, or 80 where it can't be known.
func (k *keyboard) columns() int {
	size, err := unix.IoctlGetWinsize(k.fd, unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 80
	}
	return int(size.Col)
}

// drain reads what is there, without waiting.
func (k *keyboard) drain(ctx context.Context) error {
	for !k.eof {
		ready, err := k.wait(ctx, 0)
		if err != nil || !ready {
			return err
		}
		if err := k.fill(ctx, &k.buf); err != nil {
			return err
		}
	}
	return nil
}

// fill waits for input and appends it to what's in into, or sets eof.
func (k *keyboard) fill(ctx context.Context, into *[]byte) error {
	if _, err := k.wait(ctx, -1); err != nil {
		return err
	}
	chunk := make([]byte, 4096) // a terminal's longest line
	n, err := unix.Read(k.fd, chunk)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return nil
	case errors.Is(err, unix.EIO): // the terminal was hung up
		k.eof = true
		return nil
	case err != nil:
		return fmt.Errorf("read the terminal: %w", err)
	}
	k.eof = n <= 0
	*into = append(*into, chunk[:max(0, n)]...)
	return nil
}

// wait returns true as soon as there's input or its end, and false after the
// time-out, if that isn't negative. The error is the context's cause,
// errInterrupted, or the terminal's.
func (k *keyboard) wait(ctx context.Context, timeout time.Duration) (bool, error) {
	return k.watch(ctx, timeout, k.fd)
}

// pause returns after d, or at once with an error as wait does.
func (k *keyboard) pause(ctx context.Context, d time.Duration) error {
	_, err := k.watch(ctx, max(d, 0))
	return err
}

// watch waits for any of the files.
func (k *keyboard) watch(ctx context.Context, timeout time.Duration, fds ...int) (bool, error) {
	for {
		var files unix.FdSet
		files.Zero()
		for _, fd := range append(fds, int(k.wake.Fd())) {
			files.Set(fd)
		}
		var limit *unix.Timeval
		if timeout >= 0 {
			t := unix.NsecToTimeval(timeout.Nanoseconds())
			limit = &t
		}
		n, err := unix.Select(max(k.fd, int(k.wake.Fd()))+1, &files, nil, nil, limit)
		switch {
		case errors.Is(err, unix.EINTR):
			continue // with the whole time-out again: a signal is rare, and no harm is done
		case err != nil:
			return false, fmt.Errorf("wait for the terminal: %w", err)
		case files.IsSet(int(k.wake.Fd())):
			return false, k.woken(ctx)
		}
		return n > 0, nil
	}
}

// woken says why wake is readable.
func (k *keyboard) woken(ctx context.Context) error {
	if n, _ := unix.Read(int(k.wake.Fd()), make([]byte, 1)); n > 0 {
		return errInterrupted
	}
	return context.Cause(ctx)
}
