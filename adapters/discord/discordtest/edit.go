package discordtest

import (
	"slices"
	"strconv"
	"time"
	"unicode"
)

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
	if m.frozen {
		return nil, tooOld(tooMany(ScopeUser, s.opts.Limits.OldEdits.Per))
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

// fixed are Discord's own messages that can't be deleted: that a thread has another name, and what it began with
// (docs.discord.com/developers/resources/message#message-object-message-types).
func (m *Message) fixed() bool { return m.Kind == kindRenamed || m.Kind == kindStarter }

// deleteMessage deletes a message of the bot's, Discord's own about it included, or with the permission anybody's.
func (s *Server) deleteMessage(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	if r == nil && m.Author.ID != s.bot.ID {
		r = in.demand(ManageMessages)
	}
	switch {
	case r != nil:
		return nil, r
	case m.fixed():
		return nil, errSystemMessage
	case in.archived:
		return nil, errArchived
	}
	if c.At.Sub(m.At) > bulkAge {
		if r := s.guard.oldDelete(in.id, c.At); r != nil {
			return nil, r
		}
	}
	s.drop(m)
	return nil, nil
}

// bulkAge is how old a message may be that's deleted with others, or without a limit of its own
// (docs.discord.com/developers/resources/message#bulk-delete-messages).
const bulkAge = 14 * 24 * time.Hour

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
			if c.At.Sub(m.At) > bulkAge {
				return nil, errBulkAge
			}
			gone = append(gone, id)
		}
	}
	for _, id := range gone {
		s.messages[id].DeletedAt = now()
	}
	s.dispatch("MESSAGE_DELETE_BULK", in.messageIntent(), in, s.withGuild(in, map[string]any{"ids": gone, "channel_id": in.id}))
	return nil, nil
}

// restIntents are what REST shows: content if the application has the intent for
// it, whatever a gateway connection asked for.
func (s *Server) restIntents() Intent {
	if s.opts.NoContentIntent {
		return everyIntent &^ MessageContent
	}
	return everyIntent
}

// getMessage returns one message.
func (s *Server) getMessage(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	if r == nil {
		r = in.demand(ReadHistory)
	}
	if r != nil {
		return nil, r
	}
	return s.wire(m, s.restIntents(), false), nil
}

// getMessages lists messages, newest first. With "after", they're the oldest of
// those that came after (docs.discord.com/developers/resources/message#get-channel-messages).
// Without the permission to read the history there are none.
func (s *Server) getMessages(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	if in.kind == KindForum {
		return nil, errNotText
	}
	limit, r := c.limit()
	if r != nil {
		return nil, r
	}
	var ids []string
	list := []*wireMessage{}
	if !in.permissions().has(ReadHistory) {
		return list, nil
	}
	for _, m := range in.messages {
		if m.There() && m.OnlyFor == "" {
			ids = append(ids, m.ID)
		}
	}
	for _, id := range slices.Backward(page(ids, c, limit)) {
		list = append(list, s.wire(s.messages[id], s.restIntents(), false))
	}
	return list, nil
}

func (c *call) limit() (int, *refusal) {
	text := c.query.Get("limit")
	if text == "" {
		return 50, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 100 {
		return 0, invalid("limit", "Value must be between 1 and 100.")
	}
	return n, nil
}

// page takes from ids, which rise, those that a call asks for.
func page(ids []string, c *call, limit int) []string {
	at := func(name string) uint64 { return number(c.query.Get(name)) }
	first := func(than uint64) int { // the first that's at or above
		i, _ := slices.BinarySearchFunc(ids, than, func(id string, than uint64) int { return compare(number(id), than) })
		return i
	}
	switch {
	case c.query.Has("after"):
		rest := ids[first(at("after")+1):]
		return rest[:min(limit, len(rest))]
	case c.query.Has("before"):
		rest := ids[:first(at("before"))]
		return rest[max(0, len(rest)-limit):]
	case c.query.Has("around"):
		middle := first(at("around"))
		from := max(0, middle-limit/2)
		return ids[from:min(len(ids), from+limit)]
	}
	return ids[max(0, len(ids)-limit):]
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

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

// FreezeMessage has Discord take no further edit of a message, as if it was old and others had used up
// the edits of such.
func (s *Server) FreezeMessage(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages[id].frozen = true
}

// Rings returns every time phones rang for the bot, in order.
func (s *Server) Rings() []Ring {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rings)
}

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
