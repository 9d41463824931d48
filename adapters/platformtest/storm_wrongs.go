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
		{Name: "internal error", Lasts: true, Draw: maybe(faults.Fate{Answer: page(http.StatusInternalServerError)})},
		{Name: "bad gateway", Lasts: true, Draw: maybe(faults.Fate{Answer: page(http.StatusBadGateway)})},
		{Name: "a proxy's no", Lasts: true, Draw: Answered(page(http.StatusForbidden))},
		{Name: "reset", Lasts: true, Draw: maybe(faults.Fate{End: faults.Reset})},
		{Name: "half an answer", Draw: maybe(faults.Fate{End: faults.Half})},
		{Name: "slow there", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) { return faults.Fate{Here: slow(r)}, 0 }},
		{Name: "slow back", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) { return faults.Fate{Back: slow(r)}, 0 }},
		{Name: "an odd answer", Lasts: true, Draw: func(r *rand.Rand) (faults.Fate, time.Duration) {
			return faults.Fate{Lost: r.IntN(2) == 0, Answer: &odd[r.IntN(len(odd))]}, 0
		}},
	}
}

// Silence is an order of silence for up to 20 s, now and then for up to ten minutes. forms are
// its forms for so many seconds; the orders of timeless don't say for how long, which counts as a
// second.
func Silence(forms func(n int) []*faults.Answer, timeless ...*faults.Answer) Wrong {
	return Wrong{Name: "silence", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) {
		n := 1 + r.IntN(20)
		if r.IntN(20) == 0 {
			n = 1 + r.IntN(600)
		}
		all := forms(n)
		i := r.IntN(len(all) + len(timeless))
		if i >= len(all) {
			return faults.Fate{Lost: true, Answer: timeless[i-len(all)]}, time.Second
		}
		return faults.Fate{Lost: true, Answer: all[i]}, time.Duration(n+1) * time.Second
	}}
}
