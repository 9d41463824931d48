package inbound

import (
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// code is Markdown that shows lines as they are.
func code(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// bold is Markdown for the name of something.
func bold(text string) string { return "**" + plain(text) + "**" }

// show replies with lines as they are, below a heading: in one message, or as a file
// of that name if it would be too long. Where no file can be sent it's the last lines
// that fit.
func (a *ask) show(heading string, lines []string, name string, buttons ...[]adapters.Button) error {
	shape := a.in.opt.Hub.Shape(a.event.Place)
	text := heading + "\n\n" + code(strings.Join(lines, "\n"))
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
func (a *ask) lastOf(heading string, lines []string) string {
	shape := a.in.opt.Hub.Shape(a.event.Place)
	heading += " Only the last fit here."
	from, size := len(lines), shape.Len(heading+"\n\n"+code(""))
	for from > 0 && size+shape.Len(lines[from-1])+1 <= shape.MaxLen {
		from--
		size += shape.Len(lines[from]) + 1
	}
	return heading + "\n\n" + code(strings.Join(lines[from:], "\n"))
}

// shortened cuts a text to so many runes at its end.
func shortened(text string, runes int) string {
	r := []rune(text)
	if len(r) <= runes {
		return text
	}
	return string(r[:runes-1]) + "…"
}

// clock is a time of day as people here read it.
func clock(t time.Time) string { return t.Local().Format("15:04:05") }

// until is when something ends, as people read it.
func until(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Sub(now) < 12*time.Hour {
		return t.Format("15:04")
	}
	return t.Format("2 January 15:04")
}

var errUnnamed = errors.New("there's no session of that name; /sessions shows those there are")

// nothingElse says what's wrong if there's more behind a command that takes nothing but
// a session's name: it would be done to another one than was meant.
func (a *ask) nothingElse() error {
	if a.args != "" {
		return errUnnamed
	}
	return nil
}
