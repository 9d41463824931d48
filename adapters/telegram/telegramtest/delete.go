package telegramtest

import (
	"slices"
	"time"
)

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
