package qos_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// TestUpdatesCoalesce: what came while a document waited is in one call.
func TestUpdatesCoalesce(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.latency = always(time.Second)
		a.open("doc", group)
		for line := range int64(100) {
			a.want("doc", line+1, false)
			a.pass(10 * time.Millisecond)
		}
		a.want("doc", 50, false) // older news change nothing
		a.pass(time.Minute)
		calls := a.made(nil)
		if len(calls) != 2 || calls[0].Wanted != 1 || calls[1].Wanted != 100 {
			t.Errorf("calls: %+v, want one for line 1 and one for the rest", calls)
		}
		if n := a.snapshot().Totals; n.Updates != 101 || n.Coalesced < 98 {
			t.Errorf("totals: %+v", n)
		}
	})
}

// TestFinalOvertakesStreams, and no partial of its document follows.
func TestFinalOvertakesStreams(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		for i := range 10 {
			a.feed(docID(i), group)
		}
		a.open("turn", group)
		a.pass(time.Minute)
		a.want("turn", 7, false)
		a.want("turn", 9, true)
		a.pass(2 * time.Second)
		a.want("turn", 9, true) // told twice
		a.pass(5 * time.Minute)
		calls := a.made(func(g grant) bool { return g.Doc == "turn" })
		if len(calls) != 1 || calls[0].Class != qos.Final || calls[0].Final != 9 || calls[0].at > 61*time.Second {
			t.Errorf("calls for the turn: %+v, want one final at once", calls)
		}
	})
}

// TestFinalWithoutNewLines: the lines are there already, but nobody was told that
// the turn is over.
func TestFinalWithoutNewLines(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.open("doc", group)
		a.want("doc", 5, false)
		a.pass(10 * time.Second)
		a.want("doc", 5, true)
		a.pass(10 * time.Second)
		calls := a.made(nil)
		if len(calls) != 2 || calls[1].Class != qos.Final || calls[1].Delivered != 5 {
			t.Errorf("calls: %+v", calls)
		}
		a.want("doc", 6, false)
		a.pass(10 * time.Second)
		if calls = a.made(nil); len(calls) != 3 || calls[2].Final != 0 {
			t.Errorf("calls: %+v, want the turn announced once", calls)
		}
	})
}

// TestLongTextTakesSeveralSlots: each of them one that others compete for.
func TestLongTextTakesSeveralSlots(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Doc != "long" {
				return nil
			}
			to := min(call.Delivered+10, call.Wanted)
			r := &qos.CallResult{Outcome: qos.Delivered, Delivered: to, More: to < call.Wanted}
			if to >= call.Final {
				r.Final = call.Final
			}
			return r
		}
		a.open("long", group)
		a.open("short", group)
		a.want("long", 50, true)
		a.want("short", 3, true)
		a.pass(time.Minute)
		var order []string
		for _, g := range a.made(nil) {
			order = append(order, string(g.Doc))
		}
		// Finals share, too: the long one doesn't hold up the short one.
		if want := []string{"long", "short", "long", "long", "long", "long"}; !slices.Equal(order, want) {
			t.Errorf("calls for %v, want %v", order, want)
		}
	})
}

// TestOneLineMayTakeSeveralSlots: the numbers are reached, but not all is said.
func TestOneLineMayTakeSeveralSlots(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		parts := 0
		a.outcome = func(call qos.Call) *qos.CallResult {
			parts++
			return &qos.CallResult{Outcome: qos.Delivered, Delivered: call.Wanted, Final: call.Final, More: parts%3 != 0}
		}
		a.open("doc", group)
		a.want("doc", 1, false)
		a.post(group, "request", qos.Interactive)
		a.pass(5 * time.Minute)
		if n := len(a.made(nil)); n != 6 {
			t.Errorf("%d calls for two things of three parts each", n)
		}
	})
}

