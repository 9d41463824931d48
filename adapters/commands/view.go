package commands

import (
	"errors"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
)

// viewCommand says what of a session the place shows.
func viewCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "view", Args: "stream|final|screen", Help: "Show lines as they come, whole turns, or the screen"},
		role:        access.Operator,
		session:     true,
		repeat:      true,
		run: func(a *Ask) error {
			v, err := adapters.ParseView(strings.ToLower(a.args))
			if err != nil || a.args == "" {
				return errors.New("write /view stream (lines as they come), /view final (each turn when it has ended) or /view screen (the screen, in one message)")
			}
			b, err := a.bindingHere()
			if err != nil {
				return err
			}
			if b.Resting {
				return errors.New("this place rests because somebody closed it; write /reopen first")
			}
			if _, err := a.runner.Hub.Bind(a.Ctx, b.Session, b.Target, v, b.Input); err != nil {
				return err
			}
			return a.Replace("Of " + wording.Bold(a.Session.Name) + " this place shows " + viewText(v))
		},
	}
}
