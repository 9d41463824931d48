package telegramtest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Message is a message as a person sees it. What stands in its slices isn't
// changed afterwards: an edit puts new ones in their place.
type Message struct {
	ID int
	Place
	From     User
	At       time.Time
	Text     string // or the caption of a file
	Entities []Entity
	Buttons  [][]Button
	File     *File
	ReplyTo  int // the message it answers, or 0
	Quote    string

	// Rang is whether phones rang for it: sent by the bot, without
	// disable_notification. Edits never ring.
	Rang      bool
	EditedAt  time.Time // zero if never
	History   []Version // what stood there before each edit, oldest first
	DeletedAt time.Time // zero if it's there
	Pinned    bool
	Reactions []Reaction

	// Service is the kind of a message that isn't text, such as
	// "forum_topic_created"; empty for others.
	Service string

	album  string
	detail any // of a service message
	root   int // outside topics: the message that its thread of answers began with
	frozen bool
}

// Version is what a message was before an edit.
type Version struct {
	At       time.Time // when it was replaced
	Text     string
	Entities []Entity
	Buttons  [][]Button
}

// Reaction is what somebody answered a message with.
type Reaction struct {
	User  int64
	Emoji string
}

// Ring is a phone that rang.
type Ring struct {
	Place
	At      time.Time
	Message int
	Text    string // of the message at that time
}

// wireMessage is core.telegram.org/bots/api#message.
type wireMessage struct {
	MessageID       int          `json:"message_id"`
	MessageThreadID int          `json:"message_thread_id,omitempty"`
	From            *User        `json:"from,omitempty"`
	Date            int64        `json:"date"`
	Chat            wireChat     `json:"chat"`
	IsTopicMessage  bool         `json:"is_topic_message,omitempty"`
	EditDate        int64        `json:"edit_date,omitempty"`
	ReplyToMessage  *wireMessage `json:"reply_to_message,omitempty"`
	Quote           *wireQuote   `json:"quote,omitempty"`
	MediaGroupID    string       `json:"media_group_id,omitempty"`
	Text            string       `json:"text,omitempty"`
	Entities        []Entity     `json:"entities,omitempty"`
	Caption         string       `json:"caption,omitempty"`
	CaptionEntities []Entity     `json:"caption_entities,omitempty"`
	Document        *wireFile    `json:"document,omitempty"`
	Photo           []wireFile   `json:"photo,omitempty"`
	Voice           *wireFile    `json:"voice,omitempty"`
	ReplyMarkup     *wireMarkup  `json:"reply_markup,omitempty"`
	service         map[string]any
}

// MarshalJSON puts the field of a service message beside the others.
func (w *wireMessage) MarshalJSON() ([]byte, error) {
	type plain wireMessage
	body, err := json.Marshal((*plain)(w))
	if err != nil || len(w.service) == 0 {
		return body, err
	}
	more, err := json.Marshal(w.service)
	if err != nil {
		return nil, err
	}
	return append(append(body[:len(body)-1], ','), more[1:]...), nil
}

type wireQuote struct {
	Text     string `json:"text"`
	Position int    `json:"position"`
	IsManual bool   `json:"is_manual"`
}

// wire writes a message as the bot gets it, with the message it answers if deep.
func (s *Server) wire(c *chat, m *Message, deep bool) *wireMessage {
	from := m.From
	w := &wireMessage{
		MessageID: m.ID, From: &from, Date: m.At.Unix(), Chat: s.wireChat(c), MediaGroupID: m.album,
		MessageThreadID: m.Thread, IsTopicMessage: m.Thread != 0, ReplyMarkup: wireButtons(m.Buttons),
	}
	if m.Thread == 0 {
		w.MessageThreadID = m.root
	}
	if c.hidesTopics {
		w.MessageThreadID, w.IsTopicMessage = 0, false
	}
	if !m.EditedAt.IsZero() {
		w.EditDate = m.EditedAt.Unix()
	}
	if m.Quote != "" {
		w.Quote = &wireQuote{Text: m.Quote, IsManual: true}
	}
	if deep {
		w.ReplyToMessage = s.wireReply(c, m)
	}
	w.fill(m)
	return w
}