// TestLiveRegionIsRare: a change of the live region alone is shown every 30 s.
func TestLiveRegionIsRare(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.open("doc", group)
		for range 600 {
			if !a.sched.Touch("doc") {
				t.Fatal("the document isn't open")
			}
			a.pass(500 * time.Millisecond)
		}
		for i, d := range gaps(a.made(nil)) {
			if d != 30*time.Second {
				t.Errorf("call %d came after %v, want 30 s", i+1, d)
			}
		}
		if n := len(a.made(nil)); n != 11 { // the last of them after exactly 5 min
			t.Errorf("%d calls in 5 min, want 11", n)
		}
		a.pass(10 * time.Second)
		a.want("doc", 1, false) // text doesn't wait for that
		a.pass(time.Second)
		if calls := a.made(nil); calls[len(calls)-1].Wanted != 1 {
			t.Error("a line waited for the live region's turn")
		}
	})
}

// TestTextBeingWrittenIsText: it's shown as often as lines are, also when a spinner has
// turned before.
func TestTextBeingWrittenIsText(t *testing.T) {
	for name, text := range map[string]func(a *arena, n int64){
		"grows": func(a *arena, _ int64) { a.sched.Grow("doc") },
		"lines": func(a *arena, n int64) { a.want("doc", n, false) },
	} {
		t.Run(name, func(t *testing.T) {
			inArena(t, qos.Options{}, nil, func(a *arena) {
				a.open("doc", group)
				for n := range int64(60) {
					a.sched.Touch("doc")
					a.pass(500 * time.Millisecond)
					text(a, n+1)
					a.pass(500 * time.Millisecond)
				}
				if n := len(a.made(nil)); n < 10 || n > 21 {
					t.Errorf("%d calls in a minute, want one every 3 s to 6 s", n)
				}
			})
		})
	}
}

// TestUnchangedCostsNothing: no slot, no pace.
func TestUnchangedCostsNothing(t *testing.T) {
	inArena(t, qos.Options{GroupMPM: 2}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Doc == "doc" {
				return nil
			}
			return &qos.CallResult{Outcome: qos.Unchanged}
		}
		for i := range 30 {
			a.open(docID(i), group)
			a.want(docID(i), 5, i%3 == 0)
		}
		a.pass(time.Second)
		a.open("doc", group)
		a.want("doc", 1, false)
		a.pass(time.Second)
		if n := len(a.made(func(g grant) bool { return g.Doc == "doc" })); n != 1 {
			t.Error("calls that weren't made took the slots of one that was")
		}
		s := a.snapshot()
		if used := s.Chats[0].Windows[0].Used; used != 1 || len(s.Chats[0].Documents) != 0 {
			t.Errorf("%d slots are used, want 1; waiting: %+v", used, s.Chats[0].Documents)
		}
	})
}

// TestUncertainIsSentOnceMore: marked, at a regular slot, and not before the first
// can't arrive any more.
func TestUncertainIsSentOnceMore(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		first := true
		a.latency = func() time.Duration {
			if first {
				first = false
				return time.Hour
			}
			return 0
		}
		a.open("doc", group)
		a.want("doc", 3, true)
		a.pass(time.Minute)
		a.want("doc", 4, false)
		a.pass(time.Minute)
		calls := a.made(nil)
		if len(calls) != 3 || calls[0].Uncertain || !calls[1].Uncertain || calls[2].Uncertain {
			t.Fatalf("calls: %+v, want the second marked", calls)
		}
		if calls[0].end != 20*time.Second || calls[1].at < 25*time.Second || calls[1].at > 26*time.Second {
			t.Errorf("given up at %v, made again at %v; want 20 s and 25 s", calls[0].end, calls[1].at)
		}
	})
	// A deliverer that says nothing is taken to be uncertain.
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult {
			a.outcome = nil
			return &qos.CallResult{}
		}
		a.post(group, "x", qos.Interactive)
		a.pass(time.Minute)
		if calls := a.made(nil); len(calls) != 2 || !calls[1].Uncertain {
			t.Errorf("calls: %+v", calls)
		}
	})
}

