package discord

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
)

// The headers of limits (docs.discord.com/developers/topics/rate-limits).
const (
	headerLimits     = "X-Ratelimit-" // begins all of them, in the spelling of net/http
	headerLimit      = "X-RateLimit-Limit"
	headerRemaining  = "X-RateLimit-Remaining"
	headerResetAfter = "X-RateLimit-Reset-After"
	headerBucket     = "X-RateLimit-Bucket"
	headerScope      = "X-RateLimit-Scope"
	headerGlobal     = "X-RateLimit-Global"
)

// scopeShared is of a limit that's used by others too: its 429s don't count as invalid
// requests.
const scopeShared = "shared"

const (
	// proxySilence is how long nothing is called when something in front of Discord says no of
	// which nobody knows what it is; it's twice as long each time, up to mostProxy.
	proxySilence = time.Second
	mostProxy    = 40 * time.Second
	// mostForeign is the longest that the guard in front of Discord is believed to
	// silence an address, where it doesn't say: field reports have an hour.
	mostForeign = time.Hour
	// manyBuckets is from how many buckets on those that say nothing any more are
	// forgotten.
	manyBuckets = 1000
)

// rateLimits are what Discord's answers have said about what may be called. A bucket is
// known by its hash and the top-level resource of the call; which hash a call has is
// known once it was answered.
//
// What's here refuses, and never waits: who is to wait is decided in qos, which is
// told the same.
type rateLimits struct {
	mu      sync.Mutex
	hashes  map[string]string // by call.route
	buckets map[string]*bucket
	scopes  map[qos.Scope][]*bucket

	global  time.Time // the bot is to be silent until
	blocked time.Time // the address isn't let through until
	guard   failure   // with which it wasn't
	strikes int       // how often, since anything was accepted
	proxied int       // how often a proxy refused calls meanwhile
	denied  time.Time // the token wasn't taken: not called until
	denials int       // how often it wasn't, in a row
	invalid invalidRequests
}

// bucket is a limit as the newest answer has it.
type bucket struct {
	limit     int // 0: not known
	remaining int
	reset     time.Time
	inFlight  int
	silent    time.Time // ordered by a 429
}

func newLimits() *rateLimits {
	return &rateLimits{hashes: map[string]string{}, buckets: map[string]*bucket{}, scopes: map[qos.Scope][]*bucket{}}
}

// limitedCall is a request as limits see it.
type limitedCall struct {
	route   string // "POST channels/{id}/messages"
	major   string // the top-level resource: "channels/1"; may have a secret in it
	outside bool   // of an interaction or a webhook: the bot's own limits don't count it
}

// callOf reads a call's path, which is without its version.
func callOf(method, path string) limitedCall {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var c limitedCall
	majors := 0
	switch parts[0] {
	case "channels", "guilds":
		majors = 2
	case "webhooks", "interactions":
		c.outside = true
		majors = 3
	}
	c.major = strings.Join(parts[:min(majors, len(parts))], "/")
	for i := range parts {
		switch {
		case c.outside && i == 2:
			parts[i] = "{token}"
		case i > 0 && parts[i-1] == "reactions":
			parts[i] = "{emoji}"
		case isID(parts[i]):
			parts[i] = "{id}"
		}
	}
	c.route = method + " " + strings.Join(parts, "/")
	return c
}

// routeOf names a call in errors.
func routeOf(method, path string) string { return callOf(method, path).route }

// bucketOf is the bucket of a call. mu is held.
func (l *rateLimits) bucketOf(c limitedCall) *bucket {
	hash, ok := l.hashes[c.route]
	if !ok {
		hash = c.route
	}
	key := hash + " " + c.major
	b := l.buckets[key]
	if b == nil {
		b = &bucket{}
		l.buckets[key] = b
	}
	return b
}

// beginCall says why a call would surely be refused; nil: it may be made, and end must
// follow, with the bucket that it's counted in.
func (l *rateLimits) beginCall(now time.Time, c limitedCall, p callPurpose) (*bucket, *failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetBuckets(now)
	b := l.bucketOf(c)
	f := l.refusalOf(now, c, p, b)
	if f == nil {
		b.inFlight++
	}
	return b, f
}

