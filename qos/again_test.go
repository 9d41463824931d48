package qos_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// What must be the same after something went wrong, or came twice, or moved.

// TestNewsAreMerged when several come before the scheduler takes them in: the highest
// numbers count.
func TestNewsAreMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newStillArena(t, qos.Options{}, qos.NewLocalBudget(nil))
		a.open("doc", group)
		a.want("doc", 10, true)
		a.want("doc", 5, false)
		a.sched.Touch("doc")
		a.run()
		defer a.close()
		a.pass(2 * time.Second)
		if calls := a.made(nil); len(calls) != 1 || calls[0].Wanted != 10 || calls[0].Final != 10 {
			t.Errorf("calls: %+v, want one final of 10 lines", calls)
		}
		// The same when only one of them says that the turn is over.
		a.want("doc", 20, false)
		a.want("doc", 15, true)
		a.pass(10 * time.Second)
		calls := a.made(nil)
		if last := calls[len(calls)-1]; last.Wanted != 20 || last.Final != 15 {
			t.Errorf("calls: %+v, want 20 lines and the turn that ended at 15", calls)
		}
	})
}

// TestOpenedWithAFinalOnly: where a turn ended, its lines are wanted.
func TestOpenedWithAFinalOnly(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		if err := a.sched.Open(qos.Doc{ID: "doc", Chat: group, Session: "doc", Delivered: 3, Final: 9}); err != nil {
			t.Fatal(err)
		}
		a.pass(time.Second)
		if calls := a.made(nil); len(calls) != 1 || calls[0].Wanted != 9 || calls[0].Delivered != 3 || calls[0].Final != 9 {
			t.Errorf("calls: %+v", calls)
		}
	})
}

// TestDeliveredNeverGoesBack, whatever an adapter says.
func TestDeliveredNeverGoesBack(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Wanted == 20 {
				return &qos.CallResult{Outcome: qos.Delivered, Delivered: 5}
			}
			return nil
		}
		a.open("doc", group)
		a.want("doc", 10, false)
		a.pass(10 * time.Second)
		a.want("doc", 20, false)
		a.pass(10 * time.Second)
		for _, g := range a.made(nil)[1:] {
			if g.Delivered != 10 {
				t.Errorf("call: %+v, want 10 lines delivered", g)
			}
		}
		if p, _ := a.sched.Pressure("doc"); p.Behind != 10 {
			t.Errorf("behind by %d lines, want 10", p.Behind)
		}
	})
}

// TestLiveRegionIsShownAgain if nobody knows whether it was.
func TestLiveRegionIsShownAgain(t *testing.T) {
	for _, outcome := range []qos.CallOutcome{qos.Uncertain, qos.Failed} {
		inArena(t, qos.Options{}, nil, func(a *arena) {
			a.outcome = func(qos.Call) *qos.CallResult {
				a.outcome = nil
				return &qos.CallResult{Outcome: outcome}
			}
			a.open("doc", group)
			a.sched.Touch("doc")
			a.pass(5 * time.Minute)
			if n := len(a.made(nil)); n != 2 {
				t.Errorf("after %v: %d calls, want 2", outcome, n)
			}
		})
	}
}

