package discordtest

// askedBy returns the interaction whose token a call carries. It's good for 15
// minutes, and for nothing before the first answer.
func (s *Server) askedBy(c *call) (*Interaction, *refusal) {
	i := s.byToken[c.vars["token"]]
	if i == nil || c.vars["application"] != s.bot.ID {
		return nil, errNoWebhook
	}
	switch {
	case c.At.Sub(i.At) >= tokenLives:
		return nil, errWebhookToken
	case i.Answered.IsZero():
		return nil, errNoWebhook
	}
	return i, nil
}

// reply posts a message that answers an interaction. It needs no permission: the
// person has asked for it.
func (s *Server) reply(c *call, i *Interaction, form messageForm) (*Message, *refusal) {
	in := s.channels[i.Channel]
	switch {
	case !in.there():
		return nil, errNoChannel
	case in.archived && in.locked && !in.permissions().has(ManageThreads):
		return nil, errArchived
	}
	m, r := s.draft(c, in, form, 0)
	if r != nil {
		return nil, r
	}
	m.Kind, m.interaction = kindCommand, i
	if m.Flags&Ephemeral != 0 {
		m.OnlyFor, m.Rang, m.Pings = i.Person, false, nil
	} else if in.archived {
		s.archive(in, false)
	}
	m.ID = s.clock.next()
	s.post(in, m)
	c.Message = m.ID
	return m, nil
}

// createFollowup posts one more answer. The first after a deferred one takes the
// place of what said that it would come.
func (s *Server) createFollowup(c *call) (any, *refusal) {
	i, r := s.askedBy(c)
	if r != nil {
		return nil, r
	}
	var form messageForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	if first := s.messages[i.Original]; first != nil && first.There() && first.Flags&Loading != 0 {
		if r := s.update(c, first.ID, form); r != nil {
			return nil, r
		}
		return s.wire(first, everyIntent, false), nil
	}
	m, r := s.reply(c, i, form)
	if r != nil {
		return nil, r
	}
	i.Followups = append(i.Followups, m.ID)
	return s.wire(m, everyIntent, false), nil
}

// update changes a message by an interaction's token, an ephemeral one too. What
// said that an answer will come becomes that answer, and rings as one does.
func (s *Server) update(c *call, id string, form messageForm) *refusal {
	m := s.messages[id]
	if m == nil || !m.There() {
		return errNoMessage
	}
	in := s.channels[m.Channel]
	if in.archived {
		return errArchived
	}
	changed, r := s.redraft(c, m, in, form)
	if r != nil {
		return r
	}
	if changed.Flags&Loading != 0 {
		changed.Flags &^= Loading
		m.Rang = m.OnlyFor == ""
		if m.Pings, r = s.pings(in, changed, form.Allowed); r != nil {
			return r
		}
		if m.Rang {
			s.rings = append(s.rings, Ring{now(), in.id, m.ID, changed.Content, m.Pings})
		}
	}
	s.replace(in, m, changed)
	c.Message = m.ID
	return nil
}

// answerOf returns the message of an interaction that a call names.
func (s *Server) answerOf(c *call, original bool) (*Interaction, *Message, *refusal) {
	i, r := s.askedBy(c)
	if r != nil {
		return nil, nil, r
	}
	id := c.vars["message"]
	if original {
		id = i.Original
	}
	m := s.messages[id]
	if m == nil || !m.There() || !original && m.interaction != i {
		return nil, nil, errNoMessage
	}
	return i, m, nil
}

func (s *Server) getAnswer(c *call, original bool) (any, *refusal) {
	_, m, r := s.answerOf(c, original)
	if r != nil {
		return nil, r
	}
	return s.wire(m, everyIntent, false), nil
}

func (s *Server) editAnswer(c *call, original bool) (any, *refusal) {
	_, m, r := s.answerOf(c, original)
	if r != nil {
		return nil, r
	}
	var form messageForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	if r := s.update(c, m.ID, form); r != nil {
		return nil, r
	}
	return s.wire(m, everyIntent, false), nil
}

func (s *Server) deleteAnswer(c *call, original bool) (any, *refusal) {
	_, m, r := s.answerOf(c, original)
	if r != nil {
		return nil, r
	}
	s.drop(m)
	return nil, nil
}

func (s *Server) getOriginal(c *call) (any, *refusal)    { return s.getAnswer(c, true) }
func (s *Server) editOriginal(c *call) (any, *refusal)   { return s.editAnswer(c, true) }
func (s *Server) deleteOriginal(c *call) (any, *refusal) { return s.deleteAnswer(c, true) }
func (s *Server) getFollowup(c *call) (any, *refusal)    { return s.getAnswer(c, false) }
func (s *Server) editFollowup(c *call) (any, *refusal)   { return s.editAnswer(c, false) }
func (s *Server) deleteFollowup(c *call) (any, *refusal) { return s.deleteAnswer(c, false) }
