package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/sessions"
)

// Adapter is the adapter for a Platform: the reference of how one looks. Its
// fields are set before it's used.
type Adapter struct {
	Conn  *Conn
	Named string // "": "mem"
	// Chats are those it may send to. Empty: all.
	Chats []string
	QoS   qos.Options
	// Form is what messages can hold. MaxLen 0: what the platform takes by default.
	Form adapters.Shape
	// ThreadKeys says that each thread has limits of its own, as on Discord.
	ThreadKeys bool
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() string {
	if a.Named == "" {
		return "mem"
	}
	return a.Named
}

// Options implements adapters.Adapter.
func (a *Adapter) Options() qos.Options { return qostest.WithLimits(a.QoS) }

// Check implements adapters.Adapter.
func (a *Adapter) Check(t adapters.Target) error {
	if len(a.Chats) > 0 && !slices.Contains(a.Chats, t.Chat) {
		return fmt.Errorf("chat %s is not in the configuration of %s", t.Chat, a.Name())
	}
	return nil
}

// Chat implements adapters.Adapter.
func (a *Adapter) Chat(t adapters.Target) qos.ChatKey {
	if a.ThreadKeys && t.Thread != "" {
		return qos.ChatKey(t.Chat + "/" + t.Thread)
	}
	return qos.ChatKey(t.Chat)
}

// Shape implements adapters.Adapter.
func (a *Adapter) Shape(adapters.Target) adapters.Shape {
	s := a.Form
	if s.MaxLen == 0 {
		s.MaxLen = 4096
	}
	return s
}

// Call implements adapters.Adapter.
func (a *Adapter) Call(ctx context.Context, op adapters.Op) adapters.Reply {
	c := Call{
		Chat: op.Target.Chat, Thread: op.Target.Thread, Message: op.Message, Text: op.Text, Silent: !op.Ring, Nonce: op.Nonce,
		Buttons: len(op.Buttons) > 0,
	}
	switch op.Kind {
	case adapters.KindSend:
		c.Method = Send
	case adapters.KindEdit:
		c.Method = Edit
	case adapters.KindFile:
		c.Method, c.Name, c.Data = SendFile, op.File.Name, op.File.Data
	case adapters.KindThread:
		c.Method = CreateThread
	case adapters.KindClose:
		c.Method = CloseThread
	case adapters.KindOpen:
		c.Method = OpenThread
	case adapters.KindRename:
		c.Method = RenameThread
	}
	answer, err := a.Conn.Do(ctx, c)
	return reply(answer, err)
}

// reply says what an answer means.
func reply(answer Answer, err error) adapters.Reply {
	r := adapters.Reply{Outcome: qos.Delivered, ID: answer.ID, Existed: answer.Existed, Err: err}
	var refused *Error
	switch {
	case err == nil:
	case errors.Is(err, ErrNoConnection):
		r.Outcome = qos.NotSent
	case errors.Is(err, ErrNoAnswer):
		r.Outcome = qos.Uncertain
	case errors.As(err, &refused):
		refusal(refused, &r)
	}
	return r
}

func refusal(e *Error, r *adapters.Reply) {
	switch {
	case e.Code == http.StatusTooManyRequests:
		r.Outcome, r.RetryAfter = qos.Throttled, e.RetryAfter
	case e.Code == http.StatusInternalServerError:
		r.Outcome = qos.Failed // this platform does nothing then
	case e.Code > http.StatusInternalServerError:
		r.Outcome = qos.Uncertain // somebody between doesn't know
	case e.Text == NotModified:
		r.Outcome, r.Err = qos.Delivered, nil
	case e.MigratedTo != "":
		r.Outcome, r.Chat = qos.Migrated, e.MigratedTo
	case e.Text == ChatNotFound:
		r.Outcome = qos.ChatGone
	default:
		r.Outcome = qos.Rejected
		switch e.Text {
		case MessageNotFound, NotEditable:
			r.Missing = adapters.MissingMessage
		case ThreadNotFound:
			r.Missing = adapters.MissingThread
		default:
			r.Content = true
		}
	}
}

// React puts an emoji, the call's text, to a message. Nobody sees it here.
const React Method = "react"

// Pin pins a message, and Delete deletes one.
const (
	Pin    Method = "pin"
	Delete Method = "delete"
)

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Poster  = (*Adapter)(nil)
)

// Post implements adapters.Poster. Buttons and pictures aren't shown.
func (a *Adapter) Post(ctx context.Context, p adapters.Post, message string) adapters.Reply {
	c := Call{Method: Send, Chat: p.To.Chat, Thread: p.To.Thread, Message: message, Text: p.Text, Silent: !p.Ring, Nonce: p.Nonce}
	c.Picture, c.Buttons, c.ReplyTo = p.Picture != nil, len(p.Buttons)+len(p.Menus) > 0, p.ReplyTo
	switch {
	case p.Reaction != "":
		c.Method, c.Message, c.Text = React, p.ReplyTo, p.Reaction
	case p.Pin != "":
		c.Method, c.Message = Pin, p.Pin
	case p.Drop != "":
		c.Method, c.Message = Delete, p.Drop
	case message != "":
		c.Method = Edit
	case p.File != nil:
		c.Method, c.Name, c.Data = SendFile, p.File.Name, p.File.Data
	}
	answer, err := a.Conn.Do(ctx, c)
	return reply(answer, err)
}

// Page shows lines of a pane.
func Page(lines ...string) adapters.Page {
	var all []sessions.Line
	for _, text := range lines {
		all = append(all, sessions.Line{Kind: sessions.KindPane, Text: text})
	}
	return pageOf(all)
}

// KindsOfLines shows a line of each kind that there is, and two of a pane: the given one,
// before which at least 2 lines are missing, and an empty one.
func KindsOfLines(pane string) adapters.Page {
	p := pageOf([]sessions.Line{
		{Kind: sessions.KindUser, Text: "fix it"},
		{Kind: sessions.KindPane, Text: pane},
		{Kind: sessions.KindPane},
		{Kind: sessions.KindTool, Text: "Read a.go"},
		{Kind: sessions.KindAnswer, Text: "**Done**, see [docs](https://example.com/)"},
		{Kind: sessions.KindNotice, Text: "session ended"},
	})
	p.Pieces[1].Gap = &sessions.Gap{AtLeast: 2, Reason: "the screen was cleared"}
	return p
}

// pageOf shows lines whole, numbered from 1.
func pageOf(lines []sessions.Line) adapters.Page {
	var p adapters.Page
	for i, l := range lines {
		l.N = int64(i + 1)
		p.Pieces = append(p.Pieces, adapters.Piece{Line: l, To: len(l.Text)})
	}
	return p
}

// Lines are n lines that tell themselves apart, the first of which has the number from.
func Lines(from, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("line %d of what the agent says as it works", from+i))
	}
	return out
}