// TestBrokenCallsSilenceNobody: a call that's over, though nobody knows whether it was done,
// holds up its chat no longer than any other failure: documents, what was asked, and what
// waits there behind it.
func TestBrokenCallsSilenceNobody(t *testing.T) {
	for seed := range drawtest.Seeds(t, 200) {
		inArena(t, qos.Options{Limits: qos.Limits{IsPrivate: isPrivate}}, nil, func(a *arena) {
			random := rand.New(rand.NewPCG(seed, 0))
			chat := []qos.ChatKey{group, "7"}[random.IntN(2)]
			latency := time.Duration(random.IntN(18_000)) * time.Millisecond
			broken := false
			a.outcome = func(qos.Call) *qos.CallResult {
				if broken {
					return nil
				}
				broken = true
				return &qos.CallResult{Outcome: qos.Uncertain, Over: true}
			}
			a.latency = func() time.Duration {
				if broken {
					return 0
				}
				return latency
			}
			a.open("doc", chat)
			a.want("doc", 3, true)
			a.pass(time.Millisecond)
			a.post(chat, "question", qos.Final)
			a.post(chat, "reply", qos.Interactive)
			a.pass(time.Minute)
			calls := a.made(nil)
			if len(calls) != 4 {
				t.Fatalf("seed %d: %d calls, want the broken one, it again, and two posts", seed, len(calls))
			}
			if gap := calls[1].at - calls[0].end; gap < overGrace || gap > 2*time.Second {
				t.Errorf("seed %d: %s was silent for %s after a call that broke after %s", seed, chat, gap, calls[0].end-calls[0].at)
			}
			if marked := slices.IndexFunc(calls, func(g grant) bool { return g.Doc != "" && g.Uncertain }); marked < 1 {
				t.Errorf("seed %d: what may be there already was made again without saying so", seed)
			}
		})
	}
}

// TestAFailedEditIsMadeAgainSoon: what failed waits for the back-off and not for the pace, nor
// does its document rest; where failures go on, calls keep to the pace.
func TestAFailedEditIsMadeAgainSoon(t *testing.T) {
	for _, failure := range []qos.CallResult{{Outcome: qos.Failed}, {Outcome: qos.Uncertain, Over: true}} {
		for seed := range drawtest.Seeds(t, 100) {
			inArena(t, qos.Options{Seed: seed}, nil, func(a *arena) {
				failures := 0
				a.outcome = func(qos.Call) *qos.CallResult {
					if failures == 0 {
						return nil
					}
					failures--
					return &failure
				}
				fail := func(calls int) {
					a.mu.Lock()
					failures = calls
					a.mu.Unlock()
				}
				a.open("doc", group)
				a.want("doc", 1, false)
				a.pass(time.Minute)
				fail(1)
				a.want("doc", 2, false)
				a.pass(10 * time.Second)
				calls := a.made(nil)
				if len(calls) != 3 || calls[2].at-calls[1].end > 2*time.Second {
					t.Fatalf("%v, seed %d: %d calls, want the failed one again within 2 s", failure.Outcome, seed, len(calls))
				}
				a.pass(time.Minute)
				fail(100)
				a.want("doc", 3, false)
				a.pass(10 * time.Second)
				if n := len(a.made(nil)) - 3; n > 5 {
					t.Errorf("%v, seed %d: %d calls in ten seconds in which all failed", failure.Outcome, seed, n)
				}
				fail(0)
				a.pass(time.Minute)
			})
		}
	}
}

// overGrace is how long a call may arrive after it's over.
const overGrace = 500 * time.Millisecond

// What isn't sent because it's known when there's room goes then, however often that happens:
// a limit that's used up is no failure, and nothing is tried less often for it.
func TestWhatWaitsForARoomGoesThen(t *testing.T) {
	const room = 3 * time.Second
	inArena(t, qos.Options{Limits: qos.Limits{IsPrivate: isPrivate}}, nil, func(a *arena) {
		tries := 0
		a.outcome = func(qos.Call) *qos.CallResult {
			if tries++; tries <= 6 {
				return &qos.CallResult{Outcome: qos.NotSent, RetryAfter: room}
			}
			return nil
		}
		a.open("doc", group)
		a.want("doc", 3, true)
		a.pass(time.Minute)
		calls := a.made(nil)
		if len(calls) != 7 {
			t.Fatalf("%d calls, want six that weren't sent, and one", len(calls))
		}
		for i := 1; i < len(calls); i++ {
			if gap := calls[i].at - calls[i-1].end; gap < room || gap > room+time.Second {
				t.Errorf("call %d went %s after the one before, want %s", i, gap, room)
			}
		}
	})
}

