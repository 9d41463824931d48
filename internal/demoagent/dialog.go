package demoagent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// question is a dialog that's drawn. Its texts are those of a well-known agent, so that
// it's recognised.
type question struct {
	head    string
	options []string
	foot    string
}

const dialogFoot = `
 Enter to select · Esc to cancel
`

var permissionQuestion = question{ //nolint:gochecknoglobals // a constant
	head: ` Run a command

   make release

 Do you want to proceed?
`,
	options: []string{"Yes", "Yes, and don't ask again", "No"},
	foot:    dialogFoot,
}

var choiceQuestion = question{ //nolint:gochecknoglobals // a constant
	head: ` A question

 Which colour should the release have?
`,
	options: []string{"Green", "Blue", "Whatever is left"},
	foot:    dialogFoot,
}

const (
	chosenNo = 2  // index of the option that declines
	canceled = -1 // Esc
)

// reason is said before it asks for permission.
const reason = `The tests pass. The release needs the next version:

` + "```diff" + `
--- a/VERSION
+++ b/VERSION
@@ -1 +1 @@
-1.2.0
+1.3.0
` + "```" + `

I'd like to **make the release** with it.
`

// permission says why, asks whether it may run a command that it never runs, and says
// what the answer was. The dialog leaves no trace on the screen: text stays
// held as long as its phrases can be seen.
func (a *agent) permission(ctx context.Context) error {
	if err := a.say(ctx, reason); err != nil {
		return err
	}
	choice, err := a.pose(ctx, permissionQuestion)
	if err != nil {
		return err
	}
	switch choice {
	case canceled:
		return a.say(ctx, "You canceled, so nothing was run.\n")
	case chosenNo:
		return a.say(ctx, "You declined, so nothing was run.\n")
	}
	if err := a.call(ctx, "Shell", "make release", "a real agent would have run it"); err != nil {
		return err
	}
	return a.say(ctx, fmt.Sprintf("You allowed it with option %d. I'd ask again next time.\n", choice+1))
}

// colour asks for one of several, and says what the answer was.
func (a *agent) colour(ctx context.Context) error {
	if err := a.say(ctx, "The release's page needs a colour, and two fit."); err != nil {
		return err
	}
	choice, err := a.pose(ctx, choiceQuestion)
	if err != nil {
		return err
	}
	if choice == canceled {
		return a.say(ctx, "You canceled, so nothing was chosen.\n")
	}
	return a.say(ctx, fmt.Sprintf("You chose option %d: %s.\n", choice+1, choiceQuestion.options[choice]))
}

// pose asks a question with single keys and returns the index of the answer.
func (a *agent) pose(ctx context.Context, q question) (int, error) {
	if err := a.print(eraseLine); err != nil {
		return 0, err
	}
	restore, err := a.kb.singleKeys(ctx)
	if err != nil {
		return 0, err
	}
	choice, err := a.choose(ctx, q)
	if restoreErr := restore(); err == nil {
		err = restoreErr
	}
	return choice, err
}

// choose shows the dialog until an option is chosen and returns its index. A
// digit acts at once, Enter takes the marked option, Esc and Ctrl-C cancel.
func (a *agent) choose(ctx context.Context, q question) (int, error) {
	marked := 0
	for {
		shown := q.drawn(marked)
		if err := a.print(shown); err != nil {
			return 0, err
		}
		choice, done := canceled, false
		for redraw := false; !redraw && !done; {
			k, err := a.kb.readKey(ctx)
			if errors.Is(err, errInterrupted) {
				a.interrupted = time.Now()
				k, err = keyEsc, nil
			}
			if err != nil {
				return 0, err
			}
			switch {
			case k == keyUp:
				marked, redraw = max(0, marked-1), true
			case k == keyDown:
				marked, redraw = min(len(q.options)-1, marked+1), true
			case k == keyEnter:
				choice, done = marked, true
			case k == keyEsc:
				done = true
			case k >= '1' && int(k-'1') < len(q.options):
				choice, done = int(k-'1'), true
			}
		}
		// Counted now and not when it was drawn: a resize wraps it anew.
		if err := a.print(fmt.Sprintf("\r\x1b[%dA\x1b[J", rowsOf(shown, a.kb.columns()))); err != nil {
			return 0, err
		}
		if done {
			return choice, nil
		}
	}
}

// drawn returns the dialog's text with one option marked.
func (q question) drawn(marked int) string {
	var b strings.Builder
	b.WriteString(q.head)
	for i, option := range q.options {
		mark := " "
		if i == marked {
			mark = "❯"
		}
		fmt.Fprintf(&b, " %s %d. %s\n", mark, i+1, option)
	}
	b.WriteString(q.foot)
	return b.String()
}

// rowsOf counts the rows that text takes.
func rowsOf(text string, columns int) int {
	rows := 0
	for line := range strings.Lines(text) {
		width := displaywidth.String(strings.TrimSuffix(line, "\n"))
		rows += max(1, (width+columns-1)/columns)
	}
	return rows
}
