package inbound

import (
	"context"
	"math/rand/v2"
	"time"
)

// maxRest is the longest rest that we choose ourselves.
const maxRest = 30 * time.Second

// RestAfter is how long a platform's reader rests after so many failures in a row: from
// a second to half a minute, less up to a third by chance.
func RestAfter(fails int) time.Duration {
	d := min(time.Second<<min(max(fails, 1)-1, 5), maxRest)
	return d - rand.N(d/3)
}

// RestDenied is how long to rest after a call that was refused as if a person had to do
// something first, so many times in a row: about 5 s, then longer, up to 45 s. What's refused
// once may be a server in trouble.
func RestDenied(times int) time.Duration {
	d := min(5*time.Second<<min(max(times, 1)-1, 4), maxDenied)
	return d - rand.N(d/5)
}

// maxDenied is the longest rest after a refusal.
const maxDenied = 45 * time.Second

// Pause lets time pass; an error says that ctx ended.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