// TestBackOff: a chat that fails is tried less and less often; others don't wait
// for it. What's there is delivered when it works again.
func TestBackOff(t *testing.T) {
	for _, outcome := range []qos.CallOutcome{qos.NotSent, qos.Failed} {
		t.Run(outcome.String(), func(t *testing.T) {
			inArena(t, qos.Options{}, nil, func(a *arena) {
				a.outcome = func(call qos.Call) *qos.CallResult {
					if call.Chat == group && a.now() < time.Hour {
						return &qos.CallResult{Outcome: outcome, Err: errors.New("down")}
					}
					return nil
				}
				a.open("doc", group)
				a.want("doc", 1, true)
				a.feed("elsewhere", "-200")
				a.pass(time.Hour)
				tries := a.made(func(g grant) bool { return g.Chat == group })
				// Full jitter: a quarter of a minute on average in the end.
				if n := len(tries); n < 120 || n > 400 {
					t.Errorf("%d tries in an hour, want about 240", n)
				}
				early := a.made(func(g grant) bool { return g.Chat == group && g.at < 20*time.Second })
				if len(early) < 3 {
					t.Errorf("%d tries in the first 20 s, want some", len(early))
				}
				if n := len(a.made(func(g grant) bool { return g.Chat == "-200" })); n < 900 {
					t.Errorf("%d calls in a chat that works", n)
				}
				if b := a.snapshot().Chats[0].BackoffUntil; b.IsZero() {
					t.Error("the snapshot doesn't say so")
				}
				a.pass(time.Minute)
				if p, _ := a.sched.Pressure("doc"); p.Behind != 0 {
					t.Errorf("not delivered when the chat works again: %+v", p)
				}
			})
		})
	}
}

// TestBackOffOutlivesItsCause: a chat that fails isn't tried again at once because what
// failed was cancelled.
func TestBackOffOutlivesItsCause(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult { return &qos.CallResult{Outcome: qos.NotSent} }
		if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "x", Session: "one"}); err != nil {
			t.Fatal(err)
		}
		var until time.Time
		for time.Until(until) < 10*time.Second {
			a.pass(time.Second)
			until = a.snapshot().Chats[0].BackoffUntil
		}
		tries := len(a.made(nil))
		a.sched.CloseSession("one", qos.Cancel)
		a.pass(time.Second)
		a.post(group, "y", qos.Interactive)
		a.pass(time.Until(until) - time.Millisecond)
		if n := len(a.made(nil)); n != tries {
			t.Error("the chat was tried while it backs off")
		}
		a.pass(2 * time.Millisecond)
		if n := len(a.made(nil)); n != tries+1 {
			t.Error("the chat wasn't tried after that")
		}
	})
}

// TestPoisonHoldsUpNobody: what the platform chokes on goes behind the others.
func TestPoisonHoldsUpNobody(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Key == "poison" || call.Doc == "poison" {
				return &qos.CallResult{Outcome: qos.Failed}
			}
			return nil
		}
		a.post(group, "poison", qos.Interactive)
		a.open("poison", group)
		a.want("poison", 1, true)
		a.post(group, "good", qos.Interactive)
		a.open("good", group)
		a.want("good", 1, true)
		a.pass(10 * time.Minute)
		if n := len(a.made(func(g grant) bool { return g.Key == "good" || g.Doc == "good" })); n != 2 {
			t.Errorf("%d of 2 good ones went", n)
		}
	})
}

