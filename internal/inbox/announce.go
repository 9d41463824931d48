package inbox

import (
	"context"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Previews types the previews that wait. It's used by who can type: the daemon, or the
// command line while that's stopped.
type Previews struct {
	Store    Store
	Typist   Typist
	MaxRunes int // of a preview's text; 0: DefaultMaxTextRunes
	// Once says that nobody tries again: a ping that can't be typed now is refused.
	Once bool
	// Returned is told whose mail came back, of which they have mail now. It returns at once.
	// Nil: nobody is told.
	Returned func(to Address)

	mu   sync.Mutex
	busy map[Address]*sync.Mutex // held by who types for them
}

// alone waits until nobody else types for a recipient: previews that pile up meanwhile
// become one.
func (p *Previews) alone(to Address) (done func()) {
	p.mu.Lock()
	if p.busy == nil {
		p.busy = map[Address]*sync.Mutex{}
	}
	one := p.busy[to]
	if one == nil {
		one = new(sync.Mutex)
		p.busy[to] = one
	}
	p.mu.Unlock()
	one.Lock()
	return one.Unlock
}

// Announce types the previews that wait for a session as one. What can't be typed now
// waits on, with the reason; if the session has ended, it's returned. Who announces must be the only process that types: see
// Typists.
func (p *Previews) Announce(ctx context.Context, to Address) error {
	defer p.alone(to)()
	all, err := p.Store.Parties(ctx)
	if err != nil {
		return err
	}
	party, ok := all.Get(to.Session())
	if !ok {
		return nil
	}
	if free, err := p.finish(ctx, party); err != nil || !free {
		return err
	}
	mails, err := p.Store.TakePreviews(ctx, to)
	if err != nil || len(mails) == 0 {
		return err
	}
	if party.State == sessions.StateEnded {
		return p.giveBack(context.WithoutCancel(ctx), all, mails)
	}
	text, command := p.words(mails)
	sent, why, err := p.Typist.Type(ctx, party, text, command)
	result := PreviewWaiting
	switch {
	case err != nil: // it may be on the screen: once is the most it's typed
		result, why = PreviewNone, "it's unknown whether it was typed: "+err.Error()
	case sent: // why says what has kept it from being submitted, if anything has
		result = PreviewTyped
	}
	ctx = context.WithoutCancel(ctx) // carried through: what's typed must not be typed again
	if result == PreviewWaiting && p.Once {
		var refused []Mail
		mails, refused = withoutPings(mails)
		if err := p.Store.SetPreviews(ctx, idsOf(refused), PreviewNone, why); err != nil {
			return err
		}
	}
	return p.Store.SetPreviews(ctx, idsOf(mails), result, why)
}

// giveBack returns mails whose recipient has ended to who sent them, by a mail that says so.
func (p *Previews) giveBack(ctx context.Context, all Parties, mails []Mail) error {
	for _, m := range mails {
		told := false
		err := p.Store.ReturnMail(ctx, m.ID, func(now *Mail) (back Mail) {
			if told = now.Return(time.Now()); told {
				back = newMail(all, now.To, now.From, returnedText(*now), now.SettledAt)
			}
			return back
		})
		if err != nil {
			return err
		}
		if told && p.Returned != nil {
			p.Returned(m.From)
		}
	}
	return nil
}

// words are what's typed for what waits, the oldest first. With a ping among it that's the
// poll command, which a shell takes, too, and which shows the mail.
func (p *Previews) words(waits []Mail) (text string, command bool) {
	if _, pings := withoutPings(waits); len(pings) > 0 {
		return PollCommand, true
	}
	return Announcement(waits, p.MaxRunes), false
}

func withoutPings(waits []Mail) (mails, pings []Mail) {
	for _, m := range waits {
		if m.Kind == KindPing {
			pings = append(pings, m)
		} else {
			mails = append(mails, m)
		}
	}
	return mails, pings
}

func idsOf(mails []Mail) []string {
	ids := make([]string, len(mails))
	for i, m := range mails {
		ids[i] = m.ID
	}
	return ids
}
