package qos_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

func throttled(d time.Duration) *qos.CallResult {
	return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: d}
}

// TestPenaltyStorm is P12: no call within a penalty, one at its end, and none
// after that before it's answered; the pace only falls while penalties come, and
// recovers after.
func TestPenaltyStorm(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) (bad []string) {
		t.Helper()
		mode := rapid.SampledFrom([]qos.Mode{qos.Strict, qos.CoalesceOnly, qos.Off}).Draw(rt, "mode")
		seed := rapid.Uint64().Draw(rt, "seed")
		latency := rapid.SampledFrom([]time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 10 * time.Second}).Draw(rt, "latency")
		inArena(t, qos.Options{Mode: mode}, nil, func(a *arena) {
			s := &penaltyStorm{arena: a, random: newDice(seed), most: 3}
			a.latency = always(latency)
			a.outcome = s.answer
			s.run(latency)
			bad = s.bad
		})
		return bad
	})
}

// penaltyStorm is a platform that answers the first calls of a chat with penalties.
type penaltyStorm struct {
	*arena
	random *dice
	most   int
	lifts  []time.Duration
	bad    []string
}

func (s *penaltyStorm) wrong(format string, args ...any) {
	s.bad = append(s.bad, fmt.Sprintf(format, args...))
}

func (s *penaltyStorm) lift() (n int, last time.Duration) {
	if len(s.lifts) == 0 {
		return 0, 0
	}
	return len(s.lifts), s.lifts[len(s.lifts)-1]
}

func (s *penaltyStorm) answer(qos.Call) *qos.CallResult { // arena.mu is held
	n, lift := s.lift()
	if now := s.now(); now < lift {
		s.wrong("a call %v before the penalty lifts", lift-now)
	}
	if n == s.most {
		return nil
	}
	retry := 6*time.Second + s.random.duration(2*time.Minute)
	s.lifts = append(s.lifts, s.now()+s.latency()+retry)
	return throttled(retry)
}

func (s *penaltyStorm) run(latency time.Duration) {
	for i := range 6 {
		s.feed(docID(i), group)
	}
	multiplier := 1.0
	for n := 0; ; n++ {
		s.pass(5 * time.Second)
		s.post(group, fmt.Sprint(n), qos.Interactive)
		m := s.snapshot().Chats[0].Multiplier
		s.mu.Lock()
		penalties, lift := s.lift()
		s.mu.Unlock()
		if m > multiplier && (penalties < s.most || s.now() < lift) {
			s.wrong("the pace rose from %v to %v though penalties came", multiplier, m)
		}
		multiplier = m
		if penalties == s.most && s.now() > lift+time.Second {
			break
		}
	}
	_, lift := s.lift()
	s.pass(2 * time.Minute)
	after := s.made(func(g grant) bool { return g.at >= lift })
	if first := after[0].at - lift; first < 100*time.Millisecond || first > time.Second {
		s.wrong("the first call after the penalty came %v after its end, want 0.1 s to 1 s", first)
	}
	if after[0].Class != qos.Interactive {
		s.wrong("the probe is of class %v, though a command waits", after[0].Class)
	}
	if after[1].at < after[0].at+latency {
		s.wrong("a second call went before the probe was answered")
	}
	for range 60 {
		if s.pass(time.Minute); s.snapshot().Chats[0].Multiplier == 1 {
			return
		}
	}
	s.wrong("after an hour without a penalty the pace is at %v", s.snapshot().Chats[0].Multiplier)
}

