package discordtest

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Guild is a server, as Discord's people call it, with channels in it.
type Guild struct {
	ID, Name string

	s        *Server
	at       time.Time
	owner    string
	role     string     // the bot's
	everyone Permission // of the role that everybody has
	granted  Permission // of the bot's role
	gone     bool       // the bot was thrown out
	blocked  []string   // words, see SetAutoMod
	channels []*channel // threads too, in the order they were made
}

// Guild returns the guild of that name, and makes it if need be. The bot is in it
// with the permissions of Invited; so are all people, who may do everything.
func (s *Server) Guild(name string) *Guild {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.guilds {
		if g.Name == name {
			return g
		}
	}
	g := &Guild{ID: s.clock.next(), Name: name, s: s, at: now(), everyone: everyone, granted: Invited}
	g.owner, g.role = s.clock.next(), s.clock.next()
	s.users[g.owner] = User{ID: g.owner, Name: "owner"}
	s.guilds = append(s.guilds, g)
	s.dispatch("GUILD_CREATE", Guilds, nil, g.wireWhole())
	s.Touch()
	return g
}

// TextChannel returns the guild's text channel of that name, and makes it if need be.
func (g *Guild) TextChannel(name string) *Channel { return g.channel(name, KindText) }

// ForumChannel returns the guild's forum of that name, and makes it if need be.
func (g *Guild) ForumChannel(name string) *Channel { return g.channel(name, KindForum) }

func (g *Guild) channel(name string, kind Kind) *Channel {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	for _, c := range g.channels {
		if c.name == name && c.kind == kind && c.there() {
			return c.handle()
		}
	}
	c := &channel{id: g.s.clock.next(), s: g.s, name: name, kind: kind, guild: g, at: now()}
	g.s.addChannel(c)
	g.s.dispatch("CHANNEL_CREATE", Guilds, c, c.wire())
	g.s.Touch()
	return c.handle()
}

// Kick throws the bot out of the guild.
func (g *Guild) Kick() {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.gone = true
	g.s.dispatch("GUILD_DELETE", Guilds, nil, map[string]any{"id": g.ID})
	g.s.Touch()
}

// Invite brings the bot back.
func (g *Guild) Invite() {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.gone = false
	g.s.dispatch("GUILD_CREATE", Guilds, nil, g.wireWhole())
	g.s.Touch()
}

// guildOf returns the guild that a call names, if the bot is in it.
func (s *Server) guildOf(c *call) (*Guild, *refusal) {
	for _, g := range s.guilds {
		switch {
		case g.ID != c.vars["guild"]:
		case g.gone:
			return nil, errNoAccess
		default:
			return g, nil
		}
	}
	return nil, errNoGuild
}

// wireRole is docs.discord.com/developers/topics/permissions#role-object.
type wireRole struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Permissions string `json:"permissions"`
	Position    int    `json:"position"`
	Managed     bool   `json:"managed"`
	Mentionable bool   `json:"mentionable"`
}

func (g *Guild) roles() []wireRole {
	return []wireRole{
		{ID: g.ID, Name: "@everyone", Permissions: g.everyone.wire()},
		{ID: g.role, Name: g.s.bot.Name, Permissions: g.granted.wire(), Position: 1, Managed: true},
	}
}

// wire is docs.discord.com/developers/resources/guild#guild-object.
func (g *Guild) wire() map[string]any {
	return map[string]any{
		"id": g.ID, "name": g.Name, "owner_id": g.owner, "roles": g.roles(), "features": []string{}, "emojis": []any{},
		"preferred_locale": "en-GB", "premium_tier": 0, "default_message_notifications": 0, "verification_level": 0,
	}
}

// wireWhole is what the gateway tells of a guild: its channels, the threads that
// aren't archived, and the bot (people don't come without the members intent).
func (g *Guild) wireWhole() map[string]any {
	w := g.wire()
	channels, threads := []any{}, []any{}
	for _, c := range g.channels {
		switch {
		case !c.there() || !c.visible():
		case c.parent == nil:
			channels = append(channels, c.wire())
		case !c.archived:
			threads = append(threads, c.wire())
		}
	}
	w["joined_at"], w["large"], w["unavailable"], w["member_count"] = stamp(g.at), false, false, len(g.s.people)+2
	w["channels"], w["threads"], w["members"] = channels, threads, []any{g.member(g.s.bot, true)}
	w["presences"], w["voice_states"] = []any{}, []any{}
	return w
}

// getMyGuilds lists the guilds that the bot is in, with what it may do there.
func (s *Server) getMyGuilds(*call) (any, *refusal) {
	list := []any{}
	for _, g := range s.guilds {
		if !g.gone {
			list = append(list, map[string]any{
				"id": g.ID, "name": g.Name, "icon": nil, "owner": false, "features": []string{}, "permissions": (g.everyone | g.granted).wire(),
			})
		}
	}
	return list, nil
}

func (s *Server) getGuild(c *call) (any, *refusal) {
	g, r := s.guildOf(c)
	if r != nil {
		return nil, r
	}
	return g.wire(), nil
}

func (s *Server) getRoles(c *call) (any, *refusal) {
	g, r := s.guildOf(c)
	if r != nil {
		return nil, r
	}
	return g.roles(), nil
}

// getGuildChannels lists the channels, without threads, that the bot sees.
func (s *Server) getGuildChannels(c *call) (any, *refusal) {
	g, r := s.guildOf(c)
	if r != nil {
		return nil, r
	}
	list := []any{}
	for _, in := range g.channels {
		if in.parent == nil && in.there() && in.visible() {
			list = append(list, in.wire())
		}
	}
	return list, nil
}

