package commands

import (
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// confirmFor is how long a question whether to close a session stands.
const confirmFor = 10 * time.Minute

// closeCommand ends a session, after asking.
func closeCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "close", Args: "[SESSION]", Help: "End the session; asks first"},
		role:        access.Operator,
		session:     true,
		repeat:      true, // it only asks
		run:         askClose,
	}
}

func askClose(a *Invocation) error {
	if err := a.checkNoArgs(); err != nil {
		return err
	}
	if a.Session.State == sessions.StateEnded {
		return fmt.Errorf("the session %s has ended already", a.Session.Name)
	}
	o := cards.Offer{
		Session: a.Session.ID, Role: access.Operator, Person: a.Event.Person.ID, Single: true, Group: "close " + a.Event.Key,
		Expires: time.Now().Add(confirmFor),
	}
	o.Do = "close"
	yes, err := a.makeOffer("Close it", o)
	if err != nil {
		return err
	}
	o.Do = "keep"
	no, err := a.makeOffer("Keep it", o)
	if err != nil {
		return err
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
	return a.ReplaceText(text, []adapters.Button{yes, no})
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

// restartCommand ends a session's program and starts it anew, after asking if it's at
// work.
func restartCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "restart", Args: "[SESSION]", Help: "End the session's program and start it anew, with its conversation"},
		role:        access.Operator,
		session:     true,
		run:         askRestart,
	}
}

func askRestart(a *Invocation) error {
	if err := a.checkNoArgs(); err != nil {
		return err
	}
	switch a.Session.State {
	case sessions.StateWorking, sessions.StateWaiting:
	default:
		return restartSession(a)
	}
	o := cards.Offer{
		Session: a.Session.ID, Role: access.Operator, Person: a.Event.Person.ID, Single: true, Group: "restart " + a.Event.Key,
		Expires: time.Now().Add(confirmFor),
	}
	o.Do = "restart"
	yes, err := a.makeOffer("Start it anew", o)
	if err != nil {
		return err
	}
	o.Do = "leave"
	no, err := a.makeOffer("Leave it", o)
	if err != nil {
		return err
	}
	what := "It's working."
	if a.Session.State == sessions.StateWaiting {
		what = "It's waiting for an answer."
	}
	return a.ReplaceText("End the program of "+wording.Bold(a.Session.Name)+" and start it anew? "+what, []adapters.Button{yes, no})
}

func restartConfirmed(a *Invocation) error { return restartSession(a) }

func leaveRunning(a *Invocation) error {
	return a.ReplaceText(wording.Bold(a.Session.Name) + " goes on.")
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
	a.runner.Hub.Focus(s.ID)
	return a.ReplaceText("The program of " + wording.Bold(s.Name) + " was started anew by " + wording.Plain(a.personName()) + ".")
}
