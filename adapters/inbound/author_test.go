package inbound_test

import (
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// An input carries what its writer is called, and where it was written.
func TestAnInputSaysWhoWroteItAndWhere(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.say(ann, "hello")
		r, err := w.manager.Input(w.Context(), w.manager.List()[0].ID, sessions.InputRequest{Key: ev.Key}) // the same
		if err != nil || r.Author != ann || r.Name != ev.Person.Name || r.Origin != group.String() {
			w.Errorf("%+v, %v", r, err)
		}
	})
}
