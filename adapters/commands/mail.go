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
	Director FleetMember // ID "": none
	Members  []FleetMember
}

// FleetMember is a session of a fleet.
type FleetMember struct {
	ID           sessions.ID
	LastReceived time.Time // when it was shown mail last; zero: never
	Unread       int       // open mail that it wasn't shown
}

// Mailbox is the agents' mail, as far as people have to do with it. A person is named by
// Person.ID. Methods do disk I/O.
type Mailbox interface {
	// Letters returns what waits for a person, the newest first.
	Letters(ctx context.Context, person string) ([]Letter, error)
	// WriteLetter sends a letter to a session, and returns why the session wasn't told of it;
	// "": it was. The same key is sent once.
	WriteLetter(ctx context.Context, person, to, text, key string) (l Letter, why string, err error)
	// AnswerLetter sends an answer to who wrote a letter, and settles that. It's as Write.
	AnswerLetter(ctx context.Context, person, id, text, key string) (l Letter, why string, err error)
	// SettleLetter says that a letter needs nothing more of its recipient.
	SettleLetter(ctx context.Context, person, id string) error
	// KeepShown keeps which message in a chat shows a letter; LetterAt is the letter that one
	// shows, sessions.ErrUnknown if it shows none.
	KeepShown(ctx context.Context, place adapters.Target, message, id string) error
	LetterAt(ctx context.Context, place adapters.Target, message string) (id string, err error)
	Fleets(ctx context.Context) ([]Fleet, error)
}

// errNoMail says that there's no mail here.
var errNoMail = errors.New("there's no mail here")

// DeliverLetter shows a letter to a person at a place, with buttons to answer and to settle it. sent is
// called once, when the letter is there or can't be; it must return at once.
func (r *Runner) DeliverLetter(ctx context.Context, place adapters.Target, person string, l Letter, sent func(message string, err error)) error {
	row, err := r.letterButtons(ctx, place, person, l.ID)
	if err != nil {
		return err
	}
	return r.Hub.Post(adapters.Post{
		To: place, Key: "letter " + l.ID, Class: qos.Final, Ring: true, Sent: sent, Buttons: [][]adapters.Button{row},
		Text: r.letterText(l, r.Hub.Shape(place)),
	})
}

func (r *Runner) letterButtons(ctx context.Context, place adapters.Target, person, id string) ([]adapters.Button, error) {
	reply, err := r.MakeOffer(ctx, place, "Reply", cards.Offer{Do: "mail-reply", Args: id, Role: access.Operator, Person: person})
	if err != nil {
		return nil, err
	}
	done, err := r.MakeOffer(ctx, place, "Done", cards.Offer{Do: "mail-done", Args: id, Role: access.Operator, Person: person, Single: true, Group: "mail-done " + id})
	return []adapters.Button{reply, done}, err
}

// letterSpare is what a letter's text leaves of a message, for what stands around it.
const letterSpare = 200

func (r *Runner) letterText(l Letter, shape adapters.Shape) string {
	l.Text = r.Masked(l.Text)
	text := wording.Plain(l.Text)
	for cut := []rune(l.Text); shape.MaxLen > 0 && shape.Len(text) > max(shape.MaxLen-letterSpare, letterSpare) && len(cut) > 0; {
		cut = cut[:len(cut)*9/10]
		text = wording.Plain(string(cut)) + "…"
	}
	return fmt.Sprintf("✉ **%s** writes (%s):\n\n%s", wording.Plain(l.From), wording.Plain(l.ID), text)
}

// AnswerLetter sends a reply to a message that shows a letter as the answer to that letter. handled is false
// if it's no such reply.
func (r *Runner) AnswerLetter(ctx context.Context, ev intake.Event, s intake.Said, roles access.Roles) (d EventResult, handled bool, err error) {
	if r.Mail == nil || s.ReplyTo == "" || s.Text == "" {
		return EventResult{}, false, nil
	}
	id, err := r.Mail.LetterAt(ctx, ev.Place, s.ReplyTo)
	switch {
	case errors.Is(err, sessions.ErrUnknown):
		return EventResult{}, false, nil
	case err != nil:
		return EventResult{}, false, fmt.Errorf("look for the letter that is answered: %w", err)
	case !roles.Has(access.Operator):
		r.ReplyText(ev, "letter", qos.Interactive, "Answering takes the role operator.")
		return Refused("role"), true, nil
	}
	a := r.NewInvocation(ctx, ev, roles)
	if err := a.answerLetter(id, s.Text); err != nil {
		return EventResult{What: "mail", Outcome: "failed", Undone: true}, true, a.replyText(wording.Plain(wording.Sentence(err.Error())))
	}
	return EventResult{What: "mail", Outcome: id}, true, nil
}

// answerLetter answers a letter.
func (a *Invocation) answerLetter(id, text string) error {
	l, why, err := a.runner.Mail.AnswerLetter(a.Ctx, a.Event.Person.ID, id, text, a.Event.Key)
	if err != nil {
		return err
	}
	return a.replyText(letterSent(l, why))
}

