package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/internal/recording/format"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// endedHeader says how many sessions have ended of which the list shows some.
const endedHeader = "Panebridge-Ended"

// listSessions shows all of them; to a program in a session's pane its own. With the query
// "ended" it shows so many of those that have ended, the newest, and the one that the query
// "with" names, whatever it is; and of each what people see at a glance.
func (a *api) listSessions(w http.ResponseWriter, r *http.Request) error {
	all := a.opts.Sessions.List()
	if place := a.opts.placeOf(r.Context()); place.Inside {
		all = slices.DeleteFunc(all, func(s sessions.Session) bool { return s.ID != place.Session })
	}
	all, err := someEnded(all, r, w.Header())
	if err != nil {
		return err
	}
	list := a.newSessions(all)
	if r.URL.Query().Get("ended") != "" {
		a.glances(r.Context(), list)
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

// someEnded leaves out what listSessions isn't asked for.
func someEnded(all []sessions.Session, r *http.Request, header http.Header) ([]sessions.Session, error) {
	text := r.URL.Query().Get("ended")
	if text == "" {
		return all, nil
	}
	most, err := strconv.Atoi(text)
	if err != nil || most < 0 {
		return nil, badRequest(`"ended" is how many of the sessions that have ended are shown: a number from 0 on`)
	}
	var ended []sessions.Session
	for _, s := range all {
		if s.State == sessions.StateEnded {
			ended = append(ended, s)
		}
	}
	header.Set(endedHeader, strconv.Itoa(len(ended)))
	slices.SortFunc(ended, func(a, b sessions.Session) int { return b.EndedAt.Compare(a.EndedAt) })
	shown := map[sessions.ID]bool{sessions.ID(r.URL.Query().Get("with")): true}
	for _, s := range ended[:min(most, len(ended))] {
		shown[s.ID] = true
	}
	return slices.DeleteFunc(all, func(s sessions.Session) bool { return s.State == sessions.StateEnded && !shown[s.ID] }), nil
}

// agents lists what can be begun, as files are now.
func (a *api) agents(w http.ResponseWriter, _ *http.Request) error {
	found := a.opts.Sessions.SearchAgents()
	writeJSON(w, http.StatusOK, Agents{
		Agents: notNil(a.opts.Sessions.Agents()), LookedFor: notNil(found.Names), LookedIn: notNil(found.Folders),
	})
	return nil
}

func (a *api) getSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newSession(s))
	return nil
}

// rename serves POST /api/v1/sessions/{id}/name.
func (a *api) rename(w http.ResponseWriter, r *http.Request) error {
	var body Rename
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	if s, err = a.opts.Sessions.Rename(r.Context(), s.ID, body.Name); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newSession(s))
	return nil
}

// state says what a session is doing: no more than waiting for it tells.
func (a *api) state(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s.State)
	return nil
}

// session returns the session that a request's path names.
func (a *api) session(r *http.Request) (sessions.Session, error) {
	return a.opts.Sessions.Get(r.PathValue("id"))
}

// createSession answers with the new session, or, as a tmux session may have
// several panes, with the list of those adopted.
func (a *api) createSession(w http.ResponseWriter, r *http.Request) error {
	var body Create
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if body.Tmux != "" {
		return a.adopt(w, r, body)
	}
	if err := checkKey(body.Key); err != nil {
		return err
	}
	key := ""
	if body.Key != "" {
		key = a.senderOf(r) + " " + body.Key
	}
	s, err := a.begun.begin(key, func() (sessions.Session, error) {
		return a.opts.Sessions.New(r.Context(), sessions.NewRequest{
			Name: body.Name, Agent: body.Agent, Cwd: body.Cwd, Command: body.Command, Server: body.Server, Resume: body.Resume,
		})
	}, func(id sessions.ID) (sessions.Session, error) { return a.opts.Sessions.Get(string(id)) })
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, a.newSession(s))
	return nil
}

