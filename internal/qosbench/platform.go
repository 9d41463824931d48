package qosbench

import (
	"math/rand/v2"
	"time"
)

// limit is what the platform allows: so many calls per window in a chat. Telegram:
// "bots are not able to send more than 20 messages per minute to the same group"
// (core.telegram.org/bots/faq).
const (
	limitCalls  = 20
	limitWindow = time.Minute
)

// verdict is what the platform says to a call.
type verdict uint8

const (
	accepted  verdict = iota
	throttled         // too many requests
	failed            // an error that passes (5xx), and nothing was done
	broken            // a 5xx or a closed connection, which leaves open whether it was done
)

// answer is the platform's answer.
type answer struct {
	verdict    verdict
	retryAfter time.Duration // throttled
	done       bool          // broken: the chat shows it
}

// platform is one chat on the other side of the network. It knows nothing of who
// calls.
type platform struct {
	refuse   bool          // too many requests are refused
	penalty  time.Duration // a "too many requests" without reason: how long, and from when
	from     time.Duration
	failures float64 // share of the calls that fail
	breaks   float64 // share of the calls that break, half of them after they were done

	random   *rand.Rand
	arrivals []time.Duration // of all calls, in order
	good     []time.Duration // of those that were accepted
	silent   time.Duration   // until then every call is refused
	inside   int             // calls that arrived while it was silent
}

// arrive takes in a call.
func (p *platform) arrive(now time.Duration) answer {
	p.arrivals = append(p.arrivals, now)
	if p.penalty > 0 && now >= p.from {
		p.silent = now + p.penalty
		p.penalty = 0
		return answer{verdict: throttled, retryAfter: p.silent - now}
	}
	if now < p.silent {
		p.inside++
		return answer{verdict: throttled, retryAfter: wholeSeconds(p.silent - now)}
	}
	if p.failures > 0 && p.random.Float64() < p.failures {
		return answer{verdict: failed}
	}
	if p.breaks > 0 && p.random.Float64() < p.breaks {
		return answer{verdict: broken, done: p.random.IntN(2) == 0}
	}
	if n := len(p.good); p.refuse && n >= limitCalls {
		if free := p.good[n-limitCalls] + limitWindow; free > now {
			return answer{verdict: throttled, retryAfter: wholeSeconds(free - now)}
		}
	}
	p.good = append(p.good, now)
	return answer{}
}

// worstWindow is the most calls that arrived in any half-open stretch of a
// window's length.
func (p *platform) worstWindow() int {
	worst, first := 0, 0
	for i, at := range p.arrivals {
		for at-p.arrivals[first] >= limitWindow {
			first++
		}
		worst = max(worst, i-first+1)
	}
	return worst
}

// wholeSeconds rounds up, as retry_after is a whole number.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1) / time.Second * time.Second
}
