package app

import (
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

const (
	fewBehind   = 100              // lines that sessions print while others are indexed
	behindFor   = 10 * time.Second // for which lines can't be found before that's told
	stuckBehind = time.Minute      // without fewer of them
)

// searchWatch knows how far searches are behind, by looking now and then.
type searchWatch struct {
	behind func() int64 // lines that can't be found yet, about; nil: nothing can be searched
	why    error        // then

	mu    sync.Mutex
	since time.Time // when lines began to be missing; zero: none are
	least int64     // the fewest that were missing since then
	lower time.Time // when they became so few
}

// look takes in how far searches are behind.
func (w *searchWatch) look(now time.Time) {
	if w.behind == nil {
		return
	}
	n := w.behind()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case n <= fewBehind:
		w.since = time.Time{}
	case w.since.IsZero():
		w.since, w.least, w.lower = now, n, now
	case n < w.least:
		w.least, w.lower = n, now
	}
}

// part says that nothing can be searched, or what can't be found for some time; nil: all can.
func (w *searchWatch) part(now time.Time) *api.HealthPart {
	p := api.HealthPart{Name: "search", State: api.HealthOK}
	if w.behind == nil {
		p.State, p.Detail = api.HealthDegraded, fmt.Sprintf("nothing can be searched until the next start: %v", w.why)
		return &p
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.behind()
	if w.since.IsZero() || n <= fewBehind || now.Sub(w.since) < behindFor {
		return nil
	}
	p.Detail = fmt.Sprintf("%d lines can't be found by a search yet; they're being indexed", n)
	if now.Sub(w.lower) >= stuckBehind {
		p.State = api.HealthDegraded
		p.Detail = fmt.Sprintf("%d lines can't be found by a search, and they've not become fewer for %d s: the log says why", n, now.Sub(w.lower)/time.Second)
	}
	return &p
}
