package discordtest

import (
	"net/http"
	"net/url"
	"strconv"
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
	owner    *Person // who made the bot; nil: nobody that's told
	ofTeam   bool
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

// route is one call that's understood.
type route struct {
	name, method string
	parts        []string // of the path below the version; {x} stands for anything
	run          func(*call) (any, *refusal)
	bucket       string // the call whose bucket it shares; empty for its own
	created      bool   // success is 201
	open         bool   // it needs no token of the bot
	free         bool   // it doesn't count in the global limit
}

// match finds the route of a request; known says whether the address exists.
func (s *Server) match(method, path string) (found *route, vars map[string]string, known bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i := range s.routes {
		r := &s.routes[i]
		values, ok := r.fits(parts)
		if !ok {
			continue
		}
		known = true
		if r.method == method {
			return r, values, true
		}
	}
	return nil, nil, known
}

func (r *route) fits(parts []string) (map[string]string, bool) {
	if len(parts) != len(r.parts) {
		return nil, false
	}
	vars := map[string]string{}
	for i, want := range r.parts {
		name, isVar := strings.CutPrefix(want, "{")
		if !isVar {
			if parts[i] != want {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil || value == "" {
			return nil, false
		}
		vars[strings.TrimSuffix(name, "}")] = value
	}
	return vars, true
}

// routeTable is what's understood. Where two routes fit, the first one does.
func (s *Server) routeTable() []route {
	var table []route
	add := func(name, method, path string, run func(*call) (any, *refusal)) *route {
		table = append(table, route{name: name, method: method, parts: strings.Split(strings.Trim(path, "/"), "/"), run: run})
		return &table[len(table)-1]
	}
	s.addWorldRoutes(add)
	s.addChannelRoutes(add)
	s.addMessageRoutes(add)
	s.addInteractionRoutes(add)
	s.addCommandRoutes(add)
	return table
}

// adder adds a route to the table; what it returns holds until the next one.
type adder func(name, method, path string, run func(*call) (any, *refusal)) *route

func (s *Server) addWorldRoutes(add adder) {
	add("GetGateway", http.MethodGet, "/gateway", s.getGateway).open = true
	add("GetGatewayBot", http.MethodGet, "/gateway/bot", s.getGatewayBot)
	add("GetMe", http.MethodGet, "/users/@me", s.getMe)
	add("GetMyGuilds", http.MethodGet, "/users/@me/guilds", s.getMyGuilds)
	add("CreateDM", http.MethodPost, "/users/@me/channels", s.createDM)
	add("GetApplication", http.MethodGet, "/applications/@me", s.getApplication)
	add("GetApplication", http.MethodGet, "/oauth2/applications/@me", s.getApplication)
	add("GetGuild", http.MethodGet, "/guilds/{guild}", s.getGuild)
	add("GetGuildChannels", http.MethodGet, "/guilds/{guild}/channels", s.getGuildChannels)
	add("GetActiveThreads", http.MethodGet, "/guilds/{guild}/threads/active", s.getActiveThreads)
	add("GetMember", http.MethodGet, "/guilds/{guild}/members/{user}", s.getMember)
	add("GetRoles", http.MethodGet, "/guilds/{guild}/roles", s.getRoles)
}

func (s *Server) addChannelRoutes(add adder) {
	add("GetChannel", http.MethodGet, "/channels/{channel}", s.getChannel)
	add("EditChannel", http.MethodPatch, "/channels/{channel}", s.editChannel)
	add("DeleteChannel", http.MethodDelete, "/channels/{channel}", s.deleteChannel)
	add("StartThread", http.MethodPost, "/channels/{channel}/threads", s.startThread).created = true
	r := add("StartThreadFromMessage", http.MethodPost, "/channels/{channel}/messages/{message}/threads", s.startThreadFromMessage)
	r.created, r.bucket = true, "StartThread"
	add("GetArchivedThreads", http.MethodGet, "/channels/{channel}/threads/archived/public", s.getArchivedThreads)
	add("JoinThread", http.MethodPut, "/channels/{channel}/thread-members/@me", s.joinThread)
	add("Typing", http.MethodPost, "/channels/{channel}/typing", s.typing)
}

func (s *Server) addMessageRoutes(add adder) {
	add("GetMessages", http.MethodGet, "/channels/{channel}/messages", s.getMessages)
	add("CreateMessage", http.MethodPost, "/channels/{channel}/messages", s.createMessage)
	add("BulkDelete", http.MethodPost, "/channels/{channel}/messages/bulk-delete", s.bulkDelete)
	add("GetMessage", http.MethodGet, "/channels/{channel}/messages/{message}", s.getMessage)
	add("EditMessage", http.MethodPatch, "/channels/{channel}/messages/{message}", s.editMessage)
	add("DeleteMessage", http.MethodDelete, "/channels/{channel}/messages/{message}", s.deleteMessage)
	add("Pin", http.MethodPut, "/channels/{channel}/messages/pins/{message}", s.pin)
	add("React", http.MethodPut, "/channels/{channel}/messages/{message}/reactions/{emoji}/@me", s.react)
	add("Unreact", http.MethodDelete, "/channels/{channel}/messages/{message}/reactions/{emoji}/@me", s.unreact).bucket = "React"
}

// addInteractionRoutes: "Interaction endpoints are not bound to the bot's Global
// Rate Limit", and need no token but the interaction's
// (docs.discord.com/developers/interactions/receiving-and-responding).
func (s *Server) addInteractionRoutes(add adder) {
	free := func(name, method, path string, run func(*call) (any, *refusal)) *route {
		r := add(name, method, path, run)
		r.open, r.free = true, true
		return r
	}
	free("Callback", http.MethodPost, "/interactions/{interaction}/{token}/callback", s.callback)
	const original = "/webhooks/{application}/{token}/messages/@original"
	free("GetOriginal", http.MethodGet, original, s.getOriginal)
	free("EditOriginal", http.MethodPatch, original, s.editOriginal).bucket = "EditFollowup"
	free("DeleteOriginal", http.MethodDelete, original, s.deleteOriginal)
	free("CreateFollowup", http.MethodPost, "/webhooks/{application}/{token}", s.createFollowup)
	const followup = "/webhooks/{application}/{token}/messages/{message}"
	free("GetFollowup", http.MethodGet, followup, s.getFollowup)
	free("EditFollowup", http.MethodPatch, followup, s.editFollowup)
	free("DeleteFollowup", http.MethodDelete, followup, s.deleteFollowup)
}

func (s *Server) addCommandRoutes(add adder) {
	for _, path := range []string{"/applications/{application}/commands", "/applications/{application}/guilds/{guild}/commands"} {
		add("GetCommands", http.MethodGet, path, s.getCommands)
		add("SetCommands", http.MethodPut, path, s.setCommands)
		add("CreateCommand", http.MethodPost, path, s.createCommand).created = true
		add("EditCommand", http.MethodPatch, path+"/{command}", s.editCommand)
		add("DeleteCommand", http.MethodDelete, path+"/{command}", s.deleteCommand)
	}
}

// epoch is the first second of 2015, from which Discord's ids count
// (docs.discord.com/developers/reference#snowflakes).
var epoch = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)

// bubbleShift moves the ids of a world that began before Discord's epoch, as the
// clock of a synctest bubble does in the year 2000.
const bubbleShift = 20 * 365 * 24 * time.Hour

// clock makes ids: 42 bits of milliseconds, 22 bits that tell apart what was made
// in the same one. They rise strictly.
type clock struct {
	last  uint64
	shift time.Duration
}

func newClock() clock {
	if now().Before(epoch) {
		return clock{shift: bubbleShift}
	}
	return clock{}
}

func (c *clock) next() string {
	c.last = max(c.last+1, c.at(now()))
	return strconv.FormatUint(c.last, 10)
}

// at is the lowest id of an instant.
func (c *clock) at(t time.Time) uint64 {
	return uint64(t.Add(c.shift).Sub(epoch).Milliseconds()) << 22
}

func now() time.Time { return time.Now() }

// number reads an id; what isn't one is 0.
func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// stamp writes a time as Discord does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// stampOrNil is null for no time.
func stampOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := stamp(t)
	return &text
}

// User is somebody on Discord, a person or the bot.
type User struct {
	ID   string
	Name string
	Bot  bool
}

// wireUser is docs.discord.com/developers/resources/user#user-object.
type wireUser struct {
	ID            string  `json:"id"`
	Username      string  `json:"username"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"global_name"`
	Avatar        *string `json:"avatar"`
	Bot           bool    `json:"bot,omitempty"`
	PublicFlags   int     `json:"public_flags"`
}

func (u User) wire() wireUser {
	w := wireUser{ID: u.ID, Username: u.Name, Discriminator: "0", Bot: u.Bot}
	if !u.Bot {
		w.GlobalName = &u.Name
	}
	return w
}

// wireMember is docs.discord.com/developers/resources/guild#guild-member-object.
type wireMember struct {
	User        *wireUser `json:"user,omitempty"`
	Nick        *string   `json:"nick"`
	Roles       []string  `json:"roles"`
	JoinedAt    string    `json:"joined_at"`
	Deaf        bool      `json:"deaf"`
	Mute        bool      `json:"mute"`
	Flags       int       `json:"flags"`
	Permissions string    `json:"permissions,omitempty"` // in interactions
}

// member writes somebody as a member; in messages the user stands elsewhere.
func (g *Guild) member(u User, withUser bool) *wireMember {
	w := &wireMember{Roles: []string{}, JoinedAt: stamp(g.at)}
	if u.ID == g.s.bot.ID {
		w.Roles = append(w.Roles, g.role)
	}
	if withUser {
		user := u.wire()
		w.User = &user
	}
	return w
}

func (s *Server) getMe(*call) (any, *refusal) {
	w := s.bot.wire()
	return map[string]any{
		"id": w.ID, "username": w.Username, "discriminator": w.Discriminator, "global_name": nil, "avatar": nil, "bot": true,
		"verified": true, "mfa_enabled": false, "flags": 0, "public_flags": 0,
	}, nil
}

// Flags of an application: message content for bots in few guilds
// (docs.discord.com/developers/resources/application#application-object-application-flags).
const contentLimited = 1 << 19

func (s *Server) application() map[string]any {
	flags := 0
	if !s.opts.NoContentIntent {
		flags = contentLimited
	}
	return map[string]any{"id": s.bot.ID, "name": s.bot.Name, "flags": flags}
}

func (s *Server) getApplication(*call) (any, *refusal) {
	a := s.application()
	a["description"], a["bot_public"], a["bot_require_code_grant"], a["verify_key"] = "", false, false, "00"
	a["bot"] = s.bot.wire()
	a["owner"], a["team"] = nil, nil
	if s.owner != nil {
		a["owner"] = s.users[s.owner.ID].wire()
	}
	if s.ofTeam {
		a["team"] = map[string]any{"id": s.bot.ID, "name": "a team", "icon": nil, "owner_user_id": s.bot.ID, "members": []any{}}
	}
	return a, nil
}

// SetOwner says who made the bot. Of a team's, the owner is an account that stands for it.
func (s *Server) SetOwner(p *Person, ofTeam bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner, s.ofTeam = p, ofTeam
}

// SetContentIntent switches the message content intent, as on the page Bot of the developer portal.
func (s *Server) SetContentIntent(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.NoContentIntent = !on
}
