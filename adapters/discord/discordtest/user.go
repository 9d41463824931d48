package discordtest

// User is somebody on Discord, a person or the bot.
type User struct {
	ID   string
	Name string
	Bot  bool
}

// wireUser is docs.discord.com/developers/resources/user#user-object.
type wireUser struct {
	ID            string  `json:"id"`
	Username      string  `json:"username"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"global_name"`
	Avatar        *string `json:"avatar"`
	Bot           bool    `json:"bot,omitempty"`
	PublicFlags   int     `json:"public_flags"`
}

func (u User) wire() wireUser {
	w := wireUser{ID: u.ID, Username: u.Name, Discriminator: "0", Bot: u.Bot}
	if !u.Bot {
		w.GlobalName = &u.Name
	}
	return w
}

// wireMember is docs.discord.com/developers/resources/guild#guild-member-object.
type wireMember struct {
	User        *wireUser `json:"user,omitempty"`
	Nick        *string   `json:"nick"`
	Roles       []string  `json:"roles"`
	JoinedAt    string    `json:"joined_at"`
	Deaf        bool      `json:"deaf"`
	Mute        bool      `json:"mute"`
	Flags       int       `json:"flags"`
	Permissions string    `json:"permissions,omitempty"` // in interactions
}

// member writes somebody as a member; in messages the user stands elsewhere.
func (g *Guild) member(u User, withUser bool) *wireMember {
	w := &wireMember{Roles: []string{}, JoinedAt: stamp(g.at)}
	if u.ID == g.s.bot.ID {
		w.Roles = append(w.Roles, g.role)
	}
	if withUser {
		user := u.wire()
		w.User = &user
	}
	return w
}

func (s *Server) getMe(*call) (any, *refusal) {
	w := s.bot.wire()
	return map[string]any{
		"id": w.ID, "username": w.Username, "discriminator": w.Discriminator, "global_name": nil, "avatar": nil, "bot": true,
		"verified": true, "mfa_enabled": false, "flags": 0, "public_flags": 0,
	}, nil
}

// Flags of an application: message content for bots in few guilds
// (docs.discord.com/developers/resources/application#application-object-application-flags).
const contentLimited = 1 << 19

func (s *Server) application() map[string]any {
	flags := 0
	if !s.opts.NoContentIntent {
		flags = contentLimited
	}
	return map[string]any{"id": s.bot.ID, "name": s.bot.Name, "flags": flags}
}

func (s *Server) getApplication(*call) (any, *refusal) {
	a := s.application()
	a["description"], a["bot_public"], a["bot_require_code_grant"], a["verify_key"] = "", false, false, "00"
	a["bot"] = s.bot.wire()
	return a, nil
}
