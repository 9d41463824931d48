package adapters_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// What the platform refuses is tried again, one for all of its chat, soon at first and then
// seldom, also over restarts. When the chat is there again, all that was meant for it comes
// within a minute, once, and what ended meanwhile too; it was said once that it's gone.
func TestWhatWasRefusedIsTriedAgain(t *testing.T) {
	for seed := range drawtest.Seeds(t, 20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				t.Helper()
				random := rand.New(rand.NewPCG(seed, 0))
				sessionsThere := 1 + random.IntN(6)
				sid := func(i int) sessions.ID { return sessions.ID(fmt.Sprint("pb_", i)) }
				r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
				r.start()
				r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Out: 300 * time.Millisecond} })
				for i := range sessionsThere {
					r.begin(sid(i), fmt.Sprint("agent-", i))
					r.print(sid(i), fmt.Sprintf("begins %d", i))
				}
				r.pass(time.Minute)
				before := len(r.platforms["a"].Arrivals())
				r.platforms["a"].DeleteChat("-1")
				gone := time.Duration(20+random.IntN(600)) * time.Second
				for i := range sessionsThere {
					r.print(sid(i), fmt.Sprintf("meanwhile %d", i))
				}
				r.pass(10 * time.Second)                             // until that's known
				for range int(gone / 2 / (100 * time.Millisecond)) { // a try looks no better than what it tries
					r.pass(100 * time.Millisecond)
					if st := r.hub.Status(sid(0)); st[0].Binding.Disabled == "" && st[0].Failing == "" {
						t.Fatalf("the chat is gone, and all looks well: %+v", st)
					}
				}
				if random.IntN(3) == 0 {
					r.stop()
					r.start()
				}
				if random.IntN(2) == 0 {
					r.must(r.house.End(sid(0), "session ended"))
				}
				r.pass(gone / 2)
				calls := len(r.platforms["a"].Arrivals()) - before
				if most := sessionsThere*2 + int(gone/(10*time.Second)) + 8; calls > most {
					t.Errorf("%d calls in %s to a chat that's gone, want at most %d", calls, gone, most)
				}
				if len(r.disabled) > 2*sessionsThere {
					t.Errorf("it was said %d times that it's gone", len(r.disabled))
				}
				r.platforms["a"].AddGroup("-1", false)
				r.pass(time.Minute)
				shown := strings.Join(r.texts("a", "-1"), "\n")
				for i := range sessionsThere {
					want := fmt.Sprintf("meanwhile %d", i)
					if n := strings.Count(shown, want); n != 1 {
						t.Errorf("a minute after the chat is there again, %q stands there %d times:\n%s", want, n, shown)
					}
				}
				for _, st := range r.hub.Status("") {
					if st.Binding.Disabled != "" {
						t.Errorf("there is still %+v", st)
					}
				}
			})
		})
	}
}
