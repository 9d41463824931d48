package inbound

import (
	"errors"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
)

// mailCommand shows what agents have written to a person, and writes to them.
func mailCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "mail", Args: "[SESSION or ID, and a text]", Help: "Read what agents wrote to you, answer, or write to one"},
		role:        access.Operator,
		repeat:      true, // the same key is sent once
		run: func(a *ask) error {
			to, text, _ := strings.Cut(a.args, " ")
			text = strings.TrimSpace(text)
			switch {
			case a.in.opt.Mail == nil:
				return errNoMail
			case to == "":
				return showLetters(a)
			case text == "":
				return errors.New("write /mail, a session's name (or the id of what you answer), and the text")
			case isLetterID(to):
				return a.answerWith(to, text)
			}
			l, why, err := a.in.opt.Mail.Write(a.ctx, a.event.Person.ID, to, text, a.event.Key)
			if err != nil {
				return err
			}
			return a.reply(letterSent(l, why))
		},
	}
}

// isLetterID tells a letter's id from a session's name.
func isLetterID(word string) bool {
	rest, ok := strings.CutPrefix(word, "m_")
	return ok && len(rest) == 10 && strings.Trim(rest, "0123456789abcdef") == ""
}

// mostLetters is how many are shown at once, each in a message of its own.
const mostLetters = 5

func showLetters(a *ask) error {
	letters, err := a.in.opt.Mail.Letters(a.ctx, a.event.Person.ID)
	if err != nil {
		return err
	}
	if len(letters) == 0 {
		return a.reply("Nothing is waiting for you.")
	}
	if !a.event.Private {
		return a.reply(fmt.Sprintf("%d wait for you. They're shown in your private chat with the bot: write /mail there.", len(letters)))
	}
	for i := min(len(letters), mostLetters) - 1; i >= 0; i-- { // the newest comes last
		l, place := letters[i], a.event.Place
		row, err := a.in.letterButtons(a.ctx, place, a.event.Person.ID, l.ID)
		if err != nil {
			return err
		}
		err = a.post(adapters.Post{Text: a.in.letterText(l, a.in.opt.Hub.Shape(place)), Buttons: [][]adapters.Button{row}, Sent: func(message string, err error) {
			if err == nil && message != "" {
				go a.in.letterShown(place, message, l.ID)
			}
		}})
		if err != nil {
			return err
		}
	}
	if more := len(letters) - mostLetters; more > 0 {
		return a.reply(fmt.Sprintf("%d older ones wait, too.", more))
	}
	return nil
}
