package commands

import (
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// confirmFor is how long a question whether to close a session stands.
const confirmFor = 10 * time.Minute

// askWhether asks whether to do something to the session. The buttons do what's named yes and no.
func (a *Invocation) askWhether(question, yes, yesLabel, no, noLabel string) error {
	o := cards.Offer{
		Do: yes, Session: a.Session.ID, Role: access.Operator, Person: a.Event.Person.ID, Single: true, Group: yes + " " + a.Event.Key,
		Expires: time.Now().Add(confirmFor),
	}
	row := []adapters.Button{a.makeOffer(yesLabel, o)}
	o.Do = no
	return a.ReplaceText(question, append(row, a.makeOffer(noLabel, o)))
}

// askClose ends a session, after asking.
func askClose(a *Invocation) error {
	if a.Session.State == sessions.StateEnded {
		return fmt.Errorf("the session %s has ended already", a.Session.Name)
	}
	text := "End " + wording.Bold(a.Session.Name) + "? "
	switch {
	case !a.Session.Owned:
		text += "Its pane stays as it is; it's only not mirrored any more."
	case a.Session.State == sessions.StateWorking:
		text += "It's working. Its pane and its program end."
	default:
		text += "Its pane and its program end."
	}
	return a.askWhether(text, "close", "Close it", "keep", "Keep it")
}

func closeConfirmed(a *Invocation) error {
	s := a.Session
	if err := a.runner.Sessions.Close(a.Ctx, s.ID); err != nil {
		return err
	}
	a.Session = sessions.Session{} // what belongs to a session that's gone isn't sent any more
	return a.ReplaceText(wording.Bold(s.Name) + " was closed by " + wording.Plain(a.personName()) + ".")
}

func keepOpen(a *Invocation) error { return a.ReplaceText(wording.Bold(a.Session.Name) + " goes on.") }

// askRestart ends a session's program and starts it anew, after asking if it's at
// work.
func askRestart(a *Invocation) error {
	switch a.Session.State {
	case sessions.StateWorking, sessions.StateWaiting:
	default:
		return restartSession(a)
	}
	what := "It's working."
	if a.Session.State == sessions.StateWaiting {
		what = "It's waiting for an answer."
	}
	return a.askWhether("End the program of "+wording.Bold(a.Session.Name)+" and start it anew? "+what, "restart", "Start it anew", "leave", "Leave it")
}

func restartSession(a *Invocation) error {
	was := a.Session
	s, err := a.runner.Sessions.Restart(a.Ctx, was.ID)
	if err != nil {
		return fmt.Errorf("it wasn't started anew: %w", err)
	}
	if s.ID != was.ID {
		return a.mirrorNewSession(s)
	}
	a.runner.Hub.FocusSession(s.ID)
	return a.ReplaceText("The program of " + wording.Bold(s.Name) + " was started anew by " + wording.Plain(a.personName()) + ".")
}
