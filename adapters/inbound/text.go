package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// said handles a new message of a known person. asked says that the person was
// asked already whether it's still to be done.
func (in *Inbound) said(ctx context.Context, ev intake.Event, s intake.Said, roles access.Roles, again, asked bool) (done, error) {
	stale := !asked && time.Since(ev.At) > in.opt.StaleAfter
	if name, args, ok := intake.ReadCommand(s.Text); ok {
		switch {
		case len(s.Files) > 0:
			in.say(ev, "hint", qos.Interactive, "A file goes to a session, not with a command. To pass the text on as it is, begin it with //.")
			return refused("command with a file"), nil
		case ev.Common:
			in.sayCommon(ev, "Several programs use this bot, so a command that's written as a text isn't done here. Choose it from Discord's list of commands: then one of them does it.")
			return refused("common"), nil
		case stale:
			return in.askStale(ctx, ev, s)
		default:
			return in.command(ctx, ev, name, args, roles, again)
		}
	}
	if s.Text == "" && len(s.Files) == 0 {
		return refused("empty"), nil
	}
	if !asked {
		if d, handled, err := in.answerFrom(ctx, ev, s, roles); handled || err != nil {
			return d, err
		}
		if d, handled, err := in.answerLetter(ctx, ev, s, roles); handled || err != nil {
			return d, err
		}
	}
	if !roles.Has(access.Operator) {
		if ev.Common {
			return refused("role"), nil // in the eyes of another they may have it
		}
		in.tellRole(ev)
		return refused("role"), nil
	}
	to, err := in.sessionFor(ctx, ev, s)
	switch {
	case err != nil:
		return done{}, err
	case len(to) == 0 && ev.Common && !in.opt.Hub.Shape(ev.Place).OwnThread:
		return refused("common"), nil // another may show a session here
	case len(to) == 0:
		in.tellUntaken(ev, in.whyNone(ev))
		return refused("no session"), nil
	case stale:
		return in.askStale(ctx, ev, s)
	case len(to) > 1:
		return in.askSession(ctx, ev, s, to)
	default:
		return in.input(ctx, ev, s, to[0])
	}
}

// takesInput says whether what's written at a binding's target is typed.
func takesInput(b adapters.Binding) bool { return b.Input && b.Active() }

// sessionFor finds the session that a text is for: the one of the place; of several
// the one whose output it answers; else all that it could be: where its thread isn't named, those too
// that can't be shown at the moment.
func (in *Inbound) sessionFor(ctx context.Context, ev intake.Event, s intake.Said) ([]sessions.Session, error) {
	takes := takesInput
	if in.opt.Hub.Unnamed(ev.Place) {
		takes = func(b adapters.Binding) bool { return b.Input }
	}
	bound := in.sessionsAt(ev.Place, takes)
	if len(bound) < 2 || s.ReplyTo == "" {
		return bound, nil
	}
	id, err := in.opt.Store.MessageSession(ctx, ev.Place.Adapter, ev.Place.Chat, s.ReplyTo)
	if errors.Is(err, sessions.ErrUnknown) {
		var m PromptMessage
		m, err = in.opt.Store.PromptMessage(ctx, ev.Place.Adapter, ev.Place.Chat, s.ReplyTo)
		id = m.Session
	}
	if err != nil && !errors.Is(err, sessions.ErrUnknown) {
		return nil, fmt.Errorf("look for the session that is answered: %w", err)
	}
	for _, b := range bound {
		if b.ID == id {
			return []sessions.Session{b}, nil
		}
	}
	return bound, nil
}

// whyNone says why a text goes to no session, and what to do.
func (in *Inbound) whyNone(ev intake.Event) string {
	place := ev.Place
	for _, b := range in.opt.Hub.At(place) {
		switch {
		case b.Resting:
			return "This place rests because it was closed. /reopen lets it go on."
		case b.Disabled != "":
			return "This place mirrors nothing at the moment: " + wording.Plain(strings.TrimRight(b.Disabled, ".")) + ". /bind lets it go on."
		case b.Active() && !b.Input:
			return "This place shows a session, but what's written here isn't typed. /bind changes that."
		}
	}
	if ev.Common {
		return "No session takes what's written here: write in a session's own thread. /new begins one, /help shows the rest."
	}
	if other := in.sharer(place.Adapter); other != "" {
		return "No session of this panebridge is bound to this place. " + wording.Plain(other) + " shares its bot: if it shows a session here, it doesn't read what's written, and nothing was typed. End one of the two, or give each a bot of its own."
	}
	return "No session is bound to this place. /new begins one, /bind takes one that runs, /help shows the rest."
}

