package discordtest

import (
	"encoding/json"
	"slices"
	"time"
)

// Message types, with Discord's numbers
// (docs.discord.com/developers/resources/message#message-object-message-types).
const (
	kindDefault       = 0
	kindRenamed       = 4
	kindPinned        = 6
	kindThreadCreated = 18
	kindReply         = 19
	kindCommand       = 20
	kindStarter       = 21
)

// Flags are a message's flags.
type Flags int

// The flags that mean something here
// (docs.discord.com/developers/resources/message#message-object-message-flags).
const (
	SuppressEmbeds        Flags = 1 << 2
	Ephemeral             Flags = 1 << 6
	Loading               Flags = 1 << 7
	SuppressNotifications Flags = 1 << 12
	componentsV2          Flags = 1 << 15
)

// Message is a message as a person sees it. What stands in its slices isn't
// changed afterwards: an edit puts new ones in their place.
type Message struct {
	ID, Channel string
	Author      User
	At          time.Time
	// Kind is 0 for a text, 19 for a reply, 20 for the answer to a command; other
	// numbers are Discord's own messages, such as 18 for a thread that was begun.
	Kind    int
	Content string
	Embeds  []Embed
	Files   []File
	Rows    [][]Component
	Flags   Flags
	Nonce   string
	ReplyTo string // the message it answers; of Discord's own, what it's about
	OnlyFor string // the person an ephemeral one is for; empty for everybody

	// Rang is whether phones rang for it: sent by the bot for all to see, without
	// SuppressNotifications. Edits never ring.
	Rang bool
	// Pings are the people whom it mentions so that they're notified, by id, or
	// "everyone".
	Pings []string

	EditedAt  time.Time // zero if never
	DeletedAt time.Time // zero if it's there
	History   []Version // what stood there before each edit, oldest first
	Reactions []Reaction
	Pinned    bool

	interaction *Interaction // it answers
}

// Version is what a message was before an edit.
type Version struct {
	At      time.Time // when it was replaced
	Content string
	Embeds  []Embed
	Files   []File
	Rows    [][]Component
}

// Reaction is what somebody answered a message with.
type Reaction struct{ User, Emoji string }

// Ring is a phone that rang.
type Ring struct {
	At               time.Time
	Channel, Message string
	Content          string // at that time
	Pings            []string
}

// There reports whether the message can be seen.
func (m Message) There() bool { return m.DeletedAt.IsZero() }

// post puts a message into a channel and tells the bot of it.
func (s *Server) post(in *channel, m *Message) *Message {
	m.Channel, m.At = in.id, now()
	in.messages = append(in.messages, m)
	s.messages[m.ID] = m
	in.active = now()
	if m.Author.ID == s.bot.ID {
		in.busy = time.Time{}
	}
	if m.OnlyFor == "" {
		s.tell("MESSAGE_CREATE", in, m)
	}
	if m.Rang {
		s.rings = append(s.rings, Ring{now(), in.id, m.ID, m.Content, m.Pings})
	}
	s.Touch()
	return m
}

// drop deletes a message.
func (s *Server) drop(m *Message) {
	in := s.channels[m.Channel]
	m.DeletedAt = now()
	if m.OnlyFor == "" {
		s.dispatch("MESSAGE_DELETE", in.messageIntent(), in, s.withGuild(in, map[string]any{"id": m.ID, "channel_id": in.id}))
	}
	s.Touch()
}

// withGuild adds the guild's id to an event of a channel, unless it's a DM.
func (s *Server) withGuild(in *channel, event map[string]any) map[string]any {
	if in.guild != nil {
		event["guild_id"] = in.guild.ID
	}
	return event
}

// keep remembers what a message was, before it's changed.
func (m *Message) keep() {
	m.History = append(slices.Clip(m.History), Version{now(), m.Content, m.Embeds, m.Files, m.Rows})
	m.EditedAt = now()
}

