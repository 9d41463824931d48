package cli

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

func newSessions(p *program) *cobra.Command {
	cmd := newGroup("sessions", "List, make, adopt, close and forget sessions",
		newSessionsList(p), newSessionsNew(p), newSessionsAdopt(p), newSessionsClose(p), newSessionsForget(p))
	cmd.Aliases = []string{"session"}
	cmd.Long = `A session is a program in a tmux pane that panebridge mirrors: one it made (new),
or one that was there (adopt). Closing it ends what was made and leaves alone what
was adopted; what it printed is kept until it's forgotten.`
	cmd.Example = "  panebridge sessions new --name api -- claude\n  panebridge sessions adopt work\n  panebridge sessions list --all"
	return cmd
}

// sessionTable returns a table of sessions with its head.
func sessionTable(list []api.Session, now time.Time) [][]string {
	rows := [][]string{{"ID", "NAME", "AGENT", "STATE", "LINES", "LAST OUTPUT", "PANE", "WHY"}}
	for _, s := range list {
		rows = append(rows, []string{
			string(s.ID), s.Name, orDash(cmp.Or(s.Agent, s.Source.Program)), string(s.State), strconv.FormatInt(s.Lines, 10),
			ago(s.LastOutputAt, now), s.Tmux.Server + " " + s.Tmux.Session + " " + s.Tmux.Pane, brief(s.Reason),
		})
	}
	return rows
}

// notMirrored says of each session which chats don't show it as they should, and why.
func (p *program) notMirrored(list ...api.Session) {
	for _, s := range list {
		for _, b := range s.Bindings {
			if lack := b.Lack(); lack != "" && s.State != sessions.StateEnded {
				p.notef("%s %s", s.Name, lack)
			}
		}
	}
}

// brief cuts a reason so that the table isn't much wider than a terminal: status -v has
// all of it.
func brief(reason string) string {
	const most = 40 // characters
	reason = strings.Join(strings.Fields(reason), " ")
	if runes := []rune(reason); len(runes) > most {
		return strings.TrimRight(string(runes[:most-1]), " ") + "…"
	}
	return reason
}

// printSessions prints sessions that have just been made, adopted or closed.
func (p *program) printSessions(list ...api.Session) error {
	for _, s := range list {
		if err := p.printf("%s %s\n", s.ID, s.Name); err != nil {
			return err
		}
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ago says how long before now a time was, in its largest unit.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "never"
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min ago"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h ago"
	default:
		return strconv.Itoa(int(d/(24*time.Hour))) + " days ago"
	}
}
