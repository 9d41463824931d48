package commands

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/render/screenshot"
	"github.com/panebridge/panebridge/internal/render/sgr"
)

// screenCommand shows the pane as it is now.
func screenCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "screen", Args: "[text]", Help: "The screen as a picture, or as text"},
		role:        access.Viewer,
		session:     true,
		repeat:      true,
		run:         showScreen,
	}
}

func showScreen(a *Ask) error {
	switch strings.ToLower(a.args) {
	case "":
		return a.screenPicture()
	case "text":
		return a.screenText()
	default:
		return errors.New("write /screen for a picture, or /screen text")
	}
}

func (a *Ask) screenPicture() error {
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
	row, err := a.screenButtons()
	if err != nil {
		return err
	}
	return a.post(adapters.Post{Text: text, Picture: png, Buttons: [][]adapters.Button{row}})
}

func (a *Ask) screenText() error {
	rows, err := a.screenRows()
	if err != nil {
		return err
	}
	row, err := a.screenButtons()
	if err != nil {
		return err
	}
	return a.showLines(a.screenHeading(), rows, "screen.txt", row)
}

func (a *Ask) screenHeading() string {
	return wording.Bold(a.Session.Name) + " " + wording.Clock(time.Now())
}

// screenButtons show the screen once more, in both ways.
func (a *Ask) screenButtons() ([]adapters.Button, error) {
	o := cards.Offer{Do: "screen", Session: a.Session.ID, Role: access.Viewer}
	picture, err := a.makeOffer("Screen", o)
	if err != nil {
		return nil, err
	}
	o.Args = "text"
	text, err := a.makeOffer("As text", o)
	return []adapters.Button{picture, text}, err
}

// screenRows are the rows of the session's screen as text, without the empty ones below.
func (a *Ask) screenRows() ([]string, error) {
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
