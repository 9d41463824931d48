package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
)

// fleetCommand shows which sessions work together.
func fleetCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "fleet", Args: "[NAME]", Help: "Which sessions work together, and what they're doing"},
		role:        access.Viewer,
		repeat:      true,
		run: func(a *Ask) error {
			if a.runner.Mail == nil {
				return errNoMail
			}
			fleets, err := a.runner.Mail.Fleets(a.Ctx)
			if err != nil {
				return err
			}
			var b strings.Builder
			for _, f := range fleets {
				if a.args != "" && f.Name != a.args {
					continue
				}
				fmt.Fprintf(&b, "**%s**\n\n", wording.Plain(f.Name))
				if f.Director.ID != "" {
					fmt.Fprintf(&b, "- %s, its director\n", a.runner.memberOf(f.Director))
				}
				for _, m := range f.Members {
					fmt.Fprintf(&b, "- %s\n", a.runner.memberOf(m))
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

// memberOf is a session in a list: what it does, how long ago it was shown mail, and how much it
// wasn't shown.
func (r *Runner) memberOf(m Member) string {
	s, err := r.Sessions.Get(string(m.ID))
	if err != nil {
		return wording.Plain(string(m.ID)) + ": gone"
	}
	received := "never"
	if !m.LastReceived.IsZero() {
		received = wording.Age(time.Since(m.LastReceived)) + " ago"
	}
	return fmt.Sprintf("%s: %s, received mail %s, %d unread", wording.Plain(s.Name), s.State, received, m.Unread)
}
