package adapters_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

// A line that says nothing but that a turn has ended isn't shown: the ending says so. Nothing
// waits for it, and an answer that has the same words shows them.
func TestWhatOnlyEndsATurnIsNotShown(t *testing.T) {
	const marker = "[Output Complete]"
	for _, view := range []adapters.View{adapters.ViewStream, adapters.ViewFinal} {
		t.Run(string(view), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				t.Helper()
				r.endsTurn = func(line string) bool { return line == marker }
				rule := rule(t, "*", "a:-1")
				rule.View = view
				r.rules = []adapters.MirrorRule{rule}
				r.start()
				r.begin("pb_1", "agent-1")
				r.print("pb_1", "one")
				r.pass(time.Minute)
				r.ends("pb_1", "two", marker)
				r.pass(time.Minute)
				r.ends("pb_1", marker)
				r.pass(time.Minute)
				r.ends("pb_1", "three")
				r.print("pb_1", marker) // it stood at the cursor when the turn ended
				r.pass(time.Minute)
				r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"It prints", marker}, Kind: sessions.KindAnswer, Begins: true, Ends: true}))
				r.pass(time.Minute)
				want := []string{"one", "two\ndone · 1 min", "done · less than 1 s", "three\ndone · less than 1 s", "It prints\n" + marker + "\ndone · 1 min"}
				if view == adapters.ViewFinal {
					want = append([]string{"one\n" + want[1]}, want[2:]...)
				}
				r.wantTexts("a", "-1", want...)
				r.ends("pb_1", "four", "", marker)
				r.pass(time.Minute)
				r.stop()
				r.start()
				for _, st := range r.hub.Status("pb_1") {
					if st.Delivered != 11 || st.Pressure.Behind > 0 {
						t.Errorf("line %d is said to be the last that's there, with %+v behind", st.Delivered, st.Pressure)
					}
				}
			})
		})
	}
}
