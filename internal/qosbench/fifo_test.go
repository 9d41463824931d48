package qosbench

import (
	"testing"
	"time"
)

func TestTheFIFOKeepsOrderAndCoalesces(t *testing.T) {
	f := newFIFO(2)
	f.take(0, event{kind: lineEvent, session: 1, lines: 1})
	f.take(0, event{kind: commandEvent, commands: 1})
	f.take(0, event{kind: turnEvent, session: 0, lines: 1, turns: 1})
	f.take(0, event{kind: lineEvent, session: 1, lines: 2})
	var sent []call
	drive(f, time.Minute, func(_ time.Duration, c *call) answer {
		sent = append(sent, *c)
		return answer{}
	})
	if len(sent) != 3 || sent[0].session != 1 || sent[0].lines != 2 || !sent[1].command || sent[2].toTurn != 1 {
		t.Errorf("sent %+v, want both lines of session 1, the command, the final", sent)
	}
}

func TestTheFIFOKeepsToTheLimitByItsOwnClock(t *testing.T) {
	f := newFIFO(1)
	const n = 3 * limitCalls
	for i := range n {
		f.take(0, event{kind: commandEvent, commands: i + 1})
	}
	var at []time.Duration
	drive(f, time.Hour, func(now time.Duration, _ *call) answer {
		at = append(at, now)
		return answer{}
	})
	for i, now := range at {
		if want := time.Duration(i/limitCalls) * limitWindow; now != want {
			t.Fatalf("call %d at %v, want %v", i, now, want)
		}
	}
	if len(at) != n {
		t.Errorf("%d calls, want %d", len(at), n)
	}
}

func TestTheFIFOTriesAgain(t *testing.T) {
	f := newFIFO(1)
	f.take(0, event{kind: lineEvent, lines: 1})
	answers := []answer{{verdict: failed}, {verdict: throttled, retryAfter: 7 * time.Second}, {}}
	var at []time.Duration
	drive(f, time.Hour, func(now time.Duration, _ *call) answer {
		at = append(at, now)
		a := answers[0]
		answers = answers[1:]
		return a
	})
	if len(at) != 3 || at[1] != time.Second || at[2] != 8*time.Second {
		t.Errorf("calls at %v, want 0s, 1s, 8s", at)
	}
}
