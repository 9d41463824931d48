package discord

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// failure is a call that wasn't accepted, and what that means. Its Call is as in "POST
// channels/{id}/messages", and its Code of docs.discord.com/developers/topics/opcodes-and-status-codes.
type failure struct {
	exchange.CallFailure
	local bool // it wasn't called at all: the answer was known
	guard bool // the guard in front of Discord, or a proxy, doesn't let the address through
	proxy bool // of guard: nothing says that it's Discord's, which is prolonged by calls
}

// deeds are what calls do that people see, in plain words.
var deeds = map[string]string{ //nolint:gochecknoglobals // a constant table
	"POST channels/{id}/messages": "post a message", "PATCH channels/{id}/messages/{id}": "edit a message", "PUT channels/{id}/messages/pins/{id}": "pin a message",
	"POST channels/{id}/threads": "make the thread", "PATCH channels/{id}": "change the thread",
}

// apiProblem is what Discord answers when it refuses. Its details quote the request, and
// aren't read.
type apiProblem struct {
	Code       looseNumber `json:"code"`
	Message    *string     `json:"message"`
	RetryAfter looseNumber `json:"retry_after"` // seconds
	Global     looseFlag   `json:"global"`
}

// looseNumber is a number in whatever form: 3, 3.5 and "3". What can't be read is 0.
type looseNumber float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *looseNumber) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		f = 0
	}
	*n = looseNumber(f)
	return nil
}

// looseFlag is true, or "true"; all else is false.
type looseFlag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *looseFlag) UnmarshalJSON(raw []byte) error {
	*f = looseFlag(strings.Trim(string(raw), `"`) == "true")
	return nil
}

// refusal is the failure of a call that was answered with an error.
func refusal(x *exchange.Exchange, route string, a exchange.Response) *failure {
	f := &failure{CallFailure: x.Refused(route, a)}
	var p apiProblem
	if err := json.Unmarshal(a.Body, &p); err != nil || p.Message == nil {
		f.CallFailure = x.Foreign(route, a)
		f.foreign(a)
		return f
	}
	f.Code, f.Text = int(p.Code), exchange.Harmless(*p.Message)
	switch {
	case f.Code == codeOldEdits: // with status 429, and no order to be silent
	case f.Status == http.StatusUnauthorized:
		f.Outcome, f.Text = qos.Failed, adviceToken // it will be done when the token is right
	case f.Status == http.StatusTooManyRequests:
		f.Outcome, f.RetryAfter, f.Global = qos.Throttled, orderOf(p, a.Header), bool(p.Global)
	case f.Status >= http.StatusInternalServerError:
		f.Outcome, f.Over = qos.Uncertain, true
	case f.Code == 0 && (f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed), f.Code == codeNetwork:
		f.Outcome, f.Text = qos.Failed, adviceAddress // it will be done when that's right
	default:
		if m := meanings[f.Code]; m.advice != "" {
			f.Text = m.advice
		}
	}
	return f
}

// foreign takes in what's Discord's of an answer that isn't of its making: somebody in between gave it.
func (f *failure) foreign(a exchange.Response) {
	switch {
	case f.Status == http.StatusTooManyRequests && (a.Header.Get(headerScope) != "" || a.Header.Get(headerResetAfter) != ""):
		// Discord's own, of which the rest was lost.
		f.Outcome, f.RetryAfter, f.Global = qos.Throttled, orderOf(apiProblem{}, a.Header), a.Header.Get(headerGlobal) != ""
		f.Text = "Discord orders silence"
	case f.Status == http.StatusTooManyRequests:
		// The guard in front of Discord silences the address, whatever is called
		// (docs.discord.com/developers/topics/rate-limits).
		f.Outcome, f.RetryAfter, f.Global = qos.Throttled, max(orderOf(apiProblem{}, a.Header), foreignSilence), true
		f.guard = true
		f.Text = "the guard in front of Discord has silenced this address"
	case f.Status == http.StatusForbidden:
		// So does it, or a proxy: nobody says for how long.
		f.Outcome, f.RetryAfter = qos.Failed, orderOf(apiProblem{}, a.Header)
		f.guard, f.proxy = true, !isCloudflare(a)
		f.Text = "something in front of Discord refuses this address: wait, or check the proxy if there's one"
	case f.Status == http.StatusRequestEntityTooLarge:
		f.Outcome, f.Text = qos.Rejected, adviceFile
	}
}

// isCloudflare reports whether a refusal is that of the guard in front of Discord: it says so in
// its headers, orders silence, or gives its number (developers.cloudflare.com/support:
// "error code: 1015").
func isCloudflare(a exchange.Response) bool {
	return a.Header.Get("Cf-Ray") != "" || a.Header.Get("Retry-After") != "" ||
		strings.Contains(strings.ToLower(a.Header.Get("Server")), "cloudflare") || bytes.Contains(a.Body, []byte("error code: 10"))
}

// foreignSilence is the least time to be silent when the guard in front of Discord
// says no. It grows when it says so again: each call may prolong it.
const foreignSilence = time.Minute

// orderOf is for how long a 429 orders silence: the longest of what it says, because
// calling too early is worse than calling late. 0: it doesn't say.
func orderOf(p apiProblem, h http.Header) time.Duration {
	order := seconds(float64(p.RetryAfter))
	for _, name := range []string{"Retry-After", headerResetAfter} {
		if n, err := strconv.ParseFloat(h.Get(name), 64); err == nil {
			order = max(order, seconds(n))
		}
	}
	return order
}

// seconds is a number of seconds, rounded up to a millisecond.
func seconds(n float64) time.Duration {
	const most = 366 * 24 * 3600
	if !(n > 0) { // also for what's not a number
		return 0
	}
	return time.Duration(min(n, most)*1000+0.999) * time.Millisecond
}

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

// codeMeaning is what one of Discord's codes says about a call.
type codeMeaning struct {
	outcome qos.CallOutcome
	missing adapters.Missing
	advice  string // what to do; "": Discord's own words
	content bool   // it's about what was to be shown
	// thread says that it's about the thread, if the call goes to one: that's gone then,
	// not its channel.
	thread bool
}

// meanings are what Discord's codes say
// (docs.discord.com/developers/topics/opcodes-and-status-codes#json).
var meanings = map[int]codeMeaning{ //nolint:gochecknoglobals // a constant table
	// What's gone and can be repaired.
	10003:        {outcome: qos.ChatGone, advice: adviceChannel, thread: true}, // unknown channel
	10008:        {outcome: qos.Rejected, missing: adapters.MissingMessage},    // unknown message
	codeOldEdits: {outcome: qos.Rejected, missing: adapters.MissingMessage},    // too many edits of a message older than an hour
	50005:        {outcome: qos.Rejected, missing: adapters.MissingMessage},    // somebody else's message
	50021:        {outcome: qos.Rejected, missing: adapters.MissingMessage},    // a system message
	// The thread is archived: its messages can't be changed, and a new one opens it.
	codeArchived: {outcome: qos.Rejected, missing: adapters.MissingMessage, advice: adviceArchive},

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
	codeArchived       = 50083
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
		m = codeMeaning{outcome: qos.Rejected, advice: adviceFile, content: true}
	case f.Status == http.StatusForbidden:
		m = codeMeaning{outcome: qos.ChatGone}
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
