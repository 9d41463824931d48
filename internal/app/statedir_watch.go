package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

// folderLookEvery is how often the state folder is looked at.
const folderLookEvery = 5 * time.Second

// folderWatch looks now and then whether the state folder is still this daemon's.
type folderWatch struct {
	dir *stateDir
	log *slog.Logger

	mu  sync.Mutex
	err error // what the last look found
}

// run looks until ctx ends.
func (w *folderWatch) run(ctx context.Context) error {
	tick := time.NewTicker(folderLookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := w.dir.look()
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

// part says what's wrong with the folder; nil: nothing is.
func (w *folderWatch) part() *api.Part {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		return nil
	}
	return &api.Part{Name: "state folder", State: api.HealthDown, Detail: w.err.Error()}
}
