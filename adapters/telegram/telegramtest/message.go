package telegramtest

import (
	"encoding/json"
	"slices"
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

// Rings returns every time phones rang for the bot, in order: messages sent
// without disable_notification, and pins in groups without it.
func (s *Server) Rings() []Ring {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rings)
}
