package discordtest

// messageOf returns the message that a call names.
func (s *Server) messageOf(c *call) (*channel, *Message, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, nil, r
	}
	m := s.messages[c.vars["message"]]
	if m == nil || !m.There() || m.Channel != in.id || m.OnlyFor != "" {
		return nil, nil, errNoMessage
	}
	return in, m, nil
}

// editMessage changes one of the bot's own messages.
func (s *Server) editMessage(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	switch {
	case r != nil:
		return nil, r
	case m.Author.ID != s.bot.ID:
		return nil, errNotYours
	case m.Kind != kindDefault && m.Kind != kindReply && m.Kind != kindCommand:
		return nil, errSystemMessage
	case in.archived:
		return nil, errArchived
	}
	var form messageForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	changed, r := s.redraft(c, m, in, form)
	if r != nil {
		return nil, r
	}
	if c.At.Sub(m.At) > s.opts.Limits.OldAfter {
		if r := s.guard.oldEdit(in.id, c.At); r != nil {
			return nil, r
		}
	}
	s.replace(in, m, changed)
	return s.wire(m, everyIntent, false), nil
}

// redraft returns what a message would be after an edit. Who's notified doesn't
// change: edits notify nobody.
func (s *Server) redraft(c *call, m *Message, in *channel, form messageForm) (*Message, *refusal) {
	changed := *m
	if r := s.fill(c, &changed, in, form); r != nil {
		return nil, r
	}
	if changed.isEmpty() {
		return nil, errEmpty
	}
	if !c.route.open && in.guild.blocks(changed.Content) {
		return nil, errAutoMod
	}
	if form.Allowed != nil {
		if r := form.Allowed.check(); r != nil {
			return nil, r
		}
	}
	return &changed, nil
}

// replace gives a message new content and keeps the old.
func (s *Server) replace(in *channel, m, changed *Message) {
	m.keep()
	m.Content, m.Embeds, m.Rows, m.Files, m.Flags = changed.Content, changed.Embeds, changed.Rows, changed.Files, changed.Flags
	if m.OnlyFor == "" {
		s.tell("MESSAGE_UPDATE", in, m)
	}
	s.Touch()
}

// deleteMessage deletes a message of the bot's, or with the permission anybody's.
func (s *Server) deleteMessage(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	if r == nil && m.Author.ID != s.bot.ID {
		r = in.demand(ManageMessages)
	}
	switch {
	case r != nil:
		return nil, r
	case in.archived:
		return nil, errArchived
	}
	s.drop(m)
	return nil, nil
}

// bulkDelete deletes many; ids that are none are passed over.
func (s *Server) bulkDelete(c *call) (any, *refusal) {
	in, r := s.channelOf(c, ManageMessages)
	if r != nil {
		return nil, r
	}
	var form struct {
		Messages []string `json:"messages"`
	}
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	switch {
	case len(form.Messages) < 2 || len(form.Messages) > 100:
		return nil, errBulkCount
	case in.archived:
		return nil, errArchived
	}
	gone := []string{}
	for _, id := range form.Messages {
		if m := s.messages[id]; m != nil && m.There() && m.Channel == in.id && m.OnlyFor == "" {
			m.DeletedAt = now()
			gone = append(gone, id)
		}
	}
	s.dispatch("MESSAGE_DELETE_BULK", in.messageIntent(), in, s.withGuild(in, map[string]any{"ids": gone, "channel_id": in.id}))
	return nil, nil
}
