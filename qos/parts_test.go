package qos

import (
	"math/rand/v2"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return noon.Add(d) }

func TestReserveEstimates(t *testing.T) {
	var r reserve
	if n := r.expected(noon, 4); n != 1 {
		t.Errorf("with nothing seen, %d slots are kept, want 1", n)
	}
	r.arrived(noon)
	if n := r.expected(noon, 4); n != 3 { // 1 + ceil(1.5)
		t.Errorf("after one arrival, %d slots are kept, want 3", n)
	}
	for range 10 {
		r.arrived(after(time.Second))
	}
	if n := r.expected(after(time.Second), 4); n != 4 {
		t.Errorf("after many arrivals, %d slots are kept, want the limit", n)
	}
	if !r.active(after(60*time.Second)) || r.active(after(62*time.Second)) {
		t.Error("active for another time than a minute")
	}
	if x := r.usual(after(150 * time.Second)); x != 2.75 { // 11, halved twice
		t.Errorf("after two minutes the average is %v, want 2.75", x)
	}
	if n := r.expected(after(time.Hour), 4); n != 1 || !r.changes(after(time.Hour)).IsZero() {
		t.Errorf("after an hour, %d slots are kept, want 1 for good", n)
	}
}

func TestReserveForgetsOldCalls(t *testing.T) {
	var r reserve
	for i := range 10_000 {
		r.answered(after(time.Duration(i)*time.Second), time.Minute)
	}
	if n := len(r.used); n != 60 {
		t.Errorf("%d calls are remembered, want those of a minute", n)
	}
	if n := r.usedWithin(after(9999*time.Second), 10*time.Second); n != 10 {
		t.Errorf("%d calls in the last 10 s", n)
	}
}

func TestEmittersRiseSlowlyAndFallAtOnce(t *testing.T) {
	var e emitters
	flows := make([]flow, 10)
	for i := range flows {
		flows[i].emitter.value = &flows[i]
	}
	const window = 10 * time.Second
	e.printed(&flows[0], noon)
	e.sample(noon, window, 0.2)
	for i := range flows {
		e.printed(&flows[i], noon)
	}
	e.sample(noon, window, 0.2)
	if n := e.active(noon, window); n != 2.8 { // 1 + 0.2 * 9
		t.Errorf("after a rise from 1 to 10, %v are reckoned with, want 2.8", n)
	}
	e.printed(&flows[3], after(5*time.Second))
	if n := e.active(after(12*time.Second), window); n != 1 {
		t.Errorf("when all but one are quiet, %v are reckoned with", n)
	}
	if n := e.active(after(time.Hour), window); n != 1 || !e.changes(window).IsZero() {
		t.Errorf("when all are quiet, %v are reckoned with", n)
	}
}

func TestBackoffIsJitteredAndBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n, most := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		least, longest := time.Hour, time.Duration(0)
		for range 500 {
			b := backoff{failures: n}
			b.failed(noon, random)
			d := b.until.Sub(noon)
			least, longest = min(least, d), max(longest, d)
		}
		most *= time.Second
		if least <= 0 || least > most/20 || longest > most || longest < most*19/20 {
			t.Errorf("after %d failures, it waits %v to %v, want 0 to %v", n+1, least, longest, most)
		}
	}
}

func TestPacerMintsNothing(t *testing.T) {
	var p pacer
	p.set(noon, 4*time.Second, 1)
	p.take(noon, noon)
	if at := p.next(noon); !at.Equal(after(4 * time.Second)) {
		t.Errorf("the second call may go at %v", at)
	}
	p.take(after(4*time.Second), noon) // due for long, but paced
	p.take(after(8*time.Second), noon.Add(-time.Hour))
	if at := p.next(after(8 * time.Second)); !at.Equal(after(12 * time.Second)) {
		t.Errorf("the fourth call may go at %v", at)
	}
	p.take(after(15*time.Second), after(13*time.Second)) // held up by 2 s
	if at := p.next(after(15 * time.Second)); !at.Equal(after(17 * time.Second)) {
		t.Errorf("what was late for no fault of its own: the next may go at %v", at)
	}
	p.take(after(17*time.Second), after(17*time.Second))
	p.giveBack()
	if at := p.next(after(17 * time.Second)); !at.Equal(after(17 * time.Second)) {
		t.Errorf("after a token was given back, the next may go at %v", at)
	}
}

// TestReserveOfAShortWindow: the reserve is per minute, whatever the window.
func TestReserveOfAShortWindow(t *testing.T) {
	for _, test := range []struct {
		perMinute int
		window    time.Duration
		want      int
	}{{4, time.Minute, 4}, {4, 5 * time.Second, 1}, {30, 5 * time.Second, 3}, {4, 10 * time.Minute, 40}} {
		if n := perWindow(test.perMinute, Window{Per: test.window}); n != test.want {
			t.Errorf("%d a minute in %v: %d, want %d", test.perMinute, test.window, n, test.want)
		}
	}
}
