package redisbucket

import (
	"time"

	"github.com/panebridge/panebridge/qos"
)

// grant is one of the process's own calls, from the question until no window holds
// it any more. It's what the process can merge into a Redis that has forgotten.
type grant struct {
	id    qos.PermitID // of local; it names the permit
	share qos.PermitID // of share
	lane  lane
	state grantState
	// stamp is when the call was answered; until that's known, the latest it could be.
	stamp time.Time
}

type grantState uint8

const (
	asking   grantState = iota // not granted yet, as far as is known
	inFlight                   // granted
	settled                    // answered
	gone                       // given back; kept until Redis knows
)

// prune forgets what no window holds any more. b.mu is held.
func (b *Budget) prune(now time.Time) {
	for id, g := range b.grants {
		limit, _ := limitOf(b.limits, g.lane.chat, g.lane.family)
		keep := max(longest(limit.Windows), longest(b.limits.Bot.Windows), time.Minute)
		if now.Sub(g.stamp) > keep+time.Second {
			delete(b.grants, id)
		}
	}
	for l, at := range b.seats {
		if now.Sub(at) >= seatLasts {
			delete(b.seats, l)
		}
	}
	for s, p := range b.penalties {
		if now.After(p.Until) {
			delete(b.penalties, s)
		}
	}
	for s, l := range b.learned {
		if now.After(l.Reset) {
			delete(b.learned, s)
		}
	}
}
