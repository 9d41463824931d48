package api

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/host"
)

// So many loans are kept for when a process has no other descriptors left, each of so many pairs: for a connection,
// and for what its request looks up of processes, and others in this moment.
const (
	reservedLoans = 3
	pairsLent     = 4
)

// plentyPairs is how many must be free for it to be said that there are some again: one call that ends is no
// news.
const plentyPairs = 16

// descriptorReserve lends descriptors to connections that can't be accepted without, so that the daemon says how
// it is also when it has run out of them. They get one answer each, and no stream.
type descriptorReserve struct {
	log *slog.Logger

	mu   sync.Mutex
	kept [][]int // pipes that nobody uses, by loans
	told bool    // that there are none, since one was accepted without
}

func newReserve(log *slog.Logger) *descriptorReserve {
	r := &descriptorReserve{log: log}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fill()
	return r
}

// fill takes as many as are kept, or as there are.
func (r *descriptorReserve) fill() {
	for len(r.kept) < reservedLoans {
		loan, ok := openPairs(pairsLent)
		if !ok {
			closeAll(loan)
			return
		}
		r.kept = append(r.kept, loan)
	}
}

// openPairs opens so many pairs of descriptors, or as many as there are. Nobody reads or writes them, so
// they're the kernel's alone: an os.File would also be watched for.
func openPairs(n int) (all []int, ok bool) {
	for range n {
		pair, err := host.OpenPair()
		if err != nil {
			return all, false
		}
		all = append(all, pair[0], pair[1])
	}
	return all, true
}

func closeAll(descriptors []int) {
	for _, fd := range descriptors {
		_ = unix.Close(fd)
	}
}

// lend lets go of a loan; false: none is left.
func (r *descriptorReserve) lend() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.told {
		r.told = true
		r.log.Error("no file descriptor is left: what's open goes on, and who asks is answered one at a time; raise the limit (ulimit -n; LimitNOFILE of a systemd unit)")
	}
	if len(r.kept) == 0 {
		r.fill()
	}
	if len(r.kept) == 0 {
		return false
	}
	closeAll(r.kept[0])
	r.kept = r.kept[1:]
	return true
}

// restore takes back what was lent.
func (r *descriptorReserve) restore() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fill()
}

// checkSpare reports whether there are as many descriptors beside the reserve as a request may need.
func (r *descriptorReserve) checkSpare() bool {
	if !canOpen(pairsLent) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fill(); r.told && canOpen(plentyPairs) {
		r.told = false
		r.log.Info("there are file descriptors again")
	}
	return true
}

// canOpen reports whether so many pairs of descriptors are free.
func canOpen(pairs int) bool {
	all, ok := openPairs(pairs)
	closeAll(all)
	return ok
}

func (r *descriptorReserve) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, loan := range r.kept {
		closeAll(loan)
	}
	r.kept = nil
}

// reservedListener accepts with the reserve where it can't without.
type reservedListener struct {
	net.Listener

	socket  syscall.Conn // the listener that the kernel knows
	reserve *descriptorReserve
}

// lent is a connection that was accepted with the reserve.
type lent struct {
	net.Conn

	restore func()
}

// Close gives back what was lent.
func (c *lent) Close() error {
	err := c.Conn.Close()
	c.restore()
	return err
}

// over has a listener accept with the reserve; socket is what the kernel knows of it.
func (r *descriptorReserve) over(l, socket net.Listener) net.Listener {
	raw, ok := socket.(syscall.Conn)
	if !ok {
		return l
	}
	return &reservedListener{Listener: l, socket: raw, reserve: r}
}

// Accept implements net.Listener.
func (l *reservedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		switch {
		case err == nil && l.reserve.checkSpare():
			return c, nil
		case err == nil: // it has taken the last one, and its request looks something up
			l.reserve.lend()
			return l.lend(c), nil
		case !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE):
			return nil, err
		}
		// The kernel says so also where nobody waits, and then what's let go of would be another's.
		waits, gone := l.awaitCaller(200 * time.Millisecond)
		if gone != nil {
			return nil, gone
		}
		if !waits || canOpen(pairsLent) {
			continue
		}
		if !l.reserve.lend() {
			return nil, err // it's tried again later
		}
		if c, err = l.Listener.Accept(); err != nil {
			l.reserve.restore()
			return nil, err
		}
		return l.lend(c), nil
	}
}

func (l *reservedListener) lend(c net.Conn) net.Conn {
	return &lent{Conn: c, restore: sync.OnceFunc(l.reserve.restore)}
}

// awaitCaller waits until somebody wants to be accepted, so long at most.
func (l *reservedListener) awaitCaller(most time.Duration) (waits bool, err error) {
	raw, err := l.socket.SyscallConn()
	if err != nil {
		return false, err
	}
	err = raw.Control(func(fd uintptr) {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(most.Milliseconds()))
		waits = n > 0
	})
	return waits, err
}

type lentKey struct{}

// isLent reports whether a request's connection has the reserve.
func isLent(ctx context.Context) bool { return ctx.Value(lentKey{}) != nil }

// errNoFiles refuses what goes on, for which the reserve isn't.
var errNoFiles = &Error{
	Status: http.StatusServiceUnavailable, Code: codeTooMany,
	Message: "no file descriptor is left in the daemon: end some event streams and waits, close pages, or raise its limit (ulimit -n; LimitNOFILE of a systemd unit)",
}

// closeLent has connections that have the reserve end with their first answer.
func closeLent(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isLent(r.Context()) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
