package discordtest

// maxPins is how many messages can be pinned in a channel
// (docs.discord.com/developers/topics/opcodes-and-status-codes, 30003).
const maxPins = 250

// pin is docs.discord.com/developers/resources/message#pin-message: it takes the
// permission to pin, and Discord says in the channel who did it, which rings nobody. One
// that's pinned stays pinned.
func (s *Server) pin(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	if r == nil {
		r = in.demand(ReadHistory | PinMessages)
	}
	switch {
	case r != nil:
		return nil, r
	case in.archived:
		return nil, errArchived
	case m.Kind != kindDefault && m.Kind != kindReply && m.Kind != kindCommand:
		return nil, errSystemMessage
	case m.Pinned:
		return nil, nil
	}
	pinned := 0
	for _, other := range in.messages {
		if other.Pinned && other.There() {
			pinned++
		}
	}
	if pinned >= maxPins {
		return nil, errPins
	}
	m.Pinned = true
	s.post(in, &Message{ID: s.clock.next(), Author: s.bot, Kind: kindPinned, ReplyTo: m.ID})
	return nil, nil
}
