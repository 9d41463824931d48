package commands

import (
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
)

// pairCommand makes a code from a chat. Codes that are used are seen before any
// command: see tryCode.
func pairCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "pair", Args: "[role]", Help: "Make a code that lets another person in"},
		role:        access.Admin,
		run: func(a *Ask) error {
			if !a.Event.Private {
				return a.reply("A code lets whoever reads it in: ask for one in a private chat with the bot, or with `panebridge pair` in a terminal.")
			}
			if access.ReadCode(a.Event) != "" {
				return a.reply("That code isn't valid, or not any more.")
			}
			role, err := access.ParseRole(strings.ToLower(a.args))
			if err != nil {
				return err
			}
			code, _, err := a.runner.Pair(a.Ctx, role, a.Event.Person.ID)
			if err != nil {
				return err
			}
			return a.post(adapters.Post{Shown: true, Text: "Within ten minutes, once: whoever writes `/pair " + code + "` to the bot becomes " + string(role) + "."})
		},
	}
}