func (a *api) adopt(w http.ResponseWriter, r *http.Request, body Create) error {
	if body.Agent != "" || body.Cwd != "" || len(body.Command) > 0 || body.Resume != "" || body.Key != "" {
		return badRequest(`"tmux" adopts a pane that exists; "agent", "cwd", "command", "resume" and "key" don't go with it`)
	}
	adopted, err := a.opts.Sessions.Adopt(r.Context(), sessions.AdoptRequest{
		Tmux: body.Tmux, Server: body.Server, Name: body.Name,
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, a.newSessions(adopted))
	return nil
}

// deleteSession closes a session that lives, and forgets one that has ended. With
// the query "state" (living or ended) it does so only if that's the session's: who
// wants to close one that ends at this moment doesn't lose its log.
func (a *api) deleteSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	end := a.opts.Sessions.Close
	switch want := r.URL.Query().Get("state"); {
	case want == "ended", want == "" && s.State == sessions.StateEnded:
		end = a.opts.Sessions.Forget
	case want != "" && want != "living":
		return badRequest(`"state" is living or ended`)
	}
	if err := end(r.Context(), s.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// restart answers with the session, which is another one if it had ended.
func (a *api) restart(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	if s, err = a.opts.Sessions.Restart(r.Context(), s.ID); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newSession(s))
	return nil
}

// Binding is one chat that mirrors a session.
type Binding struct {
	ID        string `json:"id"`
	To        string `json:"to"`                 // ADAPTER:CHAT or ADAPTER:CHAT/THREAD
	View      string `json:"view"`               // stream, final or screen
	Tools     string `json:"tools"`              // how much of calls of tools it shows: all, brief or none
	Thinking  string `json:"thinking"`           // the same of what an agent thinks
	Prompts   string `json:"prompts"`            // the same of what's written elsewhere
	Output    string `json:"output"`             // how much of what's printed in one go: all, or rows of a phone
	Input     bool   `json:"input"`              // what's written there goes to the session
	Quotes    bool   `json:"quote_replies"`      // it begins with what it answers
	Origin    string `json:"origin"`             // rule or hand
	Disabled  string `json:"disabled,omitempty"` // why it does nothing
	Problem   string `json:"problem,omitempty"`  // what's wrong though it does something
	Delivered int64  `json:"delivered"`          // the last line that's there
	Behind    int64  `json:"behind"`             // lines that should be there and aren't yet
}

// Trouble is why the chat doesn't show the session as it should; "": it does.
func (b Binding) Trouble() string { return cmp.Or(b.Disabled, b.Problem) }

// Lack says the same with the chat's name, behind that of the session; "": it lacks nothing.
func (b Binding) Lack() string {
	switch {
	case b.Disabled != "":
		return "isn't shown in " + b.To + ": " + b.Disabled
	case b.Problem != "":
		return "isn't shown as it should be in " + b.To + ": " + b.Problem
	default:
		return ""
	}
}

// Bind is the body of POST /api/v1/sessions/{id}/bindings.
type Bind struct {
	To    string `json:"to"`
	View  string `json:"view"` // "": stream
	Input bool   `json:"input"`
	// all, brief or none, as in Binding; "": as it is, of a new one as usual.
	Tools    string `json:"tools,omitempty"`
	Thinking string `json:"thinking,omitempty"`
	Prompts  string `json:"prompts,omitempty"`
	Output   string `json:"output,omitempty"`        // all, or rows of a phone from 10 to 500; "" likewise
	Quotes   *bool  `json:"quote_replies,omitempty"` // nil: as it is, of a new one no
}

// Outbound is what the API needs of the chat platforms. All methods may be called
// by many requests at once. Errors wrap those of package sessions.
type Outbound interface {
	// Adapters returns how the platforms are. It waits for their schedulers.
	Adapters(ctx context.Context) ([]Adapter, error)
	// Explain says who's next in a chat, which is named as people know it: as the adapters' chats
	// or bindings are listed, by a part of that, or by a session's name. It waits for a
	// scheduler.
	Explain(ctx context.Context, chat string) (Explanation, error)
	// Bindings returns a session's bindings, oldest first. It does no I/O.
	Bindings(id sessions.ID) []Binding
	// Bind has a chat mirror a session from its newest line on, or changes how it
	// does.
	Bind(ctx context.Context, id sessions.ID, b Bind) (Binding, error)
	// Unbind ends that.
	Unbind(ctx context.Context, bindingID string) error
}

func (a *api) bindings(id sessions.ID) []Binding {
	out := []Binding{}
	if a.opts.Outbound != nil {
		out = append(out, a.opts.Outbound.Bindings(id)...)
	}
	return out
}

// noOutbound answers where there's no chat platform at all.
var noOutbound = &Error{ //nolint:gochecknoglobals // a constant
	Status: http.StatusConflict, Code: "conflict",
	Message: "no chat platform is configured: enable one below adapters: in the configuration",
}

func (a *api) bind(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	var body Bind
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if a.opts.Outbound == nil {
		return noOutbound
	}
	b, err := a.opts.Outbound.Bind(r.Context(), s.ID, body)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, b)
	return nil
}

