package qos_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// TestOffSendsEverything is P13: without the scheduler's help there'd be as many
// calls, at the same instants.
func TestOffSendsEverything(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) (bad []string) {
		t.Helper()
		seed := rapid.Uint64().Draw(rt, "seed")
		docs := rapid.IntRange(1, 10).Draw(rt, "documents")
		inArena(t, qos.Options{Mode: qos.Off}, nil, func(a *arena) {
			random := newDice(seed)
			for i := range docs {
				a.open(docID(i), group)
			}
			for line := range int64(70) {
				a.pass(time.Millisecond + random.duration(200*time.Millisecond))
				a.want(docID(int(random.float()*float64(docs))), line+1, line%7 == 0)
				a.pass(0)
				if n := len(a.made(nil)); n != int(line)+1 {
					bad = append(bad, fmt.Sprintf("%d calls for %d updates", n, line+1))
					return
				}
			}
		})
		return bad
	})
}

// TestOffIsCounted: whoever switches the scheduler on again doesn't get a fresh
// window.
func TestOffIsCounted(t *testing.T) {
	inArena(t, qos.Options{Mode: qos.Off}, nil, func(a *arena) {
		for i := range 50 {
			a.post(group, fmt.Sprint(i), qos.Interactive)
			a.pass(100 * time.Millisecond)
		}
		if err := a.sched.Reconfigure(qostest.WithLimits(qos.Options{})); err != nil {
			t.Fatal(err)
		}
		switched := a.now()
		a.post(group, "late", qos.Interactive)
		a.pass(50 * time.Second)
		if n := len(a.made(nil)); n != 50 {
			t.Fatalf("%d calls, want 50 until the window has room", n)
		}
		a.pass(20 * time.Second)
		late := a.made(func(g grant) bool { return g.Key == "late" })
		// The 31st call was at 3 s: from 63 s on, 19 or less are in the window.
		if len(late) != 1 || late[0].at-switched < 50*time.Second {
			t.Errorf("the call after the switch: %+v", late)
		}
	})
}

// TestSlotsAreAskedForAnew when the options change: what was asked for with mode
// off would be a call too many.
func TestSlotsAreAskedForAnew(t *testing.T) {
	slow := func() qos.Budget { return &slowBudget{Budget: qos.NewLocalBudget(nil), delay: time.Second} }
	inArena(t, qos.Options{Mode: qos.Off, GroupMPM: 3}, slow, func(a *arena) {
		for i := range 4 {
			a.post(group, fmt.Sprint(i), qos.Interactive)
		}
		a.pass(3500 * time.Millisecond) // three were sent, the fourth is asked for
		if err := a.sched.Reconfigure(qostest.WithLimits(qos.Options{GroupMPM: 3})); err != nil {
			t.Fatal(err)
		}
		a.pass(50 * time.Second)
		if n := len(a.made(nil)); n != 3 {
			t.Errorf("%d calls, 3 a minute are allowed", n)
		}
		a.pass(time.Minute)
		if n := len(a.made(nil)); n != 4 {
			t.Errorf("%d calls, want 4", n)
		}
	})
}

// TestCoalesceOnly: at most one call per document and rounding_ms, as soon as it's
// due, finals and streams alike, and never more than the window holds.
func TestCoalesceOnly(t *testing.T) {
	opt := qos.Options{Mode: qos.CoalesceOnly, Rounding: 1500 * time.Millisecond, Limits: qostest.BurstLimits()}
	inArena(t, opt, nil, func(a *arena) {
		for i := range 8 {
			a.open(docID(i), group)
		}
		for line := range int64(3000) {
			a.want(docID(int(line%8)), line+1, line%5 == 0)
			a.pass(20 * time.Millisecond)
		}
		a.pass(10 * time.Second)
		last := map[qos.DocID]time.Duration{}
		calls := a.made(nil)
		for _, g := range calls {
			if at, ok := last[g.Doc]; ok && g.at-at < opt.Rounding {
				t.Errorf("two calls for %s within %v", g.Doc, g.at-at)
			}
			last[g.Doc] = g.at
		}
		if most := mostWithin(calls, 5*time.Second); most != 5 {
			t.Errorf("%d calls in 5 s, want 5: all that's allowed, and no more", most)
		}
		if n := len(calls); n < 55 {
			t.Errorf("%d calls in a minute, want all that's allowed", n)
		}
	})
	inArena(t, opt, nil, func(a *arena) { // one document: no pace, only the rounding
		a.feed("doc", group)
		a.pass(time.Minute)
		for i, d := range gaps(a.made(nil)) {
			if d != opt.Rounding {
				t.Fatalf("call %d came after %v, want %v", i+1, d, opt.Rounding)
			}
		}
	})
}

// TestReconfigureRefusesBadOptions, and changes nothing then.
func TestReconfigureRefusesBadOptions(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		if err := a.sched.Reconfigure(qostest.WithLimits(qos.Options{Mode: qos.Off, GroupMPM: -1})); err == nil {
			t.Error("accepted")
		}
		if m := a.snapshot().Mode; m != qos.Strict {
			t.Errorf("the mode is %v", m)
		}
	})
}

// TestReconfigureTakesEffect on what waits.
func TestReconfigureTakesEffect(t *testing.T) {
	inArena(t, qos.Options{GroupMPM: 2}, nil, func(a *arena) {
		for i := range 10 {
			a.post(group, fmt.Sprint(i), qos.Interactive)
		}
		a.pass(30 * time.Second)
		if n := len(a.made(nil)); n != 2 {
			t.Fatalf("%d calls, want 2", n)
		}
		if err := a.sched.Reconfigure(qostest.WithLimits(qos.Options{GroupMPM: 20})); err != nil {
			t.Fatal(err)
		}
		a.pass(10 * time.Second)
		if n := len(a.made(nil)); n != 10 {
			t.Errorf("%d calls after raising group_mpm, want 10", n)
		}
	})
}

