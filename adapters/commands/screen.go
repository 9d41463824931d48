package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	// Search returns lines that hold a text, the newest first, at most limit. Whether
	// letters from A to Z are large doesn't matter.
	Search(ctx context.Context, id sessions.ID, text string, limit int) ([]sessions.Line, error)
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

const (
	maxFound     = 20  // lines
	maxFoundRune = 160 // of one line
	maxSought    = 200 // runes
	// searchFor bounds a search: 200,000 lines of 110 bytes, as many as a log keeps by
	// default, take 0.1 s (measured with two busy cores), if they're in memory.
	searchFor = 10 * time.Second
)

// searchLog takes all that's written as what to look for where a place has one session:
// it may be called as another one is.
func searchLog(a *Invocation) error {
	if a.Session.ID == "" {
		if bound := a.runner.SessionsAt(a.Event.Place, func(b adapters.Binding) bool { return !b.Unbound }); len(bound) == 1 {
			a.Session = bound[0]
		} else if err := a.chooseSession(); err != nil {
			return a.runner.askWhichSession(a, "search", err)
		}
	}
	text := a.args
	switch {
	case text == "":
		return errors.New("write /search and the text to look for")
	case utf8.RuneCountInString(text) > maxSought || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("look for at most %d letters on one line", maxSought)
	}
	ctx, cancel := context.WithTimeout(a.Ctx, searchFor)
	defer cancel()
	lines, err := a.runner.Store.Search(ctx, a.Session.ID, text, maxFound+1)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it took more than %d s and was given up; look for something rarer, or use /history", searchFor/time.Second)
	case err != nil:
		return err
	case len(lines) == 0:
		return a.replyText("Nothing that " + wording.Bold(a.Session.Name) + " printed has that text in it.")
	}
	heading := fmt.Sprintf("%d lines of %s", len(lines), wording.Bold(a.Session.Name))
	switch {
	case len(lines) > maxFound:
		lines = lines[:maxFound]
		heading = fmt.Sprintf("The newest %d lines of %s, of more", maxFound, wording.Bold(a.Session.Name))
	case len(lines) == 1:
		heading = "1 line of " + wording.Bold(a.Session.Name)
	}
	slices.Reverse(lines)
	width := len(fmt.Sprint(lines[len(lines)-1].N))
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = fmt.Sprintf("%*d  %s", width, l.N, excerpt(l.Text, text))
	}
	return a.showLines(heading, texts, "found.txt")
}

// excerpt is what's to be read of a line: its beginning, or what's around the text that
// was looked for.
func excerpt(line, text string) string {
	runes := []rune(line)
	if len(runes) <= maxFoundRune {
		return line
	}
	at := max(strings.Index(lowerLetters(line), lowerLetters(text)), 0)
	from := max(utf8.RuneCountInString(line[:at])-maxFoundRune/3, 0)
	if from == 0 {
		return wording.CutEnd(line, maxFoundRune)
	}
	return "…" + wording.CutEnd(string(runes[from:]), maxFoundRune-1)
}

// lowerLetters changes no text's length.
func lowerLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
