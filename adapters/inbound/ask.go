package inbound

import (
	"context"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// ask is one command or pressed button at work. Its methods reply to the person in
// the place where it was asked.
type ask struct {
	in      *Inbound
	ctx     context.Context //nolint:containedctx // it lives as long as the one call that handles the event
	event   intake.Event
	roles   access.Roles
	session sessions.Session // zero: the place has none, and none was named
	args    string           // behind the command and the session's name, white space cut
	offered Offer            // of the pressed button; zero: it's a command

	again    bool // it was begun before, and panebridge stopped
	replies  int
	answered bool
}

// reply queues a message of class interactive, as an answer to the asking one. What
// it says is Markdown; see plain.
func (a *ask) reply(markdown string, buttons ...[]adapters.Button) error {
	return a.post(adapters.Post{Text: markdown, Buttons: buttons})
}

// post is reply for what's more than a text. Place, key, class and the message that
// it answers are filled in where they're empty.
func (a *ask) post(p adapters.Post) error {
	return a.in.replies.postReply(a.event, a.filled(p))
}

// filled is a post of this asking, with what's empty filled in.
func (a *ask) filled(p adapters.Post) adapters.Post {
	if p.To == (adapters.Target{}) {
		p.To = a.event.Place
	}
	if p.Message == "" && p.Reaction == "" && p.Pin == "" {
		p.Elsewhere = a.in.beside(p.To)
	}
	if p.Key == "" {
		p.Key = fmt.Sprintf("reply %s %d", a.event.Key, a.replies)
		a.replies++
	}
	if p.ReplyTo == "" && p.Message == "" && !a.pressed() && p.To == a.event.Place {
		p.ReplyTo = a.event.Message
	}
	if p.Session == "" {
		p.Session = a.session.ID
	}
	p.Class = qos.Interactive
	return p
}

// replace changes the message below which the pressed button stands. For a command
// it's a reply.
func (a *ask) replace(markdown string, buttons ...[]adapters.Button) error {
	return a.post(a.replacing(markdown, buttons...))
}

// replacing is what replace posts.
func (a *ask) replacing(markdown string, buttons ...[]adapters.Button) adapters.Post {
	p := adapters.Post{Text: markdown, Buttons: buttons}
	if a.pressed() {
		p.Key, p.Message = "replace "+a.event.Message, a.event.Message
	}
	return p
}

// answer tells the person who pressed a button what came of it, in passing. For a
// command it's a reply.
func (a *ask) answer(text string) error {
	if !a.pressed() {
		return a.reply(wording.Plain(text))
	}
	a.answered = true
	a.in.answer(a.ctx, a.event, text)
	return nil
}

// offer makes a button that can be pressed in the place of this event, by people
// with a role, until it expires; single: once only. It works after a restart too:
// what it does is in the store.
func (a *ask) offer(label string, o offer) (adapters.Button, error) {
	return a.in.offer(a.ctx, a.event.Place, label, o)
}

func (a *ask) pressed() bool {
	_, ok := a.event.Action.(intake.Pressed)
	return ok
}

// who is what the person is called in chats: by the configuration, else by the
// platform.
func (a *ask) who() string { return a.in.NameOf(a.event.Person) }

// answer tells the person who pressed a button something. It's only a courtesy:
// the platform takes no answer after some seconds.
func (in *Inbound) answer(ctx context.Context, press intake.Event, text string) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	p := in.platforms[press.Place.Adapter]
	if p == nil {
		return
	}
	if err := p.Answer(ctx, press, text); err != nil {
		in.log.Debug("answer a pressed button", "target", press.Place.String(), "err", err)
	}
}

// answerWithin bounds how long the place's next event waits.
const answerWithin = 10 * time.Second
