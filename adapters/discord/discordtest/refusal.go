package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scope tells whom a 429 is meant for (X-RateLimit-Scope).
type Scope string

// The scopes. A shared limit isn't the bot's fault, and doesn't count as an
// invalid request (docs.discord.com/developers/topics/rate-limits).
const (
	ScopeUser   Scope = "user"
	ScopeGlobal Scope = "global"
	ScopeShared Scope = "shared"
)

// Refusal is what was refused, and why.
type Refusal struct {
	At      time.Time
	Call    string // the call's name, or "gateway"
	Channel string
	// Status is that of HTTP, or 0 for the gateway; Code is Discord's, or the code
	// that a gateway connection was closed with.
	Status, Code int
	Error        string
	RetryAfter   time.Duration
	Scope        Scope
}

// refusal is an answer that isn't one of success.
type refusal struct {
	status, code int
	text         string
	fields       map[string]string // of an invalid form: dotted path → what's wrong
	retryAfter   time.Duration
	scope        Scope
	noReset      bool // of a global one: Retry-After is all that it says
	html         bool // it comes from the wall in front of Discord
}

func refuse(status, code int, text string) *refusal {
	return &refusal{status: status, code: code, text: text}
}

// invalid is a form with something wrong in one field, such as "content" or
// "components.0.components.1.custom_id".
func invalid(field, format string, args ...any) *refusal {
	r := refuse(http.StatusBadRequest, 50035, "Invalid Form Body")
	r.fields = map[string]string{field: fmt.Sprintf(format, args...)}
	return r
}

// tooMany is a 429.
func tooMany(scope Scope, retryAfter time.Duration) *refusal {
	r := refuse(http.StatusTooManyRequests, 0, "You are being rate limited.")
	r.scope, r.retryAfter = scope, max(retryAfter, time.Millisecond)
	return r
}

// String is the refusal in one line.
func (r *refusal) String() string {
	var b strings.Builder
	b.WriteString(r.text)
	for _, field := range slices.Sorted(maps.Keys(r.fields)) {
		fmt.Fprintf(&b, " (%s: %s)", field, r.fields[field])
	}
	return b.String()
}

// write sends a refusal as Discord words it.
func (r *refusal) write(w http.ResponseWriter, headers http.Header) {
	maps.Copy(w.Header(), headers)
	if r.html {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.Header().Set("Server", "cloudflare")
		w.Header().Set("Retry-After", wholeSeconds(r.retryAfter))
		w.WriteHeader(r.status)
		_, _ = w.Write([]byte("<!DOCTYPE html><html><head><title>Access denied | discord.com used Cloudflare to restrict access</title></head>" +
			"<body>error code: 1015</body></html>")) // a client that's gone is none of the stand-in's business
		return
	}
	body := map[string]any{"message": r.text, "code": r.code}
	if len(r.fields) > 0 {
		body["errors"] = r.tree()
	}
	if r.status == http.StatusTooManyRequests {
		r.writeLimit(w.Header(), body)
	}
	writeJSON(w, r.status, body)
}

// writeLimit adds what a 429 says. Of a code, only those that mean something are
// written there.
func (r *refusal) writeLimit(h http.Header, body map[string]any) {
	body["retry_after"], body["global"] = round(r.retryAfter), r.scope == ScopeGlobal
	if r.code == 0 {
		delete(body, "code")
	}
	h.Set("Retry-After", wholeSeconds(r.retryAfter))
	h.Set("X-RateLimit-Scope", string(r.scope))
	if r.scope != ScopeGlobal {
		return
	}
	for _, name := range []string{"Limit", "Remaining", "Reset", "Reset-After", "Bucket"} {
		h.Del("X-RateLimit-" + name)
	}
	h.Set("X-RateLimit-Global", "true")
	if !r.noReset {
		h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(round(r.retryAfter), 'f', 3, 64))
	}
}

