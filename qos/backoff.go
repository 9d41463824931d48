package qos

import (
	"math/rand/v2"
	"time"
)

// Back-off after failures that aren't "too many requests": exponential with full
// jitter, per chat, so that chats that failed together don't come back together.
const (
	backoffLeast = time.Second
	backoffMost  = 30 * time.Second // what works again is noticed within a minute
)

type backoff struct {
	failures int
	until    time.Time
}

func (b *backoff) failed(now time.Time, random *rand.Rand) {
	ceiling := backoffMost
	if b.failures < 5 { // 1 s << 5 is above half a minute
		ceiling = backoffLeast << b.failures
	}
	b.failures++
	b.until = now.Add(time.Duration(random.Int64N(int64(ceiling)) + 1))
}

// wait has nothing go before a time, which says nothing about how well calls go.
func (b *backoff) wait(until time.Time) { b.until = until }

// excuses are failures whose calls count for no pace and have no document rest, so that what
// failed is made again as soon as the back-off is over: two in ten seconds. In trouble that
// lasts, calls keep to the pace.
type excuses [2]time.Time // when the last ones were taken, oldest first

const excusesPer = 10 * time.Second

// take takes an excuse, and reports whether there was one.
func (x *excuses) take(now time.Time) bool {
	if now.Before(x[0].Add(excusesPer)) {
		return false
	}
	x[0], x[1] = x[1], now
	return true
}

func (b *backoff) reset() { *b = backoff{} }
