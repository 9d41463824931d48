package qosbench

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/panebridge/panebridge/internal/qostrace"
	"github.com/panebridge/panebridge/qos"
)

// Replayed is a call, of a recording or of its replay.
type Replayed struct {
	Call    qos.Call
	Began   time.Time
	Ended   time.Time // when its answer was taken in; zero: it never was
	Result  qos.CallResult
	answer  time.Duration // from its beginning to its answer
	carried bool          // the recording has an answer
}

// RecordedCalls are the calls of a recording, in order.
func RecordedCalls(rec *qostrace.Recording) []Replayed {
	var calls []Replayed
	open := map[uint64]int{}
	for _, s := range rec.Steps {
		switch s.Kind {
		case qos.TraceStarted:
			clear(open)
		case qos.TraceCalled:
			open[s.Number] = len(calls)
			calls = append(calls, Replayed{Call: s.Call, Began: s.At})
		case qos.TraceAnswered:
			if i, ok := open[s.Number]; ok {
				c := &calls[i]
				c.Ended, c.Result, c.carried = s.At, s.Result, true
				c.answer = min(max(s.Answered.Sub(c.Began), 0), s.At.Sub(c.Began))
				delete(open, s.Number)
			}
		default:
		}
	}
	return calls
}

// replay drives a SlotEngine with a recording's steps.
type replay struct {
	steps  []qos.TraceStep
	change func(*qos.Options) error
	engine *qos.SlotEngine
	budget *qos.LocalBudget
	random *rand.Rand

	outcomes map[subject][]Replayed // what comes of the calls that are still to be made
	pool     [qos.Cosmetic + 1][]Replayed
	calls    []Replayed
	air      replayFlights
	order    int
	now      time.Time
}

// subject is what a call is about.
type subject struct {
	chat qos.ChatKey // of a request
	doc  qos.DocID
	key  string
}

func subjectOf(c qos.Call) subject {
	if c.Doc != "" {
		return subject{doc: c.Doc}
	}
	return subject{chat: c.Chat, key: c.Key}
}

// replayFlight is a call under way.
type replayFlight struct {
	started  *qos.Started
	index    int // of replay.calls
	at       time.Time
	answered time.Time
	result   qos.CallResult
	order    int
}

type replayFlights []*replayFlight

func (f replayFlights) Len() int { return len(f) }

func (f replayFlights) Less(i, j int) bool {
	if !f[i].at.Equal(f[j].at) {
		return f[i].at.Before(f[j].at)
	}
	return f[i].order < f[j].order
}

func (f replayFlights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *replayFlights) Push(x any)   { *f = append(*f, x.(*replayFlight)) } //nolint:forcetypeassert // heap.Push is given such

func (f *replayFlights) Pop() any {
	old := *f
	last := old[len(old)-1]
	*f = old[:len(old)-1]
	return last
}

// Replay has a scheduler do a recording's day again, in virtual time, and returns its calls. change, which may be
// nil, changes the settings that were in force at each start and reload. What comes of a call, and how long it
// takes, is what came of the recorded one that was made of the same, from the same numbers; where there's none, it's
// drawn from the calls of the class by the seed.
func Replay(rec *qostrace.Recording, seed uint64, change func(*qos.Options) error) ([]Replayed, error) {
	if change == nil {
		change = func(*qos.Options) error { return nil }
	}
	r := &replay{
		steps: rec.Steps, change: change, random: source(seed, forNetwork), outcomes: map[subject][]Replayed{},
		budget: qos.NewLocalBudget(nil),
	}
	for _, c := range RecordedCalls(rec) {
		r.outcomes[subjectOf(c.Call)] = append(r.outcomes[subjectOf(c.Call)], c)
		if c.carried && c.Call.Class <= qos.Cosmetic {
			r.pool[c.Call.Class] = append(r.pool[c.Call.Class], c)
		}
	}
	err := r.run()
	return r.calls, err
}

func (r *replay) run() error {
	const stuck = 100_000 // steps without time passing
	still := 0
	for {
		next := r.next()
		if next.IsZero() {
			return nil
		}
		if still++; next.After(r.now) {
			still, r.now = 0, next
		}
		if still > stuck {
			return fmt.Errorf("the scheduler wants to be woken at %v again and again", r.now)
		}
		if err := r.step(); err != nil {
			return err
		}
	}
}

