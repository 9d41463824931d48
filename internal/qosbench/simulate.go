package qosbench

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"
)

// never is later than everything. A run isn't stopped before it, but by having
// nothing left to do.
const never = 1000 * time.Hour

// network is the time calls take. The answer comes after 0.5 to 1.5 times the
// mean, and the call arrived at any moment before. A steady network takes the mean
// each time, half of it to get there.
type network struct {
	mean   time.Duration
	steady bool
	random *rand.Rand
}

func (n network) times() (arrival, response time.Duration) {
	if n.steady || n.mean == 0 {
		return n.mean / 2, n.mean
	}
	response = between(n.random, n.mean/2, n.mean*3/2)
	return time.Duration(n.random.Float64() * float64(response)), response
}

// flight is a call under way: first to the platform, then back.
type flight struct {
	call    *call
	at      time.Duration // when the next happens
	back    time.Duration // when the answer is there
	answer  answer
	arrived bool
	order   int // of dispatch, which breaks ties
}

type flights []*flight

func (f flights) Len() int { return len(f) }

func (f flights) Less(i, j int) bool {
	if f[i].at != f[j].at {
		return f[i].at < f[j].at
	}
	return f[i].order < f[j].order
}

func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(*flight)) } //nolint:forcetypeassert // heap.Push is given such

func (f *flights) Pop() any {
	old := *f
	last := old[len(old)-1]
	*f = old[:len(old)-1]
	return last
}

// simulation is one run of a policy on a trace.
type simulation struct {
	policy   policy
	platform *platform
	network  network
	record   *record
	silences silences

	events []event // that haven't happened
	air    flights
	order  int
}

// run goes through the trace, and on until nothing is left to do. What was due
// earlier is done now: time doesn't go back.
func (s *simulation) run() error {
	const stuck = 100_000 // steps without time passing
	still, now := 0, time.Duration(0)
	for {
		next := s.next()
		if next >= never {
			return nil
		}
		if still++; next > now {
			still, now = 0, next
		}
		if still > stuck {
			return fmt.Errorf("the scheduler wants to be woken at %v again and again", now)
		}
		s.fly(now)
		s.happen(now)
		for _, c := range s.policy.step(now) {
			s.dispatch(now, c)
		}
	}
}

// next is when anything happens.
func (s *simulation) next() time.Duration {
	at := never
	if len(s.events) > 0 {
		at = min(at, s.events[0].at)
	}
	if len(s.air) > 0 {
		at = min(at, s.air[0].at)
	}
	if due, ok := s.policy.due(); ok {
		at = min(at, due)
	}
	return at
}

// fly has calls arrive and come back that do so now.
func (s *simulation) fly(now time.Duration) {
	for len(s.air) > 0 && s.air[0].at <= now {
		f := s.air[0]
		if f.arrived {
			heap.Pop(&s.air)
			s.silences.answered(now, f.answer.verdict)
			s.policy.done(now, f.call, f.answer)
			continue
		}
		f.answer = s.platform.arrive(now)
		s.record.arrived(now, f.call, f.answer)
		f.arrived, f.at = true, f.back
		heap.Fix(&s.air, 0)
	}
}

// happen takes in what the trace has for now.
func (s *simulation) happen(now time.Duration) {
	for len(s.events) > 0 && s.events[0].at <= now {
		ev := s.events[0]
		s.events = s.events[1:]
		s.record.happened(ev)
		s.policy.take(now, ev)
	}
}

func (s *simulation) dispatch(now time.Duration, c *call) {
	s.silences.dispatched(now)
	arrival, response := s.network.times()
	s.order++
	heap.Push(&s.air, &flight{call: c, at: now + arrival, back: now + response, order: s.order})
}
