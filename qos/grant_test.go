package qos_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// slow is a budget that answers after a while.
func slow(delay time.Duration) func() qos.Budget {
	return func() qos.Budget { return &slowBudget{Budget: qos.NewLocalBudget(nil), delay: delay} }
}

// TestSlotOfACommandIsNoStreams: a slot that was asked for by a command, which has
// been cancelled meanwhile, is the one that streams must leave free.
func TestSlotOfACommandIsNoStreams(t *testing.T) {
	inArena(t, qos.Options{GroupMPM: 3}, slow(2*time.Second), func(a *arena) {
		a.post(group, "one", qos.Interactive)
		a.post(group, "two", qos.Interactive)
		a.pass(6 * time.Second) // one slot is left
		a.open("doc", group)
		a.want("doc", 1, false)
		if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "command", Session: "person"}); err != nil {
			t.Fatal(err)
		}
		a.pass(time.Second)
		a.sched.CloseSession("person", qos.Cancel)
		a.pass(40 * time.Second)
		if n := len(a.made(streams)); n != 0 {
			t.Error("a stream took the slot that's kept for commands")
		}
		a.pass(time.Minute)
		if n := len(a.made(streams)); n != 1 {
			t.Errorf("%d streams after a minute, want 1", n)
		}
	})
}

// TestSlotsBelongToTheirFamily: a slot that was asked for in one family's window
// isn't spent on another's call.
func TestSlotsBelongToTheirFamily(t *testing.T) {
	var budget qos.Budget
	opt := qos.Options{Mode: qos.CoalesceOnly, Limits: qostest.BurstLimits()}
	inArena(t, opt, func() qos.Budget { budget = slow(time.Second)(); return budget }, func(a *arena) {
		if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "rename", Class: qos.Stream, Family: qos.FamilyRename}); err != nil {
			t.Fatal(err)
		}
		a.pass(500 * time.Millisecond)
		a.post(group, "command", qos.Interactive)
		a.pass(4 * time.Second)
		used := map[qos.Family]int{}
		for _, u := range budget.Use(time.Now(), group) {
			used[u.Family] += u.Used
		}
		if n := len(a.made(nil)); n != 2 || used[qos.FamilyMessage] != 1 || used[qos.FamilyRename] != 1 {
			t.Errorf("%d calls, used: %v, want a message and a renaming", n, used)
		}
	})
}

// TestTypingGivesWay to what came while the budget thought.
func TestTypingGivesWay(t *testing.T) {
	inArena(t, qos.Options{}, slow(2*time.Second), func(a *arena) {
		a.sched.TryRequest(qos.Request{Chat: group, Key: "typing", Family: qos.FamilyTyping})
		a.pass(time.Second)
		a.post(group, "command", qos.Interactive)
		a.pass(30 * time.Second)
		if calls := a.made(nil); len(calls) != 1 || calls[0].Key != "command" {
			t.Errorf("calls: %+v, want the command alone", calls)
		}
		if n := a.snapshot().Totals.Shed; n != 1 {
			t.Errorf("%d were shed, want 1", n)
		}
	})
}

// TestCallsHaveTheirTime: with less than 15 s left of 20 s a slot isn't used. What's
// given up early may well still arrive.
func TestCallsHaveTheirTime(t *testing.T) {
	for delay, want := range map[time.Duration]int{4 * time.Second: 1, 6 * time.Second: 0} {
		inArena(t, qos.Options{}, slow(delay), func(a *arena) {
			a.post(group, "x", qos.Interactive)
			a.pass(time.Minute)
			if n := len(a.made(nil)); n != want {
				t.Errorf("with a budget that takes %v: %d calls, want %d", delay, n, want)
			}
		})
	}
}

// TestCallTimeoutIsThatOfTheCall: the deadline that the Deliverer sees is the one the
// budget was told of, counted from the question.
func TestCallTimeoutIsThatOfTheCall(t *testing.T) {
	inArena(t, qos.Options{CallTimeout: 30 * time.Second}, slow(3*time.Second), func(a *arena) {
		a.latency = always(time.Hour)
		a.post(group, "x", qos.Interactive)
		a.pass(31 * time.Second)
		if calls := a.made(nil); len(calls) != 1 || calls[0].end != 30*time.Second {
			t.Errorf("calls: %+v, want one that ends at 30 s", calls)
		}
	})
}

