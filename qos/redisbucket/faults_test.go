package redisbucket_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redistest"
)

// rounds is how often each fault is made.
func rounds() int {
	if drawtest.Stressed() {
		return 30
	}
	return 2
}

// Bounds of how long a chat may be without calls while Redis is away, and how soon after
// it's back a window has been full. They're times of processes that wait for a processor,
// so they're asserted with full counts only; what doesn't depend on the machine always is,
// and, in virtual time, these too (cutoff_test.go).
const (
	servedAgain = window + callTimeout + 6*time.Second
	fullAgain   = window
)

// fault is one way in which Redis, or a process, fails.
type fault struct {
	// make makes it and repairs it, and returns when it began and when it was over; a long
	// one lasts until the processes send within their share.
	make func(t *testing.T, round int, long bool) (from, to time.Time)
	long bool // whether it can last
	// slow is how much later all of the budget may be back.
	slow time.Duration
}

// long is how long a lasting fault lasts.
const long = servedAgain + 2*window

// faulty has eight processes work while a fault is made again and again: never more
// calls in a window than are allowed, and none in a silence that was ordered before.
func faulty(t *testing.T, p *platform, c *crew, f fault) {
	t.Helper()
	time.Sleep(2 * window)
	var full, served []time.Duration
	for round := range rounds() {
		lasting := f.long && round%3 == 1
		silence := 6 * time.Second
		if lasting {
			silence += long
		}
		p.silence(t, "silenced", silence, c.silent("silenced"))
		time.Sleep(rand.N(1500 * time.Millisecond)) // also when not all have heard of it
		from, to := f.make(t, round, lasting)
		if lasting {
			first := to
			for _, a := range p.since("chat", from.Add(window+callTimeout)) {
				if a.at.Before(first) {
					first = a.at
				}
			}
			served = append(served, first.Sub(from))
			if first.Equal(to) || drawtest.Stressed() && first.Sub(from) > servedAgain {
				t.Errorf("round %d: without redis nobody called for %v, want %v", round, first.Sub(from), servedAgain)
			}
		}
		took, ever := back(p, to)
		full = append(full, took)
		if !ever || drawtest.Stressed() && took > fullAgain+f.slow {
			t.Errorf("round %d: the first full window of calls ended %v after redis was back, want %v", round, took, fullAgain+f.slow)
		}
	}
	for _, w := range c.live {
		w.end()
	}
	p.check(t, perWindow, window)
	most, _ := p.worst(window)
	t.Logf("%d rounds, %d calls; at most %d in a window of %d; the first full window ended %s after the fault; without redis served after %s; %d calls in a silence that its process couldn't know of",
		rounds(), len(p.since("chat", time.Time{})), most, perWindow, median(full), median(served), p.unheard)
}

// median tells a list by its median and maximum.
func median(list []time.Duration) string {
	if len(list) == 0 {
		return "-"
	}
	slices.Sort(list)
	return fmt.Sprintf("%v, at most %v,", list[len(list)/2].Round(time.Millisecond), list[len(list)-1].Round(time.Millisecond))
}

