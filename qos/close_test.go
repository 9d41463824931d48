package qos_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// TestFlushSendsTheRest as a final, and then closes.
func TestFlushSendsTheRest(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		for i := range 10 {
			a.feed(docID(i), group)
		}
		a.open("doc", group)
		a.pass(time.Minute)
		a.want("doc", 3, false)
		a.sched.CloseSession("doc", qos.Flush)
		a.pass(3 * time.Second)
		calls := a.made(func(g grant) bool { return g.Doc == "doc" })
		if len(calls) != 1 || calls[0].Class != qos.Final || calls[0].Wanted != 3 {
			t.Errorf("calls: %+v, want one final", calls)
		}
		closed := a.seen(qos.DocClosed)
		if len(closed) != 1 || closed[0].Doc != "doc" || closed[0].Delivered != 3 {
			t.Errorf("events: %+v", closed)
		}
		if a.sched.Want("doc", 4, false) {
			t.Error("a closed document takes updates")
		}
	})
}

// TestFlushOfWhatsUpToDate closes at once.
func TestFlushOfWhatsUpToDate(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.open("doc", group)
		a.sched.Touch("doc")
		a.sched.Close("doc", qos.Flush)
		a.pass(0)
		if n, m := len(a.seen(qos.DocClosed)), len(a.made(nil)); n != 1 || m != 0 {
			t.Errorf("%d events and %d calls, want 1 and 0", n, m)
		}
	})
}

// TestFlushIsGivenUp after its limit; time under a penalty doesn't count.
func TestFlushIsGivenUp(t *testing.T) {
	inArena(t, qos.Options{FlushLimit: time.Minute}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Chat == "-200" {
				return throttled(time.Hour)
			}
			return &qos.CallResult{Outcome: qos.Failed}
		}
		a.open("fails", group)
		a.open("silenced", "-200")
		a.want("fails", 3, true)
		a.want("silenced", 3, true)
		a.pass(time.Second)
		a.sched.CloseSession("fails", qos.Flush)
		a.sched.CloseSession("silenced", qos.Flush)
		a.pass(59 * time.Minute)
		given := a.seen(qos.DocAbandoned)
		if len(given) != 1 || given[0].Doc != "fails" || given[0].Final != 3 || given[0].Delivered != 0 {
			t.Fatalf("events: %+v, want one about the document that fails", given)
		}
		a.pass(5 * time.Minute) // the platform still says no, for another hour
		if n := len(a.seen(qos.DocAbandoned)); n != 1 {
			t.Error("a flush was given up because of a penalty")
		}
	})
}

// TestFlushOutlivesAPenaltyOfTheBot, too.
func TestFlushOutlivesAPenaltyOfTheBot(t *testing.T) {
	inArena(t, qos.Options{FlushLimit: time.Minute}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult {
			a.outcome = nil
			return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: time.Hour, Global: true}
		}
		a.post("-200", "x", qos.Interactive)
		a.pass(time.Second)
		a.open("doc", group)
		a.want("doc", 3, true)
		a.sched.Close("doc", qos.Flush)
		a.pass(10 * time.Second)
		if until := a.snapshot().Chats[0].PenaltyUntil; until.IsZero() {
			t.Error("the snapshot doesn't say that the chat has to wait")
		}
		a.pass(62 * time.Minute)
		if n, sent := len(a.seen(qos.DocAbandoned)), len(a.made(func(g grant) bool { return g.Doc == "doc" })); n != 0 || sent != 1 {
			t.Errorf("%d flushes were given up, %d were sent; want 0 and 1", n, sent)
		}
	})
}

// TestFlushIsGivenUpInTime, though nothing else happens then.
func TestFlushIsGivenUpInTime(t *testing.T) {
	inArena(t, qos.Options{FlushLimit: time.Minute}, nil, func(a *arena) {
		a.sched.Learn(qos.Scope{Chat: group}, qos.Learned{Limit: 1, Remaining: 0, Reset: time.Now().Add(time.Hour)})
		a.open("doc", group)
		a.want("doc", 3, true)
		a.sched.Close("doc", qos.Flush)
		a.pass(time.Minute)
		if n := len(a.seen(qos.DocAbandoned)); n != 1 {
			t.Errorf("%d flushes were given up after a minute, want 1", n)
		}
	})
}

// TestOneFlushDoesntWaitForAnother: a penalty that one waits out doesn't lengthen the
// limit of another.
func TestOneFlushDoesntWaitForAnother(t *testing.T) {
	inArena(t, qos.Options{FlushLimit: time.Minute}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Chat == "-200" {
				return throttled(time.Hour)
			}
			return &qos.CallResult{Outcome: qos.Failed}
		}
		a.open("silenced", "-200")
		a.want("silenced", 3, true)
		a.pass(time.Second)
		a.sched.Close("silenced", qos.Flush)
		for i, id := range []qos.DocID{"fails at the same time", "fails later"} {
			a.pass(time.Duration(30+300*i) * time.Second)
			a.open(id, group)
			a.want(id, 3, true)
			a.sched.Close(id, qos.Flush)
		}
		a.pass(time.Minute)
		if given := a.seen(qos.DocAbandoned); len(given) != 2 || given[1].Doc != "fails later" {
			t.Errorf("events after their limits: %+v, want one about each document that fails", given)
		}
	})
}