// tree nests the fields as Discord does: {"a":{"b":{"_errors":[{…}]}}}.
func (r *refusal) tree() map[string]any {
	root := map[string]any{}
	for field, what := range r.fields {
		at := root
		for name := range strings.SplitSeq(field, ".") {
			below, ok := at[name].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[name] = below
			}
			at = below
		}
		at["_errors"] = []map[string]string{{"code": "INVALID", "message": what}}
	}
	return root
}

// wholeSeconds rounds up: a client that waits what it's told mustn't come too early.
func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// round returns seconds with milliseconds, rounded up.
func round(d time.Duration) float64 {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond).Seconds()
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // every answer is made of plain values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that's gone is none of the stand-in's business
}

// writeResult answers a call that had its effect; nothing to say is 204.
func writeResult(w http.ResponseWriter, c *call, result any) {
	maps.Copy(w.Header(), c.headers)
	if result == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	status := http.StatusOK
	if c.route.created {
		status = http.StatusCreated
	}
	writeJSON(w, status, result)
}

// The refusals that carry nothing of their own. The codes are from
// docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes.
var (
	errUnauthorized  = refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
	errNotFound      = refuse(http.StatusNotFound, 0, "404: Not Found")
	errNoApplication = refuse(http.StatusNotFound, 10002, "Unknown Application")
	errNoChannel     = refuse(http.StatusNotFound, 10003, "Unknown Channel")
	errNoGuild       = refuse(http.StatusNotFound, 10004, "Unknown Guild")
	errNoMember      = refuse(http.StatusNotFound, 10007, "Unknown Member")
	errNoMessage     = refuse(http.StatusNotFound, 10008, "Unknown Message")
	errNoEmoji       = refuse(http.StatusBadRequest, 10014, "Unknown Emoji")
	errNoWebhook     = refuse(http.StatusNotFound, 10015, "Unknown Webhook")
	errNoInteraction = refuse(http.StatusNotFound, 10062, "Unknown interaction")
	errNoCommand     = refuse(http.StatusNotFound, 10063, "Unknown application command")
	errPins          = refuse(http.StatusBadRequest, 30003, "Maximum number of pins reached for the channel (250)")
	errCommands      = refuse(http.StatusBadRequest, 30032, "Maximum number of application commands reached (100)")
	errDailyCommands = refuse(http.StatusBadRequest, 30034, "Max number of daily application command creates has been reached (200)")
	errTooLarge      = refuse(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
	errAcknowledged  = refuse(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	errNoAccess      = refuse(http.StatusForbidden, 50001, "Missing Access")
	errDMOnly        = refuse(http.StatusForbidden, 50003, "Cannot execute action on a DM channel")
	errNotYours      = refuse(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	errEmpty         = refuse(http.StatusBadRequest, 50006, "Cannot send an empty message")
	errBlocked       = refuse(http.StatusForbidden, 50007, "Cannot send messages to this user")
	errNotText       = refuse(http.StatusBadRequest, 50008, "Cannot send messages in a non-text channel")
	errNoPermission  = refuse(http.StatusForbidden, 50013, "Missing Permissions")
	errBulkCount     = refuse(http.StatusBadRequest, 50016, "You can only bulk delete between 2 and 100 messages")
	errSystemMessage = refuse(http.StatusForbidden, 50021, "Cannot execute action on a system message")
	errChannelType   = refuse(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	errWebhookToken  = refuse(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
	errArchived      = refuse(http.StatusBadRequest, 50083, "Thread is archived")
	errJSON          = refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	errThreadThere   = refuse(http.StatusBadRequest, 160004, "A thread has already been created for this message")
	errThreadLocked  = refuse(http.StatusForbidden, 160005, "Thread is locked")
	errAutoMod       = refuse(http.StatusBadRequest, 200000, "Message was blocked by automatic moderation")
	errAutoModTitle  = refuse(http.StatusBadRequest, 200001, "Title was blocked by automatic moderation")
	errActiveThreads = refuse(http.StatusBadRequest, 160006, "Maximum number of active threads reached")
)
