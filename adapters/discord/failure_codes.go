package discord

import (
	"net/http"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// codeOldEdits is refused with status 429, without an order to be silent.
const codeOldEdits = 30046

const (
	adviceToken   = `Discord doesn't know the token: take the present one from the page "Bot" of the developer portal, and put it into token_file`
	adviceAddress = "Discord doesn't know the address: check api_url"
	adviceChannel = "the bot doesn't see the channel, or it's gone: check its id, and let the bot view it"
	adviceWrite   = "the bot may not write in the channel: let it view the channel, send messages there and in threads, and attach files"
	adviceThreads = "the bot may not make or change threads: let it create public threads, send messages in threads and manage threads"
	adviceArchive = "the thread is archived and locked: unlock it, or let the bot manage threads"
	adviceFull    = "the server has as many active threads as it may: archive some"
	adviceFile    = "the file is too large for Discord"
	adviceAutoMod = "the server's AutoMod doesn't let the message through: except the bot's role from its rule"
)

// meaning is what one of Discord's codes says about a call.
type meaning struct {
	outcome qos.Outcome
	missing adapters.Missing
	advice  string // what to do; "": Discord's own words
	content bool   // it's about what was to be shown
	// thread says that it's about the thread, if the call goes to one: that's gone then,
	// not its channel.
	thread bool
}

// meanings are what Discord's codes say
// (docs.discord.com/developers/topics/opcodes-and-status-codes#json).
var meanings = map[int]meaning{ //nolint:gochecknoglobals // a constant table
	// What's gone and can be repaired.
	10003:        {outcome: qos.ChatGone, advice: adviceChannel, thread: true}, // unknown channel
	10008:        {outcome: qos.Rejected, missing: adapters.MissingMessage},    // unknown message
	codeOldEdits: {outcome: qos.Rejected, missing: adapters.MissingMessage},    // too many edits of a message older than an hour
	50005:        {outcome: qos.Rejected, missing: adapters.MissingMessage},    // somebody else's message
	50021:        {outcome: qos.Rejected, missing: adapters.MissingMessage},    // a system message
	// The thread is archived: its messages can't be changed, and a new one opens it.
	50083: {outcome: qos.Rejected, missing: adapters.MissingMessage, advice: adviceArchive},

	// What a person must repair, for the whole channel.
	10004: {outcome: qos.ChatGone, advice: "the bot isn't on the server: invite it"},
	50001: {outcome: qos.ChatGone, advice: adviceChannel}, // missing access
	50007: {outcome: qos.ChatGone, advice: "the person takes no messages from the bot: allow messages from members of the server, and write to the bot first"},
	50008: {outcome: qos.ChatGone, advice: "it's no channel for text: take the id of a text or forum channel"},
	50013: {outcome: qos.ChatGone, advice: adviceWrite}, // missing permissions
	50024: {outcome: qos.ChatGone, advice: "it's no channel for text: take the id of a text or forum channel"},

	// And for one thread or message.
	30013:     {outcome: qos.Rejected, advice: adviceFull},
	40005:     {outcome: qos.Rejected, advice: adviceFile, content: true},
	160005:    {outcome: qos.Rejected, advice: adviceArchive},
	160006:    {outcome: qos.Rejected, advice: adviceFull},
	200000:    {outcome: qos.Rejected, advice: adviceAutoMod, content: true},
	codeTitle: {outcome: qos.Rejected, advice: adviceAutoMod, content: true},
	240000:    {outcome: qos.Rejected, advice: adviceAutoMod, content: true},
}

const (
	codeUnknownChannel = 10003
	codeNetwork        = 40333 // "internal network error": what's in front of Discord didn't pass it on
	codePermissions    = 50013
	codeTitle          = 200001 // a thread\'s name, by AutoMod
)

// only is a reply that's about one thing in a channel, and not the channel.
func only(r adapters.Reply) adapters.Reply {
	if r.Outcome == qos.ChatGone {
		r.Outcome = qos.Rejected
	}
	return r
}

// reply is the failure as package adapters reads it, of a call to a target.
func (f *failure) reply(at adapters.Target) adapters.Reply {
	r := f.Reply()
	r.Narrow, r.Err = f.Outcome == qos.Throttled && !f.Global, f
	if f.Outcome != qos.Rejected {
		return r
	}
	m, ok := meanings[f.Code]
	switch {
	case ok:
	case f.Status == http.StatusRequestEntityTooLarge:
		m = meaning{outcome: qos.Rejected, advice: adviceFile, content: true}
	case f.Status == http.StatusForbidden:
		m = meaning{outcome: qos.ChatGone}
	default:
		r.Content = f.Status == http.StatusBadRequest && f.Code != 0
		return r
	}
	r.Outcome, r.Missing, r.Content = m.outcome, m.missing, m.content
	if m.thread && at.Thread != "" {
		r.Outcome, r.Missing = qos.Rejected, adapters.MissingThread
	}
	return r
}
