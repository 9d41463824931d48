package redisbucket_test

import (
	"context"
	"math"
	"os"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redistest"
	"github.com/panebridge/panebridge/qos"
)

// The scaled platform of P14: 20 calls in 3 s, calls of up to 2 s.
const (
	perWindow   = 20
	window      = 3 * time.Second
	callTimeout = 2 * time.Second
	processes   = 8
)

// slow marks a test that waits for real programs for more than a second or two, which
// -short leaves out.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what takes more than a second or two")
	}
}

// realServer starts a server of a test's own.
func realServer(t *testing.T, args ...string) *redistest.Server {
	t.Helper()
	s, err := redistest.New(context.Background(), t.TempDir(), false, args...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

func scaled(p *platform, addrs ...string) job {
	return job{
		Addrs: addrs, Bot: "bot", Most: processes, Platform: p.path, Chats: []string{"chat"}, Class: qos.Stream,
		Calls: perWindow, Per: window, Timeout: callTimeout, Verbose: os.Getenv("VERBOSE") != "",
	}
}

// besideOthers has a test run beside others, but with full counts, which hold it to times.
func besideOthers(t *testing.T) {
	t.Helper()
	if !drawtest.Stressed() {
		t.Parallel()
	}
}

// byWorker counts arrivals by the process that sent them.
func byWorker(list []arrival) map[string]int {
	counts := map[string]int{}
	for _, a := range list {
		counts[a.worker]++
	}
	return counts
}

// Eight processes that always want to send get what one would have got, each the
// same.
func TestProcessesShareAllThereIs(t *testing.T) {
	slow(t)
	besideOthers(t)
	s := realServer(t)
	p := newPlatform(t, 0)
	c := startCrew(t, processes, scaled(p, s.Addr))
	time.Sleep(3 * window) // the server was empty: a window within the share
	windows := 2
	if drawtest.Stressed() {
		windows = 100
	}
	from := time.Now()
	time.Sleep(time.Duration(windows) * window)
	got := p.since("chat", from)
	for end := from.Add(time.Minute); !drawtest.Stressed() && len(byWorker(got)) != processes && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond) // a process that gets no processor gets no calls
		got = p.since("chat", from)
	}
	took := time.Since(from)
	for _, w := range c.live {
		w.end()
	}
	p.check(t, perWindow, window)
	ideal := float64(perWindow) * took.Seconds() / window.Seconds()
	counts := byWorker(got)
	t.Logf("%d grants of an ideal %.0f (%.1f %%), Jain %.4f, %v", len(got), ideal, 100*float64(len(got))/ideal, jain(counts), counts)
	if len(counts) != processes {
		t.Errorf("not all were served: %v", counts)
	}
	if !drawtest.Stressed() {
		return // a process that waits for a processor can't use its slots
	}
	if float64(len(got)) < 0.95*ideal {
		t.Errorf("%d grants of an ideal %.0f", len(got), ideal)
	}
	if j := jain(counts); j < 0.99 {
		t.Errorf("Jain's index of %v is %.4f", counts, j)
	}
}

func jain(counts map[string]int) float64 {
	sum, squares := 0.0, 0.0
	for _, n := range counts {
		sum += float64(n)
		squares += float64(n * n)
	}
	return sum * sum / (float64(len(counts)) * math.Max(squares, 1))
}

// What one process has finals of gets the slots before the streams of others. That Redis
// decides so is asserted always (claims_test.go); here processes race, which takes a
// machine that lets them.
func TestFinalsOfOneProcessGoBeforeStreamsOfOthers(t *testing.T) {
	slow(t)
	besideOthers(t)
	s := realServer(t)
	p := newPlatform(t, 0)
	j := scaled(p, s.Addr)
	j.Gap = window / perWindow * 9 / 10 // slots come one by one, and not all at once
	startCrew(t, processes-1, j)
	time.Sleep(3 * window)
	j.Class, j.Name, j.State, j.Rest = qos.Final, "finals", t.TempDir()+"/m", window/2 // within its share, which is an eighth
	finals := start(t, j)
	defer finals.kill()
	time.Sleep(window)
	from := time.Now()
	time.Sleep(6 * window)
	calls := p.since("chat", from)
	p.check(t, perWindow, window)
	// Two processes that are granted slots one right after the other may send in any
	// order.
	const scheduling = 20 * time.Millisecond
	n, before, most := 0, 0, 0
	for _, f := range calls {
		if f.class != "final" {
			continue
		}
		n++
		passed := 0
		for _, s := range calls {
			if s.class == "stream" && s.sent.After(f.wanted.Add(scheduling)) && s.sent.Before(f.sent.Add(-scheduling)) {
				passed++
			}
		}
		before += passed
		most = max(most, passed)
	}
	t.Logf("%d finals among %d calls; %d streams went before one that waited, %d at most before one", n, len(calls), before, most)
	if n == 0 || drawtest.Stressed() && (n < 8 || before > n/4 || most > 1) {
		t.Errorf("%d streams went before %d finals that waited, %d before one", before, n, most)
	}
}