// TestBackOffBeginsAnew after a success; "too many requests" is no reason for one, an
// unknown end is.
func TestBackOffBeginsAnew(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		outcome := qos.Failed
		a.outcome = func(qos.Call) *qos.CallResult { return &qos.CallResult{Outcome: outcome, RetryAfter: time.Second} }
		set := func(o qos.CallOutcome) {
			a.mu.Lock()
			outcome = o
			a.mu.Unlock()
		}
		backoff := func() time.Duration {
			if until := a.snapshot().Chats[0].BackoffUntil; !until.IsZero() {
				return time.Until(until)
			}
			return 0
		}
		a.post(group, "x", qos.Interactive)
		for backoff() < 20*time.Second {
			a.pass(time.Second)
		}
		set(qos.Delivered)
		a.pass(2 * time.Minute)
		set(qos.Failed)
		a.post(group, "y", qos.Interactive)
		a.pass(0)
		if d := backoff(); d == 0 || d > time.Second {
			t.Errorf("the first failure after a success backs off for %v, want up to 1 s", d)
		}
		set(qos.Delivered)
		a.pass(time.Minute)
		set(qos.Throttled)
		a.post(group, "z", qos.Interactive)
		a.pass(0)
		if d := backoff(); d != 0 {
			t.Errorf(`"too many requests" backs off for %v, and its penalty is enough`, d)
		}
		set(qos.Delivered)
		a.pass(time.Minute)
		set(qos.Uncertain)
		a.post(group, "u", qos.Interactive)
		a.pass(0)
		if d := backoff(); d == 0 || d > time.Second {
			t.Errorf("an unknown end backs off for %v, want up to 1 s", d)
		}
	})
}

// TestCancelledRequestIsNotTriedAgain, though its call was under way then and failed.
func TestCancelledRequestIsNotTriedAgain(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.latency = always(5 * time.Second)
		a.outcome = func(qos.Call) *qos.CallResult { return &qos.CallResult{Outcome: qos.Failed} }
		if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "x", Session: "one"}); err != nil {
			t.Fatal(err)
		}
		a.pass(time.Second)
		a.sched.CloseSession("one", qos.Cancel)
		a.pass(10 * time.Minute)
		if n, m := len(a.made(nil)), len(a.seen(qos.RequestDropped)); n != 1 || m != 1 {
			t.Errorf("%d calls and %d events, want 1 and 1", n, m)
		}
	})
}

// TestLearnedIsReplaced by what's learned later.
func TestLearnedIsReplaced(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.sched.Learn(qos.Scope{Chat: group}, qos.Learned{Limit: 5, Remaining: 0, Reset: time.Now().Add(time.Hour)})
		a.post(group, "x", qos.Interactive)
		a.pass(time.Minute)
		a.sched.Learn(qos.Scope{Chat: group}, qos.Learned{Limit: 5, Remaining: 5, Reset: time.Now().Add(time.Hour)})
		a.pass(time.Second)
		if n := len(a.made(nil)); n != 1 {
			t.Errorf("%d calls when there are five left, want 1", n)
		}
	})
}

// TestMigratedKeepsItsPast: the reduced pace, the later of two penalties, since when
// something was shown, and what was asked for in both.
func TestMigratedKeepsItsPast(t *testing.T) {
	const to = qos.ChatKey("-1001")
	inArena(t, qos.Options{}, nil, func(a *arena) {
		throttles := map[qos.ChatKey]*qos.CallResult{group: throttled(10 * time.Second)}
		moved := false
		a.outcome = func(call qos.Call) *qos.CallResult {
			if r := throttles[call.Chat]; r != nil {
				delete(throttles, call.Chat)
				return r
			}
			if call.Chat == group && moved {
				return &qos.CallResult{Outcome: qos.Migrated, Chat: to}
			}
			return nil
		}
		a.post(group, "first", qos.Interactive)
		a.pass(time.Minute)
		a.mu.Lock()
		throttles[to] = throttled(10 * time.Minute)
		throttles[group] = throttled(20 * time.Second)
		a.mu.Unlock()
		a.post(group, "second", qos.Interactive)
		a.post(to, "told off", qos.Interactive)
		a.pass(time.Minute)
		a.mu.Lock()
		moved = true
		a.mu.Unlock()
		a.post(to, "both", qos.Stream)
		a.post(group, "both", qos.Interactive)
		a.pass(time.Second)
		s := a.snapshot().Chats
		if len(s) != 1 || s[0].Chat != to || s[0].Multiplier > 0.5 || s[0].PenaltyUntil.Before(a.began.Add(11*time.Minute)) {
			t.Fatalf("after the move: %+v, want one chat at half the pace and in its penalty", s)
		}
		if w := s[0].Waiting; w[qos.Interactive].Count != 2 || w[qos.Stream].Count != 0 {
			t.Errorf("waiting: %+v, want two interactive requests", w)
		}
		a.pass(20 * time.Minute)
		if n := len(a.made(func(g grant) bool { return g.Chat == to && g.Key == "both" })); n != 1 {
			t.Errorf("%d calls for what was asked for in both, want 1", n)
		}
	})
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.open("doc", group)
		a.want("doc", 1, false)
		a.pass(3 * time.Second)
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Chat == group {
				return &qos.CallResult{Outcome: qos.Migrated, Chat: to}
			}
			return nil
		}
		a.post(group, "x", qos.Interactive)
		a.pass(time.Second + 500*time.Millisecond)
		a.sched.TryRequest(qos.Request{Chat: to, Key: "typing", Family: qos.FamilyTyping})
		a.pass(time.Second)
		if n := len(a.made(func(g grant) bool { return g.Family == qos.FamilyTyping })); n != 0 {
			t.Error("typing was shown less than 5 s after a stream, because the chat has moved")
		}
	})
}

