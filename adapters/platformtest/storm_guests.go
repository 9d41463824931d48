package platformtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/sessions"
)

// guest is a session of a storm. All are in one chat, each in a place of its own, so that what
// recovers one may neither hide nor harm another.
type guest struct {
	id           sessions.ID
	name         string
	begun        bool
	first        int // number of its first line, and of its first question, but one
	lines, asked int
	places       int             // made for it until nothing went wrong any more
	unsure       int             // calls that made a place for it, whose answers didn't come as they were
	lost         map[string]bool // places of which a call for it was told that they're gone
}

func newGuest(id sessions.ID, name string, first int) *guest {
	return &guest{id: id, name: name, first: first, lost: map[string]bool{}}
}

// StormPlace is a thread that was made for a session.
type StormPlace struct {
	ID      string
	Deleted bool
}

func isAmong(places []StormPlace, id string) bool {
	return slices.ContainsFunc(places, func(p StormPlace) bool { return p.ID == id })
}

// arrive has a session begin, if it hasn't yet, and print.
func (s *storm) arrive(g *guest) {
	if g.begun {
		return
	}
	g.begun = true
	s.note("%s begins", g.name)
	s.Begin(g.id, g.name)
	s.print(g)
}

// guest is one of the sessions that have begun.
func (s *storm) guest() *guest {
	g := s.guests[s.random.IntN(len(s.guests))]
	if !g.begun {
		return s.guests[0]
	}
	return g
}

// named is the session of a name.
func (s *storm) named(name string) *guest {
	return s.guests[slices.IndexFunc(s.guests, func(g *guest) bool { return g.name == name })]
}

// placed says that each session that has begun has a place.
func (s *storm) placed() bool {
	for _, g := range s.guests {
		if g.begun && len(s.Places(g.name)) == 0 {
			return false
		}
	}
	return true
}

// mark takes in what a fate does to a call that makes a place, or is for one. mu is held.
func (s *storm) mark(c StormCall, f faults.Fate, loses bool) {
	if c.Makes != "" {
		s.makes++
	}
	if loses {
		s.loses++
	}
	for _, g := range s.guests {
		if c.Makes == g.name && !f.Lost {
			g.unsure++
		}
		if loses && isAmong(s.Places(g.name), c.Place) {
			g.lost[c.Place] = true
		}
	}
}

// checkPlaces wants a session's place to be made anew at most once for each that was lost, and
// twice at all: where none can be written to, the next is tried later. Once nothing goes wrong any more
// one is made at most.
func (s *storm) checkPlaces(g *guest) {
	s.Helper()
	places := s.Places(g.name)
	for _, p := range places {
		if p.Deleted {
			g.lost[p.ID] = true
		}
	}
	lost := len(g.lost)
	if s.deaf {
		lost++
	}
	if s.deaf && s.over { // the one made anew, too, which is known when another session's can be written to
		lost++
	}
	if now := len(places) - g.places; s.over && now > 1+g.unsure {
		s.Errorf("%d places were made of %s when nothing went wrong any more: %v", now, g.name, places)
	}
	if most := 1 + g.unsure + min(lost, 2); len(places) > most {
		s.Errorf("these places were made of %s: %v; %d were lost, and %d calls that made one weren't answered: want at most %d", g.name, places, lost, g.unsure, most)
	}
}

// checkApart wants nothing of a session to stand in another's place.
func (s *storm) checkApart(g *guest, seen []StormMessage) {
	s.Helper()
	for _, other := range s.guests {
		places := s.Places(other.name)
		for _, m := range seen {
			if other != g && isAmong(places, m.Place) && g.speaks(m.Text) {
				s.Errorf("%q is %s's, and stands in a place of %s's", m.Text, g.name, other.name)
			}
		}
	}
}

// speaks reports whether a text has something of what the session has printed or asked.
func (g *guest) speaks(text string) bool {
	for n := range max(g.lines, g.asked) {
		if n < g.lines && strings.Contains(text, lineText(g.first+n+1)) || n < g.asked && strings.Contains(text, questionText(g.first+n+1)) {
			return true
		}
	}
	return false
}

// print has a session print some lines, each with a number of its own.
func (s *storm) print(g *guest) {
	var out adaptertest.Output
	for range 1 + s.random.IntN(4) {
		g.lines++
		out.Lines = append(out.Lines, lineText(g.first+g.lines))
	}
	out.Ends = s.random.IntN(3) == 0
	s.Print(g.id, out)
}

func lineText(n int) string { return fmt.Sprintf("print <%d>", n) }
