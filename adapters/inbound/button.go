package inbound

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// offer is what a button does, as the store keeps it. The button itself carries
// nothing but the offer's random id.
type offer struct {
	// Do names the handler: "keys", "folder", "run-stale".
	Do      string
	Session sessions.ID // "": none
	Args    string      // the handler's own, at most 4096 bytes
	// Role is what a person needs to press it; Person, if set, the only one who may.
	Role   access.Role
	Person string
	Single bool // it works once
	// Group, with Single: of all offers with the same group one works, once.
	Group string
	// Expires is when it stops to work; zero: in a week.
	Expires time.Time
}

const (
	offerFor     = 7 * 24 * time.Hour
	maxOfferArgs = 4096 // bytes
	dataPrefix   = "o:" // of a button's data
)

// Offer is an offer in the store.
type Offer struct {
	ID      string // 16 hexadecimal digits
	Place   adapters.Target
	Do      string
	Session sessions.ID
	Args    string
	Role    access.Role
	Person  string
	Single  bool
	Group   string // never empty
	Expires time.Time
	Used    Use // of its group; zero: not used
}

// Use says who used an offer up.
type Use struct {
	Key string // of the event
	By  string // as people are called in chats
	At  time.Time
}

// OfferStore keeps offers.
type OfferStore interface {
	PutOffer(ctx context.Context, o Offer) error
	// Offer returns one; sessions.ErrUnknown if it isn't there (any more).
	Offer(ctx context.Context, id string) (Offer, error)
	// TakeOffer uses an offer's group up, unless it is, and returns who did it: of
	// many at a time one. The same Use.Key takes it again.
	TakeOffer(ctx context.Context, id string, u Use) (Use, error)
}

// button is what pressing one does.
type button struct {
	// run does it. What it returns is told to the person.
	run func(a *ask) error
	// repeat says that it's done again if panebridge stopped while it was: it has the
	// same effect as once.
	repeat bool
}

// offer makes a button for a place.
func (in *Inbound) offer(ctx context.Context, place adapters.Target, label string, o offer) (adapters.Button, error) {
	if _, ok := in.buttons[o.Do]; !ok {
		return adapters.Button{}, fmt.Errorf("offer %q: nothing handles it", o.Do)
	}
	if len(o.Args) > maxOfferArgs {
		return adapters.Button{}, fmt.Errorf("offer %q: its arguments have %d bytes, at most %d are kept", o.Do, len(o.Args), maxOfferArgs)
	}
	if o.Expires.IsZero() {
		o.Expires = time.Now().Add(offerFor)
	}
	kept := Offer{
		ID: newOfferID(), Place: place, Do: o.Do, Session: o.Session, Args: o.Args, Role: o.Role, Person: o.Person,
		Single: o.Single, Group: o.Group, Expires: o.Expires,
	}
	if kept.Group == "" {
		kept.Group = kept.ID
	}
	if err := in.opt.Store.PutOffer(ctx, kept); err != nil {
		return adapters.Button{}, fmt.Errorf("offer %q: %w", o.Do, err)
	}
	return adapters.Button{Label: label, Data: dataPrefix + kept.ID}, nil
}

func newOfferID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return hex.EncodeToString(b[:])
}

// offerID reads a button's data. What isn't ours gives "".
func offerID(data string) string {
	id, ok := strings.CutPrefix(data, dataPrefix)
	if b, err := hex.DecodeString(id); !ok || err != nil || len(b) != 8 || strings.ToLower(id) != id {
		return ""
	}
	return id
}

// Offered reports whether a button is one that this daemon made, by its data. It reads the store.
func (in *Inbound) Offered(ctx context.Context, data string) bool {
	id := offerID(data)
	if id == "" {
		return false
	}
	_, err := in.opt.Store.Offer(ctx, id)
	return !errors.Is(err, sessions.ErrUnknown)
}

// press handles a pressed button of a known person. again says that it was begun
// before. It returns what became of it, for the audit log, and whether it may be
// tried again.
func (in *Inbound) press(ctx context.Context, ev intake.Event, p intake.Pressed, roles access.Roles, again bool) (done, error) {
	a := &ask{in: in, ctx: ctx, event: ev, roles: roles, again: again}
	id := offerID(p.Data)
	if id == "" {
		return refused("forged"), a.answer("This button isn't one of panebridge's.")
	}
	o, err := in.opt.Store.Offer(ctx, id)
	if errors.Is(err, sessions.ErrUnknown) {
		return refused("unknown offer"), a.answer("This button has expired.")
	}
	if err != nil {
		return done{}, fmt.Errorf("look for an offer: %w", err)
	}
	d := done{what: o.Do, session: o.Session}
	o.Place = in.moves.now(o.Place) // it may have been made while its chat moved
	if ev.Place == o.Place.WholeChat() {
		// Of a message that's too old, Telegram doesn't say in which topic it stands
		// (core.telegram.org/bots/api#inaccessiblemessage).
		ev.Place = o.Place
		a.event = ev
	}
	if why, text := in.refusal(ev, o, roles); why != "" {
		d.outcome = why
		return d, a.answer(text)
	}
	do, ok := in.buttons[o.Do]
	if !ok {
		d.outcome = "unknown handler"
		return d, a.answer("This button is of another version of panebridge; ask for a new one.")
	}
	if again && !do.repeat {
		d.outcome = "unsure"
		return d, a.answer("panebridge stopped while it did this; look whether it's done.")
	}
	if o.Single {
		used, err := in.opt.Store.TakeOffer(ctx, id, Use{Key: ev.Key, By: a.who(), At: time.Now()})
		if err != nil {
			return done{}, fmt.Errorf("use an offer: %w", err)
		}
		if used.Key != ev.Key {
			d.outcome = "used"
			return d, a.answer("Already used by " + used.By + ".")
		}
	}
	a.offered, a.args = o, o.Args
	if o.Session != "" {
		s, err := in.opt.Sessions.Get(string(o.Session))
		if err != nil {
			d.outcome = "no session"
			return d, a.answer("That session isn't there any more.")
		}
		a.session = s
	}
	d.outcome = "done"
	if err := do.run(a); err != nil {
		if do.repeat && errors.Is(err, sessions.ErrUnavailable) {
			return done{}, err
		}
		d.outcome = "failed"
		in.log.Info("a pressed button failed", "do", o.Do, "target", ev.Place.String(), "err", err)
		return d, a.answer(wording.Sentence(err.Error()))
	}
	if !a.answered {
		in.answer(ctx, ev, "")
	}
	return d, nil
}

// refusal says why a person may not press a button here and now, for the log and
// for the person; "": they may.
func (in *Inbound) refusal(ev intake.Event, o Offer, roles access.Roles) (why, text string) {
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
	case now.Sub(ev.At) > in.opt.StaleAfter:
		return "stale", "It was pressed " + wording.Age(now.Sub(ev.At)) + " ago, while panebridge couldn't see it. Press it again."
	default:
		return "", ""
	}
}
