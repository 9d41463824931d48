package discordtest

import (
	"net/http"
	"slices"
	"time"
)

// Kind is a channel's type, with Discord's numbers
// (docs.discord.com/developers/resources/channel#channel-object-channel-types).
type Kind int

// The kinds that are simulated.
const (
	KindText   Kind = 0
	KindDM     Kind = 1
	KindThread Kind = 11
	KindForum  Kind = 15
)

// Channel is a channel that a test has made, or got from a person.
type Channel struct {
	ID, Name string
	s        *Server
}

// ChannelState is what there is to know of a channel or thread now.
type ChannelState struct {
	ID, Name, Topic  string
	Kind             Kind
	Guild            string // empty for a DM
	Parent           string // of a thread
	Owner            string // of a thread: who began it
	Archived, Locked bool
	At, DeletedAt    time.Time
	Names            []string // that it had before, oldest first
}

type channel struct {
	id, name, topic string
	s               *Server
	kind            Kind
	guild           *Guild // nil for a DM
	parent          *channel
	person          string // of a DM
	blocked         bool   // of a DM: the person takes none from the bot
	owner           string
	allow, deny     Permission // of the bot
	at, deleted     time.Time
	names           []string
	messages        []*Message // in order, the deleted ones too
	busy            time.Time  // until when the bot is seen typing

	// Of a thread.
	archived, locked bool
	archiveChanged   time.Time
	autoArchive      time.Duration
	active           time.Time // when something last happened that keeps it open
	joined           bool      // by the bot
}

func (c *channel) handle() *Channel { return &Channel{ID: c.id, Name: c.name, s: c.s} }

func (c *channel) there() bool { return c.deleted.IsZero() }

func (c *channel) guildID() string {
	if c.guild == nil {
		return ""
	}
	return c.guild.ID
}

func (c *channel) state() ChannelState {
	st := ChannelState{
		ID: c.id, Name: c.name, Topic: c.topic, Kind: c.kind, Guild: c.guildID(), Owner: c.owner, Archived: c.archived,
		Locked: c.locked, At: c.at, DeletedAt: c.deleted, Names: slices.Clone(c.names),
	}
	if c.parent != nil {
		st.Parent = c.parent.id
	}
	return st
}

// addChannel puts a channel into the world.
func (s *Server) addChannel(c *channel) {
	s.channels[c.id] = c
	if c.guild != nil {
		c.guild.channels = append(c.guild.channels, c)
	}
}

// Channel returns what there is to know of a channel or thread, deleted or not.
func (s *Server) Channel(id string) (ChannelState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	c := s.channels[id]
	if c == nil {
		return ChannelState{}, false
	}
	return c.state(), true
}

// Threads returns the threads or posts of a channel in the order they were made,
// archived or not; deleted ones aren't among them.
func (s *Server) Threads(parent string) []ChannelState {
	return slices.DeleteFunc(s.AllThreads(parent), func(c ChannelState) bool { return !c.DeletedAt.IsZero() })
}

// AllThreads returns the deleted ones, too.
func (s *Server) AllThreads(parent string) []ChannelState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	var list []ChannelState
	p := s.mustChannel(parent)
	if p.guild == nil {
		return nil
	}
	for _, c := range p.guild.channels {
		if c.parent == p {
			list = append(list, c.state())
		}
	}
	return list
}

func (s *Server) mustChannel(id string) *channel {
	c := s.channels[id]
	if c == nil {
		panic("discordtest: there's no channel " + id)
	}
	return c
}

// wire is docs.discord.com/developers/resources/channel#channel-object.
func (c *channel) wire() map[string]any {
	w := map[string]any{"id": c.id, "type": c.kind, "last_message_id": c.lastMessage(), "flags": 0}
	if c.guild == nil {
		w["recipients"] = []wireUser{c.s.users[c.person].wire()}
		return w
	}
	w["guild_id"], w["name"], w["rate_limit_per_user"] = c.guild.ID, c.name, 0
	if c.parent == nil {
		w["position"], w["permission_overwrites"], w["nsfw"], w["parent_id"] = 0, c.overwrites(), false, nil
		w["topic"] = c.topic
		if c.kind == KindForum {
			w["available_tags"] = []any{}
		}
		return w
	}
	c.wireThread(w)
	return w
}

func (c *channel) wireThread(w map[string]any) {
	w["parent_id"], w["owner_id"] = c.parent.id, c.owner
	w["message_count"], w["member_count"], w["total_message_sent"] = len(c.messages), 1, len(c.messages)
	w["thread_metadata"] = map[string]any{
		"archived": c.archived, "locked": c.locked, "auto_archive_duration": int(c.autoArchive.Minutes()),
		"archive_timestamp": stamp(c.archiveChanged), "create_timestamp": stamp(c.at),
	}
	if c.joined {
		w["member"] = c.threadMember()
	}
}

func (c *channel) threadMember() map[string]any {
	return map[string]any{"id": c.id, "user_id": c.s.bot.ID, "join_timestamp": stamp(c.at), "flags": 0}
}

// lastMessage is the id of the newest message ever, which may be deleted.
func (c *channel) lastMessage() *string {
	for _, m := range slices.Backward(c.messages) {
		if m.OnlyFor == "" {
			return &m.ID
		}
	}
	return nil
}

// channelOf returns the channel that a call names, if the bot sees it and has
// these permissions there.
func (s *Server) channelOf(c *call, all Permission) (*channel, *refusal) {
	in := s.channels[c.vars["channel"]]
	if in == nil || !in.there() {
		return nil, errNoChannel
	}
	return in, in.demand(ViewChannel | all)
}

