package commands

import (
	"context"
	"fmt"
	"strconv"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// LogStore reads the output logs of sessions.
type LogStore interface {
	// Tail returns a session's last n lines, the oldest first.
	Tail(ctx context.Context, id sessions.ID, n int) ([]sessions.Line, error)
	// Search returns lines that hold a text, the newest first, at most limit. Whether
	// letters from A to Z are large doesn't matter.
	Search(ctx context.Context, id sessions.ID, text string, limit int) ([]sessions.Line, error)
}

const (
	usualHistory = 50     // lines
	maxHistory   = 20_000 // lines of an agent take some 2 MB
)

// historyCommand shows a session's last lines.
func historyCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "history", Args: "[N]", Help: "The last N lines, as a file if they're long"},
		role:        access.Viewer,
		session:     true,
		repeat:      true,
		run:         showHistory,
	}
}

func showHistory(a *Ask) error {
	n := usualHistory
	if a.args != "" {
		var err error
		if n, err = strconv.Atoi(a.args); err != nil || n < 1 || n > maxHistory {
			return fmt.Errorf("write /history and a number of lines from 1 to %d", maxHistory)
		}
	}
	lines, err := a.runner.Store.Tail(a.Ctx, a.Session.ID, n)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return a.reply(wording.Bold(a.Session.Name) + " has printed nothing yet.")
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	first, last := lines[0].N, lines[len(lines)-1].N
	heading := fmt.Sprintf("%s, lines %d to %d", wording.Bold(a.Session.Name), first, last)
	return a.showLines(heading, texts, fmt.Sprintf("lines-%d-%d.txt", first, last))
}
