package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// asker asks a person, or whatever standard input is, for a line at a time.
type asker struct {
	p        *invocation
	in       *bufio.Reader
	terminal bool // a person is there, who can correct something and try again
}

func newAsker(p *invocation) *asker {
	return &asker{p: p, in: bufio.NewReader(p.stdio.In), terminal: isTerminal(p.stdio.In)}
}

// errNoAnswer is the end of standard input where an answer was needed.
var errNoAnswer = errors.New("standard input has ended, and an answer is missing")

// Ask implements platform.Asker: it asks, and returns what's written without spaces around it. orFlags says which
// flags would have answered it.
func (a *asker) Ask(ctx context.Context, question, orFlags string) (string, error) {
	end := " "
	if !a.terminal {
		end = "\n"
	}
	if err := a.p.printf("%s%s", fill(question, widthOf(a.p.stdio.Out)-len(" yes ")), end); err != nil {
		return "", err
	}
	type answer struct {
		text string
		err  error
	}
	read := make(chan answer, 1) // whoever is gone isn't waited for
	go func() {
		text, err := a.in.ReadString('\n')
		read <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case got := <-read:
		text := strings.TrimSpace(got.text)
		switch {
		case errors.Is(got.err, io.EOF) && text == "":
			return "", usageErrorf("%w: %s", errNoAnswer, orFlags)
		case got.err != nil && !errors.Is(got.err, io.EOF):
			return "", fmt.Errorf("read an answer from standard input: %w", got.err)
		}
		return text, nil
	}
}

// AskSecret asks for what nobody may look at.
func (a *asker) AskSecret(ctx context.Context, question, orFlags string) (string, error) {
	if !a.terminal {
		return a.Ask(ctx, question, orFlags)
	}
	show, hidden := hideEcho(a.p.stdio.In)
	defer show()
	if hidden {
		question += " (it isn't shown)"
	} else {
		question += " (this terminal will show it)"
	}
	return a.Ask(ctx, question+":", orFlags)
}

// HasPerson says whether a person is there, who can correct something and try again.
func (a *asker) HasPerson() bool { return a.terminal }

// AskYesNo asks a question that's answered by y or n; an empty answer is other.
func (a *asker) AskYesNo(ctx context.Context, question string, other bool, orFlags string) (bool, error) {
	choice := " [y/N]"
	if other {
		choice = " [Y/n]"
	}
	for {
		text, err := a.Ask(ctx, question+choice, orFlags)
		switch {
		case err != nil:
			return false, err
		case text == "":
			return other, nil
		case strings.EqualFold(text, "y"), strings.EqualFold(text, "yes"):
			return true, nil
		case strings.EqualFold(text, "n"), strings.EqualFold(text, "no"):
			return false, nil
		}
	}
}
