package commands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/render/screenshot"
	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// showScreen shows the pane as it is now.
func showScreen(a *Invocation) error {
	switch strings.ToLower(a.args) {
	case "":
		return a.screenPicture()
	case "text":
		return a.screenText()
	default:
		return errors.New("write /screen for a picture, or /screen text")
	}
}

func (a *Invocation) screenPicture() error {
	s, err := a.runner.Sessions.Screen(a.Ctx, a.Session.ID)
	if err != nil {
		return err
	}
	if s.Width < 1 || s.Height < 1 {
		return errors.New("the screen has no rows at the moment; try it again")
	}
	png, cut, err := a.runner.Pictures.PNG(s)
	if err != nil {
		return fmt.Errorf("%w; /screen text shows it as text", err)
	}
	text := a.screenHeading()
	if cut {
		text += fmt.Sprintf(" Only %d columns and the last %d rows are drawn.", screenshot.MaxColumns, screenshot.MaxRows)
	}
	return a.post(adapters.Post{Text: text, Picture: png, Buttons: [][]adapters.Button{a.screenButtons()}})
}

func (a *Invocation) screenText() error {
	rows, err := a.screenRows()
	if err != nil {
		return err
	}
	return a.showLines(a.screenHeading(), rows, "screen.txt", a.screenButtons())
}

func (a *Invocation) screenHeading() string {
	return wording.Bold(a.Session.Name) + " " + wording.Clock(time.Now())
}

// screenButtons show the screen once more, in both ways.
func (a *Invocation) screenButtons() []adapters.Button {
	o := cards.Offer{Do: "screen", Session: a.Session.ID, Role: access.Viewer}
	picture := a.makeOffer("Screen", o)
	o.Args = "text"
	return []adapters.Button{picture, a.makeOffer("As text", o)}
}

// screenRows are the rows of the session's screen as text, without the empty ones below.
func (a *Invocation) screenRows() ([]string, error) {
	s, err := a.runner.Sessions.Screen(a.Ctx, a.Session.ID)
	if err != nil {
		return nil, err
	}
	var rows []string
	for _, r := range s.Rows {
		rows = append(rows, strings.TrimRight(sgr.Plain(r), " "))
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	if len(rows) == 0 {
		return []string{"(an empty screen)"}, nil
	}
	return rows, nil
}

// LogStore reads the output logs of sessions.
type LogStore interface {
	// Tail returns a session's last n lines, the oldest first.
	Tail(ctx context.Context, id sessions.ID, n int) ([]sessions.Line, error)
	// Read returns at most limit lines with number ≥ from, the oldest first.
	Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error)
}

const (
	usualHistory = 50     // lines
	maxHistory   = 20_000 // lines of an agent take some 2 MB
)

// showHistory shows a session's last lines.
func showHistory(a *Invocation) error {
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
		return a.replyText(wording.Bold(a.Session.Name) + " has printed nothing yet.")
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	first, last := lines[0].N, lines[len(lines)-1].N
	heading := fmt.Sprintf("%s, lines %d to %d", wording.Bold(a.Session.Name), first, last)
	return a.showLines(heading, texts, fmt.Sprintf("lines-%d-%d.txt", first, last))
}
