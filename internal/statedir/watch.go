package statedir

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// checkEvery is how often the state folder is checked.
const checkEvery = 5 * time.Second

// Watch checks now and then whether the state folder is still this daemon's.
type Watch struct {
	dir *Dir
	log *slog.Logger

	mu  sync.Mutex
	err error // what the last check found
}

// NewWatch makes what checks a folder; its Run does so.
func NewWatch(dir *Dir, log *slog.Logger) *Watch { return &Watch{dir: dir, log: log} }

// Run checks the folder every 5 s until ctx ends, and returns nil then.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := w.dir.Recheck()
		w.mu.Lock()
		was := w.err
		w.err = err
		w.mu.Unlock()
		switch {
		case err != nil && was == nil:
			w.log.Error("the state folder isn't this daemon's alone any more", "err", err)
		case err == nil && was != nil:
			w.log.Info("the state folder is this daemon's again")
		}
	}
}

// Err returns what's wrong with the folder, as the last check found; nil: nothing is.
func (w *Watch) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
