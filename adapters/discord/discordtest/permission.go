package discordtest

import "strconv"

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