// TestMaxInFlight: so many calls of a bot are under way at a time, and no more.
func TestMaxInFlight(t *testing.T) {
	inArena(t, qos.Options{MaxInFlight: 3}, nil, func(a *arena) {
		a.latency = always(5 * time.Second)
		for i := range 12 {
			a.post(qos.ChatKey(fmt.Sprint("-", i)), "x", qos.Interactive)
		}
		for range 10 {
			a.pass(2 * time.Second)
			if n := a.snapshot().InFlight; n > 3 {
				t.Errorf("%d calls under way, want at most 3", n)
			}
		}
		a.pass(time.Minute)
		calls := a.made(nil)
		if n := len(calls); n != 12 || calls[n-1].at > 16*time.Second {
			t.Errorf("%d calls, the last at %v; want 12 in four rounds", n, calls[n-1].at)
		}
		if err := a.sched.Reconfigure(qostest.WithLimits(qos.Options{MaxInFlight: 1})); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			a.post(qos.ChatKey(fmt.Sprint("-", i)), "y", qos.Interactive)
		}
		a.pass(time.Second)
		if n := a.snapshot().InFlight; n != 1 {
			t.Errorf("%d calls under way after the change, want 1", n)
		}
	})
}

// hasty is a budget that refuses until a time that's now already.
type hasty struct {
	qos.Budget
	asked int
}

func (b *hasty) AskSlot(now time.Time, ask qos.SlotQuestion, reply func(qos.SlotAnswer)) qos.SlotAnswer {
	if b.asked++; b.asked <= 100 {
		return qos.SlotAnswer{State: qos.NotBefore, At: now}
	}
	return b.Budget.AskSlot(now, ask, reply)
}

// TestHastyBudget isn't asked in a circle.
func TestHastyBudget(t *testing.T) {
	inArena(t, qos.Options{}, func() qos.Budget { return &hasty{Budget: qos.NewLocalBudget(nil)} }, func(a *arena) {
		a.post(group, "x", qos.Interactive)
		a.pass(time.Second)
		if calls := a.made(nil); len(calls) != 1 || calls[0].at != 100*time.Millisecond {
			t.Errorf("calls: %+v, want one after 100 questions a millisecond apart", calls)
		}
	})
}

// TestIdleChatsEarnNothing: a chat that was silent while the bot was busy gets its
// share from then on, and not what it didn't use.
func TestIdleChatsEarnNothing(t *testing.T) {
	opt := qos.Options{Limits: qos.Limits{
		Bot:   qos.Limit{Windows: []qos.Window{{Calls: 2, Per: time.Second}}, Gap: 500 * time.Millisecond},
		Group: qos.Limit{Windows: []qos.Window{{Calls: 1000, Per: time.Minute}}},
	}}
	inArena(t, opt, nil, func(a *arena) {
		flood := func(chat qos.ChatKey) {
			for k := range 200 {
				a.post(chat, fmt.Sprint(a.now(), k), qos.Interactive)
			}
		}
		a.post("-9", "early", qos.Interactive) // it's known, and idle
		for i := range 3 {
			flood(qos.ChatKey(fmt.Sprint("-", i)))
		}
		a.pass(50 * time.Second)
		woken := a.now()
		flood("-9")
		a.pass(20 * time.Second)
		n := len(a.made(func(g grant) bool { return g.at >= woken && g.Chat == "-9" }))
		if n < 9 || n > 11 {
			t.Errorf("of 40 calls among four chats, the one that was idle got %d", n)
		}
	})
}