func (s *Server) getChannel(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	return in.wire(), nil
}

// deleteChannel deletes a channel, with its threads, or one thread.
func (s *Server) deleteChannel(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	if in.guild == nil {
		return nil, errDMOnly
	}
	need := ManageChannels
	if in.parent != nil {
		need = ManageThreads
	}
	if r := in.demand(need); r != nil {
		return nil, r
	}
	wire := in.wire()
	s.dropChannel(in)
	return wire, nil
}

func (s *Server) dropChannel(c *channel) {
	visible := c.visible()
	for _, below := range c.guild.channels {
		if below.parent == c && below.there() {
			s.dropChannel(below)
		}
	}
	if visible {
		event, body := "CHANNEL_DELETE", c.wire()
		if c.parent != nil {
			event = "THREAD_DELETE"
			body = map[string]any{"id": c.id, "guild_id": c.guild.ID, "parent_id": c.parent.id, "type": c.kind}
		}
		s.dispatch(event, Guilds, c, body)
	}
	c.deleted = now()
	s.Touch()
}

// createDM opens the bot's DM with a person; it exists already.
func (s *Server) createDM(c *call) (any, *refusal) {
	var body struct {
		Recipient string `json:"recipient_id"`
	}
	if r := c.decode(&body); r != nil {
		return nil, r
	}
	for _, in := range s.channels {
		if in.person == body.Recipient && in.kind == KindDM {
			return in.wire(), nil
		}
	}
	return nil, refuse(http.StatusBadRequest, 50033, "Invalid Recipient(s)")
}

// typingLasts is for how long a call makes the bot seen typing
// (docs.discord.com/developers/resources/channel#trigger-typing-indicator).
const typingLasts = 10 * time.Second

func (s *Server) typing(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r == nil {
		r = in.demand(in.sending())
	}
	switch {
	case r != nil:
		return nil, r
	case in.kind == KindForum:
		return nil, errNotText
	}
	in.busy = now().Add(typingLasts)
	return nil, nil
}

// Typing reports whether people see the bot typing in a channel.
func (s *Server) Typing(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now().Before(s.mustChannel(channel).busy)
}

// channelForm is what may be changed of a channel or thread; what's absent stays.
type channelForm struct {
	Name        *string `json:"name"`
	Topic       *string `json:"topic"`
	Archived    *bool   `json:"archived"`
	Locked      *bool   `json:"locked"`
	AutoArchive *int    `json:"auto_archive_duration"`
}

// editChannel changes a channel or a thread.
func (s *Server) editChannel(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	var form channelForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	if r := s.mayEdit(in, form); r != nil {
		return nil, r
	}
	if r := form.check(); r != nil {
		return nil, r
	}
	if form.Name != nil && in.guild.blocks(*form.Name) {
		return nil, errAutoModTitle
	}
	if form.Name != nil && *form.Name != in.name || form.Topic != nil && *form.Topic != in.topic {
		if r := s.guard.rename(in.id, c.At); r != nil {
			return nil, r
		}
	}
	s.change(in, form, s.bot)
	return in.wire(), nil
}

func (f *channelForm) check() *refusal {
	if f.Name != nil {
		if r := checkName(*f.Name); r != nil {
			return r
		}
	}
	if f.Topic != nil && len([]rune(*f.Topic)) > 1024 {
		return invalid("topic", "Must be 1024 or fewer in length.")
	}
	if f.AutoArchive != nil && !slices.Contains(autoArchives, *f.AutoArchive) {
		return invalid("auto_archive_duration", "Value must be one of {60, 1440, 4320, 10080}.")
	}
	return nil
}

// mayEdit: a thread's creator may do all but lock it; who may send there may also
// open it again. An archived thread can't be changed but by opening it
// (github.com/discord/discord-api-docs/issues/6928).
func (s *Server) mayEdit(in *channel, f channelForm) *refusal {
	if in.guild == nil {
		return errDMOnly
	}
	if in.parent == nil {
		return in.demand(ManageChannels)
	}
	manages := in.permissions().has(ManageThreads)
	opens := f.Archived != nil && !*f.Archived
	switch {
	case in.archived && !opens:
		return errArchived
	case manages:
		return nil
	case f.Locked != nil || in.locked:
		return errNoPermission
	case opens && f.Name == nil:
		return in.demand(SendInThreads)
	case in.owner != s.bot.ID:
		return errNoPermission
	}
	return nil
}

// change makes the changes, whoever asks for them, and tells everybody.
func (s *Server) change(in *channel, f channelForm, by User) {
	renamed := f.Name != nil && *f.Name != in.name
	if renamed {
		in.names = append(in.names, in.name)
		in.name = *f.Name
	}
	if f.Topic != nil {
		in.topic = *f.Topic
	}
	if f.Locked != nil {
		in.locked = *f.Locked
	}
	if f.AutoArchive != nil {
		in.autoArchive = time.Duration(*f.AutoArchive) * time.Minute
	}
	if f.Archived != nil && *f.Archived != in.archived {
		in.archived, in.archiveChanged, in.active = *f.Archived, now(), now()
	}
	event := "CHANNEL_UPDATE"
	if in.parent != nil {
		event = "THREAD_UPDATE"
	}
	s.dispatch(event, Guilds, in, in.wire())
	if renamed && in.parent != nil {
		s.post(in, &Message{ID: s.clock.next(), Kind: kindRenamed, Author: by, Content: in.name})
	}
	s.Touch()
}