// back waits for the first window to be full after a time, every one of its slots used,
// and returns how long after that time it ended.
func back(p *platform, from time.Time) (took time.Duration, ever bool) {
	for time.Since(from) < 4*servedAgain {
		calls := p.since("chat", from.Add(-window))
		for i := perWindow - 1; i < len(calls); i++ {
			if calls[i].at.After(from) && calls[i].at.Sub(calls[i-perWindow+1].at) < window {
				return calls[i].at.Sub(from), true
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(from), false
}

func lasts(lasting bool, most time.Duration) {
	if lasting {
		time.Sleep(long)
		return
	}
	time.Sleep(rand.N(most))
}

func TestRedisIsPaused(t *testing.T) {
	slow(t)
	t.Parallel()
	s := realServer(t)
	p := newPlatform(t, 100*time.Millisecond)
	c := startCrew(t, processes, onChats(scaled(p, s.Addr)))
	faulty(t, p, c, fault{long: true, make: func(t *testing.T, _ int, lasting bool) (time.Time, time.Time) {
		t.Helper()
		from := time.Now()
		try(t, s.Pause())
		lasts(lasting, 3*time.Second)
		try(t, s.Resume())
		return from, time.Now()
	}})
}

func TestRedisIsKilled(t *testing.T) {
	slow(t)
	t.Parallel()
	s := realServer(t)
	p := newPlatform(t, 100*time.Millisecond)
	c := startCrew(t, processes, onChats(scaled(p, s.Addr)))
	faulty(t, p, c, fault{long: true, make: func(t *testing.T, _ int, lasting bool) (time.Time, time.Time) {
		t.Helper()
		from := time.Now()
		s.Kill()
		lasts(lasting, 3*time.Second)
		try(t, s.Start(context.Background()))
		return from, time.Now()
	}})
}

func TestRedisIsEmptyAfterARestart(t *testing.T) {
	slow(t)
	t.Parallel()
	s := realServer(t)
	p := newPlatform(t, 100*time.Millisecond)
	c := startCrew(t, processes, onChats(scaled(p, s.Addr)))
	// It's learned for a window, from the first beat (150 ms) that finds it. After that a
	// window has yet to be full, of calls that take 100 ms; twice clocks have a margin of
	// 20 ms.
	faulty(t, p, c, fault{long: true, slow: window + 290*time.Millisecond, make: func(t *testing.T, _ int, lasting bool) (time.Time, time.Time) {
		t.Helper()
		from := time.Now()
		s.Kill()
		try(t, s.Empty())
		lasts(lasting, 2*time.Second)
		try(t, s.Start(context.Background()))
		return from, time.Now()
	}})
}

func TestSentinelFailsOver(t *testing.T) {
	slow(t)
	t.Parallel()
	ctx := context.Background()
	g, err := redistest.StartSentinels(ctx, t.TempDir())
	t.Cleanup(g.Kill)
	try(t, err)
	p := newPlatform(t, 100*time.Millisecond)
	j := onChats(scaled(p, g.Sentinel.Addr))
	j.Master = redistest.MasterName
	c := startCrew(t, processes, j)
	faulty(t, p, c, fault{make: func(t *testing.T, round int, _ bool) (time.Time, time.Time) {
		t.Helper()
		try(t, g.Settled(ctx))
		old, err := g.Master(ctx)
		try(t, err)
		from := time.Now()
		// Killed, or paused: then it's still a master when it's back, for a moment.
		if round%2 == 0 {
			g.Nodes[old].Kill()
		} else {
			try(t, g.Nodes[old].Pause())
		}
		for {
			master, err := g.Master(ctx)
			try(t, err)
			if master != old {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		over := time.Now()
		time.Sleep(rand.N(2 * time.Second))
		if round%2 == 0 {
			try(t, g.Nodes[old].Start(ctx))
		} else {
			try(t, g.Nodes[old].Resume())
		}
		return from, over
	}})
}

func TestClusterFailsOver(t *testing.T) {
	slow(t)
	t.Parallel()
	ctx := context.Background()
	g, err := redistest.StartCluster(ctx, t.TempDir())
	t.Cleanup(g.Kill)
	try(t, err)
	p := newPlatform(t, 100*time.Millisecond)
	j := onChats(scaled(p, g.Addrs()...))
	c := startCrew(t, processes, j)
	key := "{" + j.Bot + "}"
	faulty(t, p, c, fault{make: func(t *testing.T, round int, _ bool) (time.Time, time.Time) {
		t.Helper()
		try(t, g.Settled(ctx))
		old, err := g.Owner(ctx, key)
		try(t, err)
		from := time.Now()
		if round%2 == 0 {
			g.Nodes[old].Kill()
		} else {
			try(t, g.Nodes[old].Pause())
		}
		watch := &redistest.Cluster{Nodes: append(append([]*redistest.Server{}, g.Nodes[:old]...), g.Nodes[old+1:]...)}
		for {
			owner, err := watch.Owner(ctx, key)
			if err == nil && watch.Nodes[owner].Addr != g.Nodes[old].Addr {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		over := time.Now()
		time.Sleep(rand.N(2 * time.Second))
		if round%2 == 0 {
			try(t, g.Nodes[old].Start(ctx))
		} else {
			try(t, g.Nodes[old].Resume())
		}
		return from, over
	}})
}

func TestRedisClockMoves(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	clock, err := redistest.NewClock(dir)
	try(t, err)
	s, err := redistest.New(context.Background(), dir, false)
	try(t, err)
	s.Clock = clock
	try(t, s.Start(context.Background()))
	t.Cleanup(s.Kill)
	p := newPlatform(t, 100*time.Millisecond)
	c := startCrew(t, processes, onChats(scaled(p, s.Addr)))
	now := time.Duration(0)
	faulty(t, p, c, fault{make: func(t *testing.T, round int, _ bool) (time.Time, time.Time) {
		t.Helper()
		steps := []time.Duration{
			time.Hour, -time.Hour, 900 * time.Millisecond, -900 * time.Millisecond, 3 * time.Second, -3 * time.Second, 100 * time.Millisecond, 48 * time.Hour,
		}
		from := time.Now()
		for range 1 + round%3 {
			now += steps[rand.IntN(len(steps))]
			try(t, clock.Move(now))
			time.Sleep(rand.N(time.Second))
		}
		return from, time.Now()
	}})
}

func TestProcessesAreKilled(t *testing.T) {
	slow(t)
	t.Parallel()
	s := realServer(t)
	p := newPlatform(t, 100*time.Millisecond)
	c := startCrew(t, processes, onChats(scaled(p, s.Addr)))
	// What was in flight in a process that was killed counts as answered 5 s after its
	// deadline.
	faulty(t, p, c, fault{slow: callTimeout + 5*time.Second, make: func(t *testing.T, _ int, _ bool) (time.Time, time.Time) {
		t.Helper()
		from := time.Now()
		killed := rand.Perm(processes)[:1+rand.IntN(processes-1)]
		for _, i := range killed {
			c.live[i].kill()
			time.Sleep(rand.N(200 * time.Millisecond))
		}
		time.Sleep(rand.N(3 * time.Second))
		for _, i := range killed {
			c.live[i] = start(t, c.jobs[i])
		}
		return from, time.Now()
	}})
}

// onChats has a job work in the chat that's measured and in one that's silenced.
func onChats(j job) job {
	j.Chats = []string{"chat", "silenced"}
	return j
}

func try(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(fmt.Errorf("the test can't go on: %w", err))
	}
}
