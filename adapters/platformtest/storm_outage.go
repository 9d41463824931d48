package platformtest

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

// sayAfter is how long an outage may last until a person is told.
const sayAfter = 11 * time.Second

// outage has one thing go wrong with all calls for a while in which the session prints, and wants
// a person to be told if that lasts.
func (s *storm) outage() {
	s.Helper()
	if deafs := s.Deafs(); len(deafs) > 0 && s.random.IntN(2) == 0 {
		s.deafen(deafs[s.random.IntN(len(deafs))])
		return
	}
	var wrongs []Wrong
	for _, w := range s.Wrongs() {
		if w.Lasts {
			wrongs = append(wrongs, w)
		}
	}
	w := wrongs[s.random.IntN(len(wrongs))]
	draws := rand.New(rand.NewPCG(s.random.Uint64(), 9))
	var since time.Time // that a call failed that shows something of the session
	s.note("an outage: %s", w.Name)
	s.SetFates(func(c StormCall) faults.Fate {
		s.mu.Lock()
		defer s.mu.Unlock()
		f, _ := w.Draw(draws)
		f.Lost = true
		if since.IsZero() && c.Place != "" && (c.Kind == "post" || c.Kind == "edit") {
			since = time.Now()
		}
		s.mark(c, f, false)
		return f
	})
	s.print(s.guest())
	s.Office().Pass(time.Duration(15+s.random.IntN(45)) * time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := time.Since(since); !since.IsZero() && d > sayAfter && !s.Office().Rests() && s.Office().Wrong() == "" {
		s.Errorf("all calls fail for %s (%s), and nobody is told", d, w.Name)
	}
}

// deafen has nothing come that people write for a while, and wants a person to be told if that
// lasts.
func (s *storm) deafen(state State) {
	s.Helper()
	s.note("nothing comes: %s", state.Name)
	s.forgets = s.forgets || state.Forgets
	s.SetFates(nil) // at once: a silence that's ordered from now on would hide what's to be said
	says := state.Says
	s.mu.Lock()
	if s.Office().Wrong() != "" || time.Now().Before(s.silent) || time.Now().Before(s.slow) {
		says = "" // it rests from what was wrong before, or hasn't asked yet
	}
	s.mu.Unlock()
	if err := state.Enter(); err != nil {
		s.Error(err)
	}
	s.print(s.guest())
	s.write()
	for range 2 {
		s.slash()
		s.push()
		s.Office().Pass(sayAfter)
		if h := s.Office().Wrong(); !strings.Contains(h, says) || h == "" && !time.Now().Before(s.broken) {
			s.Errorf("nothing comes for %s (%s), and what's said is %q, want %q", sayAfter, state.Name, h, says)
		}
		s.Office().Pass(time.Duration(s.random.IntN(20)) * time.Second)
	}
	s.note("it comes again")
	if err := state.Leave(); err != nil {
		s.Error(err)
	}
	s.orderRest(state.Rest)
}

// jolt disturbs the way on which updates come, until settle is called.
func (s *storm) jolt() (settle func()) {
	j := s.Jolt(s.random)
	s.note("a jolt: %s", j.Name)
	s.forgets = s.forgets || j.Forgets
	return func() {
		if j.Settle != nil {
			s.note("no more: %s", j.Name)
			j.Settle()
		}
		s.orderRest(j.Rest)
		if until := time.Now().Add(j.Rest); until.After(s.broken) {
			s.broken = until
		}
	}
}

// orderRest has what's to be there then be waited for so much longer.
func (s *storm) orderRest(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := time.Now().Add(d); until.After(s.silent) {
		s.silent = until
	}
}
