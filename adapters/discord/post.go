package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// Post implements adapters.Poster. Of a message with a picture or a file, an edit
// changes what's written above it, and the buttons.
func (a *Adapter) Post(ctx context.Context, p adapters.Post, id string) adapters.Reply {
	replyTo, command := p.ReplyTo, ""
	if isCommand(replyTo) {
		command, replyTo = replyTo, "" // it's no message, and can be neither answered as one nor reacted to
		if p.Reaction != "" {
			return adapters.Reply{Outcome: qos.Delivered}
		}
	}
	if err := errors.Join(checkIDs(p.To, id), checkIDs(p.To, replyTo)); err != nil {
		return rejected(err)
	}
	if p.Reaction != "" {
		return a.react(ctx, p.To, replyTo, p.Reaction)
	}
	if p.Pin != "" {
		return a.pin(ctx, p.To, p.Pin)
	}
	m := message{at: p.To, id: id, nonce: p.Nonce, file: p.File, picture: p.Picture, replyTo: replyTo, rows: below(p.Menus, p.Buttons), ring: p.Ring}
	if m.file == nil && m.picture == nil || p.Text != "" {
		m.content = postText(p.Text)
	}
	if command != "" && id == "" {
		r, ok, unsure := a.answer(a.within(ctx, p.To, qos.FamilyMessage), command, p.Key, m)
		switch {
		case ok:
			return r
		case unsure:
			m.content = postText(adapters.Marked(p.Text))
		}
	}
	if c, _ := a.channel(p.To.Chat); c.Threads && p.To.Thread == "" {
		return only(a.put(ctx, m)) // a forum takes nothing beside its posts
	}
	return a.put(ctx, m)
}

// isCommand says whether an id is that of a slash command, which is no message.
func isCommand(id string) bool { return strings.HasPrefix(id, "i") }

// react puts an emoji to a message.
func (a *Adapter) react(ctx context.Context, at adapters.Target, id, emoji string) adapters.Reply {
	if id == "" {
		return rejected(errors.New("a reaction needs the message that it's for"))
	}
	ctx = withPurpose(ctx, purpose{scope: qos.Scope{Chat: a.Chat(at), Family: qos.FamilyMessage}, spare: true})
	path := "channels/" + channelOf(at) + "/messages/" + id + "/reactions/" + url.PathEscape(emoji) + "/@me"
	return only(outcome(a.client.raw(ctx, http.MethodPut, path, nil, nil), at))
}

// pin pins a message (docs.discord.com/developers/resources/message#pin-message). Discord
// says so in the channel, which rings nobody.
func (a *Adapter) pin(ctx context.Context, at adapters.Target, id string) adapters.Reply {
	if err := checkIDs(at, id); err != nil {
		return rejected(err)
	}
	ctx = a.within(ctx, at, qos.FamilyMessage)
	return only(outcome(a.client.raw(ctx, http.MethodPut, "channels/"+channelOf(at)+"/messages/pins/"+id, nil, nil), at))
}
