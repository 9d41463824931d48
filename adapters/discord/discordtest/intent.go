package discordtest

// Intent is a set of what a gateway connection asks to hear of
// (docs.discord.com/developers/events/gateway#gateway-intents).
type Intent int

// The intents that events of the stand-in belong to.
const (
	Guilds          Intent = 1 << 0
	guildMembers    Intent = 1 << 1 // privileged, and never granted here
	guildPresences  Intent = 1 << 8 // privileged, and never granted here
	GuildMessages   Intent = 1 << 9
	GuildReactions  Intent = 1 << 10
	DirectMessages  Intent = 1 << 12
	DirectReactions Intent = 1 << 13
	MessageContent  Intent = 1 << 15 // privileged

	// always is for what comes whatever was asked for, such as interactions.
	always Intent = 0
	// everyIntent shows all.
	everyIntent Intent = 1<<17 - 1
	// knownIntents are the bits that mean anything to Discord.
	knownIntents = everyIntent | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

func (c *channel) messageIntent() Intent {
	if c.guild == nil {
		return DirectMessages
	}
	return GuildMessages
}

func (c *channel) reactionIntent() Intent {
	if c.guild == nil {
		return DirectReactions
	}
	return GuildReactions
}

// forbiddenIntents are the intents that this bot isn't granted.
func (s *Server) forbiddenIntents() Intent {
	if s.opts.NoContentIntent {
		return guildMembers | guildPresences | MessageContent
	}
	return guildMembers | guildPresences
}
