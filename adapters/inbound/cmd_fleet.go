package inbound

import (
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// fleetCommand shows which sessions work together.
func fleetCommand() command {
	return command{
		CommandInfo: CommandInfo{Name: "fleet", Args: "[NAME]", Help: "Which sessions work together, and what they're doing"},
		role:        Viewer,
		repeat:      true,
		run: func(a *ask) error {
			if a.in.opt.Mail == nil {
				return errNoMail
			}
			fleets, err := a.in.opt.Mail.Fleets(a.ctx)
			if err != nil {
				return err
			}
			var b strings.Builder
			for _, f := range fleets {
				if a.args != "" && f.Name != a.args {
					continue
				}
				fmt.Fprintf(&b, "**%s**\n\n", plain(f.Name))
				if f.Director != "" {
					fmt.Fprintf(&b, "- %s, its director\n", a.in.memberOf(f.Director))
				}
				for _, id := range f.Members {
					fmt.Fprintf(&b, "- %s\n", a.in.memberOf(id))
				}
				b.WriteString("\n")
			}
			if b.Len() == 0 {
				return a.reply("There's no such fleet. On the machine, `panebridge fleet new NAME` makes one.")
			}
			return a.reply(strings.TrimSpace(b.String()))
		},
	}
}

// memberOf is a session in a list.
func (in *Inbound) memberOf(id sessions.ID) string {
	s, err := in.opt.Sessions.Get(string(id))
	if err != nil {
		return plain(string(id)) + ": gone"
	}
	return plain(s.Name) + ": " + string(s.State)
}
