package qos_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/qos"
)

// gaps are the times between the beginnings of consecutive calls.
func gaps(grants []grant) []time.Duration {
	var out []time.Duration
	for i := 1; i < len(grants); i++ {
		out = append(out, grants[i].at-grants[i-1].at)
	}
	return out
}

// near says whether two times are the same, but for a float's rounding.
func near(a, b time.Duration) bool { return max(a-b, b-a) < time.Microsecond }

// TestOriginalPace is P15: with a hard reserve and nothing but streams, the rate
// is max(1, min(group_mpm - reserve_mpm, floor(group_mpm * output_budget_ratio)))
// a minute, the tick rounded up to rounding_ms, and 0.95 of group_mpm at most. With the defaults, that's 16 a
// minute, one every 3.8 s.
func TestOriginalPace(t *testing.T) {
	t.Run("defaults", func(t *testing.T) {
		for _, b := range originalPace(t, qos.Options{HardReserve: true}, 16, 3800*time.Millisecond) {
			t.Error(b)
		}
	})
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		mpm := rapid.IntRange(2, 40).Draw(rt, "group_mpm")
		reserve := rapid.IntRange(1, mpm-1).Draw(rt, "reserve_mpm")
		percent := rapid.IntRange(1, 100).Draw(rt, "output_budget_ratio in percent")
		rounding := rapid.SampledFrom([]time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second}).Draw(rt, "rounding_ms")
		rate := max(1, min(mpm-reserve, mpm*percent/100))
		supply := time.Minute * 100 / 95 / time.Duration(mpm) // all calls are held to 0.95 of the window
		tick := (time.Minute + time.Duration(rate)*rounding - 1) / (time.Duration(rate) * rounding) * rounding
		opt := qos.Options{
			HardReserve: true, GroupMPM: mpm, ReserveMPM: reserve, OutputBudgetRatio: float64(percent) / 100, Rounding: rounding,
		}
		return originalPace(t, opt, rate, max(tick, supply))
	})
}

func originalPace(t *testing.T, opt qos.Options, rate int, tick time.Duration) (bad []string) {
	t.Helper()
	opt.MinSessionTick = time.Second
	inArena(t, opt, nil, func(a *arena) {
		for i := range 5 {
			a.feed(docID(i), group)
		}
		a.pass(20 * time.Minute)
		calls := a.made(nil)
		for i, d := range gaps(calls) {
			if !near(d, tick) {
				bad = append(bad, fmt.Sprintf("call %d came %v after the one before, want %v", i+1, d, tick))
				return
			}
		}
		want := min(rate, int((time.Minute-1)/tick)+1)
		if most := mostWithin(calls, time.Minute-time.Microsecond); most != want {
			bad = append(bad, fmt.Sprintf("%d calls in a minute, want %d", most, want))
		}
	})
	return bad
}

// TestReserveIsKeptFree: however long streams had the chat for themselves, the
// hard reserve is there when it's needed.
func TestReserveIsKeptFree(t *testing.T) {
	for _, latency := range []time.Duration{0, 3 * time.Second} {
		for reserve := 1; reserve <= 8; reserve++ {
			opt := qos.Options{HardReserve: true, ReserveMPM: reserve, OutputBudgetRatio: 1}
			inArena(t, opt, nil, func(a *arena) {
				a.latency = always(latency)
				for i := range 5 {
					a.feed(docID(i), group)
				}
				for range 600 {
					a.pass(time.Second + time.Millisecond)
					if used := a.snapshot().Chats[0].Windows[0].Used; used > 20-reserve {
						t.Fatalf("of a reserve of %d, latency %v, streams use %d of 20", reserve, latency, used)
					}
				}
				posted := a.now()
				for i := range reserve {
					a.post(group, fmt.Sprint(i), qos.Interactive)
				}
				a.pass(time.Minute)
				each := max(time.Second, latency)
				for i, g := range a.made(func(g grant) bool { return g.Class == qos.Interactive }) {
					if waited := g.at - posted; waited > time.Duration(i+1)*each {
						t.Errorf("of a reserve of %d, latency %v, command %d waited %v", reserve, latency, i, waited)
					}
				}
				if most := mostWithin(a.made(nil), time.Minute); most > 20 {
					t.Errorf("%d calls in a minute", most)
				}
			})
		}
	}
}

