package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Invocation is one command or pressed button at work. Its methods reply to the person in
// the place where it was asked.
type Invocation struct {
	runner  *Runner
	Ctx     context.Context //nolint:containedctx // it lives as long as the one call that handles the event
	Event   intake.Event
	Roles   access.Roles
	Session sessions.Session // zero: the place has none, and none was named
	args    string           // behind the command and the session's name, white space cut
	Offered cards.Offer      // of the pressed button; zero: it's a command

	Again    bool // it was begun before, and panebridge stopped
	replies  int
	answered bool
	unmade   error // why a button couldn't be made; the next post returns it
}

// NewInvocation makes one for an event that's neither a command nor a button.
func (r *Runner) NewInvocation(ctx context.Context, ev intake.Event, roles access.Roles) *Invocation {
	return &Invocation{runner: r, Ctx: ctx, Event: ev, Roles: roles}
}

// replyText queues a message of class interactive, as an answer to the asking one. What
// it says is Markdown; see wording.Plain.
func (a *Invocation) replyText(markdown string, buttons ...[]adapters.Button) error {
	return a.post(adapters.Post{Text: markdown, Buttons: buttons})
}

// post is replyText for what's more than a text. Place, key, class and the message that
// it answers are filled in where they're empty.
func (a *Invocation) post(p adapters.Post) error {
	if err := a.unmade; err != nil {
		a.unmade = nil
		return err
	}
	return a.runner.PostReply(a.Event, a.fillPost(p))
}

// fillPost is a post of this asking, with what's empty filled in.
func (a *Invocation) fillPost(p adapters.Post) adapters.Post {
	if p.To == (adapters.Target{}) {
		p.To = a.Event.Place
	}
	if p.Message == "" && p.Reaction == "" && p.Pin == "" {
		p.Elsewhere = a.runner.ChatBeside(p.To)
	}
	if p.Key == "" {
		p.Key = fmt.Sprintf("reply %s %d", a.Event.Key, a.replies)
		a.replies++
	}
	if p.ReplyTo == "" && p.Message == "" && !a.isPress() && p.To == a.Event.Place {
		p.ReplyTo = a.Event.Message
	}
	if p.Session == "" {
		p.Session = a.Session.ID
	}
	p.Class = qos.Interactive
	return p
}

// ReplaceText changes the message below which the pressed button stands. A command is answered.
func (a *Invocation) ReplaceText(markdown string, buttons ...[]adapters.Button) error {
	return a.post(a.replacement(markdown, buttons...))
}

// replacement is what ReplaceText posts.
func (a *Invocation) replacement(markdown string, buttons ...[]adapters.Button) adapters.Post {
	p := adapters.Post{Text: markdown, Buttons: buttons}
	if a.isPress() {
		p.Key, p.Message = "replace "+a.Event.Message, a.Event.Message
	}
	return p
}

// AnswerPress shows the person who pressed a button a text that vanishes. A command is answered.
func (a *Invocation) AnswerPress(text string) error {
	if !a.isPress() {
		return a.replyText(wording.Plain(text))
	}
	a.answered = true
	a.runner.answerPress(a.Ctx, a.Event, text)
	return nil
}

// makeOffer makes a button that can be pressed in the place of this event, by people
// with a role, until it expires; single: once only. It works after a restart too:
// what it does is in the store. If that fails, the post that it's for does.
func (a *Invocation) makeOffer(label string, o cards.Offer) adapters.Button {
	if a.unmade != nil {
		return adapters.Button{}
	}
	b, err := a.runner.MakeOffer(a.Ctx, a.Event.Place, label, o)
	a.unmade = err
	return b
}

func (a *Invocation) isPress() bool {
	_, ok := a.Event.Action.(intake.Pressed)
	return ok
}

// personName is what the person is called in chats: by the configuration, else by the
// platform.
func (a *Invocation) personName() string { return a.runner.NameOf(a.Event.Person) }

// answerPress tells the person who pressed a button something. It's only a courtesy:
// the platform takes no answer after some seconds.
func (r *Runner) answerPress(ctx context.Context, press intake.Event, text string) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	p := r.Platforms[press.Place.Adapter]
	if p == nil {
		return
	}
	if err := p.TellPresser(ctx, press, text); err != nil {
		r.Log.Debug("answer a pressed button", "target", press.Place.String(), "err", err)
	}
}

// answerWithin bounds how long the place's next event waits.
const answerWithin = 10 * time.Second

// showLines replies with lines as they are, below a heading: in one message, or as a file
// of that name if it would be too long. Where no file can be sent it's the last lines
// that fit.
func (a *Invocation) showLines(heading string, lines []string, name string, buttons ...[]adapters.Button) error {
	shape := a.runner.Hub.Shape(a.Event.Place)
	text := heading + "\n\n" + wording.Code(strings.Join(lines, "\n"))
	if shape.Len(text) <= shape.MaxLen {
		return a.post(adapters.Post{Text: text, Buttons: buttons})
	}
	file := []byte(strings.Join(lines, "\n") + "\n")
	if len(file) <= shape.MaxFile {
		return a.post(adapters.Post{Text: heading, Buttons: buttons, File: &adapters.File{Name: name, Data: file}})
	}
	return a.post(adapters.Post{Text: a.cutToLast(heading, lines), Buttons: buttons})
}

// cutToLast is the last of these lines, as many as go into one message.
func (a *Invocation) cutToLast(heading string, lines []string) string {
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