// TestSlowStart: after a penalty streams and finals begin at half the pace at which they make up for
// it, and each call that's accepted brings a tenth back; commands don't wait for that.
func TestSlowStart(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		for i := range 8 {
			a.feed(docID(i), group)
		}
		a.pass(30 * time.Second)
		a.answers(func(qos.Call) *qos.CallResult {
			a.outcome = nil
			return throttled(time.Minute)
		})
		a.pass(70 * time.Second)
		for i := range 20 {
			a.want(docID(i%8), int64(1000+i), true)
		}
		a.pass(5 * time.Second)
		probe := a.made(func(g grant) bool { return g.at > 89*time.Second })[0].at
		a.pass(30 * time.Second)
		posted := a.now()
		a.post(group, "command", qos.Interactive)
		a.pass(20 * time.Second)
		commands := a.made(func(g grant) bool { return g.Class == qos.Interactive })
		if len(commands) != 1 || commands[0].at-posted > time.Second {
			t.Errorf("a command in the slow start: %+v, posted at %v", commands, posted)
		}
		slow := a.made(func(g grant) bool { return g.at > probe && g.at < probe+time.Minute && g.Class != qos.Interactive })
		// The full pace is 3.16 s, and 3.75 s while finals are about, and half that until they have caught
		// up. The first of these is the one after the probe.
		for i, d := range gaps(slow)[:4] {
			if least := time.Duration(1.58 / (0.6 + 0.1*float64(i)) * float64(time.Second)); d < least {
				t.Errorf("in the slow start, call %d came %v after the one before, want %v", i+1, d, least)
			}
		}
		if soon := between(slow, probe, probe+20*time.Second); len(soon) < 8 {
			t.Errorf("%d calls in 20 s after the probe, want 8 or more", len(soon))
		}
	})
}

// TestFailuresDontKeepAChatSlow: where calls fail for another reason for a minute after a
// penalty, what waits goes as soon as they don't.
func TestFailuresDontKeepAChatSlow(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		const works = 100 * time.Second
		for i := range 8 {
			a.feed(docID(i), group)
		}
		a.pass(20 * time.Second)
		told := false
		a.answers(func(qos.Call) *qos.CallResult {
			switch {
			case !told:
				told = true
				return throttled(10 * time.Second)
			case a.now() < works:
				return &qos.CallResult{Outcome: qos.Failed}
			}
			return nil
		})
		a.pass(works + 90*time.Second - a.now()) // a back-off, and a minute
		first := a.made(func(g grant) bool { return g.at >= works })[0].at
		// The full pace is 3.2 s.
		if n := len(a.made(func(g grant) bool { return g.at >= first && g.at < first+time.Minute })); n < 10 {
			t.Errorf("%d calls in the minute in which they work again, want about 12", n)
		}
	})
}

// TestSlowStartStarvesNoFinal: commands don't wait for it, so it must not keep a final
// from its turn among them; nor do streams that have waited for long pass it by.
func TestSlowStartStarvesNoFinal(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult {
			a.outcome = nil
			return throttled(time.Minute)
		}
		for i := range 4 {
			a.feed(docID(i), group)
		}
		a.pass(59 * time.Second)
		stop := make(chan struct{})
		defer close(stop)
		for i := range 5 {
			go flood(a, fmt.Sprint("command", i), stop)
		}
		for i := range 50 {
			doc := qos.DocID(fmt.Sprint("turn", i))
			a.open(doc, group)
			a.want(doc, 1, true)
			a.pass(time.Second)
		}
		others, shown, accepted := 0, time.Duration(0), 0
		for _, g := range between(a.made(nil), 60*time.Second, 105*time.Second) {
			if others++; g.Class == qos.Final {
				others = 0
			}
			if others > 3 {
				t.Fatalf("%d grants in a row went to others while a final waited", others)
			}
			if g.Class == qos.Stream {
				if d := g.at - shown; shown > 0 && accepted < 5 && d < 1500*time.Millisecond {
					t.Errorf("a stream came %v after what was shown before it, in the slow start", d)
				}
			}
			if g.Class != qos.Interactive {
				shown = g.at
			}
			accepted++
		}
		if shown == 0 {
			t.Error("nothing but commands went")
		}
	})
}

