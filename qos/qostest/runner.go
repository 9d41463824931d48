package qostest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// runner runs one budget at a time and asks it questions.
type runner struct {
	t      *testing.T
	bench  Bench
	budget qos.Budget
	cancel context.CancelFunc
	ended  chan error

	mu    sync.Mutex
	heard []qos.Penalty
}

func (r *runner) start(l qos.Limits) {
	r.t.Helper()
	r.budget = r.bench.Open()
	r.budget.Configure(l)
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.ended = cancel, make(chan error, 1)
	b, ended := r.budget, r.ended
	go func() {
		ended <- b.Run(ctx, func(p qos.Penalty) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.heard = append(r.heard, p)
		}, func(qos.Chat) {})
	}()
}

func (r *runner) stop() {
	r.t.Helper()
	r.cancel()
	if err := <-r.ended; err != nil {
		r.t.Errorf("Run ended with %v", err)
	}
}

func (r *runner) restart() {
	r.t.Helper()
	r.stop()
	r.start(limits())
}

// ask asks one question and waits for the answer.
func (r *runner) ask(a qos.Ask) qos.Answer {
	r.t.Helper()
	if a.Deadline.IsZero() {
		a.Deadline = r.bench.Now().Add(timeout)
	}
	got := make(chan qos.Answer, 2)
	answer := r.budget.Ask(r.bench.Now(), a, func(a qos.Answer) { got <- a })
	if answer.State != qos.Pending {
		return answer
	}
	for range 1000 {
		select {
		case answer = <-got:
			if answer.State == qos.Pending {
				r.t.Fatal("the reply was Pending")
			}
			return answer
		default:
			r.bench.Pass(max(r.bench.Settles/50, time.Millisecond))
		}
	}
	r.t.Fatal("no answer came")
	return qos.Answer{}
}

// persist asks until the answer isn't an error.
func (r *runner) persist(a qos.Ask) qos.Answer {
	r.t.Helper()
	for range 1000 {
		got := r.ask(a)
		if got.Err == nil {
			return got
		}
		r.pass(until(r.bench.Now(), got.At))
		a.Deadline = time.Time{}
	}
	r.t.Fatal("the budget fails for ever")
	return qos.Answer{}
}

func (r *runner) granted(a qos.Ask) qos.PermitID {
	r.t.Helper()
	got := r.persist(a)
	if got.State != qos.Granted {
		r.t.Fatalf("not granted, but not before %v (in %v)", got.At, got.At.Sub(r.bench.Now()))
	}
	return got.Permit
}

// refused wants a question refused, and returns for how long.
func (r *runner) refused(a qos.Ask) time.Duration {
	r.t.Helper()
	got := r.persist(a)
	if got.State != qos.NotBefore {
		r.t.Fatal("granted")
	}
	d := got.At.Sub(r.bench.Now())
	if d <= 0 {
		r.t.Fatalf("refused until %v ago", -d)
	}
	return d
}

// refusedFor wants a question refused for about so long: never for less.
func (r *runner) refusedFor(a qos.Ask, want time.Duration) {
	r.t.Helper()
	if got := r.refused(a); got > want || got < want-r.bench.Settles-r.bench.Slack {
		r.t.Fatalf("refused for %v, want %v", got, want)
	}
}

func (r *runner) answer(id qos.PermitID) { r.budget.Settle(r.bench.Now(), id, r.bench.Now()) }

// call takes a slot and has it answered after some time.
func (r *runner) call(a qos.Ask, took time.Duration) {
	r.t.Helper()
	id := r.granted(a)
	r.pass(took)
	r.answer(id)
}

func (r *runner) pass(d time.Duration) {
	if d > 0 {
		r.bench.Pass(d)
	}
}

func until(now, at time.Time) time.Duration { return max(at.Sub(now), time.Millisecond) }

func message(c qos.Chat) qos.Ask { return qos.Ask{Chat: c} }
