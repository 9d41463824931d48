package adapters

import (
	"errors"

	"github.com/panebridge/panebridge/qos"
)

// Watched is how many sessions the hub knows.
func (h *Hub) Watched() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.sessions)
}

// Refused tells the hub what its scheduler would if the platform had refused a
// binding's document.
func (h *Hub) Refused(b Binding) {
	h.handleSchedulerEvent(h.outlets[b.Target.Adapter], qos.SchedulerEvent{Kind: qos.DocStopped, Doc: b.ID.Doc(), Err: errors.New("refused")})
}