// TestPaceRecovers: a tenth with each call that's accepted.
func TestPaceRecovers(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult {
			a.outcome = nil
			return throttled(10 * time.Second)
		}
		a.feed("doc", group)
		a.pass(5 * time.Second)
		for accepted, probe := 0, a.snapshot().Chats[0].PenaltyUntil; accepted < 7; {
			if want := 0.5 + 0.1*float64(max(0, accepted-1)); accepted > 0 || time.Now().Before(probe) {
				if m := a.snapshot().Chats[0].Multiplier; math.Abs(m-min(1, want)) > 0.001 {
					t.Errorf("after a penalty and %d calls the pace is at %v, want %v", accepted, m, min(1, want))
				}
			}
			a.pass(100 * time.Millisecond)
			accepted = len(a.made(nil)) - 1
		}
	})
}

// TestShortPenaltyIsTheFamilys: up to 5 s, a penalty for typing doesn't hold up
// messages; a longer one does.
func TestShortPenaltyIsTheFamilys(t *testing.T) {
	for _, retry := range []time.Duration{5 * time.Second, 6 * time.Second} {
		inArena(t, qos.Options{}, nil, func(a *arena) {
			a.outcome = func(call qos.Call) *qos.CallResult {
				if call.Family == qos.FamilyTyping {
					return throttled(retry)
				}
				return nil
			}
			a.sched.TryRequest(qos.Request{Chat: group, Key: "typing", Family: qos.FamilyTyping})
			a.pass(100 * time.Millisecond)
			a.post(group, "command", qos.Interactive)
			a.pass(2 * time.Second)
			sent := len(a.made(func(g grant) bool { return g.Key == "command" })) == 1
			if want := retry <= 5*time.Second; sent != want {
				t.Errorf("%v after a penalty of %v for typing, a message was sent: %v, want %v", 2*time.Second, retry, sent, want)
			}
		})
	}
}

// TestManyPenaltiesMeanTheBot: three chats within 2 s silence all of them.
func TestManyPenaltiesMeanTheBot(t *testing.T) {
	for _, chats := range []int{2, 3} {
		inArena(t, qos.Options{}, nil, func(a *arena) {
			a.outcome = func(qos.Call) *qos.CallResult {
				if a.now() < 10*time.Second {
					return throttled(time.Minute)
				}
				return nil
			}
			for i := range chats {
				a.post(qos.ChatKey(fmt.Sprint("-", i)), "x", qos.Interactive)
			}
			a.pass(11 * time.Second)
			a.post("-99", "x", qos.Interactive)
			a.pass(time.Second)
			sent := len(a.made(func(g grant) bool { return g.Chat == "-99" })) == 1
			if want := chats < 3; sent != want {
				t.Errorf("after penalties in %d chats, another one was served: %v, want %v", chats, sent, want)
			}
			a.mu.Lock()
			a.latency = always(2 * time.Second)
			a.mu.Unlock()
			a.pass(51 * time.Second)
			lifted := a.made(func(g grant) bool { return g.at > 60*time.Second })
			a.pass(10 * time.Second)
			if all := a.made(func(g grant) bool { return g.at > 60*time.Second }); chats == 3 && (len(lifted) > 1 || all[1].at < all[0].end) {
				t.Errorf("after a penalty of the bot: %+v, want one probe first", all)
			}
		})
	}
}

// TestGlobalPenalty: the platform says itself that all are meant.
func TestGlobalPenalty(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult {
			a.outcome = nil
			return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: time.Hour, Global: true}
		}
		a.post(group, "x", qos.Interactive)
		a.pass(time.Second)
		a.post("-200", "x", qos.Interactive)
		a.pass(59 * time.Minute)
		if n := len(a.made(nil)); n != 1 {
			t.Fatalf("%d calls within a penalty of the bot", n)
		}
		if s := a.snapshot().Bot; s.PenaltyUntil.IsZero() || s.Multiplier > 0.71 {
			t.Errorf("the snapshot says of the bot: %+v", s)
		}
		a.pass(2 * time.Minute)
		if n := len(a.made(nil)); n != 3 {
			t.Errorf("%d calls after the penalty, want 3", n)
		}
	})
}

