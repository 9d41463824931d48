package adapters_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// Where it's quiet nothing rings, and all is shown that would be: the end of a turn is
// a message of its own, which is announced once.
func TestWhereItIsQuietNothingRings(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "*", "a:-2")}
		r.form.OwnThread = true
		until := time.Now().Add(time.Hour)
		r.quiet = func(at adapters.Target, s sessions.ID, now time.Time) bool {
			if at.Adapter != "a" || at.Thread == "" && len(r.platforms["a"].Threads(at.Chat, "agent-1")) > 0 || s != "pb_1" {
				t.Errorf("it was asked about %s and %s", at, s)
			}
			return at.Chat == "-1" && now.Before(until)
		}
		r.start()
		r.begin("pb_1", "agent-1")
		turn := func(text string) {
			r.print("pb_1", text)
			r.pass(time.Minute)
			r.ends("pb_1")
			r.pass(time.Minute)
		}
		turn("one")
		r.pass(time.Hour)
		turn("two")
		rings := func(chat string) (out []bool) {
			for _, thread := range r.platforms["a"].Threads(chat, "agent-1") {
				for _, m := range r.platforms["a"].Seen(chat, thread) {
					out = append(out, m.Rang)
				}
			}
			return out
		}
		quiet, loud := rings("-1"), rings("-2")
		if len(loud) != 4 || !loud[1] || !loud[3] {
			t.Errorf("the other chat's messages rang: %v", loud)
		}
		if len(quiet) != 4 || quiet[1] || !quiet[3] {
			t.Errorf("of four messages, the last two after the quiet, these rang: %v", quiet)
		}
	})
}