// TestUpdatesFollowTheOpening: what's told after a document was opened anew is
// about that one, though an update of its forerunner is still on its way.
func TestUpdatesFollowTheOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newStillArena(t, qos.Options{}, qos.NewLocalBudget(nil)) // so nothing is taken in yet
		a.open("doc", group)
		a.want("doc", 5, false)
		a.sched.Close("doc", qos.Cancel)
		a.open("doc", group)
		a.want("doc", 10, true)
		a.run()
		defer a.close()
		a.pass(time.Minute)
		calls := a.made(nil)
		if len(calls) != 1 || calls[0].Wanted != 10 || calls[0].Final != 10 {
			t.Errorf("calls: %+v, want one with all that was told", calls)
		}
		a.want("doc", 11, false) // it's open
	})
}

// TestCancelIsFinal is P10: nothing is sent any more, and slots that weren't used
// come back.
func TestCancelIsFinal(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.latency = always(5 * time.Second)
		a.open("doc", group)
		a.open("other", group)
		a.want("doc", 1, false)
		a.pass(time.Second) // its call is under way
		a.want("doc", 2, true)
		a.want("other", 1, false)
		if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "request", Session: "doc"}); err != nil {
			t.Fatal(err)
		}
		a.sched.CloseSession("doc", qos.Cancel)
		a.pass(time.Minute)
		if n := len(a.made(func(g grant) bool { return g.Session == "doc" })); n != 1 {
			t.Errorf("%d calls for a session that was cancelled, want the one that was under way", n)
		}
		if n := len(a.made(func(g grant) bool { return g.Doc == "other" })); n != 1 {
			t.Errorf("%d calls for another session", n)
		}
		closed, dropped := a.seen(qos.DocClosed), a.seen(qos.RequestDropped)
		if len(closed) != 1 || closed[0].Final != 2 || len(dropped) != 1 || dropped[0].Key != "request" {
			t.Errorf("events: %+v, %+v", closed, dropped)
		}
	})
}

// TestCancelWhileTheBudgetThinks: the slot it grants is given back.
func TestCancelWhileTheBudgetThinks(t *testing.T) {
	var counting *countingBudget
	slow := func() qos.Budget {
		counting = &countingBudget{Budget: qos.NewLocalBudget(nil), open: map[qos.PermitID]bool{}}
		return &slowBudget{Budget: counting, delay: time.Second}
	}
	inArena(t, qos.Options{}, slow, func(a *arena) {
		a.open("doc", group)
		a.want("doc", 1, true)
		a.pass(500 * time.Millisecond)
		a.sched.CloseSession("doc", qos.Cancel)
		a.pass(5 * time.Second)
		if n := len(a.made(nil)); n != 0 {
			t.Errorf("%d calls after the cancellation", n)
		}
		if n := counting.left(); n != 0 {
			t.Errorf("%d slots weren't given back", n)
		}
		if used := counting.Use(time.Now(), group); used != nil {
			t.Errorf("used: %+v", used)
		}
	})
}

// slowBudget answers after a fixed time.
type slowBudget struct {
	qos.Budget
	delay time.Duration
}

func (b *slowBudget) AskSlot(now time.Time, ask qos.SlotQuestion, reply func(qos.SlotAnswer)) qos.SlotAnswer {
	time.AfterFunc(b.delay, func() { reply(b.Budget.AskSlot(now, ask, reply)) })
	return qos.SlotAnswer{State: qos.Pending}
}

// TestCommandTakesTheStreamsSlot: what's best when the budget answers is sent, not
// what was when it was asked.
func TestCommandTakesTheStreamsSlot(t *testing.T) {
	slow := func() qos.Budget { return &slowBudget{Budget: qos.NewLocalBudget(nil), delay: 2 * time.Second} }
	inArena(t, qos.Options{}, slow, func(a *arena) {
		a.open("doc", group)
		a.want("doc", 1, false)
		a.pass(time.Second)
		a.want("doc", 2, false)
		a.post(group, "command", qos.Interactive)
		a.pass(10 * time.Second)
		calls := a.made(nil)
		if len(calls) != 2 || calls[0].Key != "command" || calls[0].at != 2*time.Second || calls[1].Wanted != 2 {
			t.Errorf("calls: %+v, want the command in the slot asked for by the stream", calls)
		}
	})
}