func (w *wireMessage) fill(m *Message) {
	if m.Service != "" {
		w.service = map[string]any{m.Service: m.detail}
		return
	}
	if m.File == nil {
		w.Text, w.Entities = m.Text, m.Entities
		return
	}
	w.Caption, w.CaptionEntities = m.Text, m.Entities
	switch m.File.Kind {
	case Document:
		w.Document = m.File.wire()
	case Photo:
		w.Photo = []wireFile{*m.File.wire()}
	case Voice:
		w.Voice = m.File.wire()
	}
}

// wireReply: whatever stands in a topic and answers nothing else counts as an
// answer to the message that created the topic.
func (s *Server) wireReply(c *chat, m *Message) *wireMessage {
	answered := c.byID[m.ReplyTo]
	if answered == nil && m.Thread != 0 && m.ID != m.Thread && c.kind == Supergroup {
		answered = c.byID[m.Thread]
	}
	if answered == nil || !answered.DeletedAt.IsZero() {
		return nil
	}
	return s.wire(c, answered, false)
}

// put adds a message to its chat.
func (s *Server) put(c *chat, m *Message) *Message {
	m.ID, m.Chat, m.At = s.nextMessageID(c), c.id, now()
	c.messages = append(c.messages, m)
	c.byID[m.ID] = m
	if m.Rang {
		s.ring(m)
	}
	s.Touch()
	return m
}

func (s *Server) ring(m *Message) {
	s.rings = append(s.rings, Ring{m.Place, now(), m.ID, m.Text})
}

// service adds a message that says what happened.
func (s *Server) service(c *chat, by int64, thread int, kind string, detail any) *Message {
	return s.put(c, &Message{Place: Place{Thread: thread}, From: s.users[by], Service: kind, detail: detail})
}

// drop deletes a message.
func (s *Server) drop(c *chat, m *Message) {
	m.DeletedAt = now()
	c.unpin(m.ID)
	s.Touch()
}

// replace gives a message new content and keeps the old.
func (s *Server) replace(m *Message, f formatted, buttons [][]Button) {
	m.History = append(slices.Clip(m.History), Version{now(), m.Text, m.Entities, m.Buttons})
	m.Text, m.Entities, m.Buttons, m.EditedAt = f.text, f.entities, buttons, now()
	s.Touch()
}

// There reports whether the message can be seen.
func (m Message) There() bool { return m.DeletedAt.IsZero() }

// See returns what a person sees at a place, in order: the messages of one
// topic, or of the chat (in a forum, of General), with their present content.
// Deleted messages aren't among them; Messages has them all.
func (s *Server) See(at Place) []Message {
	var seen []Message
	for _, m := range s.Messages(at.Chat) {
		if m.Place == at && m.There() {
			seen = append(seen, m)
		}
	}
	return seen
}

// Messages returns all messages a chat ever had, in order, over all topics, the
// deleted ones too.
func (s *Server) Messages(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChat(chat)
	list := make([]Message, 0, len(c.messages))
	for _, m := range c.messages {
		list = append(list, *m)
	}
	return list
}

// Message returns one message, deleted or not.
func (s *Server) Message(chat int64, id int) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.mustChat(chat).byID[id]
	if m == nil {
		return Message{}, false
	}
	return *m, true
}

// FreezeMessage has Telegram take no further edit of a message.
func (s *Server) FreezeMessage(chat int64, id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustChat(chat).byID[id].frozen = true
}

// Rings returns every time phones rang for the bot, in order: messages sent
// without disable_notification, and pins in groups without it.
func (s *Server) Rings() []Ring {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rings)
}