// endCall says that a call is over, whatever came of it.
func (l *rateLimits) endCall(b *bucket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.inFlight--
}

// refusalOf is why a call would surely be refused. mu is held.
func (l *rateLimits) refusalOf(now time.Time, c limitedCall, p callPurpose, b *bucket) *failure {
	no := func(outcome qos.CallOutcome, until time.Time, text string) *failure {
		return &failure{local: true, CallFailure: exchange.CallFailure{
			Platform: "Discord", Call: c.route, Deed: deeds[c.route], Outcome: outcome, RetryAfter: until.Sub(now), Text: text,
		}}
	}
	switch {
	case now.Before(l.blocked):
		f := no(l.guard.Outcome, l.blocked, "not called: "+l.guard.Text)
		if l.guard.proxy { // what waits goes then; as a failure it would back off for longer
			f.Outcome = qos.NotSent
		}
		f.Status, f.Global, f.guard = l.guard.Status, l.guard.Global, true
		return f
	case now.Before(l.denied):
		f := no(qos.NotSent, l.denied, adviceToken)
		f.Status = http.StatusUnauthorized
		return f
	case now.Before(l.global) && !c.outside:
		f := no(qos.Throttled, l.global, "not called: Discord has silenced the bot")
		f.Global = true
		return f
	case now.Before(b.silent):
		return no(qos.Throttled, b.silent, "not called: Discord has ordered silence")
	}
	if n := l.invalid.count(now); n >= invalidAll || n >= invalidSpare && p.spare {
		return no(qos.NotSent, now.Add(invalidStep), fmt.Sprintf(
			"not called: Discord has refused %d calls in the last %s, and bans addresses for %d", n, invalidWindow, invalidMost))
	}
	if now.Before(b.reset) && b.remaining <= b.inFlight || b.limit > 0 && b.inFlight >= b.limit {
		return no(qos.NotSent, laterOf(b.reset, now.Add(time.Millisecond)), "not called: its limit is used up")
	}
	return nil
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// learnHeaders takes in the headers of an answer. What it returns is the tightest of the
// buckets that calls with this scope fall into; ok is false if there's nothing to say.
func (l *rateLimits) learnHeaders(now time.Time, c limitedCall, scope qos.Scope, h http.Header) (_ qos.Learned, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learnHash(c, h.Get(headerBucket))
	b := l.bucketOf(c)
	after, err := strconv.ParseFloat(h.Get(headerResetAfter), 64)
	remaining, err2 := strconv.Atoi(h.Get(headerRemaining))
	if err == nil && err2 == nil {
		reset := now.Add(seconds(after))
		if now.Before(b.reset) && reset.Before(b.reset.Add(sameWindow)) {
			remaining = min(remaining, b.remaining) // answers may overtake each other
		}
		b.remaining, b.reset = remaining, reset
		if limit, err := strconv.Atoi(h.Get(headerLimit)); err == nil {
			b.limit = limit
		}
	}
	if scope == (qos.Scope{}) {
		return qos.Learned{}, false
	}
	return l.tightestBucket(now, scope, b)
}

// sameWindow is by how much two answers may differ about when their window ends.
const sameWindow = 500 * time.Millisecond

// learnHash takes in which bucket a call falls into. mu is held.
func (l *rateLimits) learnHash(c limitedCall, hash string) {
	if hash == "" || l.hashes[c.route] == hash {
		return
	}
	silent := l.bucketOf(c).silent
	l.hashes[c.route] = hash
	b := l.bucketOf(c)
	b.silent = laterOf(b.silent, silent)
}

// tightestBucket is what's known of a scope, to which a bucket belongs. mu is held.
func (l *rateLimits) tightestBucket(now time.Time, scope qos.Scope, b *bucket) (learned qos.Learned, ok bool) {
	known := false
	for _, o := range l.scopes[scope] {
		known = known || o == b
	}
	if !known {
		l.scopes[scope] = append(l.scopes[scope], b)
	}
	for _, o := range l.scopes[scope] {
		if !now.Before(o.reset) {
			continue
		}
		if !ok || o.remaining < learned.Remaining || o.remaining == learned.Remaining && o.reset.After(learned.Reset) {
			learned, ok = qos.Learned{Limit: o.limit, Remaining: o.remaining, Reset: o.reset}, true
		}
	}
	return learned, ok
}

// noteAccepted takes in that Discord did as it was told.
func (l *rateLimits) noteAccepted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strikes, l.proxied, l.denied, l.denials = 0, 0, time.Time{}, 0
}

