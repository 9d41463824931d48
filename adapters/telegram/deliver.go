package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/render/entities"
	"github.com/panebridge/panebridge/qos"
)

// Call implements adapters.Adapter.
func (a *Adapter) Call(ctx context.Context, op adapters.Op) adapters.Reply {
	at, err := placeOf(op.Target)
	if err != nil {
		return rejected(err)
	}
	m := message{at: at, ring: op.Ring, id: op.Message, file: op.File}
	switch op.Kind {
	case adapters.KindSend, adapters.KindEdit, adapters.KindFile:
		m.text, m.key = formatted(op.Page), startOf(op)
		return a.put(ctx, m)
	case adapters.KindThread:
		return a.createTopic(ctx, at, op.Text)
	case adapters.KindClose:
		return a.closeTopic(ctx, at)
	case adapters.KindOpen:
		return a.reopenTopic(ctx, at)
	case adapters.KindRename:
		return a.renameTopic(ctx, at, op.Text)
	default:
		return rejected(fmt.Errorf("no call of Telegram's does %q", op.Kind))
	}
}

// startOf names where a message begins: the same when it's tried again, even if more
// fits into it then.
func startOf(op adapters.Op) string {
	if len(op.Page.Pieces) == 0 {
		return "-"
	}
	first := op.Page.Pieces[0]
	return fmt.Sprintf("%d.%d", first.Line.N, first.From)
}

// message is a message to be sent, or edited if it has an id.
type message struct {
	at      place
	id      string
	key     string // names it among those that have no id yet
	text    entities.Message
	file    *adapters.File
	picture []byte
	replyTo string
	buttons [][]adapters.Button
	ring    bool
}

// plainKey is the message's name in the memory of those that go plain.
func (m message) plainKey() string { return plainKey(m.at, m.id, m.key) }

func plainKey(at place, id, key string) string {
	if id != "" {
		return fmt.Sprintf("%d#%s", at.chat, id)
	}
	return fmt.Sprintf("%d/%d:%s", at.chat, at.thread, key)
}

// put makes the one call of a message.
func (a *Adapter) put(ctx context.Context, m message) adapters.Reply {
	key := m.plainKey()
	if a.plain.has(key) {
		m.text = withoutEntities(m.text)
	}
	var r adapters.Reply
	if m.id != "" {
		r = a.edit(ctx, m)
	} else {
		r = a.send(ctx, m)
	}
	if f, ok := errors.AsType[*failure](r.Err); ok && f.content && f.Status == http.StatusBadRequest && len(m.text.Entities) > 0 {
		// The same text goes plain, with a slot of its own.
		a.log.WarnContext(ctx, "Telegram refused a message, which goes without formatting now", "target", m.at.chat, "err", f)
		a.plain.note(key)
		return adapters.Reply{Outcome: qos.Failed, Err: f}
	}
	if r.Outcome == qos.Delivered && m.id == "" && a.plain.has(key) {
		a.plain.note(plainKey(m.at, r.ID, ""))
	}
	return r
}

// sent is what matters of a message that was sent
// (core.telegram.org/bots/api#message).
type sent struct {
	ID     int `json:"message_id"`
	Thread int `json:"message_thread_id"`
}

func (s *sent) Check() error {
	if s.ID <= 0 {
		return errors.New("the new message has no number")
	}
	return nil
}

// edited is what matters of a message that was edited.
type edited struct {
	ID   int `json:"message_id"`
	want int
}

func (e *edited) Check() error {
	if e.ID != e.want {
		return errors.New("it's about another message")
	}
	return nil
}