// TestPenaltyIsNeverShortened, whatever comes while it holds.
func TestPenaltyIsNeverShortened(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult { return throttled(14 * time.Hour) }
		a.feed("doc", group)
		a.pass(time.Second)
		for range 13 {
			a.pass(time.Hour)
			a.post(group, "command", qos.Interactive)
			a.sched.TryRequest(qos.Request{Chat: group, Key: "typing", Family: qos.FamilyTyping})
			if err := a.sched.Reconfigure(qostest.WithLimits(qos.Options{Mode: qos.Off})); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(a.made(nil)); n != 1 {
			t.Errorf("%d calls within a penalty of 14 hours", n)
		}
		if ev := a.seen(qos.ChatSilenced); len(ev) != 1 || ev[0].Chat != group || ev[0].Until.Sub(a.began) < 14*time.Hour {
			t.Errorf("events: %+v", ev)
		}
		if s := a.snapshot().Chats[0]; s.PenaltyUntil.IsZero() || s.Waiting[qos.Interactive].Count != 1 {
			t.Errorf("the snapshot says: %+v", s)
		}
	})
}

// TestShorterOrderCountsForNothing: two answers at about the same time, of two calls
// that were under way; and one from another process.
func TestShorterOrderCountsForNothing(t *testing.T) {
	var other *hearing
	budget := func() qos.Budget {
		other = &hearing{Budget: qos.NewLocalBudget(nil)}
		return other
	}
	inArena(t, qos.Options{}, budget, func(a *arena) {
		a.latency = always(time.Second)
		a.outcome = func(call qos.Call) *qos.CallResult {
			retry := time.Hour
			if call.Chat == "-200" {
				retry = 10 * time.Second
			}
			return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: retry, Global: true}
		}
		a.post(group, "x", qos.Interactive)
		a.post("-200", "x", qos.Interactive)
		a.pass(3 * time.Second)
		other.hear(qos.Penalty{Until: time.Now().Add(20 * time.Second), Multiplier: 0.5})
		other.hear(qos.Penalty{Scope: qos.Scope{Chat: "-300", AllFamilies: true}, Until: time.Now().Add(2 * time.Hour), Multiplier: 0.5})
		a.post("-300", "x", qos.Interactive)
		a.pass(time.Second)
		if until := a.snapshot().Bot.PenaltyUntil; until.Before(a.began.Add(time.Hour)) {
			t.Errorf("the bot is silent until %v only", until.Sub(a.began))
		}
		a.pass(59 * time.Minute)
		if n := len(a.made(nil)); n != 2 {
			t.Errorf("%d calls, want the 2 that were answered with a penalty", n)
		}
		a.answers(nil)
		a.pass(2 * time.Minute)
		if n := len(a.made(nil)); n != 4 {
			t.Errorf("%d calls after an hour, want those 2 chats again", n)
		}
		a.pass(time.Hour)
		if n := len(a.made(func(g grant) bool { return g.Chat == "-300" })); n != 1 {
			t.Errorf("%d calls in the chat that another process was told about", n)
		}
		for _, c := range a.snapshot().Chats {
			if c.Chat == "-300" && c.Multiplier > 0.5 {
				t.Errorf("its pace is at %v, the other process said 0.5", c.Multiplier)
			}
		}
	})
}

// hearing is a budget that can be told of penalties as if by other processes.
type hearing struct {
	qos.Budget
	hear func(qos.Penalty)
}

func (b *hearing) Run(ctx context.Context, hear func(qos.Penalty), freed func(qos.ChatKey)) error {
	b.hear = hear
	return b.Budget.Run(ctx, hear, freed)
}

