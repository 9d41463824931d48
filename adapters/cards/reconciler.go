package cards

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// CardKind is what a card is for.
type CardKind string

// The kinds of cards.
const (
	KindSession CardKind = "session" // says in a session's thread what can be done there
	KindBoard   CardKind = "board"   // a chat's list of sessions
	KindFile    CardKind = "file"    // all that a question is about, where its message can't show it
	KindPin     CardKind = "pin"     // no message: it has the list be pinned
	KindLimit   CardKind = "limit"   // says until when a session is limited
	KindMissed  CardKind = "missed"  // tells what didn't ring in a quiet time
	KindExhibit CardKind = "exhibit" // has a file that a session shows
)

// Spot names a card: a place has at most one card of a kind about a subject.
type Spot struct {
	Kind    CardKind
	Subject string // a session's id, say; "": it's about all of the place
	Place   adapters.Target
}

// StandingCard is what's kept of a card over restarts.
type StandingCard struct {
	Spot
	Session sessions.ID // it's about; "": none. It's forgotten with it
	Message string      // the platform's id; "": it isn't known to be there
	Shows   string      // what it shows, as Wanted.Shows; "": nothing that's known
	Begun   bool        // a call to post it was begun, and it isn't known what came of that
}

// StandingCardStore keeps standing cards.
type StandingCardStore interface {
	StandingCards(ctx context.Context) ([]StandingCard, error)
	// PutStandingCard inserts or replaces the one of a spot.
	PutStandingCard(ctx context.Context, s StandingCard) error
	DropStandingCard(ctx context.Context, at Spot) error
}

// Wanted says that a place should have a message.
type Wanted struct {
	Spot
	Session sessions.ID // it's about; "": none
	// Class qos.Cosmetic is for what's posted at once or not at all: it's wanted again until it stands.
	Class qos.Class
	// Shows names what it's to show, which may not name what's to be forgotten. A card that
	// shows it is left as it is.
	Shows string
	// Post makes the message. Place, key, class, session and the message that's edited are filled in.
	// It may do disk I/O.
	Post func(ctx context.Context) (adapters.Post, error)
	// Once says that it's a message of its own: when it's there, or was refused for a day, it isn't known
	// any more.
	Once bool
	// Stood is called when it's there, with what it was wanted for when it was posted; nil: nobody
	// is told. If that fails the card is posted again, and says that it may be there already.
	Stood func(ctx context.Context) error
	// GivenUp is called in its stead for one that's wanted once and was refused for a day; nil: Stood is.
	GivenUp func(ctx context.Context) error
	// UnderWay is called in each round in which the card stands as it's wanted, or is on its
	// way. Nil: nobody is told.
	UnderWay func()
}

// cardSource says which cards of a kind there should be: a function of what's known of sessions and
// bindings. It's called by the reconciler's goroutine alone.
type cardSource interface {
	// wantedCards returns the cards that are to stand now, and when to ask again; zero: when the reconciler
	// is woken. What isn't named is left as it is. An error is logged, and it's asked again.
	wantedCards(ctx context.Context, now time.Time) ([]Wanted, time.Time, error)
}

// reconciler has cards stand in chats as their kinds want them. It posts what's missing, edits
// what shows something else, and tries again what's refused. One goroutine does: run.
//
// That a card is about to be posted is kept before it's posted, and what came of it after that: a
// crash leaves at most one call in doubt. It's made once more, and says that it may be there already.
type reconciler struct {
	rounds

	clerk *Clerk
	kinds []cardSource

	// Guarded by mu.
	sent  []sentCard
	moves []adapters.Move

	// Owned by run's goroutine.
	cards    map[Spot]*card
	forgetAt time.Time // when those of forgotten sessions are looked for
}

// card is a card as the reconciler knows it.
type card struct {
	StandingCard
	retries

	waits   bool // a call for it is on its way
	missing bool // an edit found no message
}

// sentCard is what came of a call for a card.
type sentCard struct {
	wanted  Wanted
	message string
	err     error
}

// forgetEvery is how often it's looked for cards of sessions that are forgotten.
const forgetEvery = time.Hour

// triesOnce is how often a card is tried that's wanted once: for a day.
const triesOnce = retriesSoon + 24*6

func newReconciler(k *Clerk, kinds ...cardSource) *reconciler {
	return &reconciler{clerk: k, kinds: kinds, rounds: newRounds()}
}

// moveChat takes in that a chat has another id. What stood in the chat that's gone isn't kept for the
// new one: its kind wants it there.
func (r *reconciler) moveChat(m adapters.Move) {
	r.leaveWord(func() { r.moves = append(r.moves, m) })
}