// sendMessage is core.telegram.org/bots/api#sendmessage.
func (s *Server) sendMessage(c *call) (any, *refusal) {
	f, r := s.textOf(c)
	if r != nil {
		return nil, r
	}
	if c.has("link_preview_options") {
		var options struct {
			URL        string `json:"url"`
			IsDisabled bool   `json:"is_disabled"`
		}
		if err := c.decode("link_preview_options", &options); err != nil {
			return nil, badRequest("can't parse link preview options JSON object")
		}
	}
	return s.post(c, f, nil)
}

// post is what every sending method ends in: it finds the place, checks what the
// message answers and its buttons, and puts it there.
func (s *Server) post(c *call, f formatted, file *File) (any, *refusal) {
	buttons, r := buttonsOf(c)
	if r != nil {
		return nil, r
	}
	chat, thread, r := s.destination(c)
	if r != nil {
		return nil, r
	}
	to, r := s.answerOf(c, chat)
	if r != nil {
		return nil, r
	}
	m := &Message{
		Place: Place{Thread: thread}, From: s.opts.Bot, Text: f.text, Entities: f.entities, Buttons: buttons,
		File: file, ReplyTo: to.MessageID, Quote: to.Quote, Rang: !c.flag("disable_notification"),
	}
	s.put(chat, m)
	chat.forgetDrafts(thread)
	c.Message = m.ID
	return s.wire(chat, m, true), nil
}

// destination returns where the bot wants to write, if it may.
func (s *Server) destination(c *call) (*chat, int, *refusal) {
	chat, r := s.chatOf(c, writes)
	if r != nil {
		return nil, 0, r
	}
	if chat.kind != Private && chat.status(s.opts.Bot.ID) == restricted {
		return nil, 0, badRequest("not enough rights to send text messages to the chat")
	}
	thread, r := s.sendThread(chat, int(c.number("message_thread_id")))
	return chat, thread, r
}

// answer says which message a message answers.
type answer struct {
	MessageID    int    `json:"message_id"`
	ChatID       any    `json:"chat_id"`
	AllowWithout bool   `json:"allow_sending_without_reply"`
	Quote        string `json:"quote"`
}

// answerOf reads reply_parameters, or the reply_to_message_id of old, and checks
// that the message is there.
func (s *Server) answerOf(c *call, in *chat) (answer, *refusal) {
	a := answer{MessageID: int(c.number("reply_to_message_id")), AllowWithout: c.flag("allow_sending_without_reply")}
	if err := c.decode("reply_parameters", &a); err != nil {
		return a, badRequest("can't parse reply parameters JSON object")
	}
	if a.MessageID == 0 {
		return answer{}, nil
	}
	m := in.byID[a.MessageID]
	switch {
	case m == nil || !m.There():
		if a.AllowWithout {
			return answer{}, nil
		}
		return a, badRequest("message to be replied not found")
	case a.Quote != "" && !strings.Contains(m.Text, a.Quote):
		return a, badRequest("QUOTE_TEXT_INVALID")
	}
	return a, nil
}

var errNotModified = badRequest("message is not modified: specified new message content and reply markup are " +
	"exactly the same as a current content and reply markup of the message")

// messageOf returns the message a call names; what says what it's wanted for.
func (s *Server) messageOf(c *call, what string) (*chat, *Message, *refusal) {
	chat, r := s.chatOf(c, writes)
	if r != nil {
		return nil, nil, r
	}
	m := chat.byID[int(c.number("message_id"))]
	if m == nil || !m.There() {
		return nil, nil, badRequest("%s not found", what)
	}
	return chat, m, nil
}

// editable returns the message a call wants to change: one of the bot's own, and
// no service message.
func (s *Server) editable(c *call) (*chat, *Message, *refusal) {
	chat, m, r := s.messageOf(c, "message to edit")
	if r == nil && (m.From.ID != s.opts.Bot.ID || m.Service != "" || m.frozen) {
		r = badRequest("message can't be edited")
	}
	return chat, m, r
}

// editMessageText is core.telegram.org/bots/api#editmessagetext. A call without
// reply_markup takes the buttons away.
func (s *Server) editMessageText(c *call) (any, *refusal) {
	f, r := s.textOf(c)
	if r != nil {
		return nil, r
	}
	chat, m, r := s.editable(c)
	if r != nil {
		return nil, r
	}
	if m.File != nil {
		return nil, badRequest("there is no text in the message to edit")
	}
	return s.edit(c, chat, m, f)
}

