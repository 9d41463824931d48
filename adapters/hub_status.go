package adapters

import (
	"cmp"
	"slices"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// BindingStatus is a binding and how far its target is.
type BindingStatus struct {
	Binding   Binding
	Open      bool         // it's mirrored now
	Target    Target       // where it is now
	Delivered int64        // the last line that's there
	Pressure  qos.Pressure // how far it lags behind
	// Failing is why its calls have failed for ten seconds or longer, and Astray why it's shown
	// elsewhere than it should be, as sentences; "": neither is so.
	Failing, Astray string
}

// Problem is what's wrong though it's mirrored, as a sentence; "": nothing is.
func (s BindingStatus) Problem() string { return cmp.Or(s.Failing, s.Astray) }

// Status returns a session's bindings, the oldest first; of all sessions if id is
// empty.
func (h *Hub) Status(id sessions.ID) []BindingStatus {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var out []BindingStatus
	for _, b := range h.bindings {
		if id != "" && b.Session != id {
			continue
		}
		st := BindingStatus{Binding: b.Binding, Open: b.open, Target: b.where()}
		if b.open {
			doc, _ := b.outlet.deliverer.Document(b.ID)
			st.Delivered = doc.Delivered()
			st.Failing = cmp.Or(b.outlet.deliverer.Failing(b.ID), h.tried(b.ID))
			st.Astray = doc.problem(b.outlet.adapter.Shape(b.Target).withDefaults(), time.Now())
			st.Pressure, _ = b.outlet.scheduler.Pressure(b.ID.Doc())
		}
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b BindingStatus) int {
		return cmp.Or(a.Binding.CreatedAt.Compare(b.Binding.CreatedAt), cmp.Compare(a.Binding.ID, b.Binding.ID))
	})
	return out
}
