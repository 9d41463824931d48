package discordtest

import "time"

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
