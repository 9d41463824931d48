package adapters_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// What rings says something: an answer that's in the chat already begins anew where its end is
// said, masked as all else; what the message shows itself isn't said twice.
func TestWhatRingsSaysWhatWasAnswered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		masker, err := redact.New(redact.Options{})
		r.must(err)
		r.masker = masker
		token := "ghp_" + alphanumeric(rand.New(rand.NewPCG(1, 0)), 36)
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		says := func(kind sessions.LineKind, ends bool, lines ...string) {
			t.Helper()
			r.must(r.house.Print("pb_1", adaptertest.Output{Lines: lines, Kind: kind, Begins: true, Ends: ends}))
			r.pass(10 * time.Second)
		}
		says(sessions.KindAnswer, false, "The token is "+token+", it works. I've tried.")
		says(sessions.KindTool, false, "go test ./...")
		r.ends("pb_1")
		r.pass(time.Minute)
		says(sessions.KindAnswer, true, "And all tests pass.")
		r.pass(time.Minute)
		r.wantTexts(
			"a", "-1", "The token is ghp_…[masked: GitHub token], it works. I've tried.\ngo test ./...",
			"done · 20 s · “The token is ghp_…[masked: GitHub token], it works.”", "And all tests pass.\ndone · less than 1 s",
		)
	})
}
