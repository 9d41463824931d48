package discordtest

import (
	"slices"
	"unicode"
)

// isEmoji takes what isn't letters for an emoji: Discord knows a list.
func isEmoji(text string) bool {
	if text == "" || len(text) > 64 {
		return false
	}
	for _, r := range text {
		if r < 0x80 && r != '*' && r != '#' && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

func wireEmoji(name string) map[string]any { return map[string]any{"id": nil, "name": name} }

func (s *Server) react(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	if r == nil {
		r = in.demand(ReadHistory | AddReactions)
	}
	switch {
	case r != nil:
		return nil, r
	case in.archived:
		return nil, errArchived
	case !isEmoji(c.vars["emoji"]):
		return nil, errNoEmoji
	}
	s.addReaction(in, m, Reaction{s.bot.ID, c.vars["emoji"]})
	return nil, nil
}

func (s *Server) unreact(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	if r != nil {
		return nil, r
	}
	if in.archived {
		return nil, errArchived
	}
	s.removeReaction(in, m, Reaction{s.bot.ID, c.vars["emoji"]})
	return nil, nil
}

func (s *Server) addReaction(in *channel, m *Message, r Reaction) {
	if slices.Contains(m.Reactions, r) {
		return
	}
	m.Reactions = append(slices.Clip(m.Reactions), r)
	s.tellReaction("MESSAGE_REACTION_ADD", in, m, r)
}

func (s *Server) removeReaction(in *channel, m *Message, r Reaction) {
	if i := slices.Index(m.Reactions, r); i >= 0 {
		m.Reactions = slices.Delete(slices.Clone(m.Reactions), i, i+1)
		s.tellReaction("MESSAGE_REACTION_REMOVE", in, m, r)
	}
}

func (s *Server) tellReaction(event string, in *channel, m *Message, r Reaction) {
	s.dispatch(event, in.reactionIntent(), in, s.withGuild(in, map[string]any{
		"user_id": r.User, "channel_id": in.id, "message_id": m.ID, "emoji": wireEmoji(r.Emoji), "type": 0, "burst": false,
		"message_author_id": m.Author.ID,
	}))
	s.Touch()
}
