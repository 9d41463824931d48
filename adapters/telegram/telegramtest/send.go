package telegramtest

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
