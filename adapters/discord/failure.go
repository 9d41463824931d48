package discord

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// failure is a call that wasn't accepted, and what that means. It holds neither
// secrets nor texts of users.
type failure struct {
	route      string // "POST channels/{id}/messages"; "" if it's not known
	status     int    // of HTTP; 0: no answer came
	code       int    // Discord's own, of docs.discord.com/developers/topics/opcodes-and-status-codes; 0: none
	text       string // as a sentence, for people
	outcome    qos.Outcome
	over       bool          // of Uncertain: it can't arrive any more
	retryAfter time.Duration // as ordered, never clamped
	global     bool          // the order is for the whole bot
	local      bool          // it wasn't called at all: the answer was known
	guard      bool          // the guard in front of Discord, or a proxy, doesn't let the address through
	proxy      bool          // of guard: nothing says that it's Discord's, which is prolonged by calls
	cause      error
}

// deeds are what calls do that people see, in plain words.
var deeds = map[string]string{ //nolint:gochecknoglobals // a constant table
	"POST channels/{id}/messages": "post a message", "PATCH channels/{id}/messages/{id}": "edit a message", "PUT channels/{id}/messages/pins/{id}": "pin a message",
	"POST channels/{id}/threads": "make the thread", "PATCH channels/{id}": "change the thread",
}

// Reason is why, in words: "the bot may not manage topics".
func (f *failure) Reason() string { return f.text }

// Error says what wasn't done and why: "make the thread: Missing Permissions (50013)". Calls that
// nobody sees have Discord's own name.
func (f *failure) Error() string {
	return adapters.FailureWords(deeds[f.route], cmp.Or(f.route, "Discord"), f.text, cmp.Or(f.code, f.status))
}

func (f *failure) Unwrap() error { return f.cause }

// problem is what Discord answers when it refuses. Its details quote the request, and
// aren't read.
type problem struct {
	Code       number  `json:"code"`
	Message    *string `json:"message"`
	RetryAfter number  `json:"retry_after"` // seconds
	Global     flag    `json:"global"`
}

// number is a number in whatever form: 3, 3.5 and "3". What can't be read is 0.
type number float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		f = 0
	}
	*n = number(f)
	return nil
}

// flag is true, or "true"; all else is false.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(raw []byte) error {
	*f = flag(strings.Trim(string(raw), `"`) == "true")
	return nil
}

// refusal is the failure of a call that was answered with an error.
func refusal(route string, resp *http.Response, body []byte) *failure {
	f := &failure{route: route, status: resp.StatusCode, outcome: qos.Rejected}
	var p problem
	if err := json.Unmarshal(body, &p); err != nil || p.Message == nil {
		f.foreign(resp, body)
		return f
	}
	f.code, f.text = int(p.Code), harmless(*p.Message)
	switch {
	case f.code == codeOldEdits: // with status 429, and no order to be silent
	case f.status == http.StatusUnauthorized:
		f.outcome, f.text = qos.Failed, adviceToken // it will be done when the token is right
	case f.status == http.StatusTooManyRequests:
		f.outcome, f.retryAfter, f.global = qos.Throttled, orderOf(p, resp.Header), bool(p.Global)
	case f.status >= http.StatusInternalServerError:
		f.outcome, f.over = qos.Uncertain, true
	case f.code == 0 && (f.status == http.StatusNotFound || f.status == http.StatusMethodNotAllowed), f.code == codeNetwork:
		f.outcome, f.text = qos.Failed, adviceAddress // it will be done when that's right
	default:
		if m := meanings[f.code]; m.advice != "" {
			f.text = m.advice
		}
	}
	return f
}

// foreign takes in an answer that isn't of Discord's making: somebody in between gave
// it. Only status and headers are of use; the page may quote what was asked.
func (f *failure) foreign(resp *http.Response, body []byte) {
	f.text = "no answer of Discord's: check api_url, and the proxy if there's one"
	switch {
	case f.status == http.StatusTooManyRequests && (resp.Header.Get(headerScope) != "" || resp.Header.Get(headerResetAfter) != ""):
		// Discord's own, of which the rest was lost.
		f.outcome, f.retryAfter, f.global = qos.Throttled, orderOf(problem{}, resp.Header), resp.Header.Get(headerGlobal) != ""
		f.text = "Discord orders silence"
	case f.status == http.StatusTooManyRequests:
		// The guard in front of Discord silences the address, whatever is called
		// (docs.discord.com/developers/topics/rate-limits).
		f.outcome, f.retryAfter, f.global = qos.Throttled, max(orderOf(problem{}, resp.Header), foreignSilence), true
		f.guard = true
		f.text = "the guard in front of Discord has silenced this address"
	case f.status == http.StatusForbidden:
		// So does it, or a proxy: nobody says for how long.
		f.outcome, f.retryAfter = qos.Failed, orderOf(problem{}, resp.Header)
		f.guard, f.proxy = true, !isCloudflare(resp, body)
		f.text = "something in front of Discord refuses this address: wait, or check the proxy if there's one"
	case f.status >= http.StatusInternalServerError:
		f.outcome, f.over = qos.Uncertain, true
	case f.status == http.StatusRequestEntityTooLarge:
		f.text = adviceFile
	default:
		f.outcome = qos.Failed // it wasn't passed on
	}
}

// isCloudflare reports whether a refusal is that of the guard in front of Discord: it says so in
// its headers, orders silence, or gives its number (developers.cloudflare.com/support:
// "error code: 1015").
func isCloudflare(resp *http.Response, body []byte) bool {
	return resp.Header.Get("Cf-Ray") != "" || resp.Header.Get("Retry-After") != "" ||
		strings.Contains(strings.ToLower(resp.Header.Get("Server")), "cloudflare") || bytes.Contains(body, []byte("error code: 10"))
}

// foreignSilence is the least time to be silent when the guard in front of Discord
// says no. It grows when it says so again: each call may prolong it.
const foreignSilence = time.Minute

// orderOf is for how long a 429 orders silence: the longest of what it says, because
// calling too early is worse than calling late. 0: it doesn't say.
func orderOf(p problem, h http.Header) time.Duration {
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

// maxMessage is how much of a message of Discord's is kept, in bytes.
const maxMessage = 200

// harmless is what Discord says, in one line.
func harmless(said string) string {
	said = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, said)
	return said[:min(len(said), maxMessage)]
}
