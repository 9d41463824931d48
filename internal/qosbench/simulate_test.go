package qosbench

import (
	"testing"
	"time"
)

// restless wants to be woken and does nothing.
type restless struct{}

func (restless) take(time.Duration, event)         {}
func (restless) done(time.Duration, *call, answer) {}
func (restless) step(time.Duration) []*call        { return nil }
func (restless) due() (time.Duration, bool)        { return 0, true }

func TestAPolicyThatNeverRestsIsAnError(t *testing.T) {
	sim := &simulation{policy: restless{}, platform: &platform{}, record: newRecord(0)}
	if err := sim.run(); err == nil {
		t.Error("no error")
	}
}

// noting makes one call for each line at once, and notes when it's answered.
type noting struct {
	calls    []*call
	answered []time.Duration
}

func (n *noting) take(_ time.Duration, ev event) {
	n.calls = append(n.calls, &call{session: ev.session, lines: ev.lines})
}
func (n *noting) done(now time.Duration, _ *call, _ answer) { n.answered = append(n.answered, now) }
func (n *noting) due() (time.Duration, bool)                { return 0, false }

func (n *noting) step(time.Duration) []*call {
	calls := n.calls
	n.calls = nil
	return calls
}

func TestCallsArriveBeforeTheyAreAnswered(t *testing.T) {
	arrivals := trace{sessions: 1}
	const lines = 1000
	for i := range lines {
		arrivals.line(0, time.Duration(i)*10*s)
	}
	arrivals.finish()
	for name, n := range map[string]network{
		"none":   {random: source(1, forNetwork)},
		"varied": {mean: 2 * s, random: source(1, forNetwork)},
		"steady": {mean: 2 * s, steady: true},
	} {
		p := &noting{}
		chat := &platform{}
		sim := &simulation{policy: p, platform: chat, network: n, record: newRecord(1), events: arrivals.events}
		if err := sim.run(); err != nil {
			t.Fatal(err)
		}
		if len(p.answered) != lines || len(chat.arrivals) != lines {
			t.Fatalf("%s: %d calls arrive and %d are answered, want %d", name, len(chat.arrivals), len(p.answered), lines)
		}
		var sum time.Duration
		for i, at := range p.answered {
			sent, arrived := arrivals.events[i].at, chat.arrivals[i]
			if arrived < sent || at < arrived || at > sent+n.mean*3/2 {
				t.Fatalf("%s: sent at %v, arrived at %v, answered at %v", name, sent, arrived, at)
			}
			sum += at - sent
		}
		if mean := sum / lines; !near(mean.Seconds(), n.mean.Seconds(), 0.05) {
			t.Errorf("%s: calls take %v on average, want %v", name, mean, n.mean)
		}
	}
}
