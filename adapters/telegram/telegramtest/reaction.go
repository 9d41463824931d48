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
	s.tell(chat, note, "message") // the bot itself, too (tdlib/telegram-bot-api#731)
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
