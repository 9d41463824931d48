package agentlab

import (
	"slices"
	"sync"
	"time"
)

// writesEvery is how often the transcripts are looked at.
const writesEvery = 50 * time.Millisecond

// writes are the times at which an agent wrote into its transcripts.
type writes struct {
	end  chan struct{}
	done chan struct{}

	mu sync.Mutex
	at []time.Duration
}

// watchWrites looks at a run's transcripts until stop.
func watchWrites(r *Run) *writes {
	w := &writes{end: make(chan struct{}), done: make(chan struct{})}
	go w.watch(r)
	return w
}

func (w *writes) watch(r *Run) {
	defer close(w.done)
	t := time.NewTicker(writesEvery)
	defer t.Stop()
	last := map[string]time.Time{}
	for {
		select {
		case <-w.end:
			return
		case <-t.C:
		}
		grown := false
		for _, path := range r.Transcripts() {
			for _, file := range []string{path, path + "-wal"} { // a database's newest rows are in the latter
				at := changed(file)
				grown = grown || !at.Equal(last[file])
				last[file] = at
			}
		}
		if grown {
			w.mu.Lock()
			w.at = append(w.at, time.Since(r.Epoch))
			w.mu.Unlock()
		}
	}
}

// times are since the run's epoch, up to writesEvery late.
func (w *writes) times() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.at)
}

func (w *writes) stop() {
	close(w.end)
	<-w.done
}