// next is when anything happens; zero: never. The replay ends with its last step, and what's under way then.
func (r *replay) next() time.Time {
	var at time.Time
	soonest := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if len(r.steps) > 0 {
		soonest(r.steps[0].At)
	}
	if len(r.air) > 0 {
		soonest(r.air[0].at)
	}
	if r.engine != nil && (len(r.steps) > 0 || len(r.air) > 0) {
		soonest(r.engine.NextLook())
	}
	return at
}

// step does what's due now: the answers, else what came together, and then it has calls chosen.
func (r *replay) step() error {
	switch {
	case len(r.air) > 0 && !r.air[0].at.After(r.now):
		r.answer()
	case len(r.steps) > 0 && !r.steps[0].At.After(r.now):
		for first := true; len(r.steps) > 0 && !r.steps[0].At.After(r.now) && (first || !r.steps[0].First); first = false {
			s := r.steps[0]
			r.steps = r.steps[1:]
			if err := r.apply(s); err != nil {
				return err
			}
		}
	}
	if r.engine == nil {
		return nil
	}
	for _, started := range r.engine.Advance(r.now) {
		r.begin(started)
	}
	return nil
}

func (r *replay) apply(s qos.TraceStep) error {
	switch s.Kind {
	case qos.TraceStarted:
		return r.start(s)
	case qos.TraceTuned:
		if err := r.change(&s.Options); err != nil {
			return err
		}
	default:
	}
	if r.engine == nil {
		return nil // before the first start
	}
	return r.engine.ApplyStep(s)
}

// start makes an engine, as a daemon does at its start. What was under way may still arrive: its slots are taken
// until then.
func (r *replay) start(s qos.TraceStep) error {
	r.budget.ForgetRun()
	r.air = nil
	opt := s.Options
	if err := r.change(&opt); err != nil {
		return err
	}
	var err error
	if r.engine, err = qos.NewSlotEngine(opt, r.budget, nil); err != nil {
		return fmt.Errorf("make an engine: %w", err)
	}
	return nil
}

// begin makes a call.
func (r *replay) begin(started *qos.Started) {
	call := started.Call
	c := Replayed{Call: call, Began: r.now}
	result, took, answer, ok := r.outcome(call)
	if ok {
		r.order++
		heap.Push(&r.air, &replayFlight{
			started: started, index: len(r.calls), at: r.now.Add(took), answered: r.now.Add(answer), result: result, order: r.order,
		})
	} else { // nobody knows: a kill came first
		r.order++
		heap.Push(&r.air, &replayFlight{
			started: started, index: len(r.calls), at: started.Deadline, answered: started.Deadline,
			result: qos.CallResult{Outcome: qos.Uncertain}, order: r.order,
		})
	}
	r.calls = append(r.calls, c)
}

// outcome is what comes of a call, and when that's taken in and was answered, since its beginning. ok is false if
// the recording has no answer.
func (r *replay) outcome(call qos.Call) (result qos.CallResult, took, answer time.Duration, ok bool) {
	of := subjectOf(call)
	if left := r.outcomes[of]; len(left) > 0 {
		c := left[0]
		r.outcomes[of] = left[1:]
		if c.Call == call {
			return c.Result, c.Ended.Sub(c.Began), c.answer, c.carried
		}
	}
	result = qos.CallResult{Outcome: qos.Delivered, Delivered: call.Wanted, Final: call.Final}
	pool := r.pool[min(call.Class, qos.Cosmetic)]
	if len(pool) == 0 {
		return result, 300 * time.Millisecond, 300 * time.Millisecond, true
	}
	c := pool[r.random.IntN(len(pool))]
	switch c.Result.Outcome {
	case qos.NotSent, qos.Throttled, qos.Failed, qos.Uncertain:
		result = c.Result
	default:
	}
	return result, c.Ended.Sub(c.Began), c.answer, true
}

func (r *replay) answer() {
	f := r.air[0]
	heap.Pop(&r.air)
	c := &r.calls[f.index]
	c.Ended, c.Result = r.now, f.result
	r.engine.Finish(r.now, f.started, f.result, f.answered)
}