// send makes a new message.
func (a *Adapter) send(ctx context.Context, m message) adapters.Reply {
	reply, err := replyTo(m.replyTo)
	if err != nil {
		return rejected(err)
	}
	chat, thread, markup := m.at.chat, m.at.messageThread(), keyboard(m.buttons)
	var got sent
	switch {
	case m.picture != nil:
		err = call(ctx, a.client, &got, (*bot.Bot).SendPhoto, &bot.SendPhotoParams{
			ChatID: chat, MessageThreadID: thread, Photo: upload("screen.png", m.picture),
			Caption: m.text.Text, CaptionEntities: wire(m.text.Entities),
			DisableNotification: !m.ring, ReplyParameters: reply, ReplyMarkup: markup,
		})
	case m.file != nil:
		err = call(ctx, a.client, &got, (*bot.Bot).SendDocument, &bot.SendDocumentParams{
			ChatID: chat, MessageThreadID: thread, Document: upload(m.file.Name, m.file.Data),
			Caption: m.text.Text, CaptionEntities: wire(m.text.Entities), DisableContentTypeDetection: true,
			DisableNotification: !m.ring, ReplyParameters: reply, ReplyMarkup: markup,
		})
	default:
		err = call(ctx, a.client, &got, (*bot.Bot).SendMessage, &bot.SendMessageParams{
			ChatID: chat, MessageThreadID: thread, Text: m.text.Text, Entities: wire(m.text.Entities),
			LinkPreviewOptions: noPreview(), DisableNotification: !m.ring, ReplyParameters: reply, ReplyMarkup: markup,
		})
	}
	switch {
	case err != nil:
		return failed(err)
	case thread != 0 && got.Thread != thread:
		return lostTopic(strconv.Itoa(got.ID))
	default:
		return adapters.Reply{Outcome: qos.Delivered, ID: strconv.Itoa(got.ID)}
	}
}

// edit replaces text and buttons of a message: without reply_markup, Telegram takes
// the buttons away.
func (a *Adapter) edit(ctx context.Context, m message) adapters.Reply {
	id, err := strconv.Atoi(m.id)
	if err != nil {
		return rejected(fmt.Errorf("%q is not a message's number", m.id))
	}
	markup := keyboard(m.buttons)
	if m.picture != nil || m.file != nil {
		return outcome(call(ctx, a.client, &edited{want: id}, (*bot.Bot).EditMessageCaption, &bot.EditMessageCaptionParams{
			ChatID: m.at.chat, MessageID: id, Caption: m.text.Text, CaptionEntities: wire(m.text.Entities), ReplyMarkup: markup,
		}))
	}
	return outcome(call(ctx, a.client, &edited{want: id}, (*bot.Bot).EditMessageText, &bot.EditMessageTextParams{
		ChatID: m.at.chat, MessageID: id, Text: m.text.Text, Entities: wire(m.text.Entities),
		LinkPreviewOptions: noPreview(), ReplyMarkup: markup,
	}))
}

// replyTo is which message another one answers. If that's gone, it goes out all the
// same.
func replyTo(id string) (*models.ReplyParameters, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	n, err := strconv.Atoi(id)
	if err != nil {
		return nil, fmt.Errorf("%q is not a message's number", id)
	}
	return &models.ReplyParameters{MessageID: n, AllowSendingWithoutReply: true}, nil
}

func upload(name string, data []byte) models.InputFile {
	return &models.InputFileUpload{Filename: name, Data: bytes.NewReader(data)}
}

func noPreview() *models.LinkPreviewOptions {
	return &models.LinkPreviewOptions{IsDisabled: bot.True()}
}

// keyboard is buttons as the library encodes them; nil: none.
func keyboard(rows [][]adapters.Button) models.ReplyMarkup {
	var out [][]models.InlineKeyboardButton
	for _, row := range rows {
		var line []models.InlineKeyboardButton
		for _, b := range row {
			k := models.InlineKeyboardButton{Text: b.Label, URL: b.URL}
			if b.URL == "" {
				k.CallbackData = b.Data
			}
			line = append(line, k)
		}
		if len(line) > 0 {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: out}
}

// outcome is the reply to a call that makes nothing new.
func outcome(err error) adapters.Reply {
	if err != nil {
		return failed(err)
	}
	return adapters.Reply{Outcome: qos.Delivered}
}

// failed is the reply to a call that wasn't accepted.
func failed(err error) adapters.Reply {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return adapters.Reply{Outcome: qos.Uncertain, Err: err}
	}
	r := f.reply()
	if r.Outcome == qos.Delivered {
		r.Err = nil // nothing to change is as good as changed
	}
	return r
}

// rejected is the reply to a call that wasn't made.
func rejected(err error) adapters.Reply { return adapters.Reply{Outcome: qos.Rejected, Err: err} }