// run reconciles until ctx ends.
func (r *reconciler) run(ctx context.Context) {
	r.rounds.run(ctx, r.clerk, "load which cards stand", r.loadCards, r.runRound)
}

// loadCards reads what stands.
func (r *reconciler) loadCards(ctx context.Context) error {
	all, err := r.clerk.Store.StandingCards(ctx)
	if err != nil {
		return err
	}
	r.cards = map[Spot]*card{}
	for _, s := range all {
		r.cards[s.Spot] = &card{StandingCard: s}
	}
	return nil
}

// runRound compares what stands with what's wanted, makes the calls that are due, and returns when
// the next round is.
func (r *reconciler) runRound(ctx context.Context, now time.Time) time.Time {
	r.takeSent(ctx, now)
	next := now.Add(time.Hour)
	by := func(at time.Time) {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	named := map[Spot]bool{}
	for _, kind := range r.kinds {
		wanted, at, err := kind.wantedCards(ctx, now)
		if by(at); err != nil && ctx.Err() == nil {
			r.clerk.Log.Warn("it isn't known which cards are to stand; it's asked again", "err", err)
			by(now.Add(retrySoon))
		}
		for _, w := range wanted {
			named[w.Spot] = true
			c := r.cards[w.Spot]
			if c == nil {
				c = &card{StandingCard: StandingCard{Spot: w.Spot}}
				r.cards[w.Spot] = c
			}
			r.reconcileCard(ctx, c, w, now)
			by(c.retry)
		}
	}
	r.leaveUnwanted(named)
	if !now.Before(r.forgetAt) {
		r.forgetAt = now.Add(forgetEvery)
		r.forgetCards()
	}
	return next
}

// leaveUnwanted has cards that nobody wants any more hold no other's tries back.
func (r *reconciler) leaveUnwanted(named map[Spot]bool) {
	for at, c := range r.cards {
		if !named[at] && !c.waits {
			c.why = ""
		}
	}
}

// forgetCards forgets the cards of sessions that are forgotten, which the store has dropped.
func (r *reconciler) forgetCards() {
	for at, c := range r.cards {
		if !c.waits && r.isForgotten(c) {
			delete(r.cards, at)
		}
	}
}

// isForgotten reports whether a card's session is: what was kept of it is, too.
func (r *reconciler) isForgotten(c *card) bool {
	if c.Session == "" {
		return false
	}
	_, err := r.clerk.Sessions.Get(string(c.Session))
	return errors.Is(err, sessions.ErrUnknown)
}

// reconcileCard makes the call that a card needs, if any does.
func (r *reconciler) reconcileCard(ctx context.Context, c *card, w Wanted, now time.Time) {
	if c.Shows != w.Shows && !c.waits && !now.Before(c.retry) {
		if err := r.postCard(ctx, c, w); err != nil {
			r.clerk.Log.Warn("a card couldn't be posted; it's tried again", "kind", w.Kind, "session", w.Session, "target", w.Place.String(), "err", err)
			c.noteRefusal(err, now, r.refusedIn(c.Place))
		}
	}
	if (c.waits || c.Shows == w.Shows) && w.UnderWay != nil {
		w.UnderWay()
	}
}

// postCard makes a call for a card.
func (r *reconciler) postCard(ctx context.Context, c *card, w Wanted) error {
	p, err := w.Post(ctx)
	if err != nil {
		return err
	}
	p.To, p.Class, p.Session, p.Again = w.Place, w.Class, w.Session, c.Begun
	p.Key = "card " + string(w.Kind) + " " + w.Subject
	if w.Once {
		p.Key += " " + newOfferID() // it's no edit of the one before
	}
	if p.Pin == "" {
		p.Message = c.Message
	}
	p.Sent = func(message string, err error) {
		r.leaveWord(func() { r.sent = append(r.sent, sentCard{w, message, err}) })
	}
	if w.Class == qos.Cosmetic {
		return r.clerk.Hub.Post(p)
	}
	if c.Session = w.Session; !c.Begun {
		c.Begun = true
		if err := r.clerk.Store.PutStandingCard(ctx, c.StandingCard); err != nil {
			c.Begun = false
			return err
		}
	}
	c.waits = true
	if err := r.clerk.Hub.Post(p); err != nil {
		c.waits = false
		return err
	}
	return nil
}

// takeSent is confirmSent, also where ctx has ended: what isn't kept is posted again.
func (r *reconciler) takeSent(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishFor)
	defer cancel()
	r.confirmSent(ctx, now)
}