// TestCommandGoesAtOnce is P6: into a chat that streams have filled as far as they
// may, a command goes within a second and the call in flight, and the k-th of
// several within k slots' time.
func TestCommandGoesAtOnce(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		seed := rapid.Uint64().Draw(rt, "seed")
		latency := rapid.SampledFrom([]time.Duration{0, time.Second, 10 * time.Second}).Draw(rt, "latency")
		opt := qos.Options{
			HardReserve: rapid.Bool().Draw(rt, "hard"),
			GroupMPM:    rapid.SampledFrom([]int{2, 5, 20, 60}).Draw(rt, "mpm"),
		}
		queued := rapid.IntRange(1, 6).Draw(rt, "commands")
		var bad []string
		inArena(t, opt, nil, func(a *arena) {
			random := newDice(seed)
			a.latency = func() time.Duration { return random.duration(latency) }
			for i := range 6 {
				a.feed(docID(i), group)
			}
			a.pass(random.duration(5 * time.Minute))
			posted := a.now()
			for k := range queued {
				a.post(group, fmt.Sprint("command", k), qos.Interactive)
			}
			a.pass(10 * time.Minute)
			var inFlight time.Duration
			for _, g := range a.made(nil) {
				if g.at <= posted && g.end > posted {
					inFlight = g.end - posted
				}
			}
			commands := a.made(func(g grant) bool { return g.Class == qos.Interactive })
			if len(commands) != queued {
				bad = append(bad, fmt.Sprintf("%d calls for %d commands", len(commands), queued))
				return
			}
			if waited := commands[0].at - posted; waited > inFlight+time.Second {
				bad = append(bad, fmt.Sprintf("the command waited %v, a call in flight took %v of it", waited, inFlight))
			}
			each := (time.Minute + latency) / time.Duration(opt.GroupMPM)
			for k, g := range commands {
				if opt.GroupMPM < 20 { // with few slots they don't come back evenly
					break
				}
				if waited := g.at - posted; waited > inFlight+time.Second+time.Duration(k)*max(each, latency) {
					bad = append(bad, fmt.Sprintf("command %d of %d waited %v, a call in flight took %v of it", k+1, queued, waited, inFlight))
				}
			}
		})
		return bad
	})
}

// TestACommandFindsASlotBesideEndsOfTurns: sessions that end turns without end leave a slot as streams do, so a command
// goes within a second and the call in flight, at any moment.
func TestACommandFindsASlotBesideEndsOfTurns(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		seed := rapid.Uint64().Draw(rt, "seed")
		latency := rapid.SampledFrom([]time.Duration{0, time.Second, 10 * time.Second}).Draw(rt, "latency")
		mpm := rapid.SampledFrom([]int{10, 20, 60}).Draw(rt, "mpm")
		sessions := rapid.IntRange(1, min(4, mpm/5)).Draw(rt, "sessions") // so each has more than a burst in a window
		every := rapid.SampledFrom([]time.Duration{500 * time.Millisecond, 3 * time.Second}).Draw(rt, "every")
		var bad []string
		inArena(t, qos.Options{GroupMPM: mpm}, nil, func(a *arena) {
			random := newDice(seed)
			a.latency = func() time.Duration { return random.duration(latency) }
			for i := range sessions {
				a.open(docID(i), group)
			}
			line := int64(0)
			endTurns := func(span time.Duration) {
				for end := a.now() + span; a.now() < end; a.pass(every) {
					line++
					for i := range sessions {
						a.want(docID(i), line, true)
					}
				}
			}
			endTurns(random.duration(5 * time.Minute))
			a.pass(random.duration(every))
			posted := a.now()
			a.post(group, "command", qos.Interactive)
			endTurns(2 * time.Minute)
			var inFlight time.Duration
			for _, g := range a.made(nil) {
				if g.at <= posted && g.end > posted {
					inFlight = g.end - posted
				}
			}
			commands := a.made(func(g grant) bool { return g.Class == qos.Interactive })
			if len(commands) != 1 {
				bad = append(bad, fmt.Sprintf("%d calls for a command", len(commands)))
				return
			}
			if waited := commands[0].at - posted; waited > inFlight+time.Second {
				bad = append(bad, fmt.Sprintf("the command waited %v, a call in flight took %v of it", waited, inFlight))
			}
		})
		return bad
	})
}

