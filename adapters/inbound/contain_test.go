package inbound_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// Posts panic at drawn moments, in the middle of the work of those that tell people
// something: each is begun anew, and in the end people have seen all the same. What's said
// of a panic has no word of theirs.
func TestWorkersAreBegunAnew(t *testing.T) {
	for seed := range drawtest.Seeds(t, 30) {
		inWorld(t, func(w *world) {
			random := rand.New(rand.NewPCG(seed, 0))
			panicked := map[string]int{}
			w.end()
			w.opt = func(o *inbound.Options) { o.Panicked = func(worker string) { panicked[worker]++ } }
			w.start()
			faults := 0
			draw := func() {
				w.hub.mu.Lock()
				w.hub.faults = random.IntN(4)
				faults += w.hub.faults
				w.hub.mu.Unlock()
			}
			draw()
			p := w.question("pr_1", permission())
			w.pass(5 * time.Minute)
			draw()
			w.close(p, "answered in the pane")
			w.pass(5 * time.Minute)
			draw()
			w.question("pr_2", unread("Deploy?", "❯ now", "  later"))
			w.pass(5 * time.Minute)
			last := map[string]string{} // what each message says in the end
			for _, post := range w.hub.take() {
				last[post.Key] = post.Text
			}
			all := strings.ReplaceAll(strings.Join(slices.Sorted(maps.Values(last)), "\n\n"), `\`, "")
			for _, want := range []string{"Answered in the pane.", "needs you"} {
				if !strings.Contains(all, want) {
					t.Errorf("seed %d: after %d panics (%v) nobody sees %q in\n%s", seed, faults, panicked, want, all)
				}
			}
			got := 0
			for _, n := range panicked {
				got += n
			}
			if got != faults || strings.Contains(w.log.String(), "what somebody wrote") {
				t.Errorf("seed %d: %d panics, and %v were reported:\n%s", seed, faults, panicked, w.log)
			}
		})
	}
}
