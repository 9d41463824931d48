package telegramtest

import (
	"reflect"
	"slices"
)

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
	if r == nil && (m.From.ID != s.opts.Bot.ID || m.Service != "") {
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
