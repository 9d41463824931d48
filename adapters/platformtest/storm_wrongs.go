package platformtest

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

// Answered is what happens to a call that never arrives, and gets an answer.
func Answered(a *faults.Answer) func(*rand.Rand) (faults.Fate, time.Duration) {
	return func(*rand.Rand) (faults.Fate, time.Duration) { return faults.Fate{Lost: true, Answer: a}, 0 }
}

// CommonWrongs are what goes wrong on each platform: what networks do, and proxies. odd are
// answers that are none to what was asked.
func CommonWrongs(odd []faults.Answer) []Wrong {
	page := func(status int) *faults.Answer {
		return &faults.Answer{Status: status, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>no</html>"}
	}
	maybe := func(f faults.Fate) func(*rand.Rand) (faults.Fate, time.Duration) {
		return func(r *rand.Rand) (faults.Fate, time.Duration) {
			f.Lost = r.IntN(2) == 0 // before the effect, or after it
			return f, 0
		}
	}
	slow := func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(25000)) * time.Millisecond }
	return []Wrong{
		{Name: "internal error", Draw: maybe(faults.Fate{Answer: page(http.StatusInternalServerError)})},
		{Name: "bad gateway", Draw: maybe(faults.Fate{Answer: page(http.StatusBadGateway)})},
		{Name: "a proxy's no", Draw: Answered(page(http.StatusForbidden))},
		{Name: "reset", Draw: maybe(faults.Fate{End: faults.Reset})},
		{Name: "half an answer", Draw: maybe(faults.Fate{End: faults.Half})},
		{Name: "slow there", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) { return faults.Fate{Here: slow(r)}, 0 }},
		{Name: "slow back", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) { return faults.Fate{Back: slow(r)}, 0 }},
		{Name: "an odd answer", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) {
			return faults.Fate{Lost: r.IntN(2) == 0, Answer: &odd[r.IntN(len(odd))]}, 0
		}},
	}
}