// TestCommandsStarveNoOtherChat: a bot that commands keep busy still serves a chat
// that has only streams.
func TestCommandsStarveNoOtherChat(t *testing.T) {
	opt := qos.Options{Limits: qos.Limits{Bot: qos.Limit{Windows: []qos.Window{{Calls: 2, Per: time.Second}}, Gap: 500 * time.Millisecond}}}
	inArena(t, opt, nil, func(a *arena) {
		a.feed("stream", "-999")
		for n := range 600 {
			for i := range 12 { // each may have 20 a minute: twice what the bot may
				a.post(qos.ChatKey(fmt.Sprint("-", i)), fmt.Sprint(n%3), qos.Interactive)
			}
			a.pass(time.Second)
		}
		if n := len(a.made(streams)); n < 40 {
			t.Errorf("%d streams in 10 min", n)
		}
		if n := len(a.made(nil)); n < 1150 {
			t.Errorf("%d calls in 10 min, want all that the bot may make", n)
		}
	})
}

// TestPrivateChats have a second between calls, and more of them.
func TestPrivateChats(t *testing.T) {
	opt := qos.Options{Limits: qos.Limits{IsPrivate: isPrivate}}
	inArena(t, opt, nil, func(a *arena) {
		for i := range 100 {
			a.post("7", fmt.Sprint(i), qos.Interactive)
		}
		a.pass(2 * time.Minute)
		calls := a.made(nil)
		if most := mostWithin(calls, 3*time.Second); most > 3 {
			t.Errorf("%d calls in 3 s", most)
		}
		if most := mostWithin(calls, time.Minute); most != 60 {
			t.Errorf("%d calls in a minute, want 60", most)
		}
	})
}

// TestBotWideWindow: many chats together keep to the bot's limit, and share it.
func TestBotWideWindow(t *testing.T) {
	opt := qos.Options{Limits: qos.Limits{Bot: qos.Limit{Windows: []qos.Window{{Calls: 10, Per: time.Second}}, Gap: 120 * time.Millisecond}}}
	inArena(t, opt, nil, func(a *arena) {
		for i := range 100 {
			a.feed(docID(i), qos.ChatKey(fmt.Sprint("-", i)))
		}
		a.pass(5 * time.Minute)
		calls := a.made(nil)
		if most := mostWithin(calls, time.Second); most > 10 {
			t.Errorf("%d calls in a second", most)
		}
		// 100 chats want one call per 3.2 s; 8.3 a second is what the gap allows.
		if n, want := len(calls), 2500; n < want*98/100 {
			t.Errorf("%d calls in 5 min, want about %d", n, want)
		}
		count := map[qos.DocID]float64{}
		for _, g := range calls {
			count[g.Doc]++
		}
		var shares []float64
		for i := range 100 {
			shares = append(shares, count[docID(i)])
		}
		if j := jain(shares); j < 0.99 {
			t.Errorf("Jain's index among the chats is %.4f", j)
		}
		a.post("-1", "command", qos.Interactive)
		posted := a.now()
		a.pass(3 * time.Second)
		if g := a.made(func(g grant) bool { return g.Key == "command" }); len(g) != 1 || g[0].at-posted > time.Second {
			t.Errorf("a command among saturated chats: %+v", g)
		}
	})
}

// TestReconfigureLengthensTheRest of documents that were due by the old options and
// hadn't got their slot yet.
func TestReconfigureLengthensTheRest(t *testing.T) {
	for _, opt := range []qos.Options{
		{Mode: qos.CoalesceOnly, GroupMPM: 3, Rounding: time.Minute},
		{GroupMPM: 3, MinSessionTick: time.Minute},
	} {
		inArena(t, qos.Options{Mode: qos.CoalesceOnly, GroupMPM: 3}, nil, func(a *arena) {
			a.post(group, "x", qos.Interactive)
			a.pass(5 * time.Second)
			a.open("doc", group)
			a.want("doc", 1, false)
			a.pass(time.Second)
			a.post(group, "y", qos.Interactive)
			a.pass(5 * time.Second) // the window is full until 60 s
			a.want("doc", 2, false)
			a.pass(time.Second) // it's due, and waits for a slot
			if err := a.sched.Reconfigure(qostest.WithLimits(opt)); err != nil {
				t.Fatal(err)
			}
			a.pass(3 * time.Minute)
			calls := a.made(streams)
			if len(calls) != 2 || calls[1].at-calls[0].at != time.Minute {
				t.Errorf("%v: calls: %+v, want a minute between the two", opt.Mode, calls)
			}
		})
	}
}

// TestReconfigureKeepsTheOrder of those that waited for their slot.
func TestReconfigureKeepsTheOrder(t *testing.T) {
	inArena(t, qos.Options{GroupMPM: 4}, nil, func(a *arena) {
		for i := range 6 {
			a.feed(docID(i), group)
		}
		for i := range 60 {
			a.pass(10 * time.Second)
			if err := a.sched.Reconfigure(qostest.WithLimits(qos.Options{GroupMPM: 4, ReserveMPM: 1 + i%3})); err != nil {
				t.Fatal(err)
			}
		}
		served := map[qos.DocID]float64{}
		for _, g := range a.made(streams) {
			served[g.Doc]++
		}
		var shares []float64
		for i := range 6 {
			shares = append(shares, served[docID(i)])
		}
		if slices.Max(shares)-slices.Min(shares) > 1 || slices.Min(shares) < 3 {
			t.Errorf("calls: %v, want equal shares", shares)
		}
	})
}
