package discordtest

import (
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// naive counts arrivals in a window without being clever.
func naive(log []time.Time, per time.Duration, now time.Time) int {
	n := 0
	for _, at := range log {
		if at.After(now.Add(-per)) && !at.After(now) {
			n++
		}
	}
	return n
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// arriving is a call of a route to a channel.
func arriving(name, channel string, at time.Time) *call {
	return &call{
		Call: &Call{At: at}, route: &route{name: name}, vars: map[string]string{"channel": channel}, headers: http.Header{},
	}
}

// Random callers, most of them rude: what's let through never exceeds a bucket's
// window as that window runs, nor the global one in any second; and what's refused
// really had no room.
func TestWindowsEqualANaiveRecount(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		g := newGuard(Limits{Global: Window{20, time.Second}}.withDefaults())
		now := start
		type window struct {
			begins time.Time
			n      int
		}
		windows, global := map[bucketKey]*window{}, []time.Time{}
		for range rapid.IntRange(1, 400).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "ms")) * time.Millisecond / 2)
			name := rapid.SampledFrom([]string{"CreateMessage", "EditMessage", "React"}).Draw(t, "route")
			k := bucketKey{name, rapid.SampledFrom([]string{"1", "2"}).Draw(t, "channel")}
			limit := g.limits.Routes[name]
			w := windows[k]
			if w == nil {
				w = &window{begins: now.Add(-time.Hour)}
				windows[k] = w
			}
			c := arriving(name, k.major, now)
			r := g.arrive(c, false)
			crowded := naive(global, time.Second, now) >= 20
			if crowded != (r != nil && r.scope == ScopeGlobal) {
				t.Fatalf("%d in the last second, and the call got %+v", naive(global, time.Second, now), r)
			}
			if crowded {
				continue
			}
			global = append(global, now)
			if now.Sub(w.begins) >= limit.Per {
				w.begins, w.n = now, 0
			}
			if full := w.n >= limit.Calls; full != (r != nil) {
				t.Fatalf("%v has %d in its window, and the call got %+v", k, w.n, r)
			}
			if r == nil {
				w.n++
			} else if want := w.begins.Add(limit.Per).Sub(now); r.retryAfter != max(want, time.Millisecond) {
				t.Fatalf("told to wait %v, the window ends in %v", r.retryAfter, want)
			}
		}
		for k, log := range g.logs {
			per, most := g.limits.Routes[k.name].Per, 0
			for _, at := range log {
				most = max(most, naive(log, per, at))
			}
			if got := log.worst(per); got != most {
				t.Fatalf("%v: the worst is %d, naively %d", k, got, most)
			}
		}
	})
}

// Whoever waits what it's told, and no more, is let through, at hidden limits too.
func TestRetryAfterIsEnough(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		g := newGuard(Limits{}.withDefaults())
		now := start
		tries := map[string]func() *refusal{
			"message": func() *refusal { return g.arrive(arriving("CreateMessage", "1", now), false) },
			"rename":  func() *refusal { return g.rename("1", now) },
			"edit":    func() *refusal { return g.oldEdit("1", now) },
			"thread":  func() *refusal { return g.newThread("1", now) },
		}
		for range 200 {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			what := rapid.SampledFrom([]string{"message", "rename", "edit", "thread"}).Draw(t, "what")
			r := tries[what]()
			if r == nil {
				continue
			}
			now = now.Add(r.retryAfter)
			if again := tries[what](); again != nil {
				t.Fatalf("%s: refused again, for %v, after waiting %v", what, again.retryAfter, r.retryAfter)
			}
		}
	})
}

// Hidden limits are sliding: no span ever has more than the window allows.
func TestHiddenLimitsSlide(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		g := newGuard(Limits{}.withDefaults())
		now := start
		var through []time.Time
		for range 100 {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "s")) * time.Second)
			room := naive(through, 10*time.Minute, now) < 2
			if (g.rename("1", now) == nil) != room {
				t.Fatalf("room is %v after %v", room, now.Sub(start))
			}
			if room {
				through = append(through, now)
			}
		}
	})
}