// TestRestartForgetsNothing: a new scheduler over the same ledger honours the
// window and the penalty of the one before, and its reduced pace.
func TestRestartForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := qostest.NewMemLedger()
		began := time.Now()
		first := newArena(t, qos.Options{}, qos.NewLocalBudget(ledger.Process()))
		for i := range 25 { // as many as the window holds, and more
			first.post(group, fmt.Sprint(i), qos.Interactive)
		}
		first.post("-200", "x", qos.Interactive)
		first.answers(func(call qos.Call) *qos.CallResult {
			if call.Chat == "-200" {
				return throttled(time.Hour)
			}
			return nil
		})
		first.pass(30 * time.Second)
		if n := len(first.made(nil)); n != 21 {
			t.Fatalf("%d calls, want 20 and 1", n)
		}
		first.close()

		second := newArena(t, qos.Options{}, qos.NewLocalBudget(ledger.Process()))
		defer second.close()
		second.post(group, "x", qos.Interactive)
		second.post("-200", "x", qos.Interactive)
		second.pass(29 * time.Second)
		if n := len(second.made(nil)); n != 0 {
			t.Fatalf("after a restart, %d calls went in a window that's full", n)
		}
		second.pass(2 * time.Second)
		if n := len(second.made(nil)); n != 1 {
			t.Fatalf("%d calls, want 1 when a slot has come back", n)
		}
		second.pass(time.Until(began.Add(time.Hour)))
		if n := len(second.made(nil)); n != 1 {
			t.Fatal("a call went within a penalty from before the restart")
		}
		for _, c := range second.snapshot().Chats {
			if c.Chat == "-200" && (c.Multiplier > 0.71 || c.PenaltyUntil.IsZero()) {
				t.Errorf("after a restart the snapshot says: %+v", c)
			}
		}
		second.pass(2 * time.Second)
		if n := len(second.made(nil)); n != 2 {
			t.Errorf("%d calls after the penalty, want 2", n)
		}
	})
}

// TestCrashCountsCallsInFlight: what was in flight when the process died counts
// as answered 5 s after its deadline.
func TestCrashCountsCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := qostest.NewMemLedger()
		process := ledger.Process()
		opt := qos.Options{GroupMPM: 2}
		first := newArena(t, opt, qos.NewLocalBudget(process))
		first.latency = always(15 * time.Second)
		first.post(group, "x", qos.Interactive)
		first.pass(time.Second)
		process.Kill()
		crashed := time.Now()
		first.cancel()
		<-first.ended // with an error: the ledger is gone

		second := newArena(t, opt, qos.NewLocalBudget(ledger.Process()))
		defer second.close()
		for i := range 3 {
			second.post(group, fmt.Sprint(i), qos.Interactive)
		}
		second.pass(2 * time.Minute)
		calls := second.made(nil)
		at := func(i int) time.Duration { return second.began.Add(calls[i].at).Sub(crashed) }
		// The call that was in flight may arrive until 24 s after the crash: 20 s is its
		// deadline from the beginning, a second before that.
		if len(calls) != 3 || at(0) < 24*time.Second || at(1) < 84*time.Second || at(1) > 86*time.Second {
			t.Errorf("calls at %v after the crash, want 24 s and 84 s", gaps(calls))
		}
	})
}

// TestPaceIsCutByEachPenalty that follows an accepted call, down to three tenths; by one
// for messages however short, but not by a short one for another family, and not by probes that are
// refused.
func TestPaceIsCutByEachPenalty(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult { return throttled(2 * time.Second) }
		multiplier := func() float64 { return a.snapshot().Chats[0].Multiplier }
		a.sched.TryRequest(qos.Request{Chat: group, Key: "typing", Family: qos.FamilyTyping})
		a.pass(time.Second)
		if m := multiplier(); m != 1 {
			t.Errorf("after a short penalty for typing the pace is at %v", m)
		}
		want := 1.0
		for n := range 8 {
			a.post(group, fmt.Sprint(n), qos.Interactive)
			want = max(0.3, want*0.5)
			for range 3 { // the second and the third are probes
				a.pass(0)
				if m := multiplier(); m < want-0.001 || m > want+0.001 {
					t.Fatalf("after %d penalties the pace is at %v, want %v", n+1, m, want)
				}
				a.pass(time.Until(a.snapshot().Chats[0].PenaltyUntil))
			}
			a.answers(nil)
			a.pass(10 * time.Second)
			a.answers(func(qos.Call) *qos.CallResult { return throttled(2 * time.Second) })
		}
	})
}

