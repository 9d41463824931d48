package adapters

import (
	"errors"
	"path"

	"github.com/panebridge/panebridge/sessions"
)

// Rule is an entry of `mirrors:`: it binds each session whose name matches.
type Rule struct {
	Session string // pattern of session names (path.Match)
	To      Target
	View    View // "": ViewStream
	Input   bool
}

// check returns all that's wrong with a rule itself, joined.
func (r Rule) check() error {
	var pattern error
	if _, err := path.Match(r.Session, ""); err != nil || r.Session == "" {
		pattern = errors.New("the pattern is not valid; as in agent-*")
	}
	_, view := ParseView(string(r.View))
	return errors.Join(pattern, view)
}

func (r Rule) matches(s sessions.Session) bool {
	ok, err := path.Match(r.Session, s.Name)
	return err == nil && ok
}

// binding is what the rule wants for a session.
func (r Rule) binding(s sessions.ID) Binding {
	view, _ := ParseView(string(r.View)) // checked
	return Binding{Session: s, Target: r.To, View: view, Input: r.Input, Origin: ByRule}
}

// wanted returns what the rules want for a session, one per target, wherever it is now: of several
// rules for the same target the first counts.
func wanted(rules []Rule, s sessions.Session, now func(Target) Target) []Binding {
	var out []Binding
	taken := map[Target]bool{}
	for _, r := range rules {
		if r.matches(s) && !taken[now(r.To)] {
			taken[now(r.To)] = true
			out = append(out, r.binding(s.ID))
		}
	}
	return out
}
