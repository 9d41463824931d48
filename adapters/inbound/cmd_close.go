package inbound

import (
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
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

func askClose(a *ask) error {
	if err := a.nothingElse(); err != nil {
		return err
	}
	if a.session.State == sessions.StateEnded {
		return fmt.Errorf("the session %s has ended already", a.session.Name)
	}
	o := offer{
		Session: a.session.ID, Role: access.Operator, Person: a.event.Person.ID, Single: true, Group: "close " + a.event.Key,
		Expires: time.Now().Add(confirmFor),
	}
	o.Do = "close"
	yes, err := a.offer("Close it", o)
	if err != nil {
		return err
	}
	o.Do = "keep"
	no, err := a.offer("Keep it", o)
	if err != nil {
		return err
	}
	text := "End " + wording.Bold(a.session.Name) + "? "
	switch {
	case !a.session.Owned:
		text += "Its pane stays as it is; it's only not mirrored any more."
	case a.session.State == sessions.StateWorking:
		text += "It's working. Its pane and its program end."
	default:
		text += "Its pane and its program end."
	}
	return a.replace(text, []adapters.Button{yes, no})
}

func closeConfirmed(a *ask) error {
	s := a.session
	if err := a.in.opt.Sessions.Close(a.ctx, s.ID); err != nil {
		return err
	}
	a.session = sessions.Session{} // what belongs to a session that's gone isn't sent any more
	return a.replace(wording.Bold(s.Name) + " was closed by " + wording.Plain(a.who()) + ".")
}

func keepOpen(a *ask) error { return a.replace(wording.Bold(a.session.Name) + " goes on.") }