// TestNoIdleTick is P8: a command goes at the first instant at which the call
// before has ended, a second has passed since it began, and the window has a free
// slot; not a moment later, whatever the arrivals.
func TestNoIdleTick(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		seed := rapid.Uint64().Draw(rt, "seed")
		latency := rapid.SampledFrom([]time.Duration{0, 2 * time.Second, 15 * time.Second}).Draw(rt, "latency")
		mpm := rapid.SampledFrom([]int{4, 20}).Draw(rt, "mpm")
		var bad []string
		inArena(t, qos.Options{GroupMPM: mpm}, nil, func(a *arena) {
			random := newDice(seed)
			a.latency = func() time.Duration { return random.duration(latency) }
			for i := range 3 {
				a.feed(docID(i), group)
			}
			posted := map[string]time.Duration{}
			for i := range 40 {
				a.pass(random.duration(2 * time.Minute / time.Duration(mpm)))
				key := fmt.Sprint(i)
				posted[key] = a.now()
				a.post(group, key, qos.Interactive)
			}
			a.pass(20 * time.Minute)
			bad = tooLate(a.made(nil), posted, mpm)
		})
		return bad
	})
}

// tooLate names the commands that went later than at the first possible instant.
func tooLate(calls []grant, posted map[string]time.Duration, mpm int) (bad []string) {
	done := 0
	for i, g := range calls {
		if g.Class != qos.Interactive {
			continue
		}
		done++
		at := posted[g.Key]
		if i > 0 {
			at = max(at, calls[i-1].end, calls[i-1].at+time.Second)
		}
		var back []time.Duration // when the slots come back that are taken at that time
		for _, c := range calls[:i] {
			back = append(back, c.end+time.Minute)
		}
		for {
			n, next := 0, time.Duration(1<<62)
			for _, b := range back {
				if b > at {
					n++
					next = min(next, b)
				}
			}
			if n < mpm {
				break
			}
			at = next
		}
		if !near(g.at, at) && g.at > at {
			bad = append(bad, fmt.Sprintf("command %s went at %v, could have at %v", g.Key, g.at, at))
		}
	}
	if done != len(posted) {
		bad = append(bad, fmt.Sprintf("%d of %d commands were sent", done, len(posted)))
	}
	return bad
}

// TestLatencyDoesntBreakTheWindow: a call may reach the platform at any moment
// between its beginning and its answer. Counted from the beginnings, calls that take
// long and then short would be too many in a minute there.
func TestLatencyDoesntBreakTheWindow(t *testing.T) {
	for _, mode := range []qos.Mode{qos.Strict, qos.CoalesceOnly} {
		inArena(t, qos.Options{Mode: mode}, nil, func(a *arena) {
			n := 0
			a.latency = func() time.Duration { // ten slow ones, thirty fast ones
				if n++; n%40 < 10 {
					return 8 * time.Second
				}
				return 0
			}
			for i := range 100 {
				a.post(group, fmt.Sprint(i), qos.Interactive)
			}
			a.pass(time.Hour)
			calls := a.made(nil)
			if len(calls) != 100 {
				t.Fatalf("%d calls, want 100", len(calls))
			}
			for i := 20; i < len(calls); i++ {
				if d := calls[i].at - calls[i-20].end; d < time.Minute {
					t.Fatalf("%v: calls %d to %d may all have arrived within %v", mode, i-20, i, d)
				}
			}
		})
	}
}

// TestStreamGoesAtOnce: after a rest the first stream doesn't wait for a tick, and
// while streams wait, they go at the pace without a pause.
func TestStreamGoesAtOnce(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.open("one", group)
		a.pass(time.Minute)
		a.want("one", 1, false)
		a.pass(0)
		if calls := a.made(nil); len(calls) != 1 || calls[0].at != time.Minute {
			t.Fatalf("calls: %+v, want one at once", calls)
		}
		for i := range 6 {
			a.feed(docID(i), group)
		}
		a.pass(10 * time.Minute)
		for i, d := range gaps(a.made(nil)) {
			if !near(d, 3200*time.Millisecond) { // 60 s / (20 - 1), rounded up
				t.Fatalf("call %d came %v after the one before, want 3.2s", i+1, d)
			}
		}
	})
}