// TestCaughtUpAMinuteAfterPenalties, however many there were, of calls and of probes: what four
// calls show is there a minute after the last one, and what takes more by as many calls at the
// least pace. Nor is that more than the platform takes.
func TestCaughtUpAMinuteAfterPenalties(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) (bad []string) {
		t.Helper()
		accepted := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 12).Draw(rt, "calls that are accepted before each penalty")
		docs := rapid.IntRange(1, 12).Draw(rt, "documents")
		retry := rapid.SampledFrom([]time.Duration{time.Second, 6 * time.Second, time.Minute}).Draw(rt, "retry after")
		inArena(t, qos.Options{}, nil, func(a *arena) {
			a.outcome = func(qos.Call) *qos.CallResult { // arena.mu is held
				switch {
				case len(accepted) == 0:
				case accepted[0] > 0:
					accepted[0]--
				default:
					accepted = accepted[1:]
					return throttled(retry)
				}
				return nil
			}
			for i := range docs {
				a.open(docID(i), group)
			}
			line := int64(0)
			storm := func() (over bool) {
				a.mu.Lock()
				defer a.mu.Unlock()
				return len(accepted) == 0
			}
			for !storm() {
				line++
				for i := range docs {
					a.want(docID(i), line, i%2 == 0)
				}
				a.pass(time.Second)
			}
			until := a.snapshot().Chats[0].PenaltyUntil
			// Where most is kept for commands and finals, streams are 4.45 s apart at full pace.
			allowed := max(time.Minute, time.Duration(docs)*14900*time.Millisecond)
			a.pass(max(0, time.Until(until)) + allowed)
			if left := len(a.snapshot().Chats[0].Documents); left > 0 {
				bad = append(bad, fmt.Sprintf("%v after the penalty %d of %d documents wait still", allowed, left, docs))
			}
			if most := mostWithin(a.made(nil), time.Minute); most > 20 {
				bad = append(bad, fmt.Sprintf("%d calls in a minute", most))
			}
		})
		return bad
	})
}

// TestReducedPaceIsRemembered for an hour, though nothing is sent meanwhile.
func TestReducedPaceIsRemembered(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult {
			a.outcome = nil
			return throttled(10 * time.Second)
		}
		a.post(group, "x", qos.Interactive)
		a.pass(50 * time.Minute)
		if c := a.snapshot().Chats; len(c) != 1 || c[0].Multiplier > 0.71 {
			t.Errorf("50 min later: %+v", c)
		}
		a.pass(20 * time.Minute)
		if c := a.snapshot().Chats; len(c) != 0 {
			t.Errorf("70 min later: %+v, want nothing", c)
		}
	})
}

// TestSlowlyToldOffIsNotTheBot: penalties in three chats within 2 s mean all; 3 s apart
// they don't.
func TestSlowlyToldOffIsNotTheBot(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult { return throttled(time.Hour) }
		for i := range 5 {
			a.post(qos.ChatKey(fmt.Sprint("-", i)), "x", qos.Interactive)
			a.pass(3 * time.Second)
		}
		if n := len(a.made(nil)); n != 5 || !a.snapshot().Bot.PenaltyUntil.IsZero() {
			t.Errorf("%d of 5 chats were called; the bot: %+v", n, a.snapshot().Bot)
		}
	})
}

