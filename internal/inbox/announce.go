package inbox

import (
	"context"
	"sync"

	"github.com/panebridge/panebridge/sessions"
)

// Previews types the previews that wait. It's used by who can type: the daemon, or the
// command line while that's stopped.
type Previews struct {
	Store    Store
	Typist   Typist
	MaxRunes int // of a preview's text; 0: DefaultMaxTextRunes

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
// waits on, with the reason. Who announces must be the only process that types: see
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
	result, why := PreviewWaiting, "the session has ended"
	if party.State != sessions.StateEnded {
		sent, reason, err := p.Typist.Type(ctx, party, Announcement(mails, p.MaxRunes), false)
		why = reason
		switch {
		case err != nil: // it may be on the screen: once is the most it's typed
			result, why = PreviewNone, "it's unknown whether it was typed: "+err.Error()
		case sent: // why says what has kept it from being submitted, if anything has
			result = PreviewTyped
		}
	}
	// Carried through: what's typed must not be typed again.
	return p.Store.SetPreviews(context.WithoutCancel(ctx), idsOf(mails), result, why)
}

func idsOf(mails []Mail) []string {
	ids := make([]string, len(mails))
	for i, m := range mails {
		ids[i] = m.ID
	}
	return ids
}

// Ping types the poll command into a session's pane.
func (p *Previews) Ping(ctx context.Context, to Party) (why string, err error) {
	defer p.alone(to.Address())()
	sent, why, err := p.Typist.Type(ctx, to, PollCommand, true)
	if sent {
		why = ""
	}
	return why, err
}
