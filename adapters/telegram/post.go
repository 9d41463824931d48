package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// Post implements adapters.Poster. Of a message with a picture or a file, an edit
// changes what's written below it, and the buttons.
func (a *Adapter) Post(ctx context.Context, p adapters.Post, id string) adapters.Reply {
	at, err := placeOf(p.To)
	if err != nil {
		return rejected(err)
	}
	if p.Reaction != "" {
		return a.react(ctx, at, p.ReplyTo, p.Reaction)
	}
	if p.Pin != "" {
		return a.pin(ctx, at, p.Pin)
	}
	m := message{
		at: at, id: id, key: p.Key, file: p.File, picture: p.Picture, replyTo: p.ReplyTo, buttons: p.Buttons, ring: p.Ring,
	}
	if m.file == nil && m.picture == nil {
		m.text = postText(p.Text, maxText)
	} else if p.Text != "" {
		m.text = postText(p.Text, maxCaption)
	}
	r := a.put(ctx, m)
	if r.Missing == adapters.MissingThread && r.ID != "" {
		return adapters.Reply{Outcome: qos.Delivered, ID: r.ID} // people see it, wherever it landed
	}
	return r
}

// react puts an emoji to a message. Bots may use those of
// core.telegram.org/bots/api#reactiontypeemoji, one per message.
func (a *Adapter) react(ctx context.Context, at place, id, emoji string) adapters.Reply {
	if id == "" {
		return rejected(errors.New("a reaction needs the message that it's for"))
	}
	n, err := strconv.Atoi(id)
	if err != nil {
		return rejected(fmt.Errorf("%q is not a message's number", id))
	}
	return outcome(call(ctx, a.client, nil, (*bot.Bot).SetMessageReaction, &bot.SetMessageReactionParams{
		ChatID: at.chat, MessageID: n, Reaction: []models.ReactionType{{
			Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: emoji},
		}},
	}))
}

// pin pins a message, and nobody's phone rings
// (core.telegram.org/bots/api#pinchatmessage). One that's pinned already is as good.
func (a *Adapter) pin(ctx context.Context, at place, id string) adapters.Reply {
	n, err := strconv.Atoi(id)
	if err != nil {
		return rejected(fmt.Errorf("%q is not a message's number", id))
	}
	return outcome(call(ctx, a.client, nil, (*bot.Bot).PinChatMessage, &bot.PinChatMessageParams{ChatID: at.chat, MessageID: n, DisableNotification: true}))
}
