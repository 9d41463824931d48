package adapters_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// What the Hub does because of a session may panic: it's done again, given up after some
// times, and others go on.
func TestTasksThatPanicAreDoneAgain(t *testing.T) {
	for panics := range 5 {
		t.Run(fmt.Sprint(panics), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				t.Helper()
				r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
				left := panics
				r.storing = func() {
					if left > 0 {
						left--
						panic("what somebody wrote")
					}
				}
				r.start()
				r.begin("pb_1", "agent-1")
				r.pass(5 * time.Minute)
				left = 0
				r.begin("pb_2", "agent-2")
				r.pass(time.Minute)
				want := 2
				if panics >= 3 {
					want = 1
				}
				if got := len(r.hub.Status("")); got != want {
					t.Errorf("after %d panics %d sessions are bound, want %d", panics, got, want)
				}
			})
		})
	}
}