// TestRejectedStops: the document stops and an event says so; opened again, it
// goes on.
func TestRejectedStops(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		reason := errors.New("topic deleted")
		a.outcome = func(call qos.Call) *qos.CallResult {
			if a.now() < time.Minute {
				return &qos.CallResult{Outcome: qos.Rejected, Err: reason}
			}
			return nil
		}
		a.open("doc", group)
		a.want("doc", 4, true)
		a.post(group, "request", qos.Interactive)
		a.pass(30 * time.Second)
		if a.sched.Want("doc", 5, false) {
			t.Error("a document that was stopped is still open")
		}
		stopped, dropped := a.seen(qos.DocStopped), a.seen(qos.RequestDropped)
		if len(stopped) != 1 || stopped[0].Doc != "doc" || stopped[0].Final != 4 || !errors.Is(stopped[0].Err, reason) {
			t.Errorf("events: %+v", stopped)
		}
		if len(dropped) != 1 || dropped[0].Key != "request" || !errors.Is(dropped[0].Err, reason) {
			t.Errorf("events: %+v", dropped)
		}
		a.pass(30 * time.Second)
		if err := a.sched.Open(qos.Doc{ID: "doc", Chat: group, Session: "doc", Wanted: 5, Final: 4}); err != nil {
			t.Fatal(err)
		}
		a.pass(10 * time.Second)
		if p, ok := a.sched.Pressure("doc"); !ok || p.Behind != 0 {
			t.Errorf("after it was opened again: %+v", p)
		}
	})
}

// TestChatGone stops all that waits in the chat, at the price of one call.
func TestChatGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newStillArena(t, qos.Options{}, qos.NewLocalBudget(nil)) // what begins to wait once the chat is gone takes a call of its own
		defer a.close()
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Chat == group {
				return &qos.CallResult{Outcome: qos.ChatGone}
			}
			return nil
		}
		for i := range 5 {
			a.feed(docID(i), group)
		}
		a.post(group, "request", qos.Interactive)
		a.post(group, "another", qos.Final)
		a.feed("other", "-200")
		a.run()
		a.pass(time.Minute)
		if n := len(a.made(func(g grant) bool { return g.Chat == group })); n != 1 {
			t.Errorf("%d calls in a chat that's gone", n)
		}
		if n, m := len(a.seen(qos.DocStopped)), len(a.seen(qos.RequestDropped)); n != 5 || m != 2 {
			t.Errorf("%d documents and %d requests were stopped, want 5 and 2", n, m)
		}
		if n := len(a.made(func(g grant) bool { return g.Chat == "-200" })); n < 10 {
			t.Errorf("%d calls in another chat", n)
		}
	})
}

// TestMigrated: all of a chat moves to its new key, with what it has used.
func TestMigrated(t *testing.T) {
	inArena(t, qos.Options{GroupMPM: 4}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Chat == group && a.now() >= 10*time.Second {
				return &qos.CallResult{Outcome: qos.Migrated, Chat: "-1001"}
			}
			return nil
		}
		a.post(group, "one", qos.Interactive)
		a.post(group, "two", qos.Interactive)
		a.open("doc", group)
		a.pass(10 * time.Second)
		a.want("doc", 1, true)
		a.post(group, "three", qos.Stream)
		a.pass(45 * time.Second)
		calls := a.made(nil)
		if len(calls) != 4 || calls[2].Chat != group || calls[3].Chat != "-1001" || calls[3].Doc != "doc" {
			t.Fatalf("calls: %+v, want three in the old chat and, the window being full with four, one in the new", calls)
		}
		if ev := a.seen(qos.ChatMoved); len(ev) != 1 || ev[0].Chat != group || ev[0].To != "-1001" {
			t.Errorf("events: %+v", ev)
		}
		a.pass(time.Minute)
		if calls := a.made(nil); len(calls) != 5 || calls[4].Key != "three" || calls[4].Chat != "-1001" {
			t.Errorf("calls: %+v, want the request in the new chat", calls)
		}
	})
}

