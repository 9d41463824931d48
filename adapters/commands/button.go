package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// button is what pressing one does.
type button struct {
	// run does it. What it returns is told to the person.
	run func(a *Ask) error
	// repeat says that it's done again if panebridge stopped while it was: it has the
	// same effect as once.
	repeat bool
}

// PressButton handles a pressed button of a known person. again says that it was begun
// before. It returns what became of it, for the audit log, and whether it may be
// tried again.
func (r *Runner) PressButton(ctx context.Context, ev intake.Event, p intake.Pressed, roles access.Roles, again bool) (Result, error) {
	a := &Ask{runner: r, Ctx: ctx, Event: ev, Roles: roles, Again: again}
	id := cards.OfferID(p.Data)
	if id == "" {
		return Refused("forged"), a.Answer("This button isn't one of panebridge's.")
	}
	o, err := r.Store.Offer(ctx, id)
	if errors.Is(err, sessions.ErrUnknown) {
		return Refused("unknown offer"), a.Answer("This button has expired.")
	}
	if err != nil {
		return Result{}, fmt.Errorf("look for an offer: %w", err)
	}
	d := Result{What: o.Do, Session: o.Session}
	o.Place = r.PlaceNow(o.Place) // it may have been made while its chat moved
	if ev.Place == o.Place.WholeChat() {
		// Of a message that's too old, Telegram doesn't say in which topic it stands
		// (core.telegram.org/bots/api#inaccessiblemessage).
		ev.Place = o.Place
		a.Event = ev
	}
	if why, text := r.refusal(ev, o, roles); why != "" {
		d.Outcome = why
		return d, a.Answer(text)
	}
	do, ok := r.buttons[o.Do]
	if !ok {
		d.Outcome = "unknown handler"
		return d, a.Answer("This button is of another version of panebridge; ask for a new one.")
	}
	if again && !do.repeat {
		d.Outcome = "unsure"
		return d, a.Answer("panebridge stopped while it did this; look whether it's done.")
	}
	if o.Single {
		used, err := r.Store.TakeOffer(ctx, id, cards.Use{Key: ev.Key, By: a.personName(), At: time.Now()})
		if err != nil {
			return Result{}, fmt.Errorf("use an offer: %w", err)
		}
		if used.Key != ev.Key {
			d.Outcome = "used"
			return d, a.Answer("Already used by " + used.By + ".")
		}
	}
	a.Offered, a.args = o, o.Args
	if o.Session != "" {
		s, err := r.Sessions.Get(string(o.Session))
		if err != nil {
			d.Outcome = "no session"
			return d, a.Answer("That session isn't there any more.")
		}
		a.Session = s
	}
	d.Outcome = "done"
	if err := do.run(a); err != nil {
		if do.repeat && errors.Is(err, sessions.ErrUnavailable) {
			return Result{}, err
		}
		d.Outcome = "failed"
		r.Log.Info("a pressed button failed", "do", o.Do, "target", ev.Place.String(), "err", err)
		return d, a.Answer(wording.Sentence(err.Error()))
	}
	if !a.answered {
		r.answerPress(ctx, ev, "")
	}
	return d, nil
}

// refusal says why a person may not press a button here and now, for the log and
// for the person; "": they may.
func (r *Runner) refusal(ev intake.Event, o cards.Offer, roles access.Roles) (why, text string) {
	now := time.Now()
	switch {
	case o.Place != ev.Place:
		return "other place", "This button belongs to another chat."
	case !now.Before(o.Expires):
		return "expired", "This button has expired."
	case o.Person != "" && o.Person != ev.Person.ID:
		return "other person", "This button isn't for you."
	case o.Role != "" && !roles.Has(o.Role):
		return "role", "This takes the role " + string(o.Role) + "."
	case now.Sub(ev.At) > r.StaleAfter:
		return "stale", "It was pressed " + wording.Age(now.Sub(ev.At)) + " ago, while panebridge couldn't see it. Press it again."
	default:
		return "", ""
	}
}
