package telegramtest

import (
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

// Random callers, most of them rude, against a recount of the log.
func TestWindowsEqualANaiveRecount(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		g := newGuard(Limits{})
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		now := start
		log := map[Key][]time.Time{}
		chats := []int64{1, 2, -3, -4} // the positive ones are private
		families := []Family{Messages, Typing, Menus, Free}
		silent := map[Key]time.Time{}
		for range rapid.IntRange(1, 400).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			k := Key{rapid.SampledFrom(chats).Draw(t, "chat"), rapid.SampledFrom(families).Draw(t, "family")}
			if k.Family == Menus {
				k.Chat = 0
			}
			silence, inside := g.arrive(k, k.Chat > 0, now)
			if k.Family == Free {
				if silence != 0 {
					t.Fatal("a free call was refused")
				}
				continue
			}
			over := false
			for _, c := range counting(k) {
				log[c] = append(log[c], now)
				for _, w := range g.limits.windowsOf(c, k.Chat > 0) {
					got, want := g.arrivals.count(c, w.Per, now), naive(log[c], w.Per, now)
					if got != want {
						t.Fatalf("%v: %d in %v, naively %d", c, got, w.Per, want)
					}
					over = over || want > w.Calls
				}
			}
			shouldBeSilent := false
			for _, s := range silencing(k) {
				shouldBeSilent = shouldBeSilent || now.Before(silent[s])
			}
			if inside != shouldBeSilent {
				t.Fatalf("%v at %v: inside a penalty is %v, want %v", k, now.Sub(start), inside, shouldBeSilent)
			}
			if (silence > 0) != (inside || over) {
				t.Fatalf("%v at %v: silence %v, but over is %v and inside %v", k, now.Sub(start), silence, over, inside)
			}
			for _, p := range g.inForce(now) {
				if p.Until.Before(silent[p.Key]) {
					t.Fatalf("the penalty of %v was shortened", p.Key)
				}
				silent[p.Key] = p.Until
			}
		}
		for k, list := range log {
			for _, w := range g.limits.windowsOf(k, k.Chat > 0) {
				most := 0
				for _, at := range list {
					most = max(most, naive(list, w.Per, at))
				}
				if got := g.arrivals.worst(k, w.Per); got != most {
					t.Fatalf("%v: the worst of %v is %d, naively %d", k, w.Per, got, most)
				}
			}
		}
	})
}

// Whoever waits what he's told, and no more, is let through.
func TestRetryAfterIsEnough(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		g := newGuard(Limits{})
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		k := Key{-1, Messages}
		for range 200 {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			silence, inside := g.arrive(k, false, now)
			if inside {
				t.Fatal("still silent after the time it was told")
			}
			now = now.Add(silence)
			if silence == 0 {
				continue
			}
			if again, _ := g.arrive(k, false, now); again > 0 {
				t.Fatalf("refused again, for %v, after waiting %v", again, silence)
			}
		}
	})
}

func TestCallsInsideAPenaltyDoubleIt(t *testing.T) {
	g := newGuard(Limits{})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g.order(Key{Chat: -1}, 50*time.Second, now)
	for _, want := range []int{100, 200, 400, 800} {
		now = now.Add(time.Second)
		got, inside := g.arrive(Key{-1, Messages}, false, now)
		if got != time.Duration(want)*time.Second || !inside {
			t.Errorf("silence is %v, want %d s", got, want)
		}
	}
	if got, _ := g.arrive(Key{-2, Messages}, false, now); got != 0 {
		t.Errorf("another chat is silent for %v", got)
	}
	for range 20 {
		g.arrive(Key{-1, Messages}, false, now)
	}
	if got, _ := g.arrive(Key{-1, Messages}, false, now); got != maxPenalty {
		t.Errorf("silence is %v, want %v", got, maxPenalty)
	}
}

func TestTypingCoolsDownAlone(t *testing.T) {
	g := newGuard(Limits{})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := Key{-1, Typing}
	for i := range 20 {
		if got, _ := g.arrive(k, false, now.Add(time.Duration(i)*200*time.Millisecond)); got != 0 {
			t.Fatalf("action %d: silence %v", i+1, got)
		}
	}
	now = now.Add(4 * time.Second)
	got, _ := g.arrive(k, false, now)
	if got < time.Second || got > coolDown {
		t.Errorf("silence is %v, want at most %v", got, coolDown)
	}
	if got, _ := g.arrive(Key{-1, Messages}, false, now); got != 0 {
		t.Errorf("messages are silent for %v", got)
	}
	// Not listening makes it long, and then it's everybody's.
	for range 3 {
		g.arrive(k, false, now)
	}
	if got, inside := g.arrive(Key{-1, Messages}, false, now); got <= longPenalty || !inside {
		t.Errorf("messages are silent for %v", got)
	}
}