// TestReopenTakesBackAFlush.
func TestReopenTakesBackAFlush(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult {
			if a.now() < time.Minute {
				return &qos.CallResult{Outcome: qos.Failed}
			}
			return nil
		}
		a.open("doc", group)
		a.want("doc", 3, false)
		a.sched.Close("doc", qos.Flush)
		a.pass(time.Second)
		a.open("doc", group)
		a.pass(3 * time.Minute)
		if n := len(a.seen(qos.DocClosed)); n != 0 {
			t.Error("the document was closed, though it had been opened again")
		}
		if p, ok := a.sched.Pressure("doc"); !ok || p.Behind != 0 {
			t.Errorf("pressure %+v, open %v", p, ok)
		}
	})
}

// TestReopenElsewhere: a binding that moves to another chat takes its document
// along.
func TestReopenElsewhere(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.latency = always(5 * time.Second)
		a.open("doc", group)
		a.want("doc", 3, false)
		a.pass(10 * time.Second)
		a.want("doc", 6, false)
		a.pass(time.Second) // under way
		a.want("doc", 9, true)
		a.open("doc", "-200")
		a.pass(time.Minute)
		calls := a.made(nil)
		if len(calls) != 3 || calls[2].Chat != "-200" || calls[2].Final != 9 || calls[2].Delivered != 3 || !calls[2].Uncertain {
			t.Errorf("calls: %+v, want the third in the other chat, marked since the second wasn't answered yet", calls)
		}
	})
}

// TestDrain sends what matters, and nothing new.
func TestDrain(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.latency = always(200 * time.Millisecond)
		for i := range 5 {
			a.feed(docID(i), group)
		}
		a.pass(10 * time.Second)
		a.post(group, "command", qos.Interactive)
		a.want(docID(0), 1000, true)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		began := a.now()
		left := a.sched.Drain(ctx)
		if left != 5 {
			t.Errorf("%d wait after draining, want the 5 streams", left)
		}
		if took := a.now() - began; took > 3*time.Second {
			t.Errorf("draining took %v", took)
		}
		calls := a.made(func(g grant) bool { return g.at >= began })
		if len(calls) != 2 || calls[0].Key != "command" || calls[1].Class != qos.Final {
			t.Errorf("calls while draining: %+v", calls)
		}
		if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "late"}); err == nil {
			t.Error("a request was accepted while draining")
		}
		a.pass(time.Minute)
		if n := len(a.made(func(g grant) bool { return g.at >= began })); n != 2 {
			t.Errorf("%d calls since draining began, want 2", n)
		}
	})
}

// TestDrainDoesntWaitInVain for what can't go in its time, nor longer than its
// time.
func TestDrainDoesntWaitInVain(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult { return throttled(time.Hour) }
		a.post(group, "x", qos.Interactive)
		a.pass(time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		began := a.now()
		if left := a.sched.Drain(ctx); left != 1 || a.now() != began {
			t.Errorf("%d wait, after %v; want 1 at once", left, a.now()-began)
		}
	})
	inArena(t, qos.Options{}, nil, func(a *arena) {
		for i := range 40 {
			a.post(group, fmt.Sprint(i), qos.Interactive)
		}
		a.pass(0)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		began := a.now()
		left := a.sched.Drain(ctx)
		if took := a.now() - began; took > 5*time.Second || left < 33 || left > 35 {
			t.Errorf("%d wait after %v, want about 34 after 5 s", left, took)
		}
	})
}

// TestADrainIsPartOfTheEnd: calls under way get the time that Drain was given, and a second more at most: what
// doesn't answer holds the end up once.
func TestADrainIsPartOfTheEnd(t *testing.T) {
	for _, latency := range []time.Duration{3 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			a := newArena(t, qos.Options{}, qos.NewLocalBudget(nil))
			a.latency = always(latency)
			a.post(group, "under way", qos.Interactive)
			a.pass(time.Second)
			began := a.now()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			a.sched.Drain(ctx)
			a.close()
			if took, want := a.now()-began, min(latency-time.Second, 6*time.Second); took != want {
				t.Errorf("the end took %v, want %v", took, want)
			}
		})
	}
}

// TestRunWaitsForCalls: when Run ends, calls under way have 5 s to finish, and what
// came of them is kept.
func TestRunWaitsForCalls(t *testing.T) {
	for _, latency := range []time.Duration{3 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			a := newArena(t, qos.Options{}, qos.NewLocalBudget(nil))
			a.latency = always(latency)
			a.post(group, "under way", qos.Interactive)
			a.post("-200", "under way", qos.Interactive)
			a.pass(time.Second)
			a.post(group, "waits", qos.Interactive)
			began := a.now()
			a.close()
			took := a.now() - began
			// The bot's second call began 40 ms after the first.
			if want := min(latency-960*time.Millisecond, 5*time.Second); took != want {
				t.Errorf("Run took %v to end, want %v", took, want)
			}
			if n := len(a.made(nil)); n != 2 {
				t.Errorf("%d calls, want the 2 that were under way", n)
			}
		})
	}
}
