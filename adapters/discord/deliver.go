package discord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// Call implements adapters.Adapter.
func (a *Adapter) Call(ctx context.Context, op adapters.Op) adapters.Reply {
	if err := checkIDs(op.Target, op.Message); err != nil {
		return rejected(err)
	}
	switch op.Kind {
	case adapters.KindSend, adapters.KindEdit, adapters.KindFile:
		return a.put(ctx, message{
			at: op.Target, id: op.Message, nonce: op.Nonce, content: pageText(op.Page), file: op.File, ring: op.Ring,
		})
	case adapters.KindThread:
		return a.makeThread(ctx, op)
	case adapters.KindClose:
		return a.setThread(ctx, op.Target, qos.FamilyMessage, discordgo.ChannelEdit{Archived: new(true)})
	case adapters.KindOpen:
		return a.openThread(ctx, op.Target)
	case adapters.KindRename:
		return a.renameThread(ctx, op.Target, op.Text)
	default:
		return rejected(fmt.Errorf("no call of Discord's does %q", op.Kind))
	}
}

// message is a message to be sent, or edited if it has an id.
type message struct {
	at      adapters.Target
	id      string
	nonce   string // "": none
	content string // "" only beside a file or a picture
	file    *adapters.File
	picture []byte
	replyTo string
	rows    []discordgo.MessageComponent
	ring    bool
}

// put makes the one call of a message.
func (a *Adapter) put(ctx context.Context, m message) adapters.Reply {
	ctx = a.within(ctx, m.at, qos.FamilyMessage)
	if m.id != "" {
		return a.edit(ctx, m)
	}
	return a.send(ctx, m)
}

// create is what makes a message
// (docs.discord.com/developers/resources/message#create-message). The library's has no
// nonce.
type create struct {
	Content   string                            `json:"content,omitempty"`
	Nonce     string                            `json:"nonce,omitempty"`
	Enforce   bool                              `json:"enforce_nonce,omitempty"`
	Flags     discordgo.MessageFlags            `json:"flags"`
	Mentions  *discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Reference *discordgo.MessageReference       `json:"message_reference,omitempty"`
	Rows      []discordgo.MessageComponent      `json:"components,omitempty"`
}

// nobody is who a message calls, whatever it says.
func nobody() *discordgo.MessageAllowedMentions {
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
}

// made is what matters of a message that was made.
type made struct {
	ID      string    `json:"id"`
	Content string    `json:"content"`
	At      time.Time `json:"timestamp"`
}

func (m *made) Check() error {
	if !isID(m.ID) {
		return errors.New("it has no id")
	}
	return nil
}

// send makes a new message.
func (a *Adapter) send(ctx context.Context, m message) adapters.Reply {
	body := create{
		Content: m.content, Nonce: m.nonce, Enforce: m.nonce != "", Flags: discordgo.MessageFlagsSuppressEmbeds,
		Mentions: nobody(), Rows: m.rows,
	}
	if !m.ring {
		body.Flags |= discordgo.MessageFlagsSuppressNotifications
	}
	if m.replyTo != "" {
		body.Reference = &discordgo.MessageReference{MessageID: m.replyTo, FailIfNotExists: new(false)}
	}
	a.sharing.speaks(channelOf(m.at))
	path := "channels/" + channelOf(m.at) + "/messages"
	var got made
	var err error
	if files := m.files(); len(files) > 0 {
		err = a.client.upload(ctx, http.MethodPost, path, body, files, &got)
	} else {
		err = a.client.raw(ctx, http.MethodPost, path, body, &got)
	}
	if err != nil {
		r := failed(err, m.at)
		f, ok := errors.AsType[*failure](err)
		if more := m.file != nil || m.picture != nil || m.replyTo != ""; ok && more && f.Code == codePermissions {
			r.Content = true // perhaps nothing but files isn't allowed, or answers, which take the right to read
			return only(r)
		}
		return r
	}
	// With a nonce that it knows, Discord answers with the message that it made then.
	existed := m.nonce != "" && strings.TrimSpace(got.Content) != strings.TrimSpace(m.content)
	return adapters.Reply{Outcome: qos.Delivered, ID: got.ID, Existed: existed}
}

func (m message) files() []*discordgo.File {
	switch {
	case m.picture != nil:
		return []*discordgo.File{{Name: "screen.png", ContentType: "image/png", Reader: bytes.NewReader(m.picture)}}
	case m.file != nil:
		return []*discordgo.File{{Name: m.file.Name, ContentType: "application/octet-stream", Reader: bytes.NewReader(m.file.Data)}}
	default:
		return nil
	}
}

// change is what edits a message
// (docs.discord.com/developers/resources/message#edit-message). What isn't in it stays:
// the files.
type change struct {
	Content  string                            `json:"content"`
	Mentions *discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Rows     []discordgo.MessageComponent      `json:"components"`
}

// edit replaces text and buttons of a message.
func (a *Adapter) edit(ctx context.Context, m message) adapters.Reply {
	if !a.mayEdit(m) {
		return adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingMessage, Err: errTooOld}
	}
	if m.rows == nil {
		m.rows = []discordgo.MessageComponent{}
	}
	path := "channels/" + channelOf(m.at) + "/messages/" + m.id
	return outcome(a.client.raw(ctx, http.MethodPatch, path, change{Content: m.content, Mentions: nobody(), Rows: m.rows}, &same{want: m.id}), m.at)
}

// outcome is the reply to a call that makes nothing new.
func outcome(err error, at adapters.Target) adapters.Reply {
	if err != nil {
		return failed(err, at)
	}
	return adapters.Reply{Outcome: qos.Delivered}
}

// failed is the reply to a call that wasn't accepted.
func failed(err error, at adapters.Target) adapters.Reply {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return adapters.Reply{Outcome: qos.Uncertain, Err: err}
	}
	return f.reply(at)
}

// rejected is the reply to a call that wasn't made.
func rejected(err error) adapters.Reply { return adapters.Reply{Outcome: qos.Rejected, Err: err} }