// editMessageCaption is core.telegram.org/bots/api#editmessagecaption.
func (s *Server) editMessageCaption(c *call) (any, *refusal) {
	f, r := s.captionOf(c)
	if r != nil {
		return nil, r
	}
	chat, m, r := s.editable(c)
	if r != nil {
		return nil, r
	}
	if m.File == nil {
		return nil, badRequest("there is no caption in the message to edit")
	}
	return s.edit(c, chat, m, f)
}

// editMessageReplyMarkup is core.telegram.org/bots/api#editmessagereplymarkup.
func (s *Server) editMessageReplyMarkup(c *call) (any, *refusal) {
	chat, m, r := s.editable(c)
	if r != nil {
		return nil, r
	}
	return s.edit(c, chat, m, formatted{m.Text, m.Entities})
}

func (s *Server) edit(c *call, chat *chat, m *Message, f formatted) (any, *refusal) {
	buttons, r := buttonsOf(c)
	if r != nil {
		return nil, r
	}
	if m.Text == f.text && sameEntities(m.Entities, f.entities) && reflect.DeepEqual(m.Buttons, buttons) {
		return nil, errNotModified
	}
	s.replace(m, f, buttons)
	c.Message = m.ID
	return s.wire(chat, m, true), nil
}

func sameEntities(a, b []Entity) bool {
	return slices.EqualFunc(a, b, func(a, b Entity) bool {
		users := a.User == nil && b.User == nil || a.User != nil && b.User != nil && a.User.ID == b.User.ID
		a.User, b.User = nil, nil
		return users && a == b
	})
}

// deletableFor: "A message can only be deleted if it was sent less than 48 hours
// ago" (core.telegram.org/bots/api#deletemessage).
const deletableFor = 48 * time.Hour

// maxDeleted: "a list of 1-100 identifiers"
// (core.telegram.org/bots/api#deletemessages).
const maxDeleted = 100

func (s *Server) deleteMessage(c *call) (any, *refusal) {
	if c.number("message_id") == 0 {
		return nil, badRequest("message identifier is not specified")
	}
	chat, m, r := s.messageOf(c, "message to delete")
	if r != nil {
		return nil, r
	}
	if !s.mayDelete(chat, m) {
		return nil, badRequest("message can't be deleted")
	}
	s.drop(chat, m)
	return true, nil
}

// deleteMessages skips what isn't there, as Telegram does.
func (s *Server) deleteMessages(c *call) (any, *refusal) {
	var ids []int
	if err := c.decode("message_ids", &ids); err != nil {
		return nil, badRequest("can't parse message identifiers JSON object")
	}
	switch {
	case len(ids) == 0:
		return nil, badRequest("message identifiers are not specified")
	case len(ids) > maxDeleted:
		return nil, badRequest("too many message identifiers specified")
	}
	chat, r := s.chatOf(c, writes)
	if r != nil {
		return nil, r
	}
	ids = slices.DeleteFunc(ids, func(id int) bool { return chat.byID[id] == nil || !chat.byID[id].There() })
	for _, id := range ids {
		if !s.mayDelete(chat, chat.byID[id]) {
			return nil, badRequest("message can't be deleted")
		}
	}
	for _, id := range ids {
		s.drop(chat, chat.byID[id])
	}
	return true, nil
}

// mayDelete: an administrator who may delete deletes everything but the message
// a topic hangs on; others their own of the last 48 hours; in a private chat
// everything of that time.
func (s *Server) mayDelete(c *chat, m *Message) bool {
	if m.ID == m.Thread {
		return false
	}
	if c.kind != Private && c.rights(s.opts.Bot.ID).DeleteMessages {
		return true
	}
	mine := m.From.ID == s.opts.Bot.ID || c.kind == Private
	return mine && now().Sub(m.At) < deletableFor
}
