package discordtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// guard counts calls and refuses those that are too many. It knows nothing of
// what they do.
type guard struct {
	limits   Limits
	buckets  map[bucketKey]*bucket
	logs     map[bucketKey]arrivals // of every bucket, refused calls included
	global   arrivals               // those that were let through
	silence  time.Time              // of the whole bot, by a Fault
	hidden   map[hiddenKey]arrivals
	invalids arrivals
	banUntil time.Time
}

func newGuard(limits Limits) *guard {
	return &guard{
		limits: limits, buckets: map[bucketKey]*bucket{}, logs: map[bucketKey]arrivals{}, hidden: map[hiddenKey]arrivals{},
	}
}

// arrive counts a call and refuses it if its time hasn't come.
func (g *guard) arrive(c *call, noReset bool) *refusal {
	if !c.route.free {
		if r := g.arriveGlobal(c.At); r != nil {
			r.noReset = noReset
			return r
		}
	}
	return g.arriveBucket(c)
}

func (g *guard) arriveGlobal(now time.Time) *refusal {
	if rest := g.silence.Sub(now); rest > 0 {
		return tooMany(ScopeGlobal, rest)
	}
	if rest := g.global.room(g.limits.Global, now); rest > 0 {
		return tooMany(ScopeGlobal, rest)
	}
	g.global = append(g.global, now)
	return nil
}

// invalid counts an answer of the kind that a ban follows
// (docs.discord.com/developers/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans).
func (g *guard) invalid(r *refusal, now time.Time) {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return
	}
	if r.scope == ScopeShared || r.html {
		return
	}
	g.invalids = append(g.invalids, now)
	if w := g.limits.Invalid; g.invalids.within(w.Per, now) >= w.Calls {
		g.banUntil = now.Add(g.limits.Ban)
	}
}

// banned refuses whoever has made too many invalid requests, in the words of the
// wall in front of Discord: no JSON, no scope, no limits.
func (g *guard) banned(now time.Time, status int) *refusal {
	rest := g.banUntil.Sub(now)
	if rest <= 0 {
		return nil
	}
	return &refusal{status: status, text: "error code: 1015", retryAfter: rest, html: true}
}

// InvalidRequests returns how many answers of the last ten minutes (Limits.Invalid)
// count towards a ban.
func (s *Server) InvalidRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard.invalids.within(s.guard.limits.Invalid.Per, now())
}

// Banned returns until when the bot's address is shut out; zero if it isn't.
func (s *Server) Banned() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now().Before(s.guard.banUntil) {
		return s.guard.banUntil
	}
	return time.Time{}
}

// Worst is the most calls that a window ever had.
type Worst struct {
	Call  string // the name of one that counts there; empty for the global limit
	Major string // the channel, guild or interaction; empty for the bot
	Window
	Most int
}

// Worst returns, for every limit that's shown in headers and for the global one,
// the most calls that any span of its length had, the fullest first. It counts the
// log anew, refused calls included, and counts sliding spans, where Discord's own
// begin with a call.
func (s *Server) Worst() []Worst {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.guard.limits.Global
	list := []Worst{{Window: w, Most: s.guard.global.worst(w.Per)}}
	for k, log := range s.guard.logs {
		w := s.guard.limits.Routes[k.name]
		list = append(list, Worst{k.name, k.major, w, log.worst(w.Per)})
	}
	slices.SortFunc(list, func(a, b Worst) int {
		if a.Most*b.Calls != b.Most*a.Calls {
			return b.Most*a.Calls - a.Most*b.Calls
		}
		return strings.Compare(a.Call+a.Major, b.Call+b.Major)
	})
	return list
}
