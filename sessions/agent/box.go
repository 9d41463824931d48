package agent

import (
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// boxLook says what a program's input box looks like.
type boxLook struct {
	// Box is matched where the foot begins; its groups are what stands in the box.
	Box []pattern `yaml:"box"`
	// Edge is what stands at the left of a row in it.
	Edge *pattern `yaml:"edge"`
	// Empty are texts that the program itself shows in an empty box.
	Empty []pattern `yaml:"empty"`
	// Queued are signs, anywhere on the screen, that something that was submitted waits.
	Queued []pattern `yaml:"queued"`
}

// Box reads the program's input box from a screen.
func (p *Profile) Box(s *sessions.Snapshot) sessions.Box {
	in := p.spec.Input
	if len(in.Box) == 0 {
		return sessions.Box{}
	}
	l := p.layout(s, true)
	b := sessions.Box{Known: true}
	if l.dialog >= 0 || l.foot < 0 {
		return b
	}
	b.Queued = slices.ContainsFunc(in.Queued, func(p pattern) bool { return p.MatchString(l.text) })
	foot := l.text[l.at[l.foot]:]
	for _, box := range in.Box {
		if at := box.row.FindStringSubmatch(foot); at != nil {
			b.Open, b.Text, b.Rows = true, in.text(strings.Join(at[1:], "\n")), sessions.TellingRows(s.Rows[max(0, len(s.Rows)-s.Height):], l.foot, len(s.Rows), tellingRows)
			return b
		}
	}
	return b
}

// tellingRows is how many rows tell that a box stands there.
const tellingRows = 3

// text is what stands in a box whose rows are given.
func (in *boxLook) text(rows string) string {
	var out []string
	for row := range strings.SplitSeq(rows, "\n") {
		if in.Edge != nil {
			if at := in.Edge.row.FindStringIndex(row); at != nil {
				row = row[at[1]:]
			}
		}
		out = append(out, strings.TrimSpace(row))
	}
	text := strings.Trim(strings.Join(out, "\n"), "\n")
	if slices.ContainsFunc(in.Empty, func(p pattern) bool { return p.row.MatchString(text) }) {
		return ""
	}
	return text
}

// Box reads the input box of the program that runs in a session, or the line of a shell.
// A program that has just begun may not be known yet: then the process in the foreground
// tells.
func (w *Watchers) Box(id sessions.ID, s *sessions.Snapshot) sessions.Box {
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
	return sessions.Box{}
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
