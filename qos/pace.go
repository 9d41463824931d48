package qos

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// pacer keeps calls a tick apart: a token bucket, of one token unless said
// otherwise. It shapes and never guards, because a bucket lets more than its rate
// through in one window. A tick of zero means no pace.
//
// A call that waited for something else (another call in flight, the gap after a
// command) takes its token as of when it could have gone, at most a tick ago. So
// what others cost a stream of calls is made up for, and yet nothing bursts after a
// rest.
//
// The limiter is only ever given times that don't go back: an older one would mint
// tokens.
type pacer struct {
	limiter *rate.Limiter
	tick    time.Duration
	tokens  int       // that are saved at most
	last    time.Time // what the limiter was given last
	credit  bool      // a token came back because no call was made
}

// set changes the tick from now on. At most so many tokens are saved.
func (p *pacer) set(now time.Time, tick time.Duration, tokens int) {
	if tick == p.tick && tokens == p.tokens {
		return
	}
	p.tick, p.tokens = tick, tokens
	switch {
	case tick <= 0:
		p.limiter, p.credit = nil, false
	case p.limiter == nil:
		p.limiter = rate.NewLimiter(rate.Every(tick), tokens)
		p.limiter.ReserveN(now, tokens-1) // what's saved must have been left over first
		p.last = now
	default:
		p.limiter.SetLimitAt(now, rate.Every(tick))
		p.limiter.SetBurstAt(now, tokens)
		p.last = now
	}
}

// next is the earliest time for a call: now, or later.
func (p *pacer) next(now time.Time) time.Time {
	if p.limiter == nil || p.credit {
		return now
	}
	return now.Add(p.missing(now))
}

// missing is how long a token takes from now.
func (p *pacer) missing(now time.Time) time.Duration {
	wait := (1 - p.limiter.TokensAt(now)) * float64(p.tick)
	if wait < 0.5 { // tokens are a float: this much of one, in nanoseconds, is none
		return 0
	}
	return time.Duration(math.Ceil(wait))
}

// take spends a token for a call that has been waiting since due. If there's none
// yet (the budget took its time over the answer, meanwhile the pace changed), later
// calls make up for it.
func (p *pacer) take(now, due time.Time) {
	switch {
	case p.limiter == nil:
		return
	case p.credit:
		p.credit = false
		if p.missing(now) > 0 { // what's saved by now takes its place
			return
		}
	}
	at := later(later(p.last, due), now.Add(-p.tick))
	if at = at.Add(p.missing(at)); at.After(now) {
		at = now
	}
	p.limiter.ReserveN(at, 1)
	p.last = at
}

// behind says whether so much was taken already that the next token is further
// away than a time.
func (p *pacer) behind(now time.Time, most time.Duration) bool {
	return p.limiter != nil && p.missing(now) > most
}

// giveBack returns a token for a call that wasn't made. (A Reservation can't be
// cancelled once its time has come.)
func (p *pacer) giveBack() { p.credit = p.limiter != nil }
