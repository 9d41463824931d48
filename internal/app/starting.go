package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

// How long a start waits before it's tried again: the first time, and at most. Where a damaged
// database is saved, each try may write as much as that has.
const (
	startAgainAfter  = time.Second
	startAgainAtMost = 15 * time.Second
)

// waitingStart is a daemon's start that waits for what passes: a full disk, a database that another
// process holds, one that may only be read. Whatever panebridge tells has been stored before, so it
// couldn't mirror anything meanwhile. It says on the socket what it waits for.
type waitingStart struct {
	opt   Options
	pause time.Duration // before the next try

	mu  sync.Mutex
	err error // why the last try failed; nil: none has
	end func()
}

// whatPasses is the reason why a start failed, if that can be over without the daemon being started
// anew; nil: it can't.
func whatPasses(err error) error {
	for _, reason := range []error{store.ErrFull, store.ErrLocked, store.ErrReadOnly, store.ErrUnwritable, unix.ENOSPC, unix.EDQUOT, unix.EROFS} {
		if errors.Is(err, reason) {
			return reason
		}
	}
	return nil
}

// await says that a try has failed, and blocks until it's time for the next one; false: ctx has ended.
// The state folder is nil if it couldn't be opened.
func (w *waitingStart) await(ctx context.Context, dir *statedir.Dir, err error) bool {
	w.mu.Lock()
	news := w.err == nil || !errors.Is(err, whatPasses(w.err))
	w.err = err
	w.mu.Unlock()
	if news {
		w.log().Error("the start waits, and goes on by itself; output stays in tmux meanwhile, and nothing is taken", "err", err)
	}
	if w.opt.Waiting != nil {
		w.opt.Waiting()
	}
	if dir != nil && w.end == nil {
		w.serve(ctx)
	}
	w.pause = min(max(2*w.pause, startAgainAfter), startAgainAtMost)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(w.pause):
		return true
	}
}

// serve opens the socket, if that's possible, and serves until close is called.
func (w *waitingStart) serve(ctx context.Context) {
	l, err := statedir.Listen(ctx, w.opt.StateDir)
	if err != nil {
		w.log().Debug("open the socket while the start waits", "err", err) // it's tried again
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := api.ServeStarting(ctx, l, w.part); err != nil {
			w.log().Warn("serve while the start waits", "err", err)
		}
	}()
	w.end = func() { cancel(); <-served }
}

// part says what the start waits for.
func (w *waitingStart) part() api.Part {
	w.mu.Lock()
	defer w.mu.Unlock()
	return api.Part{Name: "store", State: api.HealthDown, Detail: w.err.Error()}
}

// close ends the waiting; nothing of it runs any more.
func (w *waitingStart) close() {
	if w.end != nil {
		w.end()
		w.end = nil
	}
}

// over says that the start goes on.
func (w *waitingStart) over() {
	if w.err != nil {
		w.log().Info("what the start waited for is there")
	}
	w.close()
}

func (w *waitingStart) log() *slog.Logger { return w.opt.Log.With("component", "store") }
