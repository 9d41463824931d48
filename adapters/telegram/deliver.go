package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
	"github.com/panebridge/panebridge/qos"
)

// Call implements adapters.Adapter.
func (a *Adapter) Call(ctx context.Context, op adapters.Op) adapters.Reply {
	at, err := placeOf(op.Target)
	if err != nil {
		return rejected(err)
	}
	m := message{at: at, ring: op.Ring, id: op.Message, file: op.File, buttons: op.Buttons}
	switch op.Kind {
	case adapters.KindSend, adapters.KindEdit, adapters.KindFile:
		m.text, m.key = formatted(op.Page), startOf(op)
		return a.putMessage(ctx, m)
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
	at      numberedPlace
	id      string
	key     string // names it among those that have no id yet
	text    entities.FormattedText
	file    *adapters.File
	picture []byte
	replyTo string
	buttons [][]adapters.Button
	ring    bool
}

// plainKey is the message's name in the memory of those that go plain.
func (m message) plainKey() string { return plainKey(m.at, m.id, m.key) }

func plainKey(at numberedPlace, id, key string) string {
	if id != "" {
		return fmt.Sprintf("%d#%s", at.chat, id)
	}
	return fmt.Sprintf("%d/%d:%s", at.chat, at.thread, key)
}

// putMessage makes the one call of a message.
func (a *Adapter) putMessage(ctx context.Context, m message) adapters.Reply {
	key := m.plainKey()
	if a.plain.contains(key) {
		m.text = withoutEntities(m.text)
	}
	var r adapters.Reply
	if m.id != "" {
		r = a.editMessage(ctx, m)
	} else {
		r = a.sendMessage(ctx, m)
	}
	if f, ok := errors.AsType[*failure](r.Err); ok && f.content && f.Status == http.StatusBadRequest && len(m.text.Entities) > 0 {
		// The same text goes plain, with a slot of its own.
		a.log.WarnContext(ctx, "Telegram refused a message, which goes without formatting now", "target", m.at.chat, "err", f)
		a.plain.add(key)
		return adapters.Reply{Outcome: qos.Failed, Err: f}
	}
	if r.Outcome == qos.Delivered && m.id == "" && a.plain.contains(key) {
		a.plain.add(plainKey(m.at, r.ID, ""))
	}
	return r
}

// sentMessage is what matters of a message that was sent
// (core.telegram.org/bots/api#message).
type sentMessage struct {
	ID     int `json:"message_id"`
	Thread int `json:"message_thread_id"`
}

func (s *sentMessage) Check() error {
	if s.ID <= 0 {
		return errors.New("the new message has no number")
	}
	return nil
}

// editedMessage is what matters of a message that was edited.
type editedMessage struct {
	ID   int `json:"message_id"`
	want int
}

func (e *editedMessage) Check() error {
	if e.ID != e.want {
		return errors.New("it's about another message")
	}
	return nil
}

// sendMessage makes a new message.
func (a *Adapter) sendMessage(ctx context.Context, m message) adapters.Reply {
	reply, err := replyTo(m.replyTo)
	if err != nil {
		return rejected(err)
	}
	chat, thread, markup := m.at.chat, m.at.messageThread(), keyboard(m.buttons)
	var got sentMessage
	switch {
	case m.picture != nil:
		err = callLibrary(ctx, a.client, &got, (*bot.Bot).SendPhoto, &bot.SendPhotoParams{
			ChatID: chat, MessageThreadID: thread, Photo: upload("screen.png", m.picture),
			Caption: m.text.Text, CaptionEntities: wire(m.text.Entities),
			DisableNotification: !m.ring, ReplyParameters: reply, ReplyMarkup: markup,
		})
	case m.file != nil:
		err = callLibrary(ctx, a.client, &got, (*bot.Bot).SendDocument, &bot.SendDocumentParams{
			ChatID: chat, MessageThreadID: thread, Document: upload(m.file.Name, m.file.Data),
			Caption: m.text.Text, CaptionEntities: wire(m.text.Entities), DisableContentTypeDetection: true,
			DisableNotification: !m.ring, ReplyParameters: reply, ReplyMarkup: markup,
		})
	default:
		err = callLibrary(ctx, a.client, &got, (*bot.Bot).SendMessage, &bot.SendMessageParams{
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

// editMessage replaces text and buttons of a message: without reply_markup, Telegram takes
// the buttons away.
func (a *Adapter) editMessage(ctx context.Context, m message) adapters.Reply {
	id, err := strconv.Atoi(m.id)
	if err != nil {
		return rejected(fmt.Errorf("%q is not a message's number", m.id))
	}
	markup := keyboard(m.buttons)
	if m.picture != nil || m.file != nil {
		return outcome(callLibrary(ctx, a.client, &editedMessage{want: id}, (*bot.Bot).EditMessageCaption, &bot.EditMessageCaptionParams{
			ChatID: m.at.chat, MessageID: id, Caption: m.text.Text, CaptionEntities: wire(m.text.Entities), ReplyMarkup: markup,
		}))
	}
	return outcome(callLibrary(ctx, a.client, &editedMessage{want: id}, (*bot.Bot).EditMessageText, &bot.EditMessageTextParams{
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

// Post implements adapters.Poster. Of a message with a picture or a file, an edit
// changes what's written below it, and the buttons.
func (a *Adapter) Post(ctx context.Context, p adapters.Post, id string) adapters.Reply {
	at, err := placeOf(p.To)
	if err != nil {
		return rejected(err)
	}
	if p.Reaction != "" {
		return a.setReaction(ctx, at, p.ReplyTo, p.Reaction)
	}
	if p.Pin != "" {
		return a.pinMessage(ctx, at, p.Pin)
	}
	if p.Drop != "" {
		return a.deleteMessage(ctx, at, p.Drop)
	}
	m := message{
		at: at, id: id, key: p.Key, file: p.File, picture: p.Picture, replyTo: p.ReplyTo, buttons: p.Buttons, ring: p.Ring,
	}
	if m.file == nil && m.picture == nil {
		m.text = postText(p.Text, maxText)
	} else if p.Text != "" {
		m.text = postText(p.Text, maxCaption)
	}
	r := a.putMessage(ctx, m)
	if r.Missing == adapters.MissingThread && r.ID != "" {
		return adapters.Reply{Outcome: qos.Delivered, ID: r.ID} // people see it, wherever it landed
	}
	return r
}

// setReaction puts an emoji to a message. Bots may use those of
// core.telegram.org/bots/api#reactiontypeemoji, one per message.
func (a *Adapter) setReaction(ctx context.Context, at numberedPlace, id, emoji string) adapters.Reply {
	if id == "" {
		return rejected(errors.New("a reaction needs the message that it's for"))
	}
	n, err := strconv.Atoi(id)
	if err != nil {
		return rejected(fmt.Errorf("%q is not a message's number", id))
	}
	return outcome(callLibrary(ctx, a.client, nil, (*bot.Bot).SetMessageReaction, &bot.SetMessageReactionParams{
		ChatID: at.chat, MessageID: n, Reaction: []models.ReactionType{{
			Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: emoji},
		}},
	}))
}

// pinMessage pins a message, and nobody's phone rings
// (core.telegram.org/bots/api#pinchatmessage). One that's pinned already is as good.
func (a *Adapter) pinMessage(ctx context.Context, at numberedPlace, id string) adapters.Reply {
	n, err := strconv.Atoi(id)
	if err != nil {
		return rejected(fmt.Errorf("%q is not a message's number", id))
	}
	return outcome(callLibrary(ctx, a.client, nil, (*bot.Bot).PinChatMessage, &bot.PinChatMessageParams{ChatID: at.chat, MessageID: n, DisableNotification: true}))
}

// deleteMessage deletes a message (core.telegram.org/bots/api#deletemessage: one's own of the last 48 hours, with
// can_delete_messages any). One that's gone already is as good.
func (a *Adapter) deleteMessage(ctx context.Context, at numberedPlace, id string) adapters.Reply {
	n, err := strconv.Atoi(id)
	if err != nil {
		return rejected(fmt.Errorf("%q is not a message's number", id))
	}
	r := outcome(callLibrary(ctx, a.client, nil, (*bot.Bot).DeleteMessage, &bot.DeleteMessageParams{ChatID: at.chat, MessageID: n}))
	if r.Outcome == qos.Rejected && r.Missing == adapters.MissingMessage {
		return adapters.Reply{Outcome: qos.Delivered}
	}
	return r
}

// maxTitle is how long a topic's name may be, in characters
// (core.telegram.org/bots/api#createforumtopic).
const maxTitle = 128

// newTopic is what matters of a topic that was made.
type newTopic struct {
	Thread int `json:"message_thread_id"`
}

func (t *newTopic) Check() error {
	if t.Thread <= 0 {
		return errors.New("the new topic has no number")
	}
	return nil
}

// createTopic makes a topic.
func (a *Adapter) createTopic(ctx context.Context, at numberedPlace, title string) adapters.Reply {
	var got newTopic
	err := callLibrary(ctx, a.client, &got, (*bot.Bot).CreateForumTopic, &bot.CreateForumTopicParams{ChatID: at.chat, Name: topicName(title)})
	if err != nil {
		return failed(err)
	}
	return adapters.Reply{Outcome: qos.Delivered, ID: strconv.Itoa(got.Thread)}
}

// topicName is a title that Telegram takes: one of which nothing can be seen it refuses.
func topicName(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	shown := []render.Part{{Kind: render.Pane, Source: title}}
	if render.Render(shown, render.TextPosition{}, render.End(shown)).Blank() {
		title = "session"
	}
	return adapters.Shorten(title, maxTitle)
}

// closeTopic closes a topic: people can read it, and write no more.
func (a *Adapter) closeTopic(ctx context.Context, at numberedPlace) adapters.Reply {
	return outcome(callLibrary(ctx, a.client, nil, (*bot.Bot).CloseForumTopic, &bot.CloseForumTopicParams{ChatID: at.chat, MessageThreadID: at.thread}))
}

// reopenTopic opens a closed topic.
func (a *Adapter) reopenTopic(ctx context.Context, at numberedPlace) adapters.Reply {
	return outcome(callLibrary(ctx, a.client, nil, (*bot.Bot).ReopenForumTopic, &bot.ReopenForumTopicParams{ChatID: at.chat, MessageThreadID: at.thread}))
}

// renameTopic gives a topic another name. People see a message about it.
func (a *Adapter) renameTopic(ctx context.Context, at numberedPlace, title string) adapters.Reply {
	return outcome(callLibrary(ctx, a.client, nil, (*bot.Bot).EditForumTopic, &bot.EditForumTopicParams{ChatID: at.chat, MessageThreadID: at.thread, Name: topicName(title)}))
}

// errLost is why a message doesn't count that was accepted.
var errLost = errors.New("the topic is gone, and Telegram has put the message outside of it")

// lostTopic is the reply to a message that landed outside of its topic, because that's
// gone: chats have done so without a word
// (github.com/tdlib/telegram-bot-api/issues/854).
func lostTopic(id string) adapters.Reply {
	return adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingThread, ID: id, Err: errLost}
}

var _ adapters.Asider = (*Adapter)(nil)

// noDraftsFor is for how long a chat that has refused a draft isn't sent another.
const noDraftsFor = 10 * time.Minute

// draftRefusals remembers which chats have refused drafts, and when: servers of the Bot API before 9.3
// don't know them, and not every bot may send them.
type draftRefusals struct {
	mu      sync.Mutex
	refused map[string]time.Time
}

func (d *draftRefusals) noteRefusal(chat string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refused == nil {
		d.refused = map[string]time.Time{}
	}
	d.refused[chat] = time.Now()
}

func (d *draftRefusals) allowsDraft(chat string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.refused[chat]
	return !ok || time.Since(at) >= noDraftsFor
}

// Drafts implements adapters.Asider: drafts are for private chats
// (core.telegram.org/bots/api#sendmessagedraft).
func (a *Adapter) Drafts(t adapters.Target) bool {
	return isPrivate(t.Chat) && a.drafts.allowsDraft(t.Chat)
}

// Draft implements adapters.Asider. A draft vanishes when the next message comes, or
// after some 30 s.
func (a *Adapter) Draft(ctx context.Context, t adapters.Target, doc adapters.BindingID, p adapters.Page) adapters.Reply {
	at, err := placeOf(t)
	if err != nil {
		return rejected(err)
	}
	m := lastRows(p)
	err = callLibrary(ctx, a.client, nil, (*bot.Bot).SendMessageDraft, &bot.SendMessageDraftParams{
		ChatID: at.chat, MessageThreadID: at.messageThread(), DraftID: draftID(doc), Text: m.Text, Entities: wire(m.Entities),
	})
	if f, ok := errors.AsType[*failure](err); ok && (f.Status == http.StatusBadRequest || f.Status == http.StatusForbidden || f.Status == http.StatusNotFound) {
		// That's about drafts, whatever else it may mean: messages find out for themselves.
		a.drafts.noteRefusal(t.Chat)
		return rejected(f)
	}
	return outcome(err)
}

// lastRows are as many of the last rows as a message holds.
func lastRows(p adapters.Page) entities.FormattedText {
	for {
		m := formatted(p)
		switch {
		case m.Size() <= maxText:
			return m
		case len(p.Live) > 0:
			p.Live = p.Live[1:]
		case len(p.Writing) > 0:
			p.Writing = p.Writing[1:]
		default:
			return m
		}
	}
}

// draftID is a document's number, which mustn't be 0; the library has it as a text.
func draftID(doc adapters.BindingID) string {
	h := fnv.New32a()
	h.Write([]byte(doc)) // never fails
	return strconv.FormatUint(uint64(h.Sum32()>>2|1), 10)
}

// Typing implements adapters.Asider. It's shown for 5 s
// (core.telegram.org/bots/api#sendchataction).
func (a *Adapter) Typing(ctx context.Context, t adapters.Target) adapters.Reply {
	at, err := placeOf(t)
	if err != nil {
		return rejected(err)
	}
	return outcome(callLibrary(ctx, a.client, nil, (*bot.Bot).SendChatAction, &bot.SendChatActionParams{
		ChatID: at.chat, MessageThreadID: at.thread, Action: models.ChatActionTyping,
	}))
}

// plainMost is how many messages are remembered that were refused with entities.
const plainMost = 1000

// plainMessages remembers the messages whose entities Telegram has refused: they go plain
// from then on. It's forgotten at a restart, which costs a refusal more.
type plainMessages struct {
	mu   sync.Mutex
	keys map[string]bool
	past []string // oldest first
}

// contains says whether a message is known for refusals.
func (p *plainMessages) contains(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[key]
}

// add has a message go plain from now on.
func (p *plainMessages) add(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys[key] {
		return
	}
	if p.keys == nil {
		p.keys = map[string]bool{}
	}
	if len(p.past) == plainMost {
		delete(p.keys, p.past[0])
		p.past = p.past[1:]
	}
	p.keys[key] = true
	p.past = append(p.past, key)
}