func (s *Server) getMember(c *call) (any, *refusal) {
	g, r := s.guildOf(c)
	if r != nil {
		return nil, r
	}
	id := c.vars["user"]
	if id == "@me" {
		id = s.bot.ID
	}
	u, known := s.users[id]
	if !known {
		return nil, errNoMember
	}
	return g.member(u, true), nil
}

// Permission is a set of what somebody may do
// (docs.discord.com/developers/topics/permissions).
type Permission uint64

// The permissions that are enforced.
const (
	ManageChannels  Permission = 1 << 4
	AddReactions    Permission = 1 << 6
	ViewChannel     Permission = 1 << 10
	SendMessages    Permission = 1 << 11
	ManageMessages  Permission = 1 << 13
	EmbedLinks      Permission = 1 << 14
	AttachFiles     Permission = 1 << 15
	ReadHistory     Permission = 1 << 16
	MentionEveryone Permission = 1 << 17
	ManageThreads   Permission = 1 << 34
	CreateThreads   Permission = 1 << 35
	SendInThreads   Permission = 1 << 38
	PinMessages     Permission = 1 << 51
)

// Invited is what a bot has that was invited as docs/discord.md says, and all that it has by itself: what
// else a server gives to everybody isn't to be counted on.
const Invited = ViewChannel | SendMessages | SendInThreads | CreateThreads | ManageThreads | ReadHistory | AttachFiles | AddReactions | PinMessages

// everyone is what every member may; all that's not here the bot has by its role.
const everyone = ViewChannel | SendMessages | SendInThreads | CreateThreads | ReadHistory | AttachFiles | AddReactions

// everything is what a moderator may, as all people here are.
const everything = Invited | ManageChannels | ManageMessages | EmbedLinks | MentionEveryone

func (p Permission) has(all Permission) bool { return p&all == all }

func (p Permission) wire() string { return strconv.FormatUint(uint64(p), 10) }

// permissions returns what the bot may do in a channel; a thread has its parent's.
func (c *channel) permissions() Permission {
	if c.parent != nil {
		return c.parent.permissions()
	}
	if c.guild == nil {
		return AddReactions | ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadHistory | PinMessages
	}
	if c.guild.gone {
		return 0
	}
	p := (c.guild.everyone|c.guild.granted)&^c.deny | c.allow
	if !p.has(ViewChannel) {
		return 0
	}
	return p
}

// visible reports whether the bot sees a channel.
func (c *channel) visible() bool { return c.permissions().has(ViewChannel) }

// demand refuses a bot that lacks any of the permissions.
func (c *channel) demand(all Permission) *refusal {
	switch have := c.permissions(); {
	case !have.has(ViewChannel):
		return errNoAccess
	case !have.has(all):
		return errNoPermission
	}
	return nil
}

// sending is the permission to send messages to a place.
func (c *channel) sending() Permission {
	if c.parent != nil {
		return SendInThreads
	}
	return SendMessages
}

// Deny takes permissions from the bot in this channel and its threads, by an
// overwrite.
func (c *Channel) Deny(p Permission) { c.overwrite(0, p) }

// Allow gives permissions to the bot in this channel and its threads, by an
// overwrite.
func (c *Channel) Allow(p Permission) { c.overwrite(p, 0) }

func (c *Channel) overwrite(allow, deny Permission) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	in := c.s.channels[c.ID]
	could := in.visible()
	in.allow, in.deny = (in.allow|allow)&^deny, (in.deny|deny)&^allow
	switch {
	case could && !in.visible():
		c.s.dispatch("CHANNEL_DELETE", Guilds, nil, in.wire())
	case !could && in.visible():
		c.s.dispatch("CHANNEL_CREATE", Guilds, in, in.wire())
	default:
		c.s.dispatch("CHANNEL_UPDATE", Guilds, in, in.wire())
	}
	c.s.Touch()
}

// Deny takes permissions from the bot in the whole guild: from its role, and from
// everybody.
func (g *Guild) Deny(p Permission) { g.change(0, p) }

// Allow gives permissions to the bot in the whole guild, by its role.
func (g *Guild) Allow(p Permission) { g.change(p, 0) }

func (g *Guild) change(allow, deny Permission) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.granted, g.everyone = (g.granted|allow)&^deny, g.everyone&^deny
	for _, role := range g.roles() {
		g.s.dispatch("GUILD_ROLE_UPDATE", Guilds, nil, map[string]any{"guild_id": g.ID, "role": role})
	}
	g.s.Touch()
}

// wireOverwrite is docs.discord.com/developers/resources/channel#overwrite-object,
// here always of the bot as a member.
type wireOverwrite struct {
	ID    string `json:"id"`
	Type  int    `json:"type"`
	Allow string `json:"allow"`
	Deny  string `json:"deny"`
}

func (c *channel) overwrites() []wireOverwrite {
	if c.allow|c.deny == 0 {
		return []wireOverwrite{}
	}
	return []wireOverwrite{{ID: c.guild.s.bot.ID, Type: 1, Allow: c.allow.wire(), Deny: c.deny.wire()}}
}

// SetAutoMod has the guild's auto-moderation block words, whatever their case, in what the bot
// posts and edits (200000) and in the names of threads (200001). Files aren't looked into. None
// lets everything through.
func (g *Guild) SetAutoMod(words ...string) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.blocked = words
}

// blocks says whether a text has a word that the auto-moderation blocks.
func (g *Guild) blocks(text string) bool {
	if g == nil {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(g.blocked, func(w string) bool { return slices.Contains(words, strings.ToLower(w)) })
}
