package qosbench

import (
	"testing"
	"time"
)

func TestThePlatformRefusesWhatExceedsTheLimit(t *testing.T) {
	p := &platform{refuse: true}
	for i := range limitCalls {
		if a := p.arrive(time.Duration(i) * time.Second); a.verdict != accepted {
			t.Fatalf("call %d is refused", i+1)
		}
	}
	if a := p.arrive(59*time.Second + 1); a.verdict != throttled || a.retryAfter != time.Second {
		t.Errorf("the first call too many is answered %+v, want throttled for 1s", a)
	}
	if a := p.arrive(limitWindow); a.verdict != accepted {
		t.Error("a call is refused when the oldest has left the half-open window")
	}
	if a := p.arrive(limitWindow); a.verdict != throttled {
		t.Error("a second call gets the same place")
	}
}

func TestRefusedCallsTakeNoPlaceButCount(t *testing.T) {
	p := &platform{refuse: true}
	for range limitCalls + 5 {
		p.arrive(0)
	}
	for range limitCalls {
		if a := p.arrive(limitWindow); a.verdict != accepted {
			t.Fatal("a call is refused because of refused ones")
		}
	}
	if got := p.worstWindow(); got != limitCalls+5 {
		t.Errorf("%d calls in the worst window, want %d", got, limitCalls+5)
	}
}

func TestThePlatformCountsWithoutRefusing(t *testing.T) {
	p := &platform{}
	for i := range 3 * limitCalls {
		if a := p.arrive(time.Duration(i) * 2 * time.Second); a.verdict != accepted {
			t.Fatal("a call is refused")
		}
	}
	if got := p.worstWindow(); got != 30 {
		t.Errorf("%d calls in the worst window of 60 s, want 30 with one every 2 s", got)
	}
}

func TestAPenaltyComesOnceAndIsForAllCalls(t *testing.T) {
	p := &platform{penalty: 30 * time.Second, from: time.Minute}
	for _, c := range []struct {
		at   time.Duration
		want answer
	}{
		{59 * time.Second, answer{}},
		{61 * time.Second, answer{verdict: throttled, retryAfter: 30 * time.Second}},
		{80*time.Second + 1, answer{verdict: throttled, retryAfter: 11 * time.Second}},
		{91 * time.Second, answer{}},
		{99 * time.Second, answer{}},
	} {
		if got := p.arrive(c.at); got != c.want {
			t.Errorf("at %v the answer is %+v, want %+v", c.at, got, c.want)
		}
	}
	if p.inside != 1 {
		t.Errorf("%d calls inside the penalty, want 1", p.inside)
	}
}

func TestAShareOfCallsBreaksHalfOfThemDone(t *testing.T) {
	p := &platform{breaks: 0.05, random: source(1, forPlatform)}
	n, done := 0, 0
	for i := range 10_000 {
		a := p.arrive(time.Duration(i) * time.Second)
		if a.verdict == broken {
			n++
		}
		if a.done {
			done++
		}
	}
	if !near(float64(n), 500, 0.15) || !near(float64(done), 250, 0.2) {
		t.Errorf("%d of 10000 calls break, %d of them done, want about 500 and 250", n, done)
	}
}

func TestAShareOfCallsFails(t *testing.T) {
	p := &platform{failures: 0.01, random: source(1, forPlatform)}
	n := 0
	for i := range 10_000 {
		if p.arrive(time.Duration(i)*time.Second).verdict == failed {
			n++
		}
	}
	if n < 70 || n > 130 {
		t.Errorf("%d of 10,000 calls fail, want about 100", n)
	}
}
