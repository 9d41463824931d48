package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
)

const (
	maxFound     = 20  // lines
	maxFoundRune = 160 // of one line
	maxSought    = 200 // runes
	// searchFor bounds a search: 200,000 lines of 110 bytes, as many as a log keeps by
	// default, take 0.1 s (measured with two busy cores), if they're in memory.
	searchFor = 10 * time.Second
)

// searchCommand looks for a text in a session's log.
func searchCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "search", Args: "TEXT", Help: "Look for a text in what the session printed"},
		role:        access.Viewer,
		repeat:      true,
		run:         searchLog,
	}
}

// searchLog takes all that's written as what to look for where a place has one session:
// it may be called as another one is.
func searchLog(a *Ask) error {
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
		return a.reply("Nothing that " + wording.Bold(a.Session.Name) + " printed has that text in it.")
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
	at := max(strings.Index(asciiLower(line), asciiLower(text)), 0)
	from := max(utf8.RuneCountInString(line[:at])-maxFoundRune/3, 0)
	if from == 0 {
		return wording.CutEnd(line, maxFoundRune)
	}
	return "…" + wording.CutEnd(string(runes[from:]), maxFoundRune-1)
}

// asciiLower changes no text's length.
func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
