package redisbucket_test

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// rig is a miniredis in a bubble, and processes that share a chat of 20 calls a
// minute.
type rig struct {
	t      *testing.T
	redis  *miniredis.Miniredis
	client *redis.Client
	most   int
	limits qos.Limits
	// callTimeout is the longest call; 0: the default.
	callTimeout time.Duration
	hook        redis.Hook // of the processes that are started; nil: none
}

// member is one process of a rig.
type member struct {
	*redisbucket.Budget
	rig   *rig
	stop  context.CancelFunc
	ended chan error
	heard chan qos.Penalty
	cut   atomic.Bool // no question reaches Redis
	deaf  atomic.Bool // they do, and the answers are lost
	class qos.Class   // of what it asks for

	work sync.WaitGroup // its calls; quit ends them
	quit context.CancelFunc
	dead atomic.Bool // it does nothing any more
}

func inRig(t *testing.T, most int, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, redis: miniredis.NewMiniRedis(), most: most, limits: qos.Limits{
			Bot:   qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}},
			Group: qos.Limit{Windows: []qos.Window{{Calls: 20, Per: time.Minute}}},
		}}
		r.redis.ClockTTL(true)
		defer r.redis.Close()
		r.client = inBubble(t, r.redis)
		defer r.client.Close()
		test(r)
		time.Sleep(time.Second) // the clients' own goroutines end
	})
}

type cutHook struct{ m *member }

func (h cutHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h cutHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !h.m.cut.Load() && !h.m.deaf.Load() {
			return next(ctx, cmd)
		}
		if h.m.deaf.Load() {
			_ = next(ctx, redis.NewCmd(ctx, cmd.Args()...))
		}
		<-ctx.Done()
		cmd.SetErr(ctx.Err())
		return ctx.Err()
	}
}

func (h cutHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// join starts a process.
func (r *rig) join(state string) *member {
	r.t.Helper()
	return r.joinKept(state, nil)
}

// joinKept starts a process that keeps its own calls over restarts.
func (r *rig) joinKept(state string, ledger qos.Ledger) *member {
	r.t.Helper()
	m := &member{rig: r, class: qos.Stream, ended: make(chan error, 1), heard: make(chan qos.Penalty, 100)}
	c := inBubble(r.t, r.redis)
	c.AddHook(cutHook{m})
	if r.hook != nil {
		c.AddHook(r.hook)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	m.Budget = newBudget(r.t, redisbucket.Options{Client: c, MaxProcesses: r.most, StateFile: state, Ledger: ledger, CallTimeout: r.callTimeout})
	m.Configure(r.limits)
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go func() { m.ended <- m.Run(ctx, func(p qos.Penalty) { m.heard <- p }, func(qos.ChatKey) {}) }()
	return m
}

func (m *member) leave() {
	m.rig.t.Helper()
	m.stop()
	if err := <-m.ended; err != nil {
		m.rig.t.Error(err)
	}
}

// try asks once.
func (m *member) try() qos.SlotAnswer {
	got := make(chan qos.SlotAnswer, 1)
	now := time.Now()
	a := m.AskSlot(now, qos.SlotQuestion{Chat: "-1", Class: m.class, Deadline: now.Add(cmp.Or(m.rig.callTimeout, 20*time.Second))}, func(a qos.SlotAnswer) { got <- a })
	if a.State == qos.Pending {
		a = <-got
	}
	return a
}

// calls makes so many calls at most, each answered at once, and returns how many were
// granted, and the last answer.
func (m *member) calls(most int) (n int, last qos.SlotAnswer) {
	for n < most {
		if last = m.try(); last.State != qos.Granted {
			return n, last
		}
		m.Settle(time.Now(), last.Permit, time.Now())
		n++
	}
	return n, last
}

func (m *member) mustCall(n int, why string) {
	m.rig.t.Helper()
	if got, last := m.calls(n + 1); got != n {
		m.rig.t.Fatalf("%s: %d calls, want %d (%+v)", why, got, n, last)
	}
}

const (
	aWindow = time.Minute
	silence = aWindow + 20*time.Second + 6*time.Second // at most
)

func TestAnEmptyServerIsLearnedFor(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(time.Second)
		one.mustCall(5, "the share while learning")
		time.Sleep(aWindow - 500*time.Millisecond)
		two.mustCall(15, "all that's left, after a window")
		one.leave()
		two.leave()
	})
}

