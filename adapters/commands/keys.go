package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// key is one of the keyboard.
type key struct {
	label string
	name  string // tmux's
}

// keyboardRows are its rows.
var keyboardRows = [][]key{ //nolint:gochecknoglobals // a constant table
	{{"Esc", "Escape"}, {"↑", "Up"}, {"Tab", "Tab"}, {"⇧Tab", "BTab"}},
	{{"←", "Left"}, {"↓", "Down"}, {"→", "Right"}, {"Enter", "Enter"}},
	{{"1", "1"}, {"2", "2"}, {"3", "3"}, {"4", "4"}, {"5", "5"}},
	{{"6", "6"}, {"7", "7"}, {"8", "8"}, {"9", "9"}, {"0", "0"}},
	{{"Ctrl-C", "C-c"}},
}

// otherNames are what people call keys, beside tmux's names.
var otherNames = map[string]string{ //nolint:gochecknoglobals // a constant table
	"esc": "Escape", "escape": "Escape", "return": "Enter", "enter": "Enter", "tab": "Tab", "shift-tab": "BTab", "s-tab": "BTab",
	"backspace": "BSpace", "space": "Space", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "home": "Home", "end": "End",
	"pageup": "PageUp", "pagedown": "PageDown", "delete": "Delete",
}

const (
	maxKeys     = 20 // that are typed in one command
	keyboardRow = 12 // rows of the screen beside the keyboard
)

// runKeys shows a keyboard, or presses keys by their names.
func runKeys(a *Invocation) error {
	if a.args == "" {
		return a.showKeyboard()
	}
	keys, err := readKeys(a.args)
	if err != nil {
		return err
	}
	return a.pressAndSay(keys)
}

func readKeys(text string) ([]string, error) {
	words := strings.Fields(text)
	if len(words) > maxKeys {
		return nil, fmt.Errorf("at most %d keys at a time, these are %d", maxKeys, len(words))
	}
	for i, w := range words {
		lower := strings.ToLower(w)
		if name, ok := otherNames[lower]; ok {
			words[i] = name
		} else if rest, ok := strings.CutPrefix(lower, "ctrl-"); ok {
			words[i] = "C-" + rest
		}
	}
	return words, nil
}

// pressSeenAgo is how old what a person presses a button for is at least: what has come up on
// the screen since then, nobody has pressed it for.
const pressSeenAgo = 1500 * time.Millisecond

// pressKeys presses keys in the session. What may answer an open question takes the role
// of those who answer questions.
func (a *Invocation) pressKeys(keys []string) error {
	harmless := !slices.ContainsFunc(keys, func(k string) bool { return k != "Escape" && k != "C-c" })
	asks := (a.Session.State == sessions.StateWaiting || a.runner.HasDialog(a.Session.ID)) && !a.runner.AsksForLine(a.Session.ID)
	if asks && !harmless && !a.Roles.Has(access.Approver) {
		return errors.New("a question is on the screen: answering it takes the role approver; /esc and /stop can be used")
	}
	press := sessions.KeyPress{Keys: keys, Author: a.Event.Person.ID, Answers: a.Roles.Has(access.Approver), Seen: a.Event.At}
	if _, button := a.Event.Action.(intake.Pressed); button {
		press.Seen = press.Seen.Add(-pressSeenAgo)
	}
	err := a.runner.Sessions.Keys(a.Ctx, a.Session.ID, press)
	if refused, ok := errors.AsType[*sessions.RefusedError](err); ok {
		return errors.New(refused.Why)
	}
	if err != nil {
		return err
	}
	a.runner.Hub.FocusSession(a.Session.ID)
	return nil
}

func (a *Invocation) pressAndSay(keys []string) error {
	if err := a.pressKeys(keys); err != nil {
		return err
	}
	return a.sayPressed(keys)
}

func (a *Invocation) sayPressed(keys []string) error {
	return a.ReplaceText("Pressed " + wording.Plain(strings.Join(keys, " ")) + " in " + wording.Bold(a.Session.Name) + ".")
}

// showKeyboard replies with a keyboard, below the last rows of the screen.
func (a *Invocation) showKeyboard() error {
	var rows [][]adapters.Button
	for _, keys := range keyboardRows {
		var row []adapters.Button
		for _, k := range keys {
			row = append(row, a.makeOffer(k.label, cards.Offer{Do: "key", Session: a.Session.ID, Args: k.name, Role: access.Operator}))
		}
		rows = append(rows, row)
	}
	look := a.makeOffer("Look", cards.Offer{Do: "rows", Session: a.Session.ID, Role: access.Viewer})
	last := len(rows) - 1
	rows[last] = append(rows[last], look)
	return a.replyText(a.lastRows(), rows...)
}

// pressKey presses the key of a button.
func pressKey(a *Invocation) error {
	if err := a.pressKeys([]string{a.args}); err != nil {
		return err
	}
	if p, ok := a.Event.Action.(intake.Pressed); ok && p.Stays {
		return nil
	}
	for _, row := range keyboardRows {
		for _, k := range row {
			if k.name == a.args {
				return a.AnswerPress(k.label)
			}
		}
	}
	return nil
}

// showRows says what's on the screen now, in a message of its own: the keyboard stays
// where it is.
func showRows(a *Invocation) error {
	return a.post(adapters.Post{Key: "rows " + a.Event.Message, Text: a.lastRows()})
}

// lastRows are the last of the screen that aren't empty.
func (a *Invocation) lastRows() string {
	rows, err := a.screenRows()
	if err != nil {
		return wording.Plain(wording.Sentence(err.Error()))
	}
	if len(rows) > keyboardRow {
		rows = rows[len(rows)-keyboardRow:]
	}
	return wording.Bold(a.Session.Name) + " " + wording.Clock(time.Now()) + "\n\n" + wording.Code(strings.Join(rows, "\n"))
}

// interruptPause is how long it takes from one key of an interruption to the next: opencode
// 1.18.33 takes a second Escape right behind the first as one.
const interruptPause = 400 * time.Millisecond

// interruptProgram presses the keys that end what the session's program is doing. Shells, and
// programs of which nothing is known, take C-c.
func (a *Invocation) interruptProgram() ([]string, error) {
	keys := []string{"C-c"}
	if a.runner.Interrupt != nil {
		if known := a.runner.Interrupt(a.Session); len(known) > 0 {
			keys = known
		}
	}
	for i, key := range keys {
		if i > 0 {
			select {
			case <-a.Ctx.Done():
				return keys, context.Cause(a.Ctx)
			case <-time.After(interruptPause):
			}
		}
		if err := a.pressKeys([]string{key}); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// runStop interrupts what a session is doing.
func runStop(a *Invocation) error {
	keys, err := a.interruptProgram()
	if err != nil {
		return err
	}
	return a.sayPressed(keys)
}

// runEsc presses Escape.
func runEsc(a *Invocation) error {
	return a.pressAndSay([]string{"Escape"})
}
