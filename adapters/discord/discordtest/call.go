package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

// Call is one call of the bot, as it arrived.
type Call struct {
	Name       string // such as "CreateMessage"; empty for an unknown address
	Method     string // of HTTP
	Path       string // below the version
	Channel    string // that it names, or whose thread or interaction it's about
	Message    string // that it names or made
	At         time.Time
	Body       string        // its JSON
	Status     int           // of the answer; 0 while it has had no effect
	Code       int           // Discord's, of a refusal
	Error      string        // of a refusal
	RetryAfter time.Duration // of a 429
	Scope      Scope         // of a 429
	Faulted    bool          // a Fault decided its answer, or that there was none
}

// Refused reports whether the answer was an error.
func (c Call) Refused() bool { return c.Status >= http.StatusBadRequest }

// call is a call on its way through the stand-in.
type call struct {
	*Call
	version       string // "v9"
	route         *route
	known         bool // the address exists, with whatever method
	vars          map[string]string
	query         url.Values
	authorization string
	body          []byte
	files         map[string]upload // by number
	bad           *refusal          // what's wrong with the body
	headers       http.Header       // of the answer
	fault         *Fault
}

// newCall reads a request.
func (s *Server) newCall(r *http.Request) *call {
	c := &call{
		Call: &Call{Method: r.Method}, query: r.URL.Query(), authorization: r.Header.Get("Authorization"),
		headers: http.Header{}, files: map[string]upload{},
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/")
	if ok {
		c.version, c.Path, _ = strings.Cut(rest, "/")
	} else {
		c.version, c.Path = "v9", r.URL.Path
	}
	c.Path = "/" + c.Path
	c.route, c.vars, c.known = s.match(r.Method, c.Path)
	if c.route != nil {
		c.Name = c.route.name
	}
	c.Channel, c.Message = c.vars["channel"], c.vars["message"]
	c.readBody(r)
	c.Body = string(c.body)
	return c
}

// Calls returns the calls that have arrived so far, in order.
func (s *Server) Calls() []Call { return s.callsIf(func(Call) bool { return true }) }

// CallsTo returns the calls of one name that have arrived, in order.
func (s *Server) CallsTo(name string) []Call {
	return s.callsIf(func(c Call) bool { return c.Name == name })
}

func (s *Server) callsIf(want func(Call) bool) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Call
	for _, c := range s.calls {
		if want(*c) {
			list = append(list, *c)
		}
	}
	return list
}

// Refusals returns what was refused, in order: calls that were answered with an
// error, and gateway connections that were closed for what the bot did on them.
// What a test asked for by a Fault, or by closing connections, isn't among them.
func (s *Server) Refusals() []Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refusals)
}

// maxBody is the most that a request may have; above it Discord's front answers
// 413 without looking.
const maxBody = 25 << 20

// upload is a file of a multipart body.
type upload struct {
	name, kind string
	content    []byte
}

// readBody reads JSON, or a form with JSON in "payload_json" and files beside it
// (docs.discord.com/developers/reference#uploading-files).
func (c *call) readBody(r *http.Request) {
	body := http.MaxBytesReader(nil, r.Body, maxBody)
	kind, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && kind == "multipart/form-data" {
		err = c.readForm(multipart.NewReader(body, attributes["boundary"]))
	} else {
		c.body, err = io.ReadAll(body)
		if err == nil && len(c.body) > 0 && kind != "application/json" {
			c.bad = refuse(http.StatusBadRequest, 50035, "Invalid Form Body")
		}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		c.bad = errTooLarge
	} else if err != nil {
		c.bad = invalid("body", "can't read it: %v", err)
	}
}

func (c *call) readForm(form *multipart.Reader) error {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		number, isFile := strings.CutPrefix(part.FormName(), "files[")
		number, ends := strings.CutSuffix(number, "]")
		switch {
		case part.FormName() == "payload_json":
			c.body = content
		case isFile && ends || strings.HasPrefix(part.FormName(), "file"):
			c.files[number] = upload{part.FileName(), part.Header.Get("Content-Type"), content}
		}
	}
}

// decode reads the JSON body; no body is an empty object.
func (c *call) decode(into any) *refusal {
	if len(c.body) == 0 {
		return nil
	}
	err := json.Unmarshal(c.body, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid(wrong.Field, "not a %s", wrong.Type)
	}
	if err != nil {
		return errJSON
	}
	return nil
}

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
	errBulkAge       = refuse(http.StatusBadRequest, 50034, "You can only bulk delete messages that are under 14 days old.")
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

// Cut says when a connection breaks.
type Cut = faults.Cut

// Where a connection breaks: not at all, before the call took effect, or after it
// did and before the answer.
const (
	NoCut     = faults.NoCut
	CutBefore = faults.CutBefore
	CutAfter  = faults.CutAfter
)

// Fault is what happens to calls instead of, or besides, the ordinary answer.
type Fault struct {
	// Call and Channel choose the calls; empty means any. Call is a name such as
	// "CreateMessage".
	Call, Channel string
	// Times is how many calls it hits; 0 means all of them.
	Times int

	// Before passes until the call arrives, After until its answer leaves.
	Before, After time.Duration

	// RetryAfter is a 429 of that Scope (user, unless said otherwise): the bucket, or
	// for ScopeGlobal everything, stays closed as long. The call has no effect.
	RetryAfter time.Duration
	Scope      Scope
	// Status, with Code and Message, is an error in Discord's form, such as 500. The
	// call has no effect.
	Status, Code int
	Message      string
	// Body is sent as it is, with Status (or 502) and this content type (or
	// text/html), as a proxy in between would. The call has no effect.
	Body        string
	ContentType string
	// Cut breaks the connection.
	Cut Cut
}

func (f *Fault) hits(c *call) bool {
	return (f.Call == "" || f.Call == c.Name) && (f.Channel == "" || f.Channel == c.Channel)
}

// decides reports whether the fault takes the place of the call's effect.
func (f *Fault) decides() bool {
	return f.RetryAfter > 0 || f.Status != 0 || f.Body != "" || f.Cut == CutBefore
}

// Inject makes calls fail or wait. The first fault that fits a call is the one
// that hits it. The function it returns takes the fault back.
func (s *Server) Inject(f Fault) (remove func()) { return s.faults.Add(f, f.Times) }

// refuseByFault returns what a fault answers in Discord's form, if it does.
func (s *Server) refuseByFault(c *call) *refusal {
	f := c.fault
	if f == nil {
		return nil
	}
	c.Faulted = f.decides() || f.Cut != NoCut
	switch {
	case !f.decides():
		return nil
	case f.Cut == CutBefore:
		return &refusal{} // nobody hears of it
	case f.RetryAfter > 0 && f.Scope == ScopeGlobal:
		s.guard.silence = c.At.Add(f.RetryAfter)
		r := tooMany(ScopeGlobal, f.RetryAfter)
		r.noReset = s.opts.GlobalWithoutReset
		return r
	case f.RetryAfter > 0:
		scope := f.Scope
		if scope == "" {
			scope = ScopeUser
		}
		s.guard.block(c, f.RetryAfter, scope)
		return tooMany(scope, f.RetryAfter)
	case f.Status != 0:
		return refuse(f.Status, f.Code, f.Message)
	}
	return refuse(http.StatusBadGateway, 0, f.Message)
}