// letterSent says what became of a letter.
func letterSent(l Letter, why string) string {
	if why == "" {
		return "Sent to " + wording.Bold(l.To) + ", who was told of it."
	}
	return "Stored for " + wording.Bold(l.To) + ", who wasn't told of it yet: " + wording.Plain(why) + "."
}

// replyPressed says how to answer a letter.
func replyPressed(a *Invocation) error {
	if a.runner.Mail == nil {
		return errNoMail
	}
	id := a.Offered.Args
	return a.post(adapters.Post{
		Text: "Answer this message with what you want to say; or write /mail " + wording.Plain(id) + " and the text.",
		Sent: a.runner.letterShown(a.Event.Place, id),
	})
}

// shownTime bounds keeping which message shows a letter.
const shownTime = 30 * time.Second

// letterShown returns what keeps which message at a place shows a letter, when that's sent.
func (r *Runner) letterShown(place adapters.Target, id string) (sent func(message string, err error)) {
	keep := func(message string) {
		ctx, cancel := context.WithTimeout(context.Background(), shownTime)
		defer cancel()
		if err := r.Mail.KeepShown(ctx, place, message, id); err != nil {
			r.Log.Warn("an answer to a message won't be known as one to a letter", "target", place.String(), "err", err)
		}
	}
	return func(message string, err error) {
		if err == nil && message != "" {
			go keep(message) // it mustn't be waited for
		}
	}
}

// donePressed settles a letter.
func donePressed(a *Invocation) error {
	if a.runner.Mail == nil {
		return errNoMail
	}
	if err := a.runner.Mail.SettleLetter(a.Ctx, a.Event.Person.ID, a.Offered.Args); err != nil {
		return err
	}
	return a.AnswerPress("Done.")
}

// runMail shows what agents have written to a person, and writes to them.
func runMail(a *Invocation) error {
	to, text, _ := strings.Cut(a.args, " ")
	text = strings.TrimSpace(text)
	switch {
	case a.runner.Mail == nil:
		return errNoMail
	case to == "":
		return showLetters(a)
	case text == "":
		return errors.New("write /mail, a session's name (or the id of what you answer), and the text")
	case isLetterID(to):
		return a.answerLetter(to, text)
	}
	l, why, err := a.runner.Mail.WriteLetter(a.Ctx, a.Event.Person.ID, to, text, a.Event.Key)
	if err != nil {
		return err
	}
	return a.replyText(letterSent(l, why))
}

// isLetterID tells a letter's id from a session's name.
func isLetterID(word string) bool {
	rest, ok := strings.CutPrefix(word, "m_")
	return ok && len(rest) == 10 && strings.Trim(rest, "0123456789abcdef") == ""
}

// mostLetters is how many are shown at once, each in a message of its own.
const mostLetters = 5

func showLetters(a *Invocation) error {
	letters, err := a.runner.Mail.Letters(a.Ctx, a.Event.Person.ID)
	if err != nil {
		return err
	}
	if len(letters) == 0 {
		return a.replyText("Nothing is waiting for you.")
	}
	if !a.Event.Private {
		return a.replyText(fmt.Sprintf("%d wait for you. They're shown in your private chat with the bot: write /mail there.", len(letters)))
	}
	for i := min(len(letters), mostLetters) - 1; i >= 0; i-- { // the newest comes last
		l, place := letters[i], a.Event.Place
		row, err := a.runner.letterButtons(a.Ctx, place, a.Event.Person.ID, l.ID)
		if err != nil {
			return err
		}
		err = a.post(adapters.Post{
			Text: a.runner.letterText(l, a.runner.Hub.Shape(place)), Buttons: [][]adapters.Button{row}, Sent: a.runner.letterShown(place, l.ID),
		})
		if err != nil {
			return err
		}
	}
	if more := len(letters) - mostLetters; more > 0 {
		return a.replyText(fmt.Sprintf("%d older ones wait, too.", more))
	}
	return nil
}

// showFleets shows which sessions work together.
func showFleets(a *Invocation) error {
	if a.runner.Mail == nil {
		return errNoMail
	}
	fleets, err := a.runner.Mail.Fleets(a.Ctx)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range fleets {
		if a.args != "" && f.Name != a.args {
			continue
		}
		fmt.Fprintf(&b, "**%s**\n\n", wording.Plain(f.Name))
		if f.Director.ID != "" {
			fmt.Fprintf(&b, "- %s, its director\n", a.runner.memberOf(f.Director))
		}
		for _, m := range f.Members {
			fmt.Fprintf(&b, "- %s\n", a.runner.memberOf(m))
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return a.replyText("There's no such fleet. On the machine, `panebridge fleet new NAME` makes one.")
	}
	return a.replyText(strings.TrimSpace(b.String()))
}

// memberOf is a session in a list: what it does, how long ago it was shown mail, and how much it
// wasn't shown.
func (r *Runner) memberOf(m FleetMember) string {
	s, err := r.Sessions.Get(string(m.ID))
	if err != nil {
		return wording.Plain(string(m.ID)) + ": gone"
	}
	received := "never"
	if !m.LastReceived.IsZero() {
		received = wording.Age(time.Since(m.LastReceived)) + " ago"
	}
	return fmt.Sprintf("%s: %s, received mail %s, %d unread", wording.Plain(s.Name), s.State, received, m.Unread)
}
