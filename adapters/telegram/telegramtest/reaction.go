package telegramtest

import (
	"slices"
	"strings"
)

// botReactions are the emoji a bot may react with
// (core.telegram.org/bots/api#reactiontypeemoji).
var botReactions = strings.Fields(`❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨
	😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡`)

type wireReaction struct {
	Type  string `json:"type"`
	Emoji string `json:"emoji"`
}

// setMessageReaction is core.telegram.org/bots/api#setmessagereaction: "bots can
// set up to one reaction per message"; none takes it back.
func (s *Server) setMessageReaction(c *call) (any, *refusal) {
	var list []wireReaction
	if err := c.decode("reaction", &list); err != nil {
		return nil, badRequest("can't parse reaction types JSON object")
	}
	if len(list) > 1 {
		return nil, badRequest("REACTIONS_TOO_MANY")
	}
	for i := range list {
		list[i].Emoji = strings.TrimSuffix(list[i].Emoji, "\ufe0f")
		if list[i].Type != "emoji" || !slices.Contains(botReactions, list[i].Emoji) {
			return nil, badRequest("REACTION_INVALID")
		}
	}
	chat, m, r := s.messageOf(c, "message to react")
	if r != nil {
		return nil, r
	}
	for _, one := range list {
		if chat.reactions != nil && !slices.Contains(chat.reactions, one.Emoji) {
			return nil, badRequest("REACTION_INVALID")
		}
	}
	if m.Service != "" {
		return nil, badRequest("message can't be reacted")
	}
	m.react(s.opts.Bot.ID, list)
	s.Touch()
	return true, nil
}

// react replaces a user's reactions and returns the old ones.
func (m *Message) react(user int64, list []wireReaction) []wireReaction {
	old := []wireReaction{}
	var kept []Reaction
	for _, r := range m.Reactions {
		if r.User == user {
			old = append(old, wireReaction{"emoji", r.Emoji})
		} else {
			kept = append(kept, r)
		}
	}
	for _, r := range list {
		kept = append(kept, Reaction{user, r.Emoji})
	}
	m.Reactions = kept
	return old
}
