package discordtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	// OldDeletes is for the deletions, in one channel, of messages older than two weeks.
	OldDeletes Window
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
	// The lower one of what was seen (github.com/abalabahaha/eris/pull/1173, and
	// github.com/discord/discord-api-docs/issues/8330).
	l.OldDeletes = l.OldDeletes.or(Window{30, 2 * time.Minute})
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

// arrivals is an exact log: nothing is forgotten, so that what it says of a window
// can be counted again. Times are in order.
type arrivals []time.Time

// within counts those in the span of that length that ends now. A span is
// half-open: what happened exactly per ago is outside.
func (a arrivals) within(per time.Duration, now time.Time) int {
	n := 0
	for i := len(a) - 1; i >= 0 && a[i].After(now.Add(-per)); i-- {
		n++
	}
	return n
}

// room returns how long it takes until a window has room for one more; 0 for now.
func (a arrivals) room(w Window, now time.Time) time.Duration {
	if a.within(w.Per, now) < w.Calls {
		return 0
	}
	return a[len(a)-w.Calls].Add(w.Per).Sub(now)
}

// worst is the most that any span of that length ever had.
func (a arrivals) worst(per time.Duration) int {
	most := 0
	for i, at := range a {
		most = max(most, a[:i+1].within(per, at))
	}
	return most
}

// bucketKey names a bucket: the hash that stands for a group of routes, and the
// top-level resource in their path.
type bucketKey struct{ name, major string }

// bucket is a window that begins with the first call after it has ended.
type bucket struct {
	resets  time.Time
	used    int
	blocked time.Time // by a Fault
	scope   Scope     // of that
}

// hash is what X-RateLimit-Bucket says: the same for all channels.
func (k bucketKey) hash() string {
	sum := sha256.Sum256([]byte(k.name))
	return hex.EncodeToString(sum[:16])
}

// bucketOf returns the bucket of a call; false if its route has none.
func (g *guard) bucketOf(c *call) (*bucket, bucketKey, bool) {
	k := bucketKey{c.route.bucket, c.major()}
	if k.name == "" {
		k.name = c.route.name
	}
	if g.limits.Routes[k.name].Calls == 0 {
		return nil, k, false
	}
	b := g.buckets[k]
	if b == nil {
		b = &bucket{}
		g.buckets[k] = b
	}
	return b, k, true
}

// major is the top-level resource of a call's path.
func (c *call) major() string {
	switch {
	case c.vars["channel"] != "":
		return c.vars["channel"]
	case c.vars["guild"] != "":
		return c.vars["guild"]
	}
	return c.vars["token"]
}

// arriveBucket counts a call in its bucket and writes the headers. What's refused
// isn't counted, but logged.
func (g *guard) arriveBucket(c *call) *refusal {
	b, k, ok := g.bucketOf(c)
	if !ok {
		return nil
	}
	g.logs[k] = append(g.logs[k], c.At)
	w := g.limits.Routes[k.name]
	if !c.At.Before(b.resets) {
		b.resets, b.used = c.At.Add(w.Per), 0
	}
	if rest := b.blocked.Sub(c.At); rest > 0 {
		b.write(c.headers, k, w, 0, b.blocked, c.At)
		return tooMany(b.scope, rest)
	}
	if b.used >= w.Calls {
		b.write(c.headers, k, w, 0, b.resets, c.At)
		return tooMany(ScopeUser, b.resets.Sub(c.At))
	}
	b.used++
	b.write(c.headers, k, w, w.Calls-b.used, b.resets, c.At)
	return nil
}

// write tells the state of a bucket (docs.discord.com/developers/topics/rate-limits#header-format).
func (b *bucket) write(h http.Header, k bucketKey, w Window, remaining int, resets, now time.Time) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(w.Calls))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(resets.UnixMilli())/1000, 'f', 3, 64))
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(round(resets.Sub(now)), 'f', 3, 64))
	h.Set("X-RateLimit-Bucket", k.hash())
}

// block closes a bucket until then, whatever its window says.
func (g *guard) block(c *call, length time.Duration, scope Scope) {
	if b, _, ok := g.bucketOf(c); ok {
		b.blocked, b.scope = c.At.Add(length), scope
	}
}

// guard counts calls and refuses those that are too many. It knows nothing of
// what they do.
type guard struct {
	limits   Limits
	buckets  map[bucketKey]*bucket
	logs     map[bucketKey]arrivals // of every bucket, refused calls included
	global   arrivals               // those that were let through
	silence  time.Time              // of the whole bot, by a Fault
	hidden   map[hiddenKey]arrivals
	invalids arrivals
	banUntil time.Time
}

func newGuard(limits Limits) *guard {
	return &guard{
		limits: limits, buckets: map[bucketKey]*bucket{}, logs: map[bucketKey]arrivals{}, hidden: map[hiddenKey]arrivals{},
	}
}

// arrive counts a call and refuses it if its time hasn't come.
func (g *guard) arrive(c *call, noReset bool) *refusal {
	if !c.route.free {
		if r := g.arriveGlobal(c.At); r != nil {
			r.noReset = noReset
			return r
		}
	}
	return g.arriveBucket(c)
}

