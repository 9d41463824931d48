package platformtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/qos"
)

const (
	// maxSilence is how long a chat may be silent after a failure that was answered, where a
	// slot is free; p99 of them all.
	maxSilence = 2 * time.Second
	// breaks is one in how many writing calls is answered by a failure, at most two in a row: a
	// third would back off for up to 4 s.
	breaks = 15
)

// silences takes down for how long chats are silent after failures that were answered.
type silences struct {
	Coast
	window qos.Window // of a chat
	seed   uint64
	wrongs []Wrong

	mu    sync.Mutex
	draws *rand.Rand             // what becomes of calls
	calls map[string][]time.Time // of the last window, by chat
	since map[string][]silence   // of failures that no call has followed
	inRow map[string]int         // how many calls of a chat have failed since one went well
	took  map[string][]time.Duration
}

type silence struct {
	what string // the call, and what it was answered with
	at   time.Time
}

// Silences plays conversations in which single calls are answered by a failure, each in a
// bubble that in makes, with a folder made outside of it, and holds the time from a failure to
// the chat's next call against the bar. Failures in a window of which a quarter isn't free are
// left out: there other calls may be waiting for slots. names are the wrongs, beside the common
// ones, that are answers.
func Silences(t *testing.T, window qos.Window, names []string, in func(t *testing.T, dir string, play func(testing.TB, Coast))) {
	t.Helper()
	took := map[string][]time.Duration{}
	for seed := range drawtest.Seeds(t, drawtest.Times(400, 24, 8)) {
		dir, err := os.MkdirTemp("", "silence")
		if err != nil {
			t.Fatal(err)
		}
		in(t, dir, func(tb testing.TB, c Coast) {
			tb.Helper()
			s := &silences{Coast: c, window: window, seed: seed, draws: rand.New(rand.NewPCG(seed, 6)), calls: map[string][]time.Time{}, since: map[string][]silence{}, inRow: map[string]int{}, took: took}
			for _, w := range c.Wrongs() {
				if slices.Contains(names, w.Name) {
					s.wrongs = append(s.wrongs, w)
				}
			}
			if len(s.wrongs) != len(names) {
				tb.Fatalf("%d of %q can go wrong", len(s.wrongs), names)
			}
			s.play(tb)
		})
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
	var all []time.Duration
	for what, some := range took {
		slices.Sort(some)
		t.Logf("%s: %d, p50 %s, at worst %s", what, len(some), adaptertest.Percentile(some, 0.5), some[len(some)-1])
		all = append(all, some...)
	}
	slices.Sort(all)
	p99 := adaptertest.Percentile(all, 0.99)
	t.Logf("%d failures: p50 %s, p99 %s, at worst %s", len(all), adaptertest.Percentile(all, 0.5), p99, all[len(all)-1])
	if p99 > maxSilence {
		t.Errorf("a chat goes on %s after an answered failure (p99), want at most %s", p99, maxSilence)
	}
}

// play has a session print and ask, and people ask for the list of sessions, for some minutes.
func (s *silences) play(tb testing.TB) {
	tb.Helper()
	o := s.Office()
	o.Open()
	defer o.Close()
	s.Begin(AskingText, "agent")
	random, line := rand.New(rand.NewPCG(s.seed, 7)), 0
	for n := range 60 {
		if n == 1 { // it has its place
			s.SetFates(s.fate)
		}
		switch random.IntN(6) {
		case 0:
			q := &storm{Coast: s.Coast, TB: tb}
			q.ask(&guest{id: AskingText, asked: n})
		case 1:
			if _, err := s.Command(); err != nil {
				tb.Error(err)
			}
		default:
			line++
			s.Print(AskingText, adaptertest.Output{Lines: []string{lineText(line)}, Ends: random.IntN(4) == 0})
		}
		o.Pass(time.Duration(4000+random.IntN(16000)) * time.Millisecond)
	}
	o.Pass(time.Minute)
	s.SetFates(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	for chat, left := range s.since {
		for _, f := range left {
			tb.Errorf("no call came to chat %s after %s", chat, f.what)
		}
	}
}

// fate notes a call that comes, and has some fail.
func (s *silences) fate(c StormCall) faults.Fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Reads || c.Kind == "" {
		return faults.Fate{}
	}
	now := time.Now()
	for _, f := range s.since[c.Chat] {
		s.took[f.what] = append(s.took[f.what], now.Sub(f.at))
	}
	delete(s.since, c.Chat)
	calls := slices.DeleteFunc(s.calls[c.Chat], func(at time.Time) bool { return now.Sub(at) >= s.window.Per })
	calls = append(calls, now)
	s.calls[c.Chat] = calls
	w := s.wrongs[s.draws.IntN(len(s.wrongs))]
	if s.draws.IntN(breaks) > 0 || len(calls) > s.window.Calls*3/4 || s.inRow[c.Chat] == 2 || w.Fits != nil && !w.Fits(c) {
		s.inRow[c.Chat] = 0
		return faults.Fate{}
	}
	s.inRow[c.Chat]++
	f, _ := w.Draw(s.draws)
	s.since[c.Chat] = append(s.since[c.Chat], silence{fmt.Sprintf("%s, %s", c.Kind, w.Name), now})
	return f
}