func (a *api) unbind(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Outbound == nil {
		return noOutbound
	}
	if err := a.opts.Outbound.Unbind(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Adapter is one chat platform's state: what its scheduler is doing.
type Adapter struct {
	Name      string `json:"name"` // as in targets
	Mode      string `json:"mode"` // of qos: off, coalesce_only, strict
	InFlight  int    `json:"in_flight"`
	Documents int    `json:"documents"`
	// How fast it goes, in the chat in which that's slowest of those that have something to send: seconds
	// between two streams; 0: there's no pace.
	Tick           float64 `json:"tick_s"`
	ActiveSessions float64 `json:"active_sessions"` // that print, averaged, of all chats
	OldestAge      float64 `json:"oldest_s"`        // how long the oldest of what waits has waited
	Pace           float64 `json:"pace"`            // what the pace is multiplied by, in the chat in which that's least
	Reserve        int     `json:"reserve"`         // slots of a window that streams leave, in the chat in which they're most
	// Waiting is what waits in all chats, by class; never null; classes in which nothing waits are left out.
	Waiting      map[string]Waiting `json:"waiting"`
	Errors       uint64             `json:"errors"`                 // calls that failed since the daemon's start
	PenaltyUntil time.Time          `json:"penalty_until,omitzero"` // the whole bot is to be silent until then
	Multiplier   float64            `json:"multiplier"`             // of the pace, 0.3 to 1; below 1 after a penalty
	Error        string             `json:"error,omitempty"`        // why no slot can be granted
	Totals       CallTotals         `json:"totals"`
	Chats        []Chat             `json:"chats"` // never null; those that have something to say
}

// CallTotals count since the daemon's start.
type CallTotals struct {
	Calls     map[string]uint64 `json:"calls"`    // by class
	Outcomes  map[string]uint64 `json:"outcomes"` // of all calls
	Updates   uint64            `json:"updates"`
	Coalesced uint64            `json:"coalesced"` // updates that needed no call of their own
	Shed      uint64            `json:"shed"`      // cosmetic calls that weren't made
	Penalties uint64            `json:"penalties"`
}

// Chat is one chat's budget and what waits for it.
type Chat struct {
	Chat           string             `json:"chat"`
	Windows        []WindowUse        `json:"windows"` // never null
	Reserve        int                `json:"reserve"` // slots of a window that streams leave at their full pace
	InFlight       bool               `json:"in_flight"`
	NextSlot       time.Time          `json:"next_slot_at,omitzero"`  // zero: when something changes
	PenaltyUntil   time.Time          `json:"penalty_until,omitzero"` // zero: none
	BackoffUntil   time.Time          `json:"backoff_until,omitzero"` // zero: none
	Multiplier     float64            `json:"multiplier"`
	CallsToPace    int                `json:"calls_to_pace"`   // so many accepted calls later the pace is whole
	Tick           float64            `json:"tick_s"`          // seconds between two streams; 0: there's no pace
	ActiveSessions float64            `json:"active_sessions"` // that print, averaged; 0 while none does
	Waiting        map[string]Waiting `json:"waiting"`         // by class, never null; classes in which nothing waits are left out
	Documents      []Document         `json:"documents"`       // never null; those that wait
}

// WindowUse is how far one window of a chat is used up.
type WindowUse struct {
	Family  string    `json:"family"` // of methods; "" are messages
	Calls   int       `json:"calls"`  // so many are allowed …
	Seconds float64   `json:"per_s"`  // … in so many seconds
	Used    int       `json:"used"`
	FreeAt  time.Time `json:"free_at,omitzero"` // zero: one is free now
}

// Waiting is what waits in one class.
type Waiting struct {
	Count     int     `json:"count"`
	OldestAge float64 `json:"oldest_s"`
}

// Document is one binding's document that waits for a slot.
type Document struct {
	Binding   string  `json:"binding"`
	Session   string  `json:"session"`
	Class     string  `json:"class"`
	Delivered int64   `json:"delivered"` // the last line that reached the chat
	Wanted    int64   `json:"wanted"`    // the last line that should
	Age       float64 `json:"age_s"`     // how long the oldest change has waited
	Uncertain bool    `json:"uncertain"` // a call may or may not have arrived
}

// adapters lists the chat platforms.
func (a *api) adapters(w http.ResponseWriter, r *http.Request) error {
	list := []Adapter{}
	if a.opts.Outbound != nil {
		all, err := a.opts.Outbound.Adapters(r.Context())
		if err != nil {
			return err
		}
		list = append(list, all...)
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

// Programs tells of the programs in sessions' panes. Its methods are called by many
// requests at once.
type Programs interface {
	// Insight is what's known of the program in a session's pane. It reads small files.
	Insight(id sessions.ID) agent.Insight
	// Record gives tell what happens in a session, a format.Head first and a format.End
	// last, until ctx ends, the session does, or tell returns an error, which it returns.
	// What's secret is masked; private: what's no sign of the program's is unreadable.
	// Errors before the first item wrap those of package sessions.
	Record(ctx context.Context, id sessions.ID, private bool, tell func(format.Item) error) error
}

// programs answers with what's known of the programs of all sessions that live.
func (a *api) programs(w http.ResponseWriter, _ *http.Request) error {
	all := []agent.Insight{}
	for _, s := range a.opts.Sessions.List() {
		if s.State != sessions.StateEnded && a.opts.Programs != nil {
			all = append(all, a.opts.Programs.Insight(s.ID))
		}
	}
	writeJSON(w, http.StatusOK, all)
	return nil
}

// MaxRecording is how long a recording may go on.
const MaxRecording = time.Hour

// record answers with lines of JSON, one for each format.Item, as they come. As with
// hooks it's there on the Unix socket only: it has more than the page shows.
func (a *api) record(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Programs == nil {
		return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "recordings are made through the Unix socket"}
	}
	length, private, err := recordQuery(r)
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	ctx, cancel := a.atMost(r.Context(), length)
	defer cancel()
	out := &lineWriter{w: w, control: http.NewResponseController(w), timeout: a.opts.Timeouts.Write}
	err = a.opts.Programs.Record(ctx, s.ID, private, out.write)
	if out.begun {
		return nil // who reads it sees that there's no end
	}
	return err
}

// atMost is a context for an answer that takes its time: it ends after a while, and when
// the daemon is being stopped.
func (a *api) atMost(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d)
	a.cancelAtQuit(ctx, cancel)
	return ctx, cancel
}

func recordQuery(r *http.Request) (length time.Duration, private bool, err error) {
	q := r.URL.Query()
	if length, err = time.ParseDuration(q.Get("for")); err != nil || length <= 0 || length > MaxRecording {
		return 0, false, badRequest(fmt.Sprintf(`"for" must be a length of time above 0 and up to %s, such as 60s, not %q`, MaxRecording, q.Get("for")))
	}
	if text := q.Get("private"); text != "" {
		if private, err = strconv.ParseBool(text); err != nil {
			return 0, false, badRequest(fmt.Sprintf(`"private" must be true or false, not %q`, text))
		}
	}
	return length, private, nil
}

// lineWriter writes lines of JSON, each at once.
type lineWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	begun   bool
}

func (l *lineWriter) write(it format.Item) error {
	if !l.begun {
		l.begun = true
		if err := l.control.SetReadDeadline(time.Time{}); err != nil {
			return fmt.Errorf("prepare the recording: %w", err)
		}
		l.w.Header().Set("Content-Type", "application/x-ndjson")
		l.w.WriteHeader(http.StatusOK)
	}
	if err := l.control.SetWriteDeadline(time.Now().Add(l.timeout)); err != nil {
		return fmt.Errorf("set the deadline of a recording: %w", err)
	}
	e := json.NewEncoder(l.w)
	e.SetEscapeHTML(false)
	if err := e.Encode(it); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return l.control.Flush()
}

// ServeStarting serves the socket of a daemon that waits for what it needs to start, until ctx ends:
// its health, with the part that's missing, which must not block. All other calls are refused with
// what that part says.
func ServeStarting(ctx context.Context, unix net.Listener, missing func() HealthPart, healthz, readyz http.HandlerFunc) error {
	a := &api{opts: Options{Health: func() Health {
		return Health{State: HealthDown, Parts: []HealthPart{missing()}, Starting: true}
	}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/health", func(w http.ResponseWriter, r *http.Request) { _ = a.health(w, r) }) // it has no errors
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", readyz)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, &Error{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: "panebridge hasn't started yet, and takes nothing: it waits for its " + missing().Name + ": " + missing().Detail})
	})
	return serve(ctx, unix, mux, nil)
}
