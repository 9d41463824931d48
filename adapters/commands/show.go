package commands

import (
	"errors"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
)

// showLines replies with lines as they are, below a heading: in one message, or as a file
// of that name if it would be too long. Where no file can be sent it's the last lines
// that fit.
func (a *Ask) showLines(heading string, lines []string, name string, buttons ...[]adapters.Button) error {
	shape := a.runner.Hub.Shape(a.Event.Place)
	text := heading + "\n\n" + wording.Code(strings.Join(lines, "\n"))
	if shape.Len(text) <= shape.MaxLen {
		return a.post(adapters.Post{Text: text, Buttons: buttons})
	}
	file := []byte(strings.Join(lines, "\n") + "\n")
	if len(file) <= shape.MaxFile {
		return a.post(adapters.Post{Text: heading, Buttons: buttons, File: &adapters.File{Name: name, Data: file}})
	}
	return a.post(adapters.Post{Text: a.lastOf(heading, lines), Buttons: buttons})
}

// lastOf is the last of these lines, as many as go into one message.
func (a *Ask) lastOf(heading string, lines []string) string {
	shape := a.runner.Hub.Shape(a.Event.Place)
	heading += " Only the last fit here."
	from, size := len(lines), shape.Len(heading+"\n\n"+wording.Code(""))
	for from > 0 && size+shape.Len(lines[from-1])+1 <= shape.MaxLen {
		from--
		size += shape.Len(lines[from]) + 1
	}
	return heading + "\n\n" + wording.Code(strings.Join(lines[from:], "\n"))
}

var errUnnamed = errors.New("there's no session of that name; /sessions shows those there are")

// nothingElse says what's wrong if there's more behind a command that takes nothing but
// a session's name: it would be done to another one than was meant.
func (a *Ask) nothingElse() error {
	if a.args != "" {
		return errUnnamed
	}
	return nil
}
