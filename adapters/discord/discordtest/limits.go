package discordtest

import (
	"cmp"
	"maps"
	"time"
)

// Window allows a number of calls per time.
type Window struct {
	Calls int
	Per   time.Duration
}

func (w Window) or(standard Window) Window {
	if w.Calls == 0 {
		return standard
	}
	return w
}

// Limits are what's counted. The zero value of a field means Discord's.
type Limits struct {
	// Routes are the visible limits by call's name, for one channel (guild,
	// interaction) each; those that aren't named keep Discord's.
	Routes map[string]Window
	// Global is for all calls but those that answer interactions.
	Global Window
	// Renames is for the name or topic of one channel or thread; the headers say
	// nothing of it.
	Renames Window
	// OldEdits is for the edits, in one channel, of messages older than OldAfter.
	OldEdits Window
	OldAfter time.Duration
	// Threads is for new threads and posts in one guild; the headers say nothing of
	// it, and what a 429 says is half as long again as it really is.
	Threads Window
	// Invalid is for answers 401, 403 and 429, from one address; Ban is for how long
	// it's then shut out.
	Invalid Window
	Ban     time.Duration
	// Sends is for what the bot says on one gateway connection.
	Sends Window
	// Identifies is how often a session may begin; IdentifyDay how often in a day,
	// and one more makes the token worthless.
	Identifies, IdentifyDay Window
	// Resume is for how long after a connection its session can be taken up again.
	Resume time.Duration
	// NewCommands is for commands with a new name, in one guild.
	NewCommands Window
	// Nonces is for how long an enforced nonce is remembered.
	Nonces time.Duration
	// ActiveThreads is how many threads of a guild aren't archived.
	ActiveThreads int
	// FileBytes is the size of one file at most.
	FileBytes int
}

// routeLimits are the limits that Discord's headers show. They may change any
// day, and so may be set otherwise by Limits.Routes.
func routeLimits() map[string]Window {
	quick, read, write := Window{50, time.Second}, Window{5, 5 * time.Second}, Window{5, 5 * time.Second}
	return map[string]Window{
		"GetMe": quick, "GetMyGuilds": {1, time.Second}, "GetApplication": quick, "GetGuild": quick, "GetGuildChannels": quick, "GetMember": quick,
		"GetRoles": quick, "GetChannel": quick, "GetActiveThreads": quick, "GetArchivedThreads": quick,
		"GetMessages": read, "GetMessage": read,
		// Seen: 5 in 5 s for one channel, where a thread is a channel of its own; edits
		// have a bucket of their own with the same numbers
		// (github.com/discord-net/Discord.Net/issues/2375).
		"CreateMessage": write, "EditMessage": write, "DeleteMessage": {5, time.Second},
		"BulkDelete": {1, time.Second}, "Typing": write, "React": {1, 250 * time.Millisecond},
		"JoinThread": write, "CreateDM": write, "DeleteChannel": write,
		// What the headers say of changes to a channel; Limits.Renames is the truth
		// (github.com/discord/discord-api-docs/issues/1900).
		"EditChannel": {5, 15 * time.Second},
		"StartThread": {10, 10 * time.Second},
		// Of one interaction's token (github.com/discord/discord-api-docs/issues/367).
		"CreateFollowup": {5, 2 * time.Second}, "EditFollowup": {5, 2 * time.Second},
		"GetCommands": quick, "SetCommands": {5, 20 * time.Second}, "CreateCommand": {5, 20 * time.Second},
	}
}

func (l Limits) withDefaults() Limits {
	routes := routeLimits()
	maps.Copy(routes, l.Routes)
	l.Routes = routes
	// support-dev.discord.com/hc/en-us/articles/6223003921559.
	l.Global = l.Global.or(Window{50, time.Second})
	l.Invalid = l.Invalid.or(Window{10_000, 10 * time.Minute})
	l.Ban = cmp.Or(l.Ban, time.Hour)
	// github.com/discord/discord-api-docs/issues/1900, and for threads
	// github.com/discordjs/discord.js/issues/6651.
	l.Renames = l.Renames.or(Window{2, 10 * time.Minute})
	// "3 edits per channels per 20 seconds I think"
	// (github.com/circuitsacul/starboard-4/issues/118).
	l.OldEdits = l.OldEdits.or(Window{3, 20 * time.Second})
	l.OldAfter = cmp.Or(l.OldAfter, time.Hour)
	// Discord names no number; bots were told to wait for 219 to 280 s
	// (github.com/discord/discord-api-docs/issues/7816).
	l.Threads = l.Threads.or(Window{20, 5 * time.Minute})
	// docs.discord.com/developers/events/gateway#rate-limiting, and
	// #session-start-limit-object.
	l.Sends = l.Sends.or(Window{120, time.Minute})
	l.Identifies = l.Identifies.or(Window{1, 5 * time.Second})
	l.IdentifyDay = l.IdentifyDay.or(Window{1000, 24 * time.Hour})
	// Discord says only that it's a while.
	l.Resume = cmp.Or(l.Resume, 3*time.Minute)
	// docs.discord.com/developers/interactions/application-commands#registering-a-command.
	l.NewCommands = l.NewCommands.or(Window{200, 24 * time.Hour})
	// "checked for uniqueness in the past few minutes"
	// (docs.discord.com/developers/resources/message#create-message).
	l.Nonces = cmp.Or(l.Nonces, 3*time.Minute)
	l.ActiveThreads = cmp.Or(l.ActiveThreads, 1000)
	// Of guilds without boosts (docs.discord.com/developers/reference#uploading-files).
	l.FileBytes = cmp.Or(l.FileBytes, 10<<20)
	return l
}
