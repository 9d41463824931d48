package discordtest

import "slices"

// Messages returns what everybody sees in a channel or thread now, in order, with
// its present content. Deleted messages aren't among it, nor ephemeral ones.
func (s *Server) Messages(channel string) []Message { return s.SeenBy("", channel) }

// SeenBy returns what one person sees in a channel or thread now: as Messages, with
// the ephemeral messages that are for that person.
func (s *Server) SeenBy(person, channel string) []Message {
	var seen []Message
	for _, m := range s.History(channel) {
		if m.There() && (m.OnlyFor == "" || m.OnlyFor == person) {
			seen = append(seen, m)
		}
	}
	return seen
}

// History returns all messages a channel ever had, in order, the deleted and the
// ephemeral ones too.
func (s *Server) History(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	list := make([]Message, 0, len(c.messages))
	for _, m := range c.messages {
		list = append(list, *m)
	}
	return list
}

// Message returns one message, deleted or not.
func (s *Server) Message(id string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messages[id]
	if m == nil {
		return Message{}, false
	}
	return *m, true
}

// Rings returns every time phones rang for the bot, in order.
func (s *Server) Rings() []Ring {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rings)
}