// sharer is who else uses a platform's bot, to begin a sentence with; "": nobody is known to.
func (in *Inbound) sharer(adapter string) string {
	if in.opt.Shared == nil {
		return ""
	}
	return in.opt.Shared(adapter)
}

// askedWhich is the outcome of a text that waits for its session.
const askedWhich = "asked which"

// askSession asks which of several sessions a text is for.
func (in *Inbound) askSession(ctx context.Context, ev intake.Event, s intake.Said, of []sessions.Session) (done, error) {
	if err := in.opt.Store.PutWaiting(ctx, waitingOf(ev, s)); err != nil {
		return done{}, fmt.Errorf("keep a text until its session is known: %w", err)
	}
	a := &ask{in: in, ctx: ctx, event: ev}
	return done{outcome: askedWhich}, a.which("Which session is this for? Next time answer one of its messages.", of, offer{
		Do: "input", Args: ev.Key, Role: access.Operator, Person: ev.Person.ID, Single: true, Group: "which " + ev.Key,
	})
}

// inputChosen types a text into the session that was chosen.
func inputChosen(a *ask) error {
	w, err := a.in.opt.Store.Waiting(a.ctx, a.offered.Args)
	if errors.Is(err, sessions.ErrUnknown) {
		return a.answer("It was sent already.")
	}
	if err != nil {
		return err
	}
	w.Place = a.event.Place // its chat may have another id by now
	if err := a.run(w, a.session); err != nil {
		return err
	}
	return a.replace("For " + wording.Plain(a.session.Name) + ".")
}

// run types a text that waited, and forgets it.
func (a *ask) run(w Waiting, s sessions.Session) error {
	d, err := a.in.input(a.ctx, w.event(), w.Said, s)
	if d.outcome == "" {
		return err
	}
	return errors.Join(err, a.in.opt.Store.DropWaiting(a.ctx, w.Key))
}

// input has a text typed, with the paths of its files behind it.
func (in *Inbound) input(ctx context.Context, ev intake.Event, s intake.Said, to sessions.Session) (done, error) {
	text := s.Text
	if strings.HasPrefix(text, "//") {
		text = text[1:]
	}
	d := done{session: to.ID}
	if len(s.Files) > 0 {
		paths, problem, err := in.save(ctx, ev, s.Files, to)
		if err != nil {
			return done{}, err
		}
		if problem != "" {
			in.say(ev, "refused", qos.Interactive, "Nothing was typed. "+wording.Plain(problem))
			d.outcome = "file refused"
			return d, nil
		}
		text = strings.TrimSpace(text + " " + strings.Join(paths, " "))
	}
	o := Origin{Key: ev.Key, Place: ev.Place, Message: ev.Message, Person: ev.Person.ID, Session: to.ID, At: ev.At}
	if err := in.opt.Store.AddOrigin(ctx, o); err != nil {
		return done{}, fmt.Errorf("keep where a text came from: %w", err)
	}
	r, err := in.opt.Sessions.Input(ctx, to.ID, sessions.InputRequest{
		Text: text, Submit: true, Author: ev.Person.ID, Name: in.NameOf(ev.Person), Origin: ev.Place.String(), Key: ev.Key,
	})
	switch {
	case errors.Is(err, sessions.ErrUnavailable), ctx.Err() != nil && err != nil:
		return done{}, fmt.Errorf("type into %s: %w", to.ID, err)
	case err != nil:
		in.say(ev, "refused", qos.Interactive, "Not typed. "+wording.Plain(wording.Sentence(err.Error())))
		d.outcome = "refused"
		return d, in.opt.Store.DropOrigin(ctx, ev.Key)
	}
	in.opt.Hub.Focus(to.ID)
	in.ReceiptChanged(r)
	d.outcome = r.ID
	return d, nil
}

// edited says once per message that a changed text isn't sent again, if it was sent
// at all. If its message comes only later, what's typed then is the changed text.
func (in *Inbound) edited(ctx context.Context, ev intake.Event, e intake.Edited) (done, error) {
	first, err := in.opt.Store.TellEdited(ctx, ev.Place, ev.Message)
	if err != nil {
		return done{}, fmt.Errorf("look for what was edited: %w", err)
	}
	if !first {
		in.early.keep(ev, e.Text, time.Now())
		return refused("ignored"), nil
	}
	in.say(ev, "edited", qos.Interactive, "Edits aren't sent again: the session gets the text as it was first. To correct it, write a new message.")
	return refused("told"), nil
}
