package discord

import (
	"context"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// letOthers is how long an answer to a slash command waits where it rather concerns another program
// with the same bot: Discord takes the first that comes.
const letOthers = 700 * time.Millisecond

// answers reports whether an interaction is answered here, and waits where another program with
// the same bot should come first. What isn't is noted.
func (g *Gateway) answers(ctx context.Context, bot string, o *owed, e intake.Event) bool {
	s := g.adapter.sharing
	pressed, press := e.Action.(intake.Pressed)
	switch {
	case s.isOthers(ctx, e.Place, bot), press && s.isCommon(ctx, e.Place) && !g.opt.Offered(ctx, pressed.Data):
		s.claimed(ctx, o.id, claimOther)
		return false
	case s.isMine(ctx, e.Place), press:
	case isPairing(e): // whose code it is, is seen by who knows it
	case !s.shared() && s.isOfBot(e.Place.Thread, bot), s.shared() && namesSomething(e) && !g.opt.Concerns(e):
		_ = intake.Pause(ctx, letOthers)
	}
	if s.shared() {
		if err := s.tries(ctx, o.id); err != nil {
			g.log.WarnContext(ctx, "noting that an interaction is answered failed", "interaction", o.id, "err", err)
		}
	}
	return true
}

// isPairing reports whether somebody writes a pairing code, which one daemon knows.
func isPairing(e intake.Event) bool {
	said, ok := e.Action.(intake.Said)
	return ok && strings.HasPrefix(said.Text, "/pair")
}

// namesSomething reports whether a command has arguments.
func namesSomething(e intake.Event) bool {
	said, ok := e.Action.(intake.Said)
	return ok && len(strings.Fields(said.Text)) > 1
}

// HandleOwn makes a handler of those events that are this daemon's to handle, where others use the
// bot, too: a slash command in a place of nobody's is of who answered it first, a button of who
// made it. What's written in such a place is Event.Common.
func (g *Gateway) HandleOwn(handle func(ctx context.Context, e intake.Event) error) func(ctx context.Context, e intake.Event) error {
	return func(ctx context.Context, e intake.Event) error {
		switch a := e.Action.(type) {
		case intake.Said:
			id, command := strings.CutPrefix(e.Key, Name+":"+replyMark)
			if command && !g.isOwnCommand(ctx, e, id) {
				return nil
			}
			e.Common = !command && !isPairing(e) && g.adapter.sharing.isCommon(ctx, e.Place)
		case intake.Pressed:
			if !g.isOwnPress(ctx, e, a) {
				return nil
			}
		}
		return handle(ctx, e)
	}
}

// isOwnCommand reports whether a slash command is done here. It waits until that's known.
func (g *Gateway) isOwnCommand(ctx context.Context, e intake.Event, id string) bool {
	s := g.adapter.sharing
	if s.isMine(ctx, e.Place) || isPairing(e) {
		return true
	}
	switch c, tried := g.awaitClaim(ctx, id); c {
	case claimWon:
		return true
	case claimLost, claimOther:
		return false
	default:
		return tried || !s.shared()
	}
}

// isOwnPress reports whether a pressed button is handled here.
func (g *Gateway) isOwnPress(ctx context.Context, e intake.Event, p intake.Pressed) bool {
	if g.adapter.sharing.isMine(ctx, e.Place) || g.opt.Offered(ctx, p.Data) {
		return true
	}
	id := strings.TrimPrefix(e.Key, Name+":"+replyMark)
	c, _ := g.awaitClaim(ctx, id)
	return c != claimLost && c != claimOther && !g.adapter.sharing.shared()
}

// awaitClaim waits until it's known who answered an interaction first, as long as that can take.
func (g *Gateway) awaitClaim(ctx context.Context, id string) (_ claim, tried bool) {
	waiting, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	g.adapter.interactions.answeredFor(waiting, id)
	return g.adapter.sharing.claimOf(id)
}
