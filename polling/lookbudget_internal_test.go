package polling

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// However long looks take and whenever they're wanted, from any moment on they take a fifth of the time at most, but for
// followBurst and a look that's under way; and one that's wanted after a pause begins at once.
func TestLooksTakeAFifthOfTheTime(t *testing.T) {
	type look struct{ start, end time.Time }
	drawtest.Check(t, func(rt *rapid.T) {
		b := LookBudget{Share: followShare, Burst: followBurst}
		var looks []look
		now := time.Unix(1e9, 0)
		for range rapid.IntRange(1, 200).Draw(rt, "looks") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 5, 40, 2000}).Draw(rt, "wanted after ms")) * time.Millisecond)
			if idle := len(looks) > 0 && now.Sub(looks[len(looks)-1].end) >= 2*time.Second; idle && b.NextAt().After(now) {
				rt.Fatalf("after two seconds without a look the next has to wait for %v", b.NextAt().Sub(now))
			}
			now = latest(now, b.NextAt())
			took := time.Duration(rapid.IntRange(0, 60_000).Draw(rt, "µs")) * time.Microsecond
			looks = append(looks, look{now, now.Add(took)})
			now = now.Add(took)
			b.Charge(now, took)
		}
		for i := range looks {
			var sum time.Duration
			for _, l := range looks[i:] {
				if most := (l.start.Sub(looks[i].start) + followBurst) / (followShare + 1); sum > most {
					rt.Fatalf("%v of looks in %v", sum, l.start.Sub(looks[i].start))
				}
				sum += l.end.Sub(l.start)
			}
		}
	})
}