// TestRequestsOfOneKeyAreOne, of the better class; one whose call is under way is
// called once more.
func TestRequestsOfOneKeyAreOne(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.latency = always(3 * time.Second)
		a.post(group, "busy", qos.Interactive)
		a.pass(time.Second)
		a.post(group, "receipt", qos.Stream)
		a.post(group, "receipt", qos.Interactive)
		a.post(group, "receipt", qos.Stream)
		a.post(group, "busy", qos.Interactive)
		a.pass(time.Minute)
		var keys []string
		for _, g := range a.made(nil) {
			keys = append(keys, g.Key+" "+g.Class.String())
		}
		want := []string{"busy interactive", "receipt interactive", "busy interactive"}
		if !slices.Equal(keys, want) {
			t.Errorf("calls: %v, want %v", keys, want)
		}
	})
}

// TestBadRequestsAreRefused.
func TestBadRequestsAreRefused(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		for _, r := range []qos.Request{{Key: "x"}, {Chat: group}, {Chat: group, Key: "x", Class: qos.Cosmetic}} {
			if err := a.sched.PostRequest(r); err == nil {
				t.Errorf("accepted: %+v", r)
			}
		}
		for _, d := range []qos.Doc{{ID: "x"}, {Chat: group}} {
			if err := a.sched.Open(d); err == nil {
				t.Errorf("accepted: %+v", d)
			}
		}
		a.sched.TryRequest(qos.Request{Key: "x"}) // shed
		if a.sched.Want("unknown", 1, false) || a.sched.Touch("unknown") {
			t.Error("an unknown document was accepted")
		}
	})
}

// TestTypingIsRare: at most once in 5 s per chat, not after a stream, not while
// anything waits, never queued.
func TestTypingIsRare(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		typing := func() {
			a.sched.TryRequest(qos.Request{Chat: group, Key: "typing", Family: qos.FamilyTyping})
			a.pass(500 * time.Millisecond)
		}
		isTyping := func(g grant) bool { return g.Family == qos.FamilyTyping }
		for range 60 {
			typing()
		}
		for i, d := range gaps(a.made(isTyping)) {
			if d < 5*time.Second {
				t.Errorf("typing %d came %v after the one before", i+1, d)
			}
		}
		if n := len(a.made(isTyping)); n != 6 {
			t.Errorf("typing was shown %d times in 30 s, want 6", n)
		}
		a.pass(10 * time.Second)
		a.feed("doc", group) // from now on something always waits
		for range 60 {
			typing()
		}
		if n := len(a.made(isTyping)); n != 6 {
			t.Errorf("typing was shown %d times while a stream waits", n-6)
		}
		if shed := a.snapshot().Totals.Shed; shed != 54+60 {
			t.Errorf("%d were shed, want 114", shed)
		}
		a.sched.TryRequest(qos.Request{Chat: group, Key: "draft", Family: qos.FamilyDraft}) // goes by the same rule
		a.pass(0)
		if n := len(a.made(func(g grant) bool { return g.Class == qos.Cosmetic })); n != 6 {
			t.Error("a draft went while a stream waits")
		}
	})
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.open("doc", group)
		a.want("doc", 1, false)
		a.pass(2 * time.Second)
		a.sched.TryRequest(qos.Request{Chat: group, Key: "draft", Family: qos.FamilyDraft}) // drafts aren't so rare
		a.pass(2 * time.Second)
		a.sched.TryRequest(qos.Request{Chat: group, Key: "typing", Family: qos.FamilyTyping})
		a.pass(10 * time.Second)
		var families []qos.Family
		for _, g := range a.made(nil) {
			families = append(families, g.Family)
		}
		if want := []qos.Family{qos.FamilyMessage, qos.FamilyDraft}; !slices.Equal(families, want) {
			t.Errorf("calls: %v, want %v", families, want)
		}
	})
}

