package commands

import (
	"errors"
	"fmt"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// reopenCommand lets a mirror go on whose thread was closed.
func reopenCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "reopen", Args: "[SESSION]", Help: "Let a mirror go on that rests because somebody closed it"},
		role:        access.Operator,
		repeat:      true,
		run:         reopenMirror,
	}
}

func reopenMirror(a *Ask) error {
	if a.Session.ID == "" && a.args != "" {
		s, err := a.runner.Sessions.Get(a.args)
		if err != nil {
			return errUnnamed
		}
		a.Session = s
	}
	rest := a.resting()
	switch {
	case len(rest) == 0 && a.Session.ID != "":
		return fmt.Errorf("nothing of %s rests in this chat", a.Session.Name)
	case len(rest) == 0:
		return errors.New("nothing rests here")
	case len(rest) > 1 && a.Session.ID == "":
		return a.whichRests(rest)
	}
	for _, st := range rest {
		if st.Target.Thread != "" {
			if err := a.runner.Hub.Reopen(st.Target); err != nil {
				return err
			}
		}
		if err := a.runner.Hub.Rest(a.Ctx, st.Binding.ID, false); err != nil {
			return err
		}
	}
	s, err := a.runner.Sessions.Get(string(rest[0].Binding.Session))
	if err != nil {
		return err
	}
	return a.Replace(wording.Bold(s.Name) + " goes on where it was.")
}

// resting are the bindings that rest: in this thread, or, asked for outside of one, in
// this chat; of a session that was named, anywhere in this chat.
func (a *Ask) resting() []adapters.BindingStatus {
	var out []adapters.BindingStatus
	place := a.Event.Place
	for _, st := range a.runner.Hub.Status(a.Session.ID) {
		if !st.Binding.Resting || st.Binding.Unbound || st.Target.WholeChat() != place.WholeChat() {
			continue
		}
		if place.Thread != "" && a.Session.ID == "" && st.Target != place {
			continue
		}
		if s, err := a.runner.Sessions.Get(string(st.Binding.Session)); err == nil && s.State != sessions.StateEnded {
			out = append(out, st)
		}
	}
	return out
}

func (a *Ask) whichRests(rest []adapters.BindingStatus) error {
	var of []sessions.Session
	for _, st := range rest {
		s, err := a.runner.Sessions.Get(string(st.Binding.Session))
		if err != nil {
			return err
		}
		of = append(of, s)
	}
	return a.AskWhich("Which should go on?", of, cards.Offer{
		Do: "command", Args: "reopen ", Person: a.Event.Person.ID, Single: true, Group: "which " + a.Event.Key,
	})
}
