package commands

import (
	"errors"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// reviveAgent begins the agent again that a held text was written to.
func reviveAgent(a *Ask) error {
	args := strings.Fields(a.Offered.Args)
	if len(args) != 3 {
		return errors.New("this button says no way to begin the agent again")
	}
	_, err := a.runner.Sessions.Revive(a.Ctx, args[0], args[1], a.Event.Person.ID, sessions.Revival(args[2]))
	if refused, ok := errors.AsType[*sessions.RefusedError](err); ok {
		return errors.New(refused.Why)
	}
	if err != nil {
		return err
	}
	return a.Answer("It's being started; your text follows when it takes it.")
}

// sendAnyway sends a text that only a dialog's words hold, on the screen that the button
// is for.
func sendAnyway(a *Ask) error {
	receipt, quoted, ok := strings.Cut(a.Offered.Args, " ")
	if !ok {
		return errors.New("this button says no screen")
	}
	_, err := a.runner.Sessions.SendAnyway(a.Ctx, receipt, quoted, a.Event.Person.ID)
	if refused, ok := errors.AsType[*sessions.RefusedError](err); ok {
		return errors.New(refused.Why)
	}
	if err != nil {
		return err
	}
	return a.Answer("Sent anyway.")
}

// takeBack takes an input back that isn't typed yet.
func takeBack(a *Ask) error {
	_, err := a.runner.Sessions.Cancel(a.Ctx, a.Offered.Args)
	if errors.Is(err, sessions.ErrConflict) {
		return a.Answer("It's too late for that.")
	}
	if err != nil {
		return err
	}
	return a.Answer("Taken back.")
}
