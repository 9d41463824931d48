package qostest

import (
	"context"
	"errors"
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
		}, func(qos.ChatKey) {})
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
func (r *runner) ask(a qos.SlotQuestion) qos.SlotAnswer {
	r.t.Helper()
	if a.Deadline.IsZero() {
		a.Deadline = r.bench.Now().Add(timeout)
	}
	got := make(chan qos.SlotAnswer, 2)
	answer := r.budget.AskSlot(r.bench.Now(), a, func(a qos.SlotAnswer) { got <- a })
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
	return qos.SlotAnswer{}
}

// persist asks until the answer isn't an error.
func (r *runner) persist(a qos.SlotQuestion) qos.SlotAnswer {
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
	return qos.SlotAnswer{}
}

func (r *runner) granted(a qos.SlotQuestion) qos.PermitID {
	r.t.Helper()
	got := r.persist(a)
	if got.State != qos.Granted {
		r.t.Fatalf("not granted, but not before %v (in %v)", got.At, got.At.Sub(r.bench.Now()))
	}
	return got.Permit
}

// refused wants a question refused, and returns for how long.
func (r *runner) refused(a qos.SlotQuestion) time.Duration {
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
func (r *runner) refusedFor(a qos.SlotQuestion, want time.Duration) {
	r.t.Helper()
	if got := r.refused(a); got > want || got < want-r.bench.Settles-r.bench.Slack {
		r.t.Fatalf("refused for %v, want %v", got, want)
	}
}

func (r *runner) answer(id qos.PermitID) { r.budget.Settle(r.bench.Now(), id, r.bench.Now()) }

// call takes a slot and has it answered after some time.
func (r *runner) call(a qos.SlotQuestion, took time.Duration) {
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

func message(c qos.ChatKey) qos.SlotQuestion { return qos.SlotQuestion{Chat: c} }

// Slow is a Budget whose every answer comes late, as one behind a network.
type Slow struct {
	qos.Budget
	// Delay is how long the next answer takes. It's called from several goroutines.
	Delay func() time.Duration
}

// AskSlot implements qos.Budget.
func (b *Slow) AskSlot(now time.Time, ask qos.SlotQuestion, reply func(qos.SlotAnswer)) qos.SlotAnswer {
	late := func(a qos.SlotAnswer) {
		time.AfterFunc(b.Delay(), func() { reply(a) })
	}
	if a := b.Budget.AskSlot(now, ask, late); a.State != qos.Pending {
		late(a)
	}
	return qos.SlotAnswer{State: qos.Pending}
}

// ErrNoAnswer is why a Failing budget doesn't grant.
var ErrNoAnswer = errors.New("the budget has no answer")

// Failing is a Budget that sometimes has no answer, and then refuses, as it must.
type Failing struct {
	qos.Budget
	// Fails says whether the next question has no answer. It's called from several
	// goroutines.
	Fails func() bool
	// Again is after which time such a question may be asked again.
	Again time.Duration

	once sync.Once
}

// AskSlot implements qos.Budget.
func (b *Failing) AskSlot(now time.Time, ask qos.SlotQuestion, reply func(qos.SlotAnswer)) qos.SlotAnswer {
	b.once.Do(func() {
		if b.Again == 0 {
			b.Again = time.Second
		}
	})
	if b.Fails() {
		return qos.SlotAnswer{State: qos.NotBefore, At: now.Add(b.Again), Err: ErrNoAnswer}
	}
	return b.Budget.AskSlot(now, ask, reply)
}

// Limits are windows such as a platform has that counts messages by the minute. Groups have those
// of qos.Options.GroupMPM.
func Limits() qos.Limits {
	return qos.Limits{
		Bot:     qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}, Gap: 40 * time.Millisecond},
		Group:   qos.Limit{Gap: time.Second},
		Private: qos.Limit{Windows: []qos.Window{{Calls: 60, Per: time.Minute}, {Calls: 3, Per: 3 * time.Second}}, Gap: time.Second},
		Families: map[qos.Family]qos.Limit{
			qos.FamilyTyping: {Windows: []qos.Window{{Calls: 2, Per: 5 * time.Second}, {Calls: 7, Per: 30 * time.Second}}},
			qos.FamilyDraft:  {Windows: []qos.Window{{Calls: 14, Per: 5 * time.Second}, {Calls: 25, Per: 30 * time.Second}}},
		},
	}
}

// BurstLimits are windows such as a platform has that counts calls by the second, and allows next
// to no renames.
func BurstLimits() qos.Limits {
	return qos.Limits{
		Bot:     qos.Limit{Windows: []qos.Window{{Calls: 45, Per: time.Second}}, Gap: 20 * time.Millisecond},
		Group:   qos.Limit{Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}}},
		Private: qos.Limit{Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}}},
		Families: map[qos.Family]qos.Limit{
			qos.FamilyTyping: {Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}}},
			qos.FamilyRename: {Windows: []qos.Window{{Calls: 2, Per: 10 * time.Minute}}},
		},
	}
}

// WithLimits fills in what o doesn't say of its limits, from Limits.
func WithLimits(o qos.Options) qos.Options {
	d := Limits()
	if len(o.Limits.Bot.Windows) == 0 {
		o.Limits.Bot = d.Bot
	}
	if len(o.Limits.Group.Windows) == 0 {
		o.Limits.Group = d.Group
	}
	if len(o.Limits.Private.Windows) == 0 {
		o.Limits.Private = d.Private
	}
	if o.Limits.Families == nil {
		o.Limits.Families = d.Families
	}
	return o
}