func TestWhoIsCutOffIsSilentThenSendsItsShareAndTheOthersLeaveThat(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(aWindow + 2*time.Second)
		two.mustCall(20, "all there is")
		cutAt := time.Now()
		one.cut.Store(true)
		time.Sleep(aWindow - 2*time.Second)
		if n, last := one.calls(1); n != 0 || last.Err == nil {
			r.t.Fatalf("silent, it made %d calls: %+v", n, last)
		}
		if s := one.Status(time.Now()); s.State != "silent" || s.Err == nil {
			r.t.Fatalf("it stands %+v", s)
		}
		time.Sleep(3 * time.Second)
		two.mustCall(15, "all but the share of who vanished")
		_, last := one.calls(1)
		if at := last.At.Sub(cutAt); at > silence {
			r.t.Fatalf("silent for %v, want %v", at, silence)
		}
		time.Sleep(time.Until(last.At))
		one.mustCall(5, "its share")
		if s := one.Status(time.Now()); s.State != "share" {
			r.t.Fatalf("it stands %+v", s)
		}
		// Back: what it did counts for all, and within a window all is shared again.
		one.cut.Store(false)
		time.Sleep(time.Second)
		if s := one.Status(time.Now()); s.State != "shared" {
			r.t.Fatalf("it stands %+v", s)
		}
		if n, _ := two.calls(20); n > 15 {
			r.t.Fatalf("%d calls beside 5 of who came back", n)
		}
		time.Sleep(aWindow)
		one.mustCall(20, "all there is")
		one.leave()
		two.leave()
	})
}

func TestWhoSignsOffLeavesNothingHeldBack(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(aWindow + time.Second)
		two.leave()
		time.Sleep(2 * time.Second)
		one.mustCall(20, "all there is")
		one.leave()
	})
}

func TestAShareIsHeldBackUntilItsForgotten(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(aWindow + time.Second)
		id := two.Status(time.Now()).Member
		if err := redisbucket.Forget(context.Background(), r.client, "b", id); err == nil {
			r.t.Fatal("one that runs was forgotten")
		}
		two.cut.Store(true)
		time.Sleep(24 * time.Second)
		one.mustCall(15, "all but the share of who vanished")
		if err := redisbucket.Forget(context.Background(), r.client, "b", id); err != nil {
			r.t.Fatal(err)
		}
		one.mustCall(5, "what was held back")
		one.leave()
		two.stop()
		<-two.ended
	})
}

func TestNoMoreProcessesThanMayBe(t *testing.T) {
	inRig(t, 2, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(time.Second)
		three := r.join("")
		time.Sleep(2 * silence) // it isn't a member: nothing is held back for it
		n, last := three.calls(1)
		if n != 0 || last.Err == nil || !strings.Contains(last.Err.Error(), "redis.max_processes is 2") {
			r.t.Fatalf("it made %d calls: %v", n, last.Err)
		}
		if s := three.Status(time.Now()); s.State != "refused" {
			r.t.Fatalf("it stands %+v", s)
		}
		two.leave()
		time.Sleep(time.Second)
		three.mustCall(20, "let in when another has gone")
		three.leave()
		one.leave()
	})
}

func TestMaxProcessesMustBeTheSame(t *testing.T) {
	inRig(t, 2, func(r *rig) {
		one := r.join("")
		time.Sleep(time.Second)
		r.most = 3
		two := r.join("")
		time.Sleep(time.Second)
		if _, last := two.calls(1); last.Err == nil || !strings.Contains(last.Err.Error(), "3 here and 2 in") {
			r.t.Fatalf("%+v", last)
		}
		two.leave()
		one.leave()
	})
}

// Who begins without an answer of Redis mustn't send unless it knows that its share
// is held back: it was a member, and didn't sign off.
func TestBeginningCutOff(t *testing.T) {
	for _, killed := range []bool{true, false} {
		inRig(t, 4, func(r *rig) {
			state := r.t.TempDir() + "/member"
			one := r.join(state)
			time.Sleep(time.Second)
			if killed {
				one.cut.Store(true) // its end reaches nobody
				time.Sleep(3 * time.Second)
			}
			one.leave()
			r.redis.SetError("gone")
			again := r.join(state)
			time.Sleep(silence)
			want := 0
			if killed {
				want = 5
			}
			again.mustCall(want, "beginning cut off")
			r.redis.SetError("")
			again.leave()
		})
	}
}

func TestAPenaltyIsKnownToAllAtOnce(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(aWindow + time.Second)
		until := time.Now().Add(time.Hour)
		one.Penalize(time.Now(), qos.Penalty{Scope: qos.Scope{Chat: "-1", AllFamilies: true}, Until: until, Multiplier: 0.7})
		time.Sleep(50 * time.Millisecond)
		p := <-two.heard
		if d := p.Until.Sub(until); d < 0 || d > 100*time.Millisecond || p.Multiplier != 0.7 || p.Scope.Chat != "-1" {
			r.t.Fatalf("heard %+v, want until %v", p, until)
		}
		// Not even cut off is it forgotten.
		two.cut.Store(true)
		time.Sleep(silence)
		if n, _ := two.calls(1); n != 0 {
			r.t.Fatal("a call in a penalty")
		}
		one.leave()
		two.stop()
		<-two.ended
	})
}