// TestNoBurstAfterIdle is P9.
func TestNoBurstAfterIdle(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		for i := range 15 {
			a.open(docID(i), group)
		}
		for range 5 {
			a.pass(2 * time.Minute)
			woken := a.now()
			for i := range 15 {
				a.want(docID(i), int64(woken), false)
			}
			a.pass(9999 * time.Millisecond)
			// P9 allows 2 + floor(10/3.2) + 1; the pace has no burst at all.
			if n := len(a.made(func(g grant) bool { return g.at >= woken })); n != 4 {
				t.Errorf("%d calls in 10 s after a rest, want 4: one at once, then one every 3.2 s", n)
			}
		}
	})
}

// TestLateStreamsCatchUp: what a slow call costs the streams is made up for, so
// the rate stays.
func TestLateStreamsCatchUp(t *testing.T) {
	inArena(t, qos.Options{HardReserve: true}, nil, func(a *arena) {
		random := newDice(7)
		a.latency = func() time.Duration {
			if random.float() < 0.3 {
				return 5 * time.Second // longer than the tick of 3.8 s
			}
			return 0
		}
		for i := range 10 {
			a.feed(docID(i), group)
		}
		a.pass(30 * time.Minute)
		if n, want := len(a.made(nil)), int(30*time.Minute/(3800*time.Millisecond)); n < want*95/100 || n > want+2 {
			t.Errorf("%d calls in half an hour, want about %d", n, want)
		}
	})
}

// TestActiveEmittersLengthenTheRest: the more sessions print, the longer a
// document rests; a fall counts at once.
func TestActiveEmittersLengthenTheRest(t *testing.T) {
	// rest is the time between two calls for a document among so many sessions that
	// print, though only its own call is made: the others' documents are elsewhere.
	rest := func(opt qos.Options, sessions int, every time.Duration) time.Duration {
		var d time.Duration
		inArena(t, opt, nil, func(a *arena) {
			for i := range sessions {
				a.open(docID(i), group)
			}
			a.outcome = func(call qos.Call) *qos.CallResult {
				if call.Doc == docID(0) {
					return nil
				}
				return &qos.CallResult{Outcome: qos.Unchanged} // costs nothing
			}
			for line := int64(1); a.now() < 100*time.Second; line++ {
				for i := range sessions {
					if i == 0 || a.now() > 10*time.Second { // the others come later
						a.want(docID(i), line, false)
					}
				}
				a.pass(every)
			}
			var calls []grant
			for _, g := range a.made(nil) {
				if g.Doc == docID(0) {
					calls = append(calls, g)
				}
			}
			g := gaps(calls)
			d = g[len(g)-1]
		})
		return d
	}
	one, five := rest(qos.Options{}, 1, time.Second), rest(qos.Options{}, 5, time.Second)
	if one != 3200*time.Millisecond { // max(3 s, the pace)
		t.Errorf("alone, a document rests for %v", one)
	}
	if five != 14400*time.Millisecond { // 4.5 turns of 3.2 s
		t.Errorf("among five, a document rests for %v", five)
	}
	if slow := rest(qos.Options{ActiveEmitterEMAAlpha: 0.001}, 5, time.Second); slow > one+200*time.Millisecond {
		t.Errorf("with a slow average, a document rests for %v, want about %v as if it were alone", slow, one)
	}
	if tick := rest(qos.Options{MinSessionTick: 10 * time.Second}, 1, time.Second); tick != 10*time.Second {
		t.Errorf("with min_session_tick_s 10, a document rests for %v", tick)
	}
	// Of sessions that print every 4 s, all count with a window of 10 s. With one of 2 s
	// none do when it's over.
	if long := rest(qos.Options{}, 5, 4*time.Second); long < 14*time.Second {
		t.Errorf("among five that print every 4 s, a document rests for %v", long)
	}
	if short := rest(qos.Options{ActiveEmitterWindow: 2 * time.Second}, 5, 4*time.Second); short > 6*time.Second {
		t.Errorf("with a short window, a document rests for %v", short)
	}
}
