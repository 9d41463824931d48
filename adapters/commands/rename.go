package commands

import (
	"errors"

	"github.com/panebridge/panebridge/adapters/wording"
)

// renameSession gives the session another name. Its topic or thread gets it, too.
func renameSession(a *Invocation) error {
	if a.args == "" {
		return errors.New("write the new name behind it: /rename api")
	}
	was := a.Session.Name
	s, err := a.runner.Sessions.Rename(a.Ctx, a.Session.ID, a.args)
	if err != nil {
		return err
	}
	return a.ReplaceText(wording.Bold(was) + " is called " + wording.Bold(s.Name) + " now.")
}