// TestLearnedLimits narrow what's configured, until their reset.
func TestLearnedLimits(t *testing.T) {
	inArena(t, qos.Options{Mode: qos.CoalesceOnly, Limits: qostest.BurstLimits()}, nil, func(a *arena) {
		a.sched.Learn(qos.Scope{Chat: group}, qos.Learned{Limit: 1, Remaining: 1, Reset: time.Now().Add(20 * time.Second)})
		a.post(group, "one", qos.Interactive)
		a.post(group, "two", qos.Interactive)
		a.pass(time.Minute)
		calls := a.made(nil)
		if len(calls) != 2 || calls[1].at != 20*time.Second {
			t.Errorf("calls: %+v, want the second at the reset", calls)
		}
	})
}

// TestOlderGoesFirst among requests of one class, whatever their families.
func TestOlderGoesFirst(t *testing.T) {
	inArena(t, qos.Options{Mode: qos.CoalesceOnly, Limits: qostest.BurstLimits()}, nil, func(a *arena) {
		a.latency = always(2 * time.Second)
		a.post(group, "busy", qos.Interactive)
		a.pass(time.Second)
		if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "older", Family: qos.FamilyRename}); err != nil {
			t.Fatal(err)
		}
		a.pass(100 * time.Millisecond)
		a.post(group, "newer", qos.Interactive)
		a.pass(time.Minute)
		if calls := a.made(nil); len(calls) != 3 || calls[1].Key != "older" {
			t.Errorf("calls: %+v, want the older request first", calls)
		}
	})
}

// TestOneFullFamilyHoldsUpNoOther: renames wait for minutes, messages don't.
func TestOneFullFamilyHoldsUpNoOther(t *testing.T) {
	inArena(t, qos.Options{Mode: qos.CoalesceOnly, Limits: qostest.BurstLimits()}, nil, func(a *arena) {
		for _, key := range []string{"a", "b", "c"} {
			if err := a.sched.PostRequest(qos.Request{Chat: group, Key: key, Family: qos.FamilyRename}); err != nil {
				t.Fatal(err)
			}
		}
		a.pass(10 * time.Second)
		a.open("doc", group)
		a.want("doc", 1, false)
		a.pass(time.Second)
		if n := len(a.made(func(g grant) bool { return g.Doc == "doc" })); n != 1 {
			t.Error("a stream waits for renames")
		}
		a.pass(10 * time.Minute)
		if n := len(a.made(func(g grant) bool { return g.Family == qos.FamilyRename })); n != 3 {
			t.Errorf("%d renames, want 3", n)
		}
	})
}

// TestSilentBudget: one that doesn't answer for a chat holds up no other, and that
// one not for ever.
func TestSilentBudget(t *testing.T) {
	silent := func() qos.Budget { return &silentBudget{Budget: qos.NewLocalBudget(nil), chat: group, until: 3} }
	inArena(t, qos.Options{}, silent, func(a *arena) {
		a.post(group, "x", qos.Interactive)
		a.post("-200", "x", qos.Interactive)
		a.pass(time.Second)
		if n := len(a.made(nil)); n != 1 {
			t.Errorf("%d calls, want that of the other chat", n)
		}
		a.pass(2 * time.Minute)
		if n := len(a.made(func(g grant) bool { return g.Chat == group })); n != 1 {
			t.Errorf("%d calls after the budget answers again", n)
		}
	})
}

// silentBudget doesn't answer the first questions about a chat.
type silentBudget struct {
	qos.Budget
	chat  qos.ChatKey
	until int
	asked int
}

func (b *silentBudget) AskSlot(now time.Time, ask qos.SlotQuestion, reply func(qos.SlotAnswer)) qos.SlotAnswer {
	if ask.Chat == b.chat {
		if b.asked++; b.asked <= b.until {
			return qos.SlotAnswer{State: qos.Pending}
		}
	}
	return b.Budget.AskSlot(now, ask, reply)
}

