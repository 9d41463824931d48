package app

import (
	"context"
	"sync"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/qostrace"
	"github.com/panebridge/panebridge/qos"
)

// recordingsEnd is how long files of recordings may take to be closed as the daemon ends.
const recordingsEnd = time.Second

// recording makes the writer of what an adapter's scheduler does.
func (d *daemon) recording(adapter string) qos.TraceSink {
	w := qostrace.NewWriter(qostrace.Options{
		Adapter: adapter, StateDir: d.opt.StateDir, Days: recordDays(d.config, adapter),
		Logger: d.opt.Log.With("component", "recording"),
	})
	if d.recordings == nil {
		d.recordings = map[string]*qostrace.Writer{}
	}
	d.recordings[adapter] = w
	return w
}

// recordDays is how many days of recordings of an adapter are kept.
func recordDays(cfg *config.Config, adapter string) int {
	if section := cfg.Adapters.Section(adapter); section != nil {
		return section.Pace().RecordDays
	}
	return 0
}

// runHub runs the hub, and what writes down what it does. A disk that hangs doesn't hold the end up.
func (d *daemon) runHub(ctx context.Context) error {
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var writers sync.WaitGroup
	for _, w := range d.recordings {
		writers.Go(func() { _ = w.Run(writing) })
	}
	err := d.hub.Run(ctx)
	stop()
	ended := make(chan struct{})
	go func() { defer close(ended); writers.Wait() }()
	select {
	case <-ended:
	case <-time.After(recordingsEnd):
		d.opt.Log.Warn("recordings of what schedulers do aren't closed in time: their last lines may be missing")
	}
	return err
}

// setRecordDays takes in a reload.
func (d *daemon) setRecordDays(next *config.Config) {
	for adapter, w := range d.recordings {
		w.SetDays(recordDays(next, adapter))
	}
}
