package inbound

import (
	"context"
	"errors"
	"fmt"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// handlePlaceChange takes in what happened to a place as a whole. Who did it doesn't
// matter: it's how the place is now, and nothing is shown or typed because of it that
// wasn't before.
func (in *Inbound) handlePlaceChange(ctx context.Context, ev intake.Event) error {
	place := ev.Place
	switch a := ev.Action.(type) {
	case intake.ThreadClosed:
		return in.restThread(ctx, ev, true)
	case intake.ThreadOpened:
		return in.restThread(ctx, ev, false)
	case intake.ThreadDeleted:
		in.Log.Info("a thread was deleted; it's made anew when there's something to show", "target", place.String())
		return nil
	case intake.ChatMoved:
		return in.FollowChat(ctx, a.Move(place))
	case intake.Left:
		in.EndMembership(ctx, a.Person, place.WholeChat())
		return nil
	case intake.ChatBack:
		return in.opt.Hub.ChatBack(ctx, place.Adapter, place.Chat)
	case intake.ChatLost:
		in.Log.Warn("a chat can't be written to any more", "target", place.String(), "why", a.Why)
		return in.opt.Hub.ChatLost(ctx, place.Adapter, place.Chat, a.Why)
	default:
		return fmt.Errorf("handle %s: action %T isn't known", ev.Key, a)
	}
}

// restThread has the bindings of a thread rest, or go on.
func (in *Inbound) restThread(ctx context.Context, ev intake.Event, rest bool) error {
	if ev.Place.Thread == "" {
		return nil
	}
	var errs []error
	for _, b := range in.opt.Hub.At(ev.Place) {
		s, err := in.opt.Sessions.Get(string(b.Session))
		if err != nil || s.State == sessions.StateEnded {
			continue // its thread is closed with it
		}
		if b.Resting != rest {
			errs = append(errs, in.opt.Hub.Rest(ctx, b.ID, rest))
		}
	}
	return errors.Join(errs...)
}
