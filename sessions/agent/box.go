package agent

import (
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// boxSpec says what a program's input box looks like.
type boxSpec struct {
	// Box is matched where the foot begins; its first group is what stands in the box.
	Box []pattern `yaml:"box"`
	// Edge is what stands at the left of a row in it.
	Edge *pattern `yaml:"edge"`
	// Empty are texts that the program itself shows in an empty box.
	Empty []pattern `yaml:"empty"`
	// Ghost are the colours of what the program itself writes there, as far as that
	// isn't dim, which it is in most; Typed are those of what's typed, as far as it isn't
	// the terminal's own.
	Ghost []colour `yaml:"ghost"`
	Typed []colour `yaml:"typed"`
	// Queued are signs, anywhere on the screen, that something that was submitted waits.
	Queued []pattern `yaml:"queued"`
}

// Box reads the program's input box from a screen.
func (p *Profile) Box(s *sessions.Snapshot) sessions.InputBox {
	in := p.spec.Input
	if len(in.Box) == 0 {
		return sessions.InputBox{}
	}
	l := p.layout(s, true)
	b := sessions.InputBox{Known: true}
	if l.dialog >= 0 || l.foot < 0 {
		return b
	}
	b.Queued = slices.ContainsFunc(in.Queued, func(p pattern) bool { return p.MatchString(l.text) })
	foot := l.text[l.at[l.foot]:]
	for _, box := range in.Box {
		if at := box.row.FindStringSubmatchIndex(foot); at != nil {
			if torn(s, l.foot, l.foot+strings.Count(foot[:at[1]], "\n")) {
				b.Torn = true
				return b
			}
			b.Open = true
			b.Text, b.Unsure = in.typedText(in.readField(l, s, l.at[l.foot]+max(0, at[2]), l.at[l.foot]+max(0, at[3])), s)
			b.Rows = sessions.TellingRows(s.Rows[max(0, len(s.Rows)-s.Height):], l.foot, len(s.Rows), tellingRows)
			return b
		}
	}
	return b
}

// torn reports whether tmux has broken one of some visible rows that are but a line of
// signs: the pane has got narrower, and the program hasn't drawn its box anew. What's
// between such rows says nothing.
func torn(s *sessions.Snapshot, from, to int) bool {
	above := max(0, len(s.Rows)-s.Height)
	for i := above + from; i < min(above+to+1, len(s.Rows), len(s.Wrapped)); i++ {
		if s.Wrapped[i] && strings.Trim(s.Rows[i], "─▀▄━") == "" && s.Rows[i] != "" {
			return true
		}
	}
	return false
}

// tellingRows is how many rows tell that a box stands there.
const tellingRows = 3

// Box reads the input box of the program that runs in a session, or the line of a shell.
// A program that has just begun may not be known yet: then the process in the foreground
// tells.
func (w *Watchers) Box(id sessions.ID, s *sessions.Snapshot) sessions.InputBox {
	if p := w.opt.Profiles.Get(w.programIn(id)); p != nil && !p.Shell() {
		return p.Box(s)
	}
	found := w.opt.Processes.Foreground(s.PID, true)
	for _, process := range found {
		if p := w.opt.Profiles.Match(process); p != nil && !p.Shell() {
			return p.Box(s)
		}
	}
	if len(found) > 0 && interactiveShell(found[0]) {
		return shellLine(s, w.opt.Prompts)
	}
	return sessions.InputBox{}
}

// programIn is the name of the profile of the agent program that runs in a session, as
// its last look found it; "": none does.
func (w *Watchers) programIn(id sessions.ID) string {
	w.mu.Lock()
	o := w.observers[id]
	w.mu.Unlock()
	if o == nil {
		return ""
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	return o.known.insight.Program
}