// An answer that's lost doesn't count as one: to Redis the process has vanished.
func TestWhoHearsNothingHasVanishedThoughItIsHeard(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(aWindow + time.Second)
		two.deaf.Store(true)
		time.Sleep(2 * time.Second)
		one.mustCall(15, "all but the share of who hears nothing")
		one.leave()
		two.stop()
		<-two.ended
	})
}

// Mode off asks for no leave: it's only counted, also for when Redis is back.
func TestUnguardedCallsDontWaitForRedis(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(aWindow + time.Second)
		one.cut.Store(true)
		time.Sleep(3 * time.Second)
		for range 12 {
			now := time.Now()
			a := one.AskSlot(now, qos.SlotQuestion{Chat: "-1", Unguarded: true, Deadline: now.Add(20 * time.Second)}, nil)
			if a.State != qos.Granted {
				r.t.Fatalf("%+v", a)
			}
			one.Settle(time.Now(), a.Permit, time.Now())
		}
		one.cut.Store(false)
		time.Sleep(2 * time.Second)
		two.mustCall(8, "what 12 calls left")
		one.leave()
		two.leave()
	})
}

// Redis was away for long; it's back, with its data or empty. Within a window all of the
// budget is used again: a full window of calls has ended. (An empty Redis is learned
// for, which begins with the first beat that finds it.)
func TestAllIsSharedAgainWithinAWindowOfItsReturn(t *testing.T) {
	for _, emptied := range []bool{false, true} {
		inRig(t, 8, func(r *rig) {
			one, two := r.join(""), r.join("")
			time.Sleep(aWindow + time.Second)
			one.mustCall(20, "all there is")
			r.redis.SetError("gone")
			var at []time.Time
			call := func(m *member) {
				for m.try().State == qos.Granted { // answered at its deadline at the latest
					at = append(at, time.Now())
				}
			}
			if emptied {
				r.redis.FlushAll()
			}
			gone := time.Now()
			for len(at) < 8 { // twice the shares of both
				time.Sleep(50 * time.Millisecond)
				call(one)
				call(two)
			}
			if first := at[0].Sub(gone); first > silence {
				r.t.Errorf("served again after %v", first)
			}
			time.Sleep(silence) // what's in flight counts as answered
			r.redis.SetError("")
			back := time.Now()
			at = nil
			for len(at) < 20 {
				time.Sleep(10 * time.Millisecond)
				call(one)
				call(two)
				if time.Since(back) > 3*aWindow {
					r.t.Fatalf("%d calls in %v", len(at), 3*aWindow)
				}
			}
			most := aWindow
			if emptied {
				most += 200 * time.Millisecond // a beat, and the margin of clocks
			}
			took := at[19].Sub(back)
			r.t.Logf("emptied %t: a full window ended %v after redis was back", emptied, took)
			if took > most {
				r.t.Errorf("emptied %t: a full window ended %v after redis was back, want %v", emptied, took, most)
			}
			one.leave()
			two.leave()
		})
	}
}

// A process that's cut off before it can hear of a penalty can't know of it. It's silent
// first, as always, then it sends its share and nothing more; and what it's told when
// Redis is back, it obeys from then on.
func TestWhoIsCutOffBeforeAPenaltySendsItsShareAtMost(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(aWindow + time.Second)
		two.cut.Store(true)
		cut := time.Now()
		until := cut.Add(time.Hour)
		one.Penalize(time.Now(), qos.Penalty{Scope: qos.Scope{Chat: "-1", AllFamilies: true}, Until: until, Multiplier: 0.7})
		n, last := two.calls(1)
		for n == 0 {
			time.Sleep(100 * time.Millisecond)
			n, last = two.calls(1)
		}
		if d := time.Since(cut); d < aWindow+20*time.Second+5*time.Second || d > silence {
			r.t.Errorf("it was silent for %v", d)
		}
		two.mustCall(4, "the rest of its share")
		if n, _ := one.calls(1); n != 0 {
			r.t.Errorf("who was told made %d calls", n)
		}
		two.cut.Store(false)
		time.Sleep(500 * time.Millisecond)
		select {
		case p := <-two.heard:
			if d := p.Until.Sub(until).Abs(); d > 100*time.Millisecond {
				r.t.Errorf("it heard of %+v, want until %v", p, until)
			}
		default:
			r.t.Error("back, it didn't hear of the penalty")
		}
		time.Sleep(aWindow)
		if n, last = two.calls(1); n != 0 || last.At.Before(until) {
			r.t.Errorf("%d calls into the penalty: %+v", n, last)
		}
		one.leave()
		two.leave()
	})
}
