package qos_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/qos"
)

// TestAFinalGoesWhenItsPenaltyLifts: the end of a turn that was refused is the probe, however short the penalty is, and
// doesn't wait for the pace that the penalty cut.
func TestAFinalGoesWhenItsPenaltyLifts(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) (bad []string) {
		t.Helper()
		asked := time.Duration(rapid.IntRange(1, 40).Draw(rt, "seconds of silence")) * time.Second
		refusals := rapid.IntRange(1, 3).Draw(rt, "refusals")
		streams := rapid.IntRange(0, 5).Draw(rt, "streams before")
		inArena(t, qos.Options{}, nil, func(a *arena) {
			a.open("doc", group)
			for i := range streams {
				a.want("doc", int64(i+1), false)
				a.pass(4 * time.Second)
			}
			left := refusals
			a.answers(func(qos.Call) *qos.CallResult {
				if left--; left >= 0 {
					return throttled(asked)
				}
				return nil
			})
			a.want("doc", 100, true)
			a.pass(time.Duration(refusals+1) * (asked + 2*time.Second))
			finals := a.made(func(g grant) bool { return g.Class == qos.Final })
			if len(finals) != refusals+1 {
				bad = append(bad, fmt.Sprintf("%d calls for a final that was refused %d times", len(finals), refusals))
			}
			for i, gap := range gaps(finals) {
				if gap < asked || gap > asked+1100*time.Millisecond {
					bad = append(bad, fmt.Sprintf("after the %d. refusal it came again in %v, the penalty is %v and a second at most", i+1, gap, asked))
				}
			}
		})
		return bad
	})
}
