package discordtest

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/chatview"
	"github.com/panebridge/panebridge/internal/faults"
)

// Options configure a stand-in. The zero value of a field means its default.
type Options struct {
	// Token of the bot, without the word "Bot" before it; DefaultToken.
	Token string
	// BotName is the bot's user name; "panebridge".
	BotName string
	// NoContentIntent leaves the message content intent switched off for the bot: to
	// ask the gateway for it ends the connection with 4014, and REST shows no content.
	NoContentIntent bool
	// Limits are the limits; each that's empty is Discord's.
	Limits Limits
	// GlobalWithoutReset leaves X-RateLimit-Reset-After out of global 429s: then
	// Retry-After is all that tells how long the silence is.
	GlobalWithoutReset bool
	// BanStatus is what an address is answered with that has made too many invalid
	// requests: 429 or 403; 429.
	BanStatus int
	// Latency returns how long a call travels here and its answer back. Nil: no time.
	Latency func(call, channel string) (here, back time.Duration)
	// FromZero numbers a session's events from 0 on, as other servers do that speak
	// Discord's gateway; Discord itself begins with 1.
	FromZero bool
	// BareInteractions leave out what their channel is, as on other servers that speak
	// Discord's gateway.
	BareInteractions bool
	// Heartbeat is the interval that HELLO asks for; 41.25 s.
	Heartbeat time.Duration
}

// DefaultToken is the token of a stand-in that isn't given another.
const DefaultToken = "MTIz.stand-in.for-the-token-of-a-bot"

// Server is a stand-in for Discord with one bot. It's an http.Handler, and starts
// nothing by itself.
type Server struct {
	opts   Options
	routes []route

	chatview.Changes

	mu       sync.Mutex
	clock    clock
	bot      User
	users    map[string]User
	people   []*Person
	guilds   []*Guild
	channels map[string]*channel
	messages map[string]*Message
	files    map[string]*File // by path
	host     string           // that requests name

	guard        *guard
	faults       faults.List[Fault]
	calls        []*Call
	refusals     []Refusal
	rings        []Ring
	nonces       map[string]nonce
	interactions map[string]*Interaction // by id
	byToken      map[string]*Interaction
	asked        []*Interaction        // in order
	commands     map[string][]*Command // by guild; "" is everywhere
	newCommands  map[string]arrivals
	gates        gates
}

// New makes a stand-in without people and guilds.
func New(opts Options) *Server {
	if opts.Token == "" {
		opts.Token = DefaultToken
	}
	if opts.BotName == "" {
		opts.BotName = "panebridge"
	}
	if opts.BanStatus == 0 {
		opts.BanStatus = http.StatusTooManyRequests
	}
	if opts.Heartbeat == 0 {
		opts.Heartbeat = 41250 * time.Millisecond
	}
	opts.Limits = opts.Limits.withDefaults()
	s := &Server{
		opts: opts, clock: newClock(),
		users: map[string]User{}, channels: map[string]*channel{}, messages: map[string]*Message{}, files: map[string]*File{},
		host: "discord.test", guard: newGuard(opts.Limits), nonces: map[string]nonce{},
		interactions: map[string]*Interaction{}, byToken: map[string]*Interaction{},
		commands: map[string][]*Command{}, newCommands: map[string]arrivals{}, gates: newGates(),
	}
	s.bot = User{ID: s.clock.next(), Name: opts.BotName, Bot: true}
	s.users[s.bot.ID] = s.bot
	s.routes = s.routeTable()
	return s
}

// Token returns the bot's token, without the word "Bot" before it.
func (s *Server) Token() string { return s.opts.Token }

// Bot returns who the bot is. Its ID is the application's too.
func (s *Server) Bot() User { return s.bot }

// ServeHTTP answers /api/v9/… and /api/v10/…, /gateway and /attachments/….
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if r.Host != "" {
		s.host = r.Host
	}
	s.mu.Unlock()
	path := r.URL.Path
	switch {
	case path == "/gateway" || path == "/gateway/":
		s.serveGateway(w, r)
	case strings.HasPrefix(path, "/attachments/"):
		s.download(w, r)
	default:
		s.serveCall(w, r)
	}
}

// serveCall takes a call through its journey: travel, arrival, effect, travel.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request) {
	c := s.newCall(r)
	here, back := s.prepare(c)
	if faults.Wait(r.Context(), here) != nil {
		return // it never arrived
	}
	result, refused := s.take(c)
	if c.fault != nil && c.fault.Cut != NoCut {
		panic(http.ErrAbortHandler) // net/http's way to break a connection
	}
	if faults.Wait(r.Context(), back) != nil {
		return
	}
	switch {
	case c.fault != nil && c.fault.Body != "":
		faults.WriteRaw(w, c.fault.Status, c.fault.ContentType, c.fault.Body)
	case refused != nil:
		refused.write(w, c.headers)
	default:
		writeResult(w, c, result)
	}
}

// prepare finds the fault of a call, and how long it travels.
func (s *Server) prepare(c *call) (here, back time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.byToken[c.vars["token"]]; i != nil {
		c.Channel = i.Channel
	}
	if s.opts.Latency != nil {
		here, back = s.opts.Latency(c.Name, c.Channel)
	}
	if c.fault = s.faults.Take(func(f Fault) bool { return f.hits(c) }); c.fault != nil {
		here, back = here+c.fault.Before, back+c.fault.After
	}
	return here, back
}

// take lets a call arrive and have its effect.
func (s *Server) take(c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	c.At = now()
	s.calls = append(s.calls, c.Call)
	result, refused := any(nil), s.admit(c)
	if refused == nil {
		result, refused = c.route.run(c)
	}
	s.settle(c, refused)
	s.Touch()
	return result, refused
}

// admit refuses a call whose time hasn't come, that a fault hits, that comes from
// a stranger or that couldn't be read.
func (s *Server) admit(c *call) *refusal {
	if r := s.guard.banned(c.At, s.opts.BanStatus); r != nil {
		return r
	}
	switch {
	case c.version != "v9" && c.version != "v10":
		return refuse(http.StatusBadRequest, 50041, "Invalid API version")
	case c.route == nil && c.known:
		return refuse(http.StatusMethodNotAllowed, 0, "405: Method Not Allowed")
	case c.route == nil:
		return errNotFound
	}
	if r := s.guard.arrive(c, s.opts.GlobalWithoutReset); r != nil {
		return r
	}
	if !c.route.open && !s.knows(c.authorization) {
		return errUnauthorized
	}
	if r := s.refuseByFault(c); r != nil {
		return r
	}
	return c.bad
}

// knows reports whether an Authorization header is the bot's.
func (s *Server) knows(authorization string) bool {
	return authorization == "Bot "+s.opts.Token && !s.gates.tokenReset
}

// settle writes down the answer, and counts it if it's invalid.
func (s *Server) settle(c *call, r *refusal) {
	c.Status = http.StatusOK
	if r == nil {
		return
	}
	c.Status, c.Code, c.Error, c.RetryAfter, c.Scope = r.status, r.code, r.text, r.retryAfter, r.scope
	s.guard.invalid(r, c.At)
	if !c.Faulted {
		s.refusals = append(s.refusals, Refusal{
			At: c.At, Call: c.Name, Channel: c.Channel, Status: r.status, Code: r.code, Error: r.String(), RetryAfter: r.retryAfter, Scope: r.scope,
		})
	}
}
