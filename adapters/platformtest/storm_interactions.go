package platformtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

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