// TestOnlyAProbeEndsAPenalty: a call that was under way when the penalty of the bot
// came says nothing about it, though it was accepted.
func TestOnlyAProbeEndsAPenalty(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.latency = always(2 * time.Second)
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Chat == "-1" && a.now() < 10*time.Second {
				return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: time.Minute, Global: true}
			}
			return nil
		}
		a.post("-1", "x", qos.Interactive)
		a.pass(time.Second)
		a.post("-2", "under way", qos.Interactive)
		a.pass(10 * time.Second)
		for i := range 5 {
			a.post(qos.ChatKey(fmt.Sprint("-", i+1)), "later", qos.Interactive)
		}
		a.pass(2 * time.Minute)
		after := a.made(func(g grant) bool { return g.at > time.Minute })
		if len(after) != 6 || after[1].at < after[0].end {
			t.Errorf("calls after the penalty: %+v, want one probe first", after)
		}
	})
}

// TestPenaltyOfTheBotSlowsTheBot: after one, calls of all chats together are further
// apart, until the pace has recovered.
func TestPenaltyOfTheBotSlowsTheBot(t *testing.T) {
	opt := qos.Options{Limits: qos.Limits{Bot: qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}, Gap: time.Second}}}
	inArena(t, opt, nil, func(a *arena) {
		a.outcome = func(qos.Call) *qos.CallResult {
			a.outcome = nil
			return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: 10 * time.Second, Global: true}
		}
		for i := range 40 {
			a.post(qos.ChatKey(fmt.Sprint("-", i)), "x", qos.Interactive)
		}
		a.pass(3 * time.Minute)
		calls := a.made(func(g grant) bool { return g.at > 10*time.Second })
		for i, d := range gaps(calls) {
			// The gap is a second. It's taken before the probe is answered.
			if least := time.Duration(float64(time.Second) / min(1, 0.5+0.1*float64(i))); i > 0 && d < least-time.Millisecond {
				t.Errorf("call %d came %v after the one before, want %v", i+1, d, least)
			}
		}
		if len(calls) != 40 {
			t.Errorf("%d calls, want 40", len(calls))
		}
	})
}

// TestPenaltyIsHeardWhole: what another process, or this one before a restart, was told
// counts as if it were said here: one probe when it lifts, and a slow start, also if it
// has lifted just now.
func TestPenaltyIsHeardWhole(t *testing.T) {
	var other *hearing
	budget := func() qos.Budget {
		other = &hearing{Budget: qos.NewLocalBudget(nil)}
		return other
	}
	inArena(t, qos.Options{}, budget, func(a *arena) {
		a.pass(time.Second)
		a.latency = always(2 * time.Second)
		other.hear(qos.Penalty{Until: time.Now().Add(30 * time.Second), Multiplier: 0.7})
		for i := range 4 {
			a.post(qos.ChatKey(fmt.Sprint("-", i)), "x", qos.Interactive)
		}
		a.pass(time.Minute)
		calls := a.made(nil)
		if len(calls) != 4 || calls[0].at < 31*time.Second || calls[1].at < calls[0].end {
			t.Errorf("calls: %+v, want one probe at 31 s, and then the others", calls)
		}
	})
	inArena(t, qos.Options{}, budget, func(a *arena) {
		a.pass(time.Second)
		other.hear(qos.Penalty{Scope: qos.Scope{Chat: group, AllFamilies: true}, Until: time.Now().Add(-10 * time.Second), Multiplier: 0.7})
		for i := range 4 {
			a.feed(docID(i), group)
		}
		a.pass(49 * time.Second)
		for i, d := range gaps(a.made(nil)) {
			// The full pace is 3.2 s. The first call has been accepted already.
			if least := time.Duration(3.15 / min(1, 0.8+0.1*float64(i)) * float64(time.Second)); d < least {
				t.Errorf("call %d came %v after the one before, in a slow start, want %v", i+1, d, least)
			}
		}
	})
}
