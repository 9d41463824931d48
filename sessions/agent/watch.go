package agent

import (
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// News is what became known of a session's program with one look, or by one hook.
type News struct {
	At      time.Time
	Hook    *Hook               // that came; the rest is unset
	Typed   []sessions.Typed    // by panebridge
	Records []transcript.Record // of the transcript
	Verdict Verdict
}

// Watch has tell hear what becomes known of a session's program, until stop is called.
// tell is called by several goroutines, and must not block.
func (w *Watchers) Watch(id sessions.ID, tell func(News)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	listener := &tell
	w.listeners[id] = append(w.listeners[id], listener)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		var left []*func(News)
		for _, l := range w.listeners[id] {
			if l != listener {
				left = append(left, l)
			}
		}
		if w.listeners[id] = left; left == nil {
			delete(w.listeners, id)
		}
	}
}

// tellWatchers has those hear it who watch a session.
func (w *Watchers) tellWatchers(id sessions.ID, n News) {
	w.mu.Lock()
	listeners := w.listeners[id]
	w.mu.Unlock()
	for _, tell := range listeners {
		(*tell)(n)
	}
}
