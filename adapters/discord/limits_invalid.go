package discord

import "time"

// "10,000 invalid requests in 10 minutes" ban the address: answers with 401, 403 and
// 429 (docs.discord.com/developers/topics/rate-limits).
const (
	invalidMost   = 10_000
	invalidWindow = 10 * time.Minute
	// invalidSpare is from how many on nothing is called that nobody misses much, and
	// invalidAll from how many on nothing is called at all.
	invalidSpare = 5_000
	invalidAll   = 9_000
	// invalidStep is how exactly it's counted.
	invalidStep = 10 * time.Second
)

// invalid counts the invalid requests of the last ten minutes, and a step more.
type invalid struct {
	steps [invalidWindow/invalidStep + 1]int
	at    int64 // the newest step: its number since 1970
	total int
}

// turn forgets what's too old.
func (v *invalid) turn(now time.Time) {
	at := now.UnixNano() / int64(invalidStep)
	for range min(at-v.at, int64(len(v.steps))) {
		v.at++
		i := v.index(v.at)
		v.total -= v.steps[i]
		v.steps[i] = 0
	}
	v.at = max(v.at, at)
}

func (v *invalid) index(at int64) int {
	n := int64(len(v.steps))
	return int((at%n + n) % n)
}

func (v *invalid) add(now time.Time) {
	v.turn(now)
	v.steps[v.index(v.at)]++
	v.total++
}

func (v *invalid) count(now time.Time) int {
	v.turn(now)
	return v.total
}
