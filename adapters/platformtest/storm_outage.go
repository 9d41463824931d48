package platformtest

import (
	"math/rand/v2"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

// sayAfter is how long an outage may last until a person is told.
const sayAfter = 11 * time.Second

// outage has one thing go wrong with all calls for a while in which the session prints, and wants
// a person to be told if that lasts. Where the session has asked, nobody may be: a question that's
// posted again and again takes the calls that would show that the mirror fails, and says so itself
// only once it's given up.
func (s *storm) outage() {
	s.Helper()
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
		if since.IsZero() && c.Thread && (c.Kind == "post" || c.Kind == "edit") {
			since = time.Now()
		}
		if c.Makes {
			s.makes++
		}
		return f
	})
	s.print()
	s.Office().Pass(time.Duration(15+s.random.IntN(45)) * time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := time.Since(since); !since.IsZero() && d > sayAfter && s.asked == 0 && !s.Office().Rests() && s.Office().Wrong() == "" {
		s.Errorf("all calls fail for %s (%s), and nobody is told", d, w.Name)
	}
}