// noteRefused takes in that Discord refused a call. It may prolong the order of silence.
func (l *rateLimits) noteRefused(now time.Time, c limitedCall, f *failure, h http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	shared := h.Get(headerScope) == scopeShared
	switch f.Status {
	case http.StatusUnauthorized:
		if !c.outside && !now.Before(l.denied) { // those that were under way count once
			l.denials++
			rest := intake.RestDenied(l.denials - 1)
			if l.denials == 1 { // a server in trouble says that once
				rest = intake.RestAfter(1)
			}
			l.denied = now.Add(rest)
		}
	case http.StatusForbidden:
	case http.StatusTooManyRequests:
		if shared {
			break
		}
	default:
		return
	}
	if !shared {
		l.invalid.add(now)
	}
	var until *time.Time
	switch {
	case f.guard:
		strikes, first, most := &l.strikes, foreignSilence, mostForeign
		if f.proxy {
			strikes, first, most = &l.proxied, proxySilence, mostProxy
		}
		if *strikes == 0 || !now.Before(l.blocked) { // those that were under way count once
			*strikes++
		}
		f.RetryAfter = max(f.RetryAfter, min(first<<min(*strikes-1, 10), most))
		l.guard, until = *f, &l.blocked
	case f.Outcome != qos.Throttled:
		return
	case f.Global:
		until = &l.global
	default:
		until = &l.bucketOf(c).silent
	}
	*until = laterOf(*until, now.Add(f.RetryAfter))
}

// forgetBuckets forgets buckets that say nothing any more, if there are many. mu is held.
func (l *rateLimits) forgetBuckets(now time.Time) {
	if len(l.buckets) < manyBuckets {
		return
	}
	over := func(b *bucket) bool {
		return b.inFlight == 0 && !now.Before(b.reset) && !now.Before(b.silent)
	}
	for key, b := range l.buckets {
		if over(b) {
			delete(l.buckets, key)
		}
	}
	for scope, list := range l.scopes {
		kept := list[:0]
		for _, b := range list {
			if !over(b) {
				kept = append(kept, b)
			}
		}
		if clear(list[len(kept):]); len(kept) == 0 {
			delete(l.scopes, scope)
		} else {
			l.scopes[scope] = kept
		}
	}
}

// stripLimits takes from an answer what the library would sleep for.
func stripLimits(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, headerLimits) || name == "Retry-After" {
			delete(h, name)
		}
	}
}

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

// invalidRequests counts the invalid requests of the last ten minutes, and a step more.
type invalidRequests struct {
	steps [invalidWindow/invalidStep + 1]int
	at    int64 // the newest step: its number since 1970
	total int
}

// forgetOld forgets what's too old.
func (v *invalidRequests) forgetOld(now time.Time) {
	at := now.UnixNano() / int64(invalidStep)
	for range min(at-v.at, int64(len(v.steps))) {
		v.at++
		i := v.index(v.at)
		v.total -= v.steps[i]
		v.steps[i] = 0
	}
	v.at = max(v.at, at)
}

func (v *invalidRequests) index(at int64) int {
	n := int64(len(v.steps))
	return int((at%n + n) % n)
}

func (v *invalidRequests) add(now time.Time) {
	v.forgetOld(now)
	v.steps[v.index(v.at)]++
	v.total++
}

func (v *invalidRequests) count(now time.Time) int {
	v.forgetOld(now)
	return v.total
}
