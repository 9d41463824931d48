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
	// Failing is why its calls, or those for posts there, have failed for ten seconds or longer, and Astray why it's shown elsewhere than it should be, as sentences; "": neither is
	// so.
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
			st.Failing = cmp.Or(b.outlet.deliverer.Failing(b.ID), b.outlet.outbox.Failing(b.Session, st.Target), h.tried(b.ID))
			if st.Failing == "" && doc.isBlank() {
				st.Failing = h.whyOthersAreNotShown(b)
			}
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

// isBlank reports whether nothing was shown yet.
func (d Document) isBlank() bool { return d.Tail == nil && d.Thread == "" && d.Lost == nil }

// whyOthersAreNotShown is what a binding that has shown nothing yet has to expect: why another
// living session of its chat that hasn't either isn't shown, or why none is. "": there's no such.
// mu is held.
func (h *Hub) whyOthersAreNotShown(b *bound) (why string) {
	t, works := b.where(), false
	for _, other := range h.bindings {
		w := h.sessions[other.Session]
		if other == b || !other.in(t.Adapter, t.Chat) || other.Unbound || other.Resting || w == nil || w.ended {
			continue
		}
		var doc Document
		if other.open { // it has no outlet before it was for the first time
			doc, _ = other.outlet.deliverer.Document(other.ID)
		}
		switch {
		case other.Disabled == "":
			works = works || !doc.isBlank()
		case doc.isBlank():
			return other.Disabled
		default:
			why = other.Disabled
		}
	}
	if works {
		return ""
	}
	return why
}
