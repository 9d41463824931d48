package qosbench

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Scenario is what happens to the schedulers.
type Scenario struct {
	Name     string
	Sessions int
	Latency  time.Duration // of a call, on average

	fill func(t *trace, seed uint64)

	always   bool          // all sessions always have something to send, and no turn ends
	noisy    bool          // one session ends turns without end
	ordinary bool          // that session is like the others; what they'd have then
	together bool          // turns end together
	penalty  time.Duration // one "too many requests" without reason
	failures float64       // share of calls that fail
	breaks   float64       // share of calls that break
	refuse   bool          // the platform refuses what exceeds the limit
}

// penaltyAt is when the one "too many requests" is due, as a share of the run.
const penaltyAt = 0.5

// Scenarios are all there are: each with no latency, the usual, and that of a bad
// line.
func Scenarios() []Scenario {
	kinds := []Scenario{}
	for _, n := range []int{4, 8, 12, 30} {
		kinds = append(kinds,
			Scenario{Name: fmt.Sprintf("%d random", n), Sessions: n, fill: talkAll},
			Scenario{Name: fmt.Sprintf("%d locked", n), Sessions: n, fill: lockAll, together: true},
			Scenario{Name: fmt.Sprintf("%d always dirty", n), Sessions: n, fill: chatterAll, always: true},
		)
	}
	kinds = append(kinds,
		Scenario{Name: "8, one ends turns every 3s", Sessions: 8, fill: hurryOne, noisy: true},
		Scenario{Name: "8, none ends turns", Sessions: 8, fill: hurryNone, ordinary: true},
		Scenario{Name: "30, one ends turns every 3s", Sessions: 30, fill: hurryOne, noisy: true},
		Scenario{Name: "30, none ends turns", Sessions: 30, fill: hurryNone, ordinary: true},
		Scenario{Name: "30 finals at once", Sessions: 30, fill: finalsAtOnce},
		Scenario{Name: "8 random, a 429 of 30s", Sessions: 8, fill: talkAll, penalty: 30 * time.Second},
		Scenario{Name: "8 random, 1% fail", Sessions: 8, fill: talkAll, failures: 0.01},
		Scenario{Name: "silence: 3 in short turns, 5% break", Sessions: 3, fill: talkShort, breaks: 0.05},
		Scenario{Name: "12 random, refusing", Sessions: 12, fill: talkAll, refuse: true},
	)
	var all []Scenario
	for _, s := range kinds {
		for _, latency := range []time.Duration{0, 300 * time.Millisecond, 2 * time.Second} {
			v := s
			v.Name += fmt.Sprintf(", latency %gs", latency.Seconds())
			v.Latency = latency
			all = append(all, v)
		}
	}
	return all
}

// What random numbers are for. Sessions have the numbers from forSessions on.
const (
	forCommands = iota + 1
	forNetwork
	forPlatform
	forSessions = 1000
)

// talkAll has sessions print and end turns at random.
func talkAll(t *trace, seed uint64) {
	for s := range t.sessions {
		t.talk(source(seed, forSessions+uint64(s)), s)
	}
	t.commands(source(seed, forCommands))
}

// talkShort has sessions print for some seconds and rest for longer, so that there's mostly
// a slot for what they print.
func talkShort(t *trace, seed uint64) {
	for s := range t.sessions {
		t.talkFor(source(seed, forSessions+uint64(s)), s, span{shortLeast, shortMost}, span{pauseLeast, pauseMost})
	}
	t.commands(source(seed, forCommands))
}

// lockAll has sessions print and end turns at the same moments.
func lockAll(t *trace, seed uint64) {
	t.march()
	t.commands(source(seed, forCommands))
}

// chatterAll has equal sessions that always have something to send, and nothing
// beside them but commands like a clock. That, and a steady network, make "other
// calls" and "latency" numbers.
func chatterAll(t *trace, seed uint64) {
	for s := range t.sessions {
		t.chatter(source(seed, forSessions+uint64(s)), s)
	}
	t.regularCommands()
}

// hurryOne has one session end turns quickly, while the others print.
func hurryOne(t *trace, seed uint64) {
	t.hurry(0)
	for s := 1; s < t.sessions; s++ {
		t.chatter(source(seed, forSessions+uint64(s)), s)
	}
	t.commands(source(seed, forCommands))
}

// hurryNone is the same with that session like the others.
func hurryNone(t *trace, seed uint64) {
	for s := range t.sessions {
		t.chatter(source(seed, forSessions+uint64(s)), s)
	}
	t.commands(source(seed, forCommands))
}

// finalsAtOnce has sessions that print little end their turns at the same moment,
// every ten minutes.
func finalsAtOnce(t *trace, seed uint64) {
	const every, before = 10 * time.Minute, 4 * time.Minute
	r := source(seed, forSessions)
	for at := every / 2; at < t.horizon; at += every {
		for s := range t.sessions {
			t.line(s, at-between(r, 0, before))
			t.turn(s, at)
		}
	}
	t.commands(source(seed, forCommands))
}

// trace makes the scenario's arrivals.
func (s Scenario) trace(seed uint64, horizon time.Duration) trace {
	t := trace{sessions: s.Sessions, horizon: horizon}
	s.fill(&t, seed)
	t.finish()
	return t
}

// optimumGap is how long each of n sessions that always have something to send
// waits between two calls, if they get all slots that others leave. A slot is taken
// until a window after the answer.
func (s Scenario) optimumGap(others float64) Seconds {
	left := limitCalls - others
	if left <= 0 {
		return Seconds(math.Inf(1))
	}
	return Seconds(float64(s.Sessions) * (limitWindow + s.Latency).Seconds() / left)
}

// commandsAWindow is how many commands come in a window, on average.
func (t trace) commandsAWindow() float64 {
	n := 0
	for _, ev := range t.events {
		if ev.kind == commandEvent {
			n++
		}
	}
	return float64(n) * limitWindow.Seconds() / t.horizon.Seconds()
}

// essential is how many calls a window has to be made, whatever is coalesced:
// those for finals and commands, on average and in the busiest window.
func (t trace) essential(finalCalls int) (average float64, most int) {
	var at []time.Duration
	first := 0
	for _, ev := range t.events {
		switch ev.kind {
		case commandEvent:
			at = append(at, ev.at)
		case turnEvent:
			at = append(at, slices.Repeat([]time.Duration{ev.at}, finalCalls)...)
		case lineEvent:
			continue
		}
		for ev.at-at[first] >= limitWindow {
			first++
		}
		most = max(most, len(at)-first)
	}
	return float64(len(at)) * limitWindow.Seconds() / t.horizon.Seconds(), most
}
