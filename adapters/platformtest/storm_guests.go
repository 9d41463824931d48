package platformtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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

// written is a text that somebody wrote to the session in a storm.
type written struct {
	message  string // "": nobody could
	to       string // the session's name
	approver bool
	edited   bool
	unsaid   bool // the daemon may have ended before it said something about it
	at       time.Time
}

// stale is from how old on a text is asked about before it's typed.
const stale = 10 * time.Minute

// isAskedAbout says that somebody was asked whether the text is to be typed that late.
func (w written) isAskedAbout(seen []StormMessage) bool {
	return slices.ContainsFunc(seen, func(m StormMessage) bool {
		return m.ReplyTo == w.message && !m.At.Before(w.at.Add(stale)) && strings.Contains(m.Text, "Run it now?") && slices.Contains(m.Buttons, "Run")
	})
}

func textText(n int) string { return fmt.Sprintf("text <%d>", n) }

// write has somebody write a text where a session is shown, and maybe change it.
func (s *storm) write() {
	w := written{to: s.guest().name, approver: s.random.IntN(2) == 0, at: time.Now()}
	id, err := s.Write(w.to, w.approver, textText(len(s.texts)+1))
	if err != nil {
		s.Error(err)
	}
	if w.message = id; id == "" {
		return
	}
	if s.random.IntN(4) == 0 {
		w.edited = true
		if err := s.Edit(w.approver, id, textText(len(s.texts)+1)+" changed"); err != nil {
			s.Error(err)
		}
	}
	s.texts = append(s.texts, w)
	s.note("text <%d> is written to %s: %s, approver: %t, edited: %t", len(s.texts), w.to, w.message, w.approver, w.edited)
}

// mayMiss reports whether something may have been written while nobody listened, and where the bot
// may not read later what was written.
func (s *storm) mayMiss() bool { return s.bare && (s.restarts > 0 || s.forgets) }

// checkTexts wants each text typed once, into the session it's for, and in the order in which each
// person wrote theirs there. What's
// written where the session isn't any more, or where it rests because its chat was lost, isn't
// typed; nor is what's written where the bot may not read what was written while the daemon was
// down; and what's seen that late is asked about first. Whoever changed a text knows that it was typed as it was first, if it was.
func (s *storm) checkTexts(seen []StormMessage) {
	s.Helper()
	typed := s.Office().Keyboard().Typed()
	at := make([]int, len(s.texts)) // where in typed, from 1 on
	for i, t := range typed {
		n := -1
		for m := range s.texts {
			if strings.HasPrefix(t.Text, textText(m+1)) {
				n = m
			}
		}
		switch {
		case n < 0:
			s.Errorf("%q was typed, which nobody wrote", t.Text)
		case at[n] > 0:
			s.Errorf("%q was typed twice", t.Text)
		case t.Session != s.named(s.texts[n].to).id:
			s.Errorf("%q was typed into %s, and is for %s", t.Text, t.Session, s.texts[n].to)
		default:
			at[n] = i + 1
		}
	}
	last := map[string]int{}
	for n, w := range s.texts {
		writer := fmt.Sprint(w.to, w.approver)
		switch {
		case at[n] == 0 && !s.hidden && s.loses == 0 && s.makes == 0 && !s.mayMiss() && !w.isAskedAbout(seen):
			s.Errorf("%s wasn't typed", textText(n+1))
		case at[n] > 0 && at[n] < last[writer]:
			s.Errorf("%s was typed before what was written before it", textText(n+1))
		case at[n] > 0:
			last[writer] = at[n]
			if w.edited && !w.unsaid && !s.forgets && typed[at[n]-1].Text == textText(n+1) && !s.hidden && !slices.ContainsFunc(seen, func(m StormMessage) bool {
				return (m.ReplyTo == w.message || s.loses > 0 || s.bare) && strings.Contains(m.Text, "Edits aren't sent")
			}) {
				s.Errorf("%s was typed as it was first, and nobody said so", textText(n+1))
			}
		}
	}
}

// interaction is a command that somebody gave in the platform's own form, or a button that they
// pushed, in a storm.
type interaction struct {
	id       string
	reply    string // what the reply to a command has
	question int    // whose button it was
	unsaid   bool   // the daemon may have ended before it said something about it
}

// slash has somebody give a command in the platform's own form, if it has one.
func (s *storm) slash() {
	id, reply, err := s.Slash(fmt.Sprintf("nobody%d", len(s.slashes)+1))
	if err != nil {
		s.Error(err)
	}
	if id != "" {
		s.slashes = append(s.slashes, interaction{id: id, reply: reply})
		s.note("a command is given: %s", id)
	}
}

// questions are the numbers of all questions, the newest of each session first.
func (s *storm) questions() []int {
	var all []int
	for _, g := range s.guests {
		for n := range g.asked {
			all = append(all, g.first+g.asked-n)
		}
	}
	return all
}

// push has somebody push a button of a question that's open, if one is seen.
func (s *storm) push() {
	for _, n := range s.questions() {
		for _, m := range slices.Backward(s.Seen()) {
			if m.Gone || !slices.Contains(m.Buttons, "No") || !strings.Contains(m.Text, questionText(n)) || s.isAnswered(n) {
				continue
			}
			id, err := s.Push(m, "No")
			if err != nil {
				s.Error(err)
			}
			if id != "" {
				s.pushes = append(s.pushes, interaction{id: id, question: n})
				s.note("a button of %s is pushed: %s", questionText(n), id)
			}
			return
		}
	}
}

// isAnswered reports whether a question is answered.
func (s *storm) isAnswered(n int) bool {
	p, err := s.Office().Questions().Prompt(context.Background(), questionID(n))
	return err == nil && p.State == sessions.PromptAnswered
}

// checkInteractions wants each command to be replied to once, but for replies with a mark, and each
// button that was pushed to count. Who sees that nobody answers may do it again: it may have been
// done, or not.
func (s *storm) checkInteractions(seen []StormMessage) {
	s.Helper()
	for _, i := range s.slashes {
		marked, plain := 0, 0
		for _, m := range seen {
			switch {
			case !strings.Contains(m.Text, i.reply):
			case m.marked():
				marked++
			default:
				plain++
			}
		}
		if plain > 1 || plain+marked == 0 && !s.hidden && !i.unsaid && !s.Unheard(i.id) {
			s.Errorf("command %s was replied to with %q %d times, and %d times more with a mark", i.id, i.reply, plain, marked)
		}
	}
	for _, i := range s.pushes {
		if !s.isAnswered(i.question) && !i.unsaid && !s.Unheard(i.id) {
			s.Errorf("a button of %s was pushed (%s), and it isn't answered", questionText(i.question), i.id)
		}
	}
}