func (g *guard) arriveGlobal(now time.Time) *refusal {
	if rest := g.silence.Sub(now); rest > 0 {
		return tooMany(ScopeGlobal, rest)
	}
	if rest := g.global.room(g.limits.Global, now); rest > 0 {
		return tooMany(ScopeGlobal, rest)
	}
	g.global = append(g.global, now)
	return nil
}

// invalid counts an answer of the kind that a ban follows
// (docs.discord.com/developers/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans).
func (g *guard) invalid(r *refusal, now time.Time) {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return
	}
	if r.scope == ScopeShared || r.html {
		return
	}
	g.invalids = append(g.invalids, now)
	if w := g.limits.Invalid; g.invalids.within(w.Per, now) >= w.Calls {
		g.banUntil = now.Add(g.limits.Ban)
	}
}

// banned refuses whoever has made too many invalid requests, in the words of the
// wall in front of Discord: no JSON, no scope, no limits.
func (g *guard) banned(now time.Time, status int) *refusal {
	rest := g.banUntil.Sub(now)
	if rest <= 0 {
		return nil
	}
	return &refusal{status: status, text: "error code: 1015", retryAfter: rest, html: true}
}

// InvalidRequests returns how many answers of the last ten minutes (Limits.Invalid)
// count towards a ban.
func (s *Server) InvalidRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard.invalids.within(s.guard.limits.Invalid.Per, now())
}

// Banned returns until when the bot's address is shut out; zero if it isn't.
func (s *Server) Banned() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now().Before(s.guard.banUntil) {
		return s.guard.banUntil
	}
	return time.Time{}
}

// Worst is the most calls that a window ever had.
type Worst struct {
	Call  string // the name of one that counts there; empty for the global limit
	Major string // the channel, guild or interaction; empty for the bot
	Window
	Most int
}

// Worst returns, for every limit that's shown in headers and for the global one,
// the most calls that any span of its length had, the fullest first. It counts the
// log anew, refused calls included, and counts sliding spans, where Discord's own
// begin with a call.
func (s *Server) Worst() []Worst {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.guard.limits.Global
	list := []Worst{{Window: w, Most: s.guard.global.worst(w.Per)}}
	for k, log := range s.guard.logs {
		w := s.guard.limits.Routes[k.name]
		list = append(list, Worst{k.name, k.major, w, log.worst(w.Per)})
	}
	slices.SortFunc(list, func(a, b Worst) int {
		if a.Most*b.Calls != b.Most*a.Calls {
			return b.Most*a.Calls - a.Most*b.Calls
		}
		return strings.Compare(a.Call+a.Major, b.Call+b.Major)
	})
	return list
}

// hiddenKey names a limit that no header tells of.
type hiddenKey struct{ what, where string }

// threadLie is how much longer a 429 for a new thread says it lasts than it does:
// told 219 s, another try went through after 145 (github.com/NousResearch/hermes-agent/issues/103296).
const threadLie = 1.5

// rename counts a new name or topic of a channel. The headers go on showing the
// visible limit, with room in it.
func (g *guard) rename(channel string, now time.Time) *refusal {
	return g.count(hiddenKey{"rename", channel}, g.limits.Renames, ScopeUser, now)
}

// oldEdit counts an edit of an old message.
func (g *guard) oldEdit(channel string, now time.Time) *refusal {
	r := g.count(hiddenKey{"edit", channel}, g.limits.OldEdits, ScopeUser, now)
	if r != nil {
		tooOld(r)
	}
	return r
}

// oldDelete counts the deletion of a message that's too old for one of many.
func (g *guard) oldDelete(channel string, now time.Time) *refusal {
	return g.count(hiddenKey{"delete", channel}, g.limits.OldDeletes, ScopeUser, now)
}

// tooOld makes a 429 one for an edit of an old message.
func tooOld(r *refusal) *refusal {
	r.code, r.text = 30046, "Maximum number of edits to messages older than 1 hour reached. Try again later."
	return r
}

// newThread counts a thread or post.
func (g *guard) newThread(guild string, now time.Time) *refusal {
	r := g.count(hiddenKey{"thread", guild}, g.limits.Threads, ScopeShared, now)
	if r != nil {
		r.retryAfter = time.Duration(float64(r.retryAfter) * threadLie)
	}
	return r
}

func (g *guard) count(k hiddenKey, w Window, scope Scope, now time.Time) *refusal {
	if rest := g.hidden[k].room(w, now); rest > 0 {
		return tooMany(scope, rest)
	}
	g.hidden[k] = append(g.hidden[k], now)
	return nil
}

// commandDay counts a command with a new name.
func (s *Server) commandDay(guild string) *refusal {
	if s.newCommands[guild].room(s.opts.Limits.NewCommands, now()) > 0 {
		return errDailyCommands
	}
	s.newCommands[guild] = append(s.newCommands[guild], now())
	return nil
}
