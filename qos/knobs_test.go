package qos_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// between are the calls that begin within a stretch of time.
func between(calls []grant, from, to time.Duration) (out []grant) {
	for _, g := range calls {
		if g.at >= from && g.at < to {
			out = append(out, g)
		}
	}
	return out
}

// TestOutputBudgetRatio caps streams while anything interactive or final is about: for
// a minute after it was seen, and for as long as it waits. With nothing about, streams
// have all but a slot.
func TestOutputBudgetRatio(t *testing.T) {
	const full, half = 3200 * time.Millisecond, 6 * time.Second
	feed := func(a *arena) {
		for i := range 6 {
			a.feed(docID(i), group)
		}
	}
	paced := func(a *arena, from, to, tick time.Duration) {
		t.Helper()
		calls := between(a.made(streams), from, to)
		for i, d := range gaps(calls) {
			if !near(d, tick) {
				t.Errorf("from %v to %v, stream %d came %v after the one before, want %v", from, to, i+1, d, tick)
			}
		}
		if least := int((to - from) / tick); len(calls) < least {
			t.Errorf("from %v to %v, %d streams, want %d", from, to, len(calls), least)
		}
	}
	inArena(t, qos.Options{OutputBudgetRatio: 0.5}, nil, func(a *arena) {
		feed(a)
		a.pass(2 * time.Minute)
		a.post(group, "command", qos.Interactive)
		a.pass(12 * time.Minute)
		paced(a, 0, 2*time.Minute, full)
		paced(a, 2*time.Minute+10*time.Second, 3*time.Minute, half)
		paced(a, 10*time.Minute, 14*time.Minute, full) // the command is forgotten
	})
	opt := qos.Options{OutputBudgetRatio: 0.5, Limits: qos.Limits{Families: map[qos.Family]qos.Limit{
		qos.FamilyRename: {Windows: []qos.Window{{Calls: 1, Per: 20 * time.Minute}}},
	}}}
	inArena(t, opt, nil, func(a *arena) {
		for _, key := range []string{"a", "b"} { // the second waits for 20 min
			if err := a.sched.PostRequest(qos.Request{Chat: group, Key: key, Family: qos.FamilyRename}); err != nil {
				t.Fatal(err)
			}
		}
		a.pass(time.Second)
		feed(a)
		a.pass(15 * time.Minute)
		paced(a, 10*time.Minute, 15*time.Minute, half)
	})
}

// TestRoundingRoundsTheRest up, too.
func TestRoundingRoundsTheRest(t *testing.T) {
	opt := qos.Options{GroupMPM: 60, MinSessionTick: 3050 * time.Millisecond, Rounding: time.Second}
	inArena(t, opt, nil, func(a *arena) {
		a.feed("doc", group)
		a.pass(time.Minute)
		for i, d := range gaps(a.made(nil)) {
			if d != 4*time.Second {
				t.Errorf("call %d came %v after the one before, want 4 s", i+1, d)
			}
		}
	})
}

// TestFocusEnds: a session that somebody spoke to counts double for two minutes, and
// for once after that.
func TestFocusEnds(t *testing.T) {
	inArena(t, qos.Options{MinSessionTick: time.Second}, nil, func(a *arena) {
		for i := range 3 {
			a.feed(docID(i), group)
		}
		a.pass(time.Minute)
		a.sched.FocusSession(qos.SessionKey(docID(0)))
		a.pass(11 * time.Minute)
		share := func(from, to time.Duration) float64 {
			calls := between(a.made(streams), from, to)
			n := 0
			for _, g := range calls {
				if g.Doc == docID(0) {
					n++
				}
			}
			return float64(n) / float64(len(calls))
		}
		if x := share(time.Minute, 3*time.Minute); x < 0.46 || x > 0.54 {
			t.Errorf("in focus it gets %.2f of the calls, want half", x)
		}
		if x := share(4*time.Minute, 12*time.Minute); x < 0.31 || x > 0.36 {
			t.Errorf("afterwards it gets %.2f of the calls, want a third", x)
		}
	})
}

// TestReducedPace: after three penalties of which none was worked off, streams go at the pace that's
// left, in either mode that guards, and it comes back by a fortieth a call.
func TestReducedPace(t *testing.T) {
	for _, mode := range []qos.Mode{qos.Strict, qos.CoalesceOnly} {
		inArena(t, qos.Options{Mode: mode}, nil, func(a *arena) {
			calls, last := 0, time.Duration(0)
			a.outcome = func(qos.Call) *qos.CallResult { // arena.mu is held
				if calls++; calls <= 5 && calls%2 == 1 { // each probe is accepted
					last = a.now()
					return throttled(10 * time.Second)
				}
				return nil
			}
			for i := range 8 {
				a.feed(docID(i), group)
			}
			a.pass(3 * time.Minute)
			slow := a.made(func(g grant) bool { return streams(g) && g.at > last })
			for i, d := range gaps(slow)[:20] {
				pace := min(1, 0.3+0.025*float64(i))
				least := 3000 * time.Millisecond // 60 s / 20
				if mode == qos.Strict && i < 10 {
					least = 1500 * time.Millisecond // it catches up
				}
				if least = time.Duration(float64(least) / pace); d < least-time.Millisecond {
					t.Errorf("%v: call %d came %v after the one before, want %v", mode, i+1, d, least)
				}
			}
		})
	}
}

// TestStreamsGiveWayOneByOne: more commands than are saved for cost the streams some
// time each, and not one long silence when the window is full.
func TestStreamsGiveWayOneByOne(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		for i := range 6 {
			a.feed(docID(i), group)
		}
		greedy := func(is bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			for i := range 6 {
				a.greedy[docID(i)] = is
			}
		}
		a.pass(10 * time.Minute)
		greedy(false)
		a.pass(5 * time.Minute) // a rest, in which all that may be saved is saved
		greedy(true)
		from := a.now()
		for i := range 6 {
			a.want(docID(i), 1_000_000, false)
		}
		for i := range 10 {
			a.pass(4 * time.Second)
			a.post(group, docIDString(i), qos.Interactive)
		}
		a.pass(3 * time.Minute)
		longest := time.Duration(0)
		for _, d := range gaps(between(a.made(streams), from, from+3*time.Minute)) {
			longest = max(longest, d)
		}
		if longest > 20*time.Second {
			t.Errorf("after 10 commands in 40 s, streams are silent for %v", longest)
		}
	})
}
