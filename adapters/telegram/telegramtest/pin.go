package telegramtest

import "slices"

// pinChatMessage is core.telegram.org/bots/api#pinchatmessage. In groups it rings
// unless disable_notification is set: "Notifications are always disabled in
// channels and private chats".
func (s *Server) pinChatMessage(c *call) (any, *refusal) {
	chat, m, r := s.pinnable(c)
	if r != nil {
		return nil, r
	}
	if m.Pinned {
		return nil, badRequest("CHAT_NOT_MODIFIED")
	}
	chat.pinned = append(chat.pinned, m.ID)
	m.Pinned = true
	note := s.service(chat, s.opts.Bot.ID, m.Thread, "pinned_message", s.wire(chat, m, false))
	if chat.kind != Private && !c.flag("disable_notification") {
		note.Rang = true
		s.ring(note)
	}
	return true, nil
}

func (s *Server) pinnable(c *call) (*chat, *Message, *refusal) {
	chat, m, r := s.messageOf(c, "message to pin")
	switch {
	case r != nil:
	case !chat.rights(s.opts.Bot.ID).PinMessages:
		r = badRequest("not enough rights to manage pinned messages in the chat")
	case m.Service != "":
		r = badRequest("message can't be pinned")
	}
	return chat, m, r
}

// unpinChatMessage unpins the newest if the call names none.
func (s *Server) unpinChatMessage(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, writes)
	if r != nil {
		return nil, r
	}
	if !chat.rights(s.opts.Bot.ID).PinMessages {
		return nil, badRequest("not enough rights to manage pinned messages in the chat")
	}
	id := int(c.number("message_id"))
	if id == 0 && len(chat.pinned) > 0 {
		id = chat.pinned[len(chat.pinned)-1]
	}
	if !chat.unpin(id) {
		return nil, badRequest("message to unpin not found")
	}
	s.Touch()
	return true, nil
}

func (c *chat) unpin(id int) bool {
	i := slices.Index(c.pinned, id)
	if i < 0 {
		return false
	}
	c.pinned = slices.Delete(slices.Clone(c.pinned), i, i+1)
	c.byID[id].Pinned = false
	return true
}
