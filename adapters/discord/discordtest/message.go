package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
	frozen      bool
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

// messageForm is what a message is sent or edited with; what's absent is nil.
type messageForm struct {
	Content     *string           `json:"content"`
	Embeds      *[]Embed          `json:"embeds"`
	Components  *[]wireComponent  `json:"components"`
	Attachments *[]attachmentForm `json:"attachments"`
	Flags       *Flags            `json:"flags"`
	Nonce       json.RawMessage   `json:"nonce"`
	Enforce     bool              `json:"enforce_nonce"`
	Allowed     *allowedMentions  `json:"allowed_mentions"`
	Reference   *struct {
		Message string `json:"message_id"`
		Fail    *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Stickers *[]string `json:"sticker_ids"`
}

// maxContent is how long a message may be. Discord says characters; here they're
// UTF-16 units, of which there are never fewer
// (docs.discord.com/developers/resources/message#create-message).
const maxContent = 2000

// createMessage sends a message.
func (s *Server) createMessage(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	if in.kind == KindForum {
		return nil, errNotText
	}
	var form messageForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	m, r := s.draft(c, in, form, in.sending())
	if r == nil {
		r = s.mayPost(in)
	}
	if r != nil {
		return nil, r
	}
	if first := s.sentBefore(m.Nonce, form.Enforce); first != nil {
		c.Message = first.ID
		return s.answer(first), nil
	}
	if in.archived {
		s.archive(in, false)
	}
	m.ID, m.Flags = s.clock.next(), m.Flags&^Ephemeral // that's for interactions alone
	s.post(in, m)
	s.remember(m)
	c.Message = m.ID
	return s.answer(m), nil
}

// answer is a message as the call that made it gets it: with its nonce.
func (s *Server) answer(m *Message) *wireMessage {
	w := s.wire(m, everyIntent, false)
	w.Nonce = m.Nonce
	return w
}

// mayPost: a message reopens an archived thread, unless that's locked and the bot
// may not manage threads (docs.discord.com/developers/topics/threads#active--archived-threads).
func (s *Server) mayPost(in *channel) *refusal {
	switch {
	case in.blocked:
		return errBlocked
	case !in.locked || in.permissions().has(ManageThreads):
		return nil
	case in.archived:
		return errArchived
	}
	return errThreadLocked
}

// draft makes a message of a form, or says what's wrong with it.
func (s *Server) draft(c *call, in *channel, form messageForm, need Permission) (*Message, *refusal) {
	m := &Message{Author: s.bot}
	if form.Embeds != nil && len(*form.Embeds) > 0 {
		need |= EmbedLinks
	}
	if len(c.files) > 0 {
		need |= AttachFiles
	}
	if r := in.demand(need); r != nil {
		return nil, r
	}
	if r := s.fill(c, m, in, form); r != nil {
		return nil, r
	}
	if m.isEmpty() {
		return nil, errEmpty
	}
	if !c.route.open && in.guild.blocks(m.Content) {
		return nil, errAutoMod
	}
	var r *refusal
	if m.Nonce, r = readNonce(form); r != nil {
		return nil, r
	}
	if r := s.readReference(m, in, form); r != nil {
		return nil, r
	}
	m.Rang = m.Flags&SuppressNotifications == 0
	if m.Pings, r = s.pings(in, m, form.Allowed); r != nil {
		return nil, r
	}
	return m, nil
}

// fill puts what a form has into a message, new or edited.
func (s *Server) fill(c *call, m *Message, in *channel, form messageForm) *refusal {
	if form.Content != nil {
		content, r := readContent(*form.Content)
		if r != nil {
			return r
		}
		m.Content = content
	}
	if form.Embeds != nil {
		if r := checkEmbeds(*form.Embeds); r != nil {
			return r
		}
		m.Embeds = *form.Embeds
	}
	if form.Components != nil {
		rows, r := readRows(*form.Components)
		if r != nil {
			return r
		}
		m.Rows = rows
	}
	if r := m.setFlags(form.Flags); r != nil {
		return r
	}
	return s.fillFiles(c, m, in, form.Attachments)
}

// readContent checks a text and takes away what Discord takes away: white space
// at both ends.
func readContent(text string) (string, *refusal) {
	if n := units(text); n > maxContent {
		return "", invalid("content", "Must be %d or fewer in length.", maxContent)
	}
	return strings.TrimFunc(text, unicode.IsSpace), nil
}

// units counts UTF-16 units.
func units(text string) int {
	n := 0
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

func (m *Message) isEmpty() bool {
	return m.Content == "" && len(m.Embeds) == 0 && len(m.Files) == 0 && len(m.Rows) == 0
}

// setFlags takes the flags that a bot may give a message: for an edit, only
// whether embeds are shown.
func (m *Message) setFlags(f *Flags) *refusal {
	if f == nil {
		return nil
	}
	if *f&componentsV2 != 0 {
		return invalid("flags", "The stand-in doesn't know components of version 2.")
	}
	may := SuppressEmbeds
	if m.ID == "" {
		may |= SuppressNotifications | Ephemeral
	}
	m.Flags = m.Flags&^SuppressEmbeds | *f&may
	return nil
}

// readReference finds the message that's answered.
func (s *Server) readReference(m *Message, in *channel, form messageForm) *refusal {
	if form.Reference == nil || form.Reference.Message == "" {
		return nil
	}
	answered := s.messages[form.Reference.Message]
	if answered == nil || !answered.There() || answered.Channel != in.id {
		if form.Reference.Fail == nil || *form.Reference.Fail {
			return invalid("message_reference", "Unknown message")
		}
		return nil
	}
	if r := in.demand(ReadHistory); r != nil {
		return r
	}
	m.Kind, m.ReplyTo = kindReply, answered.ID
	return nil
}

// maxNonce is how many characters a nonce has at most
// (docs.discord.com/developers/resources/message#create-message).
const maxNonce = 25

// nonce is a message that was sent with one.
type nonce struct {
	message *Message
	at      time.Time
}

// readNonce reads a text or a number.
func readNonce(form messageForm) (string, *refusal) {
	if len(form.Nonce) == 0 || string(form.Nonce) == "null" {
		return "", nil
	}
	var text string
	var n json.Number
	switch {
	case json.Unmarshal(form.Nonce, &text) == nil:
	case json.Unmarshal(form.Nonce, &n) == nil:
		text = n.String()
	default:
		return "", invalid("nonce", "Could not interpret as a nonce.")
	}
	if utf8.RuneCountInString(text) > maxNonce {
		return "", invalid("nonce", "Must be %d or fewer in length.", maxNonce)
	}
	return text, nil
}

// sentBefore returns the message that has used an enforced nonce already, wherever
// that was: Discord looks at the author alone. One that was deleted counts as well,
// since what's sent again was sent.
func (s *Server) sentBefore(text string, enforced bool) *Message {
	n, known := s.nonces[text]
	if text == "" || !enforced || !known || now().Sub(n.at) >= s.opts.Limits.Nonces {
		return nil
	}
	return n.message
}

// remember keeps the nonce of a message.
func (s *Server) remember(m *Message) {
	if m.Nonce != "" {
		s.nonces[m.Nonce] = nonce{m, now()}
	}
}
