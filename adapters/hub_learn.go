package adapters

import "github.com/panebridge/panebridge/qos"

// Learn hands on what an adapter's platform said about its limits; see
// qos.OutputQoSScheduler.Learn. An adapter without an outlet has nobody to tell.
func (h *Hub) Learn(adapter string, scope qos.Scope, learned qos.Learned) {
	if o := h.outlets[adapter]; o != nil {
		o.scheduler.Learn(scope, learned)
	}
}