// wireMessage is docs.discord.com/developers/resources/message#message-object.
type wireMessage struct {
	ID              string           `json:"id"`
	ChannelID       string           `json:"channel_id"`
	GuildID         string           `json:"guild_id,omitempty"` // by the gateway only
	Author          wireUser         `json:"author"`
	Member          *wireMember      `json:"member,omitempty"` // by the gateway only
	Content         string           `json:"content"`
	Timestamp       string           `json:"timestamp"`
	EditedTimestamp *string          `json:"edited_timestamp"`
	TTS             bool             `json:"tts"`
	MentionEveryone bool             `json:"mention_everyone"`
	Mentions        []wireUser       `json:"mentions"`
	MentionRoles    []string         `json:"mention_roles"`
	Attachments     []wireFile       `json:"attachments"`
	Embeds          []Embed          `json:"embeds"`
	Components      []wireComponent  `json:"components"`
	Reactions       []map[string]any `json:"reactions,omitempty"`
	Nonce           string           `json:"nonce,omitempty"`
	Pinned          bool             `json:"pinned"`
	Type            int              `json:"type"`
	Flags           Flags            `json:"flags"`
	ApplicationID   string           `json:"application_id,omitempty"`
	WebhookID       string           `json:"webhook_id,omitempty"`
	Reference       map[string]any   `json:"message_reference,omitempty"`
	Referenced      json.RawMessage  `json:"referenced_message,omitempty"`
	Metadata        map[string]any   `json:"interaction_metadata,omitempty"`
}

// wire writes a message for a bot with these intents; live is as the gateway
// brings it. Without the intent for content, what's in a message stays out, unless
// it's the bot's own, in a DM, or mentions the bot
// (docs.discord.com/developers/events/gateway#message-content-intent).
func (s *Server) wire(m *Message, has Intent, live bool) *wireMessage {
	in := s.channels[m.Channel]
	w := &wireMessage{
		ID: m.ID, ChannelID: m.Channel, Author: m.Author.wire(), Timestamp: stamp(m.At), EditedTimestamp: stampOrNil(m.EditedAt),
		Mentions: []wireUser{}, MentionRoles: []string{}, Attachments: []wireFile{}, Embeds: []Embed{}, Components: []wireComponent{},
		Type: m.Kind, Flags: m.Flags, Reactions: s.wireReactions(m),
	}
	s.wireMentions(m, w)
	if live {
		w.Nonce, w.GuildID = m.Nonce, in.guildID()
		if in.guild != nil {
			w.Member = in.guild.member(m.Author, false)
		}
	}
	if has&MessageContent != 0 || m.Author.ID == s.bot.ID || in.guild == nil || s.mentions(m.Content).users[s.bot.ID] {
		w.Content, w.Embeds, w.Components = m.Content, append(w.Embeds, m.Embeds...), append(w.Components, wireRows(m.Rows)...)
		for _, f := range m.Files {
			w.Attachments = append(w.Attachments, s.wireFile(f))
		}
	}
	s.wireReference(m, w, has)
	if m.interaction != nil {
		w.ApplicationID, w.WebhookID = s.bot.ID, s.bot.ID
		w.Metadata = map[string]any{"id": m.interaction.ID, "type": m.interaction.kind, "user": s.users[m.interaction.Person].wire()}
	}
	return w
}

func (s *Server) wireReference(m *Message, w *wireMessage, has Intent) {
	switch m.Kind {
	case kindReply, kindStarter:
		answered := s.messages[m.ReplyTo]
		w.Reference = map[string]any{"type": 0, "message_id": m.ReplyTo, "channel_id": m.Channel}
		w.Referenced = json.RawMessage("null")
		if answered != nil {
			w.Reference["channel_id"] = answered.Channel
		}
		if answered != nil && answered.There() {
			text, err := json.Marshal(s.shallow(answered, has))
			if err != nil {
				panic(err) // it's made of plain values
			}
			w.Referenced = text
		}
	case kindPinned:
		w.Reference = map[string]any{"type": 0, "message_id": m.ReplyTo, "channel_id": m.Channel}
	case kindThreadCreated:
		w.Reference = map[string]any{"type": 0, "channel_id": m.ReplyTo}
	}
}

// shallow writes a message without the one it answers.
func (s *Server) shallow(m *Message, has Intent) *wireMessage {
	alone := *m
	alone.Kind, alone.ReplyTo = kindDefault, ""
	return s.wire(&alone, has, false)
}

func (s *Server) wireReactions(m *Message) []map[string]any {
	var list []map[string]any
	for _, r := range m.Reactions {
		i := slices.IndexFunc(list, func(e map[string]any) bool { return e["emoji"].(map[string]any)["name"] == r.Emoji })
		if i < 0 {
			list = append(list, map[string]any{"count": 0, "me": false, "emoji": wireEmoji(r.Emoji)})
			i = len(list) - 1
		}
		list[i]["count"] = list[i]["count"].(int) + 1
		list[i]["me"] = list[i]["me"].(bool) || r.User == s.bot.ID
	}
	return list
}

// tell dispatches an event that carries a message.
func (s *Server) tell(event string, in *channel, m *Message) {
	s.dispatchFor(event, in.messageIntent(), in, func(has Intent) any { return s.wire(m, has, true) })
}
