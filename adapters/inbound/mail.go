package inbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Letter is a message of an agent's to a person, or of a person's to an agent.
type Letter struct {
	ID       string
	From, To string // as they're called
	Text     string
	At       time.Time
}

// Fleet is a group of sessions that work together.
type Fleet struct {
	Name     string
	Director Member // ID "": none
	Members  []Member
}

// Member is a session of a fleet.
type Member struct {
	ID           sessions.ID
	LastReceived time.Time // when it was shown mail last; zero: never
	Unread       int       // open mail that it wasn't shown
}

// Mail is the agents' mail, as far as people have to do with it. A person is named by
// Person.ID. Methods do disk I/O.
type Mail interface {
	// Letters returns what waits for a person, the newest first.
	Letters(ctx context.Context, person string) ([]Letter, error)
	// Write sends a letter to a session, and returns why the session wasn't told of it;
	// "": it was. The same key is sent once.
	Write(ctx context.Context, person, to, text, key string) (l Letter, why string, err error)
	// Answer sends an answer to who wrote a letter, and settles that. It's as Write.
	Answer(ctx context.Context, person, id, text, key string) (l Letter, why string, err error)
	// Settle says that a letter needs nothing more of its recipient.
	Settle(ctx context.Context, person, id string) error
	// Shown keeps which message in a chat shows a letter; LetterAt is the letter that one
	// shows, sessions.ErrUnknown if it shows none.
	Shown(ctx context.Context, place adapters.Target, message, id string) error
	LetterAt(ctx context.Context, place adapters.Target, message string) (id string, err error)
	Fleets(ctx context.Context) ([]Fleet, error)
}

// errNoMail says that there's no mail here.
var errNoMail = errors.New("there's no mail here")

// Deliver shows a letter to a person at a place, with a button to answer it. sent is
// called once, when it's there or can't be; it must return at once.
func (in *Inbound) Deliver(ctx context.Context, place adapters.Target, person string, l Letter, sent func(message string, err error)) error {
	row, err := in.letterButtons(ctx, place, person, l.ID)
	if err != nil {
		return err
	}
	return in.opt.Hub.Post(adapters.Post{
		To: place, Key: "letter " + l.ID, Class: qos.Final, Ring: true, Sent: sent, Buttons: [][]adapters.Button{row},
		Text: in.letterText(l, in.opt.Hub.Shape(place)),
	})
}

func (in *Inbound) letterButtons(ctx context.Context, place adapters.Target, person, id string) ([]adapters.Button, error) {
	reply, err := in.offer(ctx, place, "Reply", offer{Do: "mail-reply", Args: id, Role: access.Operator, Person: person})
	if err != nil {
		return nil, err
	}
	done, err := in.offer(ctx, place, "Done", offer{Do: "mail-done", Args: id, Role: access.Operator, Person: person, Single: true, Group: "mail-done " + id})
	return []adapters.Button{reply, done}, err
}

// letterSpare is what a letter's text leaves of a message, for what stands around it.
const letterSpare = 200

func (in *Inbound) letterText(l Letter, shape adapters.Shape) string {
	l.Text = in.masked(l.Text)
	text := wording.Plain(l.Text)
	for cut := []rune(l.Text); shape.MaxLen > 0 && shape.Len(text) > max(shape.MaxLen-letterSpare, letterSpare) && len(cut) > 0; {
		cut = cut[:len(cut)*9/10]
		text = wording.Plain(string(cut)) + "…"
	}
	return fmt.Sprintf("✉ **%s** writes (%s):\n\n%s", wording.Plain(l.From), wording.Plain(l.ID), text)
}

// answerLetter sends what a person wrote as an answer to a message that shows a letter.
// handled is false if it's no such.
func (in *Inbound) answerLetter(ctx context.Context, ev intake.Event, s intake.Said, roles access.Roles) (d done, handled bool, err error) {
	if in.opt.Mail == nil || s.ReplyTo == "" || s.Text == "" {
		return done{}, false, nil
	}
	id, err := in.opt.Mail.LetterAt(ctx, ev.Place, s.ReplyTo)
	switch {
	case errors.Is(err, sessions.ErrUnknown):
		return done{}, false, nil
	case err != nil:
		return done{}, false, fmt.Errorf("look for the letter that is answered: %w", err)
	case !roles.Has(access.Operator):
		in.say(ev, "letter", qos.Interactive, "Answering takes the role operator.")
		return refused("role"), true, nil
	}
	a := &ask{in: in, ctx: ctx, event: ev, roles: roles}
	if err := a.answerWith(id, s.Text); err != nil {
		return done{what: "mail", outcome: "failed"}, true, a.reply(wording.Plain(wording.Sentence(err.Error())))
	}
	return done{what: "mail", outcome: id}, true, nil
}

// answerWith answers a letter.
func (a *ask) answerWith(id, text string) error {
	l, why, err := a.in.opt.Mail.Answer(a.ctx, a.event.Person.ID, id, text, a.event.Key)
	if err != nil {
		return err
	}
	return a.reply(letterSent(l, why))
}

// letterSent says what became of a letter.
func letterSent(l Letter, why string) string {
	if why == "" {
		return "Sent to " + wording.Bold(l.To) + ", who was told of it."
	}
	return "Stored for " + wording.Bold(l.To) + ", who wasn't told of it yet: " + wording.Plain(why) + "."
}

// replyPressed says how to answer a letter.
func replyPressed(a *ask) error {
	if a.in.opt.Mail == nil {
		return errNoMail
	}
	id, place := a.offered.Args, a.event.Place
	return a.post(adapters.Post{
		Text: "Answer this message with what you want to say; or write /mail " + wording.Plain(id) + " and the text.",
		Sent: func(message string, err error) {
			if err == nil && message != "" {
				go a.in.letterShown(place, message, id) // it mustn't be waited for
			}
		},
	})
}

// shownTime bounds keeping which message shows a letter.
const shownTime = 30 * time.Second

func (in *Inbound) letterShown(place adapters.Target, message, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), shownTime)
	defer cancel()
	if err := in.opt.Mail.Shown(ctx, place, message, id); err != nil {
		in.log.Warn("an answer to a message won't be known as one to a letter", "target", place.String(), "err", err)
	}
}

// donePressed settles a letter.
func donePressed(a *ask) error {
	if a.in.opt.Mail == nil {
		return errNoMail
	}
	if err := a.in.opt.Mail.Settle(a.ctx, a.event.Person.ID, a.offered.Args); err != nil {
		return err
	}
	return a.answer("Done.")
}