// confirmSent takes in what came of calls, and which chats have another id.
func (r *reconciler) confirmSent(ctx context.Context, now time.Time) {
	r.mu.Lock()
	sent, moves := r.sent, r.moves
	r.sent, r.moves = nil, nil
	r.mu.Unlock()
	for _, s := range sent {
		if c := r.cards[s.wanted.Spot]; c != nil && !errors.Is(s.err, adapters.ErrReplaced) {
			r.confirmCard(ctx, c, s, now)
		}
	}
	for _, m := range moves {
		for at := range r.cards {
			if at.Place.WholeChat() == (adapters.Target{Adapter: m.Adapter, Chat: m.From}) {
				delete(r.cards, at)
			}
		}
	}
}

// confirmCard takes in what came of a call for a card.
func (r *reconciler) confirmCard(ctx context.Context, c *card, s sentCard, now time.Time) {
	c.waits = false
	if s.err != nil && s.wanted.Class == qos.Cosmetic {
		r.confirmCosmetic(ctx, c, s.err, now)
		return
	}
	done := s.wanted.Stood
	if s.err != nil && s.wanted.Once && c.tries >= triesOnce {
		if s.wanted.GivenUp != nil {
			done = s.wanted.GivenUp
		}
		r.clerk.Log.Error("a card is given up, since it's refused", "kind", c.Kind, "target", c.Place.String(), "err", s.err)
	} else if s.err != nil {
		c.Begun = c.Begun && errors.Is(s.err, adapters.ErrMaybeSent)
		c.noteRefusal(s.err, now, r.refusedIn(c.Place))
		r.clerk.Log.Warn("a card was refused; it's tried again", "kind", c.Kind, "session", c.Session, "target", c.Place.String(), "err", s.err)
		return
	}
	if done != nil {
		if err := done(ctx); err != nil {
			c.noteRefusal(err, now, r.refusedIn(c.Place))
			r.clerk.Log.Error("keep that a card stands", "kind", c.Kind, "err", err)
			return
		}
	}
	c.retries = retries{}
	if err := r.keepStanding(ctx, c, s); err != nil {
		r.clerk.Log.Error("keep which card stands", "kind", c.Kind, "session", c.Session, "err", err)
	}
	for other := range r.refusedIn(c.Place) { // the chat takes something
		other.retry = time.Time{}
	}
}

// confirmCosmetic takes in that a cosmetic card couldn't be posted. One that isn't there is posted anew,
// but not at once: Discord takes few edits of what's old. What's refused is left alone for a day: it
// takes a right that the bot hasn't got.
func (r *reconciler) confirmCosmetic(ctx context.Context, c *card, why error, now time.Time) {
	r.clerk.Log.Info("a card couldn't be kept up to date", "kind", c.Kind, "target", c.Place.String(), "err", why)
	switch {
	case !errors.Is(why, adapters.ErrMessageGone):
		c.retry = now.Add(24 * time.Hour)
		return
	case !c.missing:
		c.missing = true
		return
	}
	c.Message, c.Shows, c.missing = "", "", false
	if err := r.clerk.Store.PutStandingCard(ctx, c.StandingCard); err != nil {
		r.clerk.Log.Warn("keep that a card is gone", "kind", c.Kind, "target", c.Place.String(), "err", err)
	}
}

// standingCard is what's known of a card.
func (r *reconciler) standingCard(at Spot) StandingCard {
	if c := r.cards[at]; c != nil {
		return c.StandingCard
	}
	return StandingCard{Spot: at}
}

// placesOf are those that have cards of a kind, or had some.
func (r *reconciler) placesOf(kind CardKind) (out []adapters.Target) {
	for at := range r.cards {
		if at.Kind == kind {
			out = append(out, at.Place)
		}
	}
	return out
}

// keepStanding keeps that a card stands.
func (r *reconciler) keepStanding(ctx context.Context, c *card, s sentCard) error {
	if s.wanted.Once {
		delete(r.cards, c.Spot)
		return r.clerk.Store.DropStandingCard(ctx, c.Spot)
	}
	c.Message, c.Shows, c.Begun, c.missing = s.message, s.wanted.Shows, false, false
	if r.isForgotten(c) { // meanwhile
		delete(r.cards, c.Spot)
		return r.clerk.Store.DropStandingCard(ctx, c.Spot)
	}
	return r.clerk.Store.PutStandingCard(ctx, c.StandingCard)
}

// refusedIn yields how often cards were tried that the chat of a place refuses.
func (r *reconciler) refusedIn(place adapters.Target) iter.Seq[*retries] {
	return func(yield func(*retries) bool) {
		for at, c := range r.cards {
			if c.tries > 0 && at.Place.WholeChat() == place.WholeChat() && !yield(&c.retries) {
				return
			}
		}
	}
}