// asks counts the questions to a budget.
type asks struct {
	qos.Budget
	n int
}

func (b *asks) AskSlot(now time.Time, ask qos.SlotQuestion, reply func(qos.SlotAnswer)) qos.SlotAnswer {
	b.n++
	return b.Budget.AskSlot(now, ask, reply)
}

// TestCosmeticAsksForNothingInVain: a slot is written to disk before it's used, so what
// would be shed anyway doesn't ask for one.
func TestCosmeticAsksForNothingInVain(t *testing.T) {
	var budget *asks
	inArena(t, qos.Options{}, func() qos.Budget { budget = &asks{Budget: qos.NewLocalBudget(nil)}; return budget }, func(a *arena) {
		for i := range 3 {
			a.feed(docID(i), group)
		}
		for range 100 {
			a.pass(300 * time.Millisecond)
			a.sched.TryRequest(qos.Request{Chat: group, Key: "draft", Family: qos.FamilyDraft})
		}
		a.pass(0)
		if calls := len(a.made(nil)); budget.n != calls {
			t.Errorf("%d questions for %d calls", budget.n, calls)
		}
	})
}

// TestCosmeticLeavesTheReserve: reactions count as messages, and leave what streams
// leave.
func TestCosmeticLeavesTheReserve(t *testing.T) {
	inArena(t, qos.Options{GroupMPM: 5}, nil, func(a *arena) {
		for range 20 {
			a.sched.TryRequest(qos.Request{Chat: group, Key: "reaction", Family: "reaction"})
			a.pass(2 * time.Second)
		}
		if n := len(a.made(nil)); n != 4 {
			t.Errorf("%d of 5 slots went to reactions, want 4", n)
		}
	})
}

// TestCoalesceOnlyHasNoPace: what's due goes at once, as long as the window has room.
func TestCoalesceOnlyHasNoPace(t *testing.T) {
	inArena(t, qos.Options{Mode: qos.CoalesceOnly}, nil, func(a *arena) {
		for i := range 20 {
			a.open(docID(i), group)
			a.want(docID(i), 1, false)
		}
		a.pass(19 * time.Second)
		if n := len(a.made(nil)); n != 20 {
			t.Errorf("%d calls in 19 s, want 20: a second apart", n)
		}
	})
}

// TestPrivateChatsHaveTheirOwnPace: that of their first window.
func TestPrivateChatsHaveTheirOwnPace(t *testing.T) {
	opt := qos.Options{Limits: qos.Limits{IsPrivate: isPrivate}}
	inArena(t, opt, nil, func(a *arena) {
		for i := range 8 {
			a.feed(docID(i), "7")
		}
		a.pass(10 * time.Minute)
		for i, d := range gaps(a.made(nil)) {
			if !near(d, 1100*time.Millisecond) { // 60 s / 59, rounded up
				t.Fatalf("call %d came %v after the one before, want 1.1 s", i+1, d)
			}
		}
	})
}
