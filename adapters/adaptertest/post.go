package adaptertest

import (
	"context"

	"github.com/panebridge/panebridge/adapters"
)

// React puts an emoji, the call's text, to a message. Nobody sees it here.
const React Method = "react"

// Pin pins a message.
const Pin Method = "pin"

var _ adapters.Poster = (*Adapter)(nil)

// Post implements adapters.Poster. Buttons and pictures aren't shown.
func (a *Adapter) Post(ctx context.Context, p adapters.Post, message string) adapters.Reply {
	c := Call{Method: Send, Chat: p.To.Chat, Thread: p.To.Thread, Message: message, Text: p.Text, Silent: !p.Ring, Nonce: p.Nonce}
	c.Picture, c.Buttons, c.ReplyTo = p.Picture != nil, len(p.Buttons)+len(p.Menus) > 0, p.ReplyTo
	switch {
	case p.Reaction != "":
		c.Method, c.Message, c.Text = React, p.ReplyTo, p.Reaction
	case p.Pin != "":
		c.Method, c.Message = Pin, p.Pin
	case message != "":
		c.Method = Edit
	case p.File != nil:
		c.Method, c.Name, c.Data = SendFile, p.File.Name, p.File.Data
	}
	answer, err := a.Conn.Do(ctx, c)
	return reply(answer, err)
}
