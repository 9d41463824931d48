// Package discordtest is a stand-in for Discord, its REST API and its gateway,
// that refuses what Discord refuses, remembers everything, and has people with
// phones in it.
//
// # How it's used
//
// New makes a Server, which is an http.Handler and starts nothing. memnet.Serve
// puts it on a listener: a socket for a daemon that's another process, or a Network
// inside a synctest bubble, where days pass in no time. The library knows only
// discord.com, so a RoundTripper sends its calls to the stand-in's host, below
// /api/v9; the address of the gateway comes from there.
//
// Guild, TextChannel, ForumChannel and Person make the world. A Person says, edits,
// deletes, reacts, attaches, begins threads, archives, locks, renames, sends
// commands, presses, chooses and fills in forms; the bot gets the events that
// Discord would send. Messages, SeenBy, History, Threads, Rings, Typing and
// Interactions tell what a person sees and which phone rang; Calls, Refusals, Worst
// and InvalidRequests what the bot did.
//
// NewView is a page that shows all that as a phone would, and lets a browser be any of the
// people.
//
// Inject makes calls fail, wait or be refused. DropGateways, CloseGateways,
// SilenceGateways, MuteGateways, RefuseGateways, ReconnectGateways,
// InvalidateSessions and ForgetSessions do to the gateway what happens to it;
// ResetToken, Deny, Kick and Block to the bot.
//
// Nothing of it comes from the client library it's used with: its JSON and its
// WebSocket are written from docs.discord.com and RFC 6455, so that a mistake of
// the library shows.
//
// # What's counted
//
// limits.go has the numbers and where they're from:
//
//   - each kind of call by channel, guild or interaction, in a window that begins
//     with a call, told by X-RateLimit headers: sending 5 in 5 s for a channel,
//     editing the same for itself; a thread is a channel;
//   - all calls together but those that answer interactions: 50 in any second;
//   - without a word in the headers: names and topics 2 in 10 min for a channel or
//     thread; edits of messages older than an hour 3 in 20 s for a channel (30046);
//     new threads 20 in 5 min for a guild, with a 429 of the scope "shared" whose
//     time is half as long again as the truth;
//   - answers 401, 403 and 429, but for shared ones: the 10,000th in 10 min shuts the
//     address out for an hour, with a page of HTML;
//   - what's said on a gateway connection: 120 in a minute; sessions begun: one in
//     5 s and 1,000 a day; new commands: 200 a day for a guild.
//
// A call too many is refused and not counted by its window; it counts as invalid,
// and in Worst, which looks at every span there was.
//
// # What passes by itself
//
// Threads that nobody used are archived when somebody looks, with the event at that
// time. Interactions fail after 3 s and their tokens end after 15 min; enforced
// nonces are forgotten after 3 min; addresses of attachments are good for a day.
// A session lives on for 3 min after its connection; a connection without a
// heartbeat for one and a half intervals is closed, and its session with it.
//
// # Where it's stricter than Discord
//
// A text's length is counted in UTF-16 units. An enforced nonce is looked for in all
// channels, which is what the documentation says. Operations on an archived thread
// other than posting and opening it are refused, deleting a message too. An
// IDENTIFY too soon is refused to the connection that sent it at once.
//
// # Where it's laxer
//
// It doesn't know voice, stages, polls, stickers, unpinning, private threads, tags,
// announcements, webhooks of channels, auto-moderation but for words, components of version 2,
// user commands, or more shards than one: those routes aren't found, those forms
// refused. Everybody is in every guild with a moderator's rights, and roles other
// than the bot's don't exist. The bot's permissions are those of its role, changed
// for a channel by overwrites for itself. A gateway connection isn't closed for not
// identifying, and events are JSON, compressed one by one if the bot asks for it.
package discordtest
