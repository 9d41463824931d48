package inbound_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
)

// A platform's own line about what the bot did is deleted where people may talk to it, unless it's old.
func TestAPlatformsOwnLineIsDeleted(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.event("", intake.Remarked{})
		w.do(ev)
		posts := w.hub.take()
		if len(posts) != 1 || posts[0].Drop != ev.Message || posts[0].To != group || posts[0].Class != qos.Stream || posts[0].Ring {
			t.Errorf("posts %+v", posts)
		}
		old := w.event("", intake.Remarked{})
		old.At = old.At.Add(-25 * time.Hour)
		w.do(old)
		elsewhere := w.event("", intake.Remarked{})
		elsewhere.Place = adapters.Target{Adapter: group.Adapter, Chat: "of-nobody"}
		w.do(elsewhere)
		if posts := w.hub.take(); len(posts) != 0 {
			t.Errorf("posts %+v", posts)
		}
	})
}
