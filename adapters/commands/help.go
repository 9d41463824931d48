package commands

import (
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
)

// helpCommand lists what a person can ask for.
func helpCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "help", Help: "What you can do here"},
		role:        access.Viewer,
		repeat:      true,
		run: func(a *Ask) error {
			var b strings.Builder
			others := false
			for _, c := range commands() {
				if !a.Roles.Has(c.needs(a.Event)) {
					others = true
					continue
				}
				fmt.Fprintf(&b, "/%s", c.Name)
				if c.Args != "" {
					fmt.Fprintf(&b, " %s", wording.Plain(c.Args))
				}
				fmt.Fprintf(&b, ": %s\n\n", wording.Plain(c.Help))
			}
			b.WriteString("Where a place mirrors several sessions, or none, write the session's name behind the command.\n\n")
			if a.Roles.Has(access.Operator) {
				b.WriteString("Anything else is typed into the session of this place. 👍 on it: submitted; 🤔: typed, but nobody saw it taken. //x passes /x on.")
			} else {
				b.WriteString("What you write here isn't typed: that takes the role operator.")
			}
			if others {
				b.WriteString("\n\nThere are other commands, for other roles.")
			}
			return a.reply(b.String())
		},
	}
}
