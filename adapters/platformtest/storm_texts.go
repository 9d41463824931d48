package platformtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

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