// TestLateGrantIsGivenBack: a budget that answers when nobody waits any more.
func TestLateGrantIsGivenBack(t *testing.T) {
	var counting *countingBudget
	late := func() qos.Budget {
		counting = &countingBudget{Budget: qos.NewLocalBudget(nil), open: map[qos.PermitID]bool{}}
		return &slowBudget{Budget: counting, delay: 30 * time.Second}
	}
	inArena(t, qos.Options{}, late, func(a *arena) {
		a.post(group, "x", qos.Interactive)
		a.pass(5 * time.Minute)
		if n := len(a.made(nil)); n != 0 {
			t.Errorf("%d calls with grants whose calls' time was over", n)
		}
		if n := counting.left(); n != 0 {
			t.Errorf("%d slots weren't given back", n)
		}
	})
}

// TestRunEndsWithItsBudget: without one nothing can be sent, and the caller must
// know.
func TestRunEndsWithItsBudget(t *testing.T) {
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		a := newArena(t, qos.Options{}, &brokenBudget{Budget: qos.NewLocalBudget(nil), err: broken})
		a.post(group, "x", qos.Interactive)
		if err := <-a.ended; !errors.Is(err, broken) {
			t.Errorf("Run ended with %v, want %v", err, broken)
		}
		if took := a.now(); took != 10*time.Second {
			t.Errorf("after %v, want 10 s", took)
		}
	})
}

// brokenBudget gives up after 10 s.
type brokenBudget struct {
	qos.Budget
	err error
}

func (b *brokenBudget) Run(context.Context, func(qos.Penalty), func(qos.ChatKey)) error {
	time.Sleep(10 * time.Second)
	return b.err
}

// TestFailingLedger: nothing is sent that couldn't be counted, and it's said why.
func TestFailingLedger(t *testing.T) {
	process := qostest.NewMemLedger().Process()
	var works atomic.Bool
	process.Fault = func() error {
		if !works.Load() {
			return errors.New("disk full")
		}
		return nil
	}
	inArena(t, qos.Options{}, func() qos.Budget { return qos.NewLocalBudget(process) }, func(a *arena) {
		a.post(group, "x", qos.Interactive)
		a.pass(time.Minute)
		if n := len(a.made(nil)); n != 0 {
			t.Errorf("%d calls that nobody counted", n)
		}
		if err := a.snapshot().Bot.BudgetErr; err == nil {
			t.Error("the snapshot doesn't say that the budget fails")
		}
		works.Store(true)
		a.pass(3 * time.Second)
		if n := len(a.made(nil)); n != 1 {
			t.Errorf("%d calls after the ledger works", n)
		}
		if err := a.snapshot().Bot.BudgetErr; err != nil {
			t.Errorf("the snapshot still says %v", err)
		}
	})
}

// TestPressure is what the Hub sees.
func TestPressure(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult { return throttled(time.Hour) }
		a.open("doc", group)
		if p, ok := a.sched.Pressure("doc"); !ok || p != (qos.Pressure{}) {
			t.Errorf("of a document that's up to date: %+v", p)
		}
		a.want("doc", 9, false)
		a.pass(3 * time.Minute)
		a.want("doc", 10, false)
		a.pass(2 * time.Minute)
		if p, _ := a.sched.Pressure("doc"); p.Behind != 10 || p.Age != 5*time.Minute {
			t.Errorf("of one that waits: %+v", p)
		}
		if s := a.snapshot().Chats[0]; s.Waiting[qos.Stream].Count != 1 || s.Waiting[qos.Stream].Oldest != 5*time.Minute ||
			len(s.Documents) != 1 || s.Documents[0].Pressure.Behind != 10 {
			t.Errorf("the snapshot says: %+v", s)
		}
		if _, ok := a.sched.Pressure("unknown"); ok {
			t.Error("an unknown document has a pressure")
		}
	})
}

// TestSnapshotOfTheEnded.
func TestSnapshotOfTheEnded(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.cancel()
		a.pass(time.Second)
		if _, err := a.sched.Status(context.Background()); !errors.Is(err, qos.ErrStopped) {
			t.Errorf("error %v, want ErrStopped", err)
		}
		if err := a.sched.PostRequest(qos.Request{Chat: group, Key: "x"}); !errors.Is(err, qos.ErrStopped) {
			t.Errorf("error %v, want ErrStopped", err)
		}
	})
}