// TestUnsentCostsNothing: a call that surely never went out gives back its slot, its
// place in the pace, and its turn among the classes.
func TestUnsentCostsNothing(t *testing.T) {
	inArena(t, qos.Options{GroupMPM: 2}, nil, func(a *arena) {
		works := false
		a.outcome = func(qos.Call) *qos.CallResult {
			if works {
				return nil
			}
			return &qos.CallResult{Outcome: qos.NotSent}
		}
		a.post(group, "x", qos.Interactive)
		a.post(group, "y", qos.Interactive)
		a.pass(10 * time.Minute)
		tries := len(a.made(nil))
		if tries < 6 {
			t.Fatalf("%d tries in 10 min", tries)
		}
		if used := a.snapshot().Chats[0].Windows; len(used) > 0 && used[0].Used > 0 {
			t.Errorf("used: %+v, want nothing", used)
		}
		a.mu.Lock()
		works = true
		a.mu.Unlock()
		a.pass(90 * time.Second) // back-off is a minute at most
		var keys []string
		for _, g := range a.made(nil)[tries:] {
			keys = append(keys, g.Key)
		}
		if slices.Sort(keys); len(keys) < 2 || keys[len(keys)-1] != "y" || keys[0] != "x" {
			t.Errorf("calls when it works again: %v, want both", keys)
		}
	})
}

// TestAMessageThatNobodyMissesProbes: where nothing else is to be said, the first call after
// a penalty is one that nobody would miss, so that more may follow. Nothing is said to have a
// slot to come where nothing waits.
func TestAMessageThatNobodyMissesProbes(t *testing.T) {
	for _, global := range []bool{false, true} {
		inArena(t, qos.Options{}, nil, func(a *arena) {
			a.outcome = func(qos.Call) *qos.CallResult {
				a.outcome = nil
				return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: 10 * time.Second, Global: global}
			}
			list := qos.Request{Chat: group, Key: "list"}
			for range 60 {
				a.sched.TryRequest(list)
				a.pass(time.Second)
				for _, c := range a.snapshot().Chats {
					if !c.NextSlot.IsZero() {
						t.Fatalf("nothing waits in %s, and its next slot is said to be at %s", c.Chat, c.NextSlot)
					}
				}
			}
			calls := a.made(nil)
			if len(calls) < 3 || calls[1].at < 10*time.Second || calls[1].at > 13*time.Second {
				t.Errorf("global: %t: calls %+v, want the next one when the silence is over", global, calls)
			}
		})
	}
}

// TestCosmeticIsNoProbe: the one call after a penalty is about something.
func TestCosmeticIsNoProbe(t *testing.T) {
	for _, global := range []bool{false, true} {
		inArena(t, qos.Options{}, nil, func(a *arena) {
			a.outcome = func(qos.Call) *qos.CallResult {
				a.outcome = nil
				return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: 10 * time.Second, Global: global}
			}
			if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "x", Session: "one"}); err != nil {
				t.Fatal(err)
			}
			a.pass(time.Second)
			a.sched.CloseSession("one", qos.Cancel)
			a.pass(20 * time.Second)
			chat := group
			if global {
				chat = "-200"
			}
			typing := qos.Request{Chat: chat, Key: "typing", Family: qos.FamilyTyping}
			a.sched.TryRequest(typing)
			a.pass(time.Second)
			if n := len(a.made(nil)); n != 1 {
				t.Error("typing was the first call after a penalty")
			}
			a.post(chat, "y", qos.Interactive)
			a.pass(10 * time.Second)
			a.sched.TryRequest(typing)
			a.pass(time.Second)
			if n := len(a.made(nil)); n != 3 {
				t.Errorf("%d calls, want the probe, and typing after it", n)
			}
		})
	}
}

// TestCosmeticOvertakesNoChat: at the instant at which the bot may go on, the chats
// that wait for that come first.
func TestCosmeticOvertakesNoChat(t *testing.T) {
	engine, err := qos.NewSlotEngine(qostest.WithLimits(qos.Options{}), qos.NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, chat := range []qos.ChatKey{"-1", "-2"} {
		if err := engine.PostRequest(now, qos.Request{Chat: chat, Key: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(engine.Advance(now)); n != 1 {
		t.Fatalf("%d calls, want 1: the bot's gap is between the two", n)
	}
	now = engine.NextLook()
	engine.TryRequest(now, qos.Request{Chat: "-3", Key: "typing", Family: qos.FamilyTyping})
	if calls := engine.Advance(now); len(calls) != 1 || calls[0].Call.Chat != "-2" {
		t.Errorf("%d calls, want that of the chat that waited", len(calls))
	}
}
