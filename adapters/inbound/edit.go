package inbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// handleEdit says that a changed text isn't sent again, if it was sent at all, and offers to send it: the newest, whichever
// edit was answered. If its message comes only later, what's typed then is the changed text.
func (in *Inbound) handleEdit(ctx context.Context, ev intake.Event, e intake.Edited) (commands.EventResult, error) {
	first, err := in.opt.Store.TellEdited(ctx, ev.Place, ev.Message)
	if err != nil {
		return commands.EventResult{}, fmt.Errorf("look for what was edited: %w", err)
	}
	w := cards.NewDeferredText(ev, intake.Said{Text: e.Text, ReplyTo: e.ReplyTo, Quoted: e.Quoted})
	w.Key, w.EditKey = editedKey(ev.Place, ev.Message), ev.Key
	if !first {
		_, err := in.opt.Store.Deferred(ctx, w.Key)
		switch {
		case errors.Is(err, sessions.ErrUnknown):
			in.early.keepText(ev, e.Text, time.Now())
			return commands.Refused("ignored"), nil
		case err != nil:
			return commands.EventResult{}, fmt.Errorf("look for an edited text: %w", err)
		}
	}
	if err := in.opt.Store.PutDeferred(ctx, w); err != nil {
		return commands.EventResult{}, fmt.Errorf("keep an edited text: %w", err)
	}
	if !first {
		return commands.Refused("told before"), nil
	}
	send, err := in.MakeOffer(ctx, ev.Place, "Send the new text", cards.Offer{
		Do: "send-edited", Args: w.Key, Role: access.Operator, Person: ev.Person.ID, Single: true, Group: "edited " + ev.Key,
	})
	if err != nil {
		return commands.EventResult{}, err
	}
	in.ReplyText(ev, "edited", qos.Interactive, "Edits aren't sent by themselves: the session gets the text as it was first.", []adapters.Button{send})
	return commands.Refused("told"), nil
}

// editedKey is the key under which the newest text of a message is kept.
func editedKey(place adapters.Target, message string) string {
	return "edited " + place.Adapter + ":" + place.Chat + " " + message
}

// sendEdited handles an edited text as if it had been written anew.
func (in *Inbound) sendEdited(a *commands.Invocation) error {
	w, found, err := in.offeredText(a, "It was sent already.")
	if !found {
		return err
	}
	if err := in.opt.Store.TellEditsAgain(a.Ctx, w.Place, w.Message); err != nil {
		return err
	}
	ev := w.Event()
	ev.At = time.Now() // it's wanted now, whenever it was changed
	d, err := in.handleText(a.Ctx, ev, w.Said, a.Roles, a.Again, false)
	if d.Outcome == "" {
		return err
	}
	told := "Sent as it stands there now."
	if d.Undone {
		told = "Not sent."
	}
	return errors.Join(err, in.opt.Store.DropDeferred(a.Ctx, w.Key), a.ReplaceText(told))
}
