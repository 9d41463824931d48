package inbound

import (
	"context"
	"errors"
	"fmt"

	"github.com/panebridge/panebridge/sessions"
)

// placeChanged takes in what happened to a place as a whole. Who did it doesn't
// matter: it's how the place is now, and nothing is shown or typed because of it that
// wasn't before.
func (in *Inbound) placeChanged(ctx context.Context, ev Event) error {
	place := ev.Place
	switch a := ev.Action.(type) {
	case ThreadClosed:
		return in.rest(ctx, ev, true)
	case ThreadOpened:
		return in.rest(ctx, ev, false)
	case ThreadDeleted:
		in.log.Info("a thread was deleted; it's made anew when there's something to show", "target", place.String())
		return nil
	case ChatMoved:
		return in.chatMoved(ctx, ev, a)
	case Left:
		in.left(ctx, a.Person, chatOf(place))
		return nil
	case ChatBack:
		return in.opt.Hub.ChatBack(ctx, place.Adapter, place.Chat)
	case ChatLost:
		in.log.Warn("a chat can't be written to any more", "target", place.String(), "why", a.Why)
		return in.opt.Hub.ChatLost(ctx, place.Adapter, place.Chat, a.Why)
	default:
		return fmt.Errorf("handle %s: action %T isn't known", ev.Key, a)
	}
}

// rest has the bindings of a thread rest, or go on.
func (in *Inbound) rest(ctx context.Context, ev Event, rest bool) error {
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

// chatMoved has all that belongs to a chat follow it. A chat that was known stays
// known.
func (in *Inbound) chatMoved(ctx context.Context, ev Event, m ChatMoved) error {
	if m.From != "" {
		m.To, ev.Place.Chat = ev.Place.Chat, m.From
	}
	if m.To == "" || m.To == ev.Place.Chat {
		return nil
	}
	to := chatOf(ev.Place)
	to.Chat = m.To
	if err := in.opt.Store.MoveChat(ctx, ev.Place.Adapter, ev.Place.Chat, m.To); err != nil {
		return fmt.Errorf("have chat %s follow to %s: %w", ev.Place, m.To, err)
	}
	if in.access.knows(ev.Place) {
		if err := in.adopt(ctx, to, "moved from "+ev.Place.Chat); err != nil {
			return err
		}
	}
	if err := in.loadPreferences(ctx); err != nil {
		return err
	}
	in.prompts.moved(chatOf(ev.Place), to)
	in.boards.moved(chatOf(ev.Place), to)
	in.users.moved(chatOf(ev.Place), to)
	return in.opt.Hub.ChatMoved(ctx, ev.Place.Adapter, ev.Place.Chat, m.To)
}
