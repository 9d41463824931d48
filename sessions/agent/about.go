package agent

import "github.com/panebridge/panebridge/sessions"

// About returns the session that a hook is about; "": none is known.
func (w *Watchers) About(h Hook) sessions.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o := w.observerOf(h); o != nil {
		return o.session.ID
	}
	return ""
}
