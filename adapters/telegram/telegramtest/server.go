package telegramtest

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/chatview"
	"github.com/panebridge/panebridge/internal/faults"
)

// Options configure a stand-in. The zero value of a field means its default.
type Options struct {
	// Token of the bot; DefaultToken.
	Token string
	// Bot is who the bot is; its ID is the number in the token.
	Bot User
	// Privacy is the bot's privacy mode: in groups where it's no administrator it
	// hears commands and answers to it only (core.telegram.org/bots/features#privacy-mode).
	Privacy bool
	// PrivateTopics lets private chats have topics
	// (core.telegram.org/bots/api#user, has_topics_enabled).
	PrivateTopics bool
	// Limits are the windows; each that's empty is Telegram's.
	Limits Limits
	// Latency returns how long a call travels here and its answer back. Nil: no time.
	Latency func(method string, chat int64) (here, back time.Duration)
	// Transport carries webhook calls; http.DefaultTransport.
	Transport http.RoundTripper
}

// DefaultToken is the token of a stand-in that isn't given another.
const DefaultToken = "7000000001:AAstand-in-for-the-bot-API-0123456789"

// Server is a stand-in for the Bot API with one bot. It's an http.Handler, and
// starts nothing; only webhooks need Run.
type Server struct {
	opts    Options
	methods map[string]method

	chatview.Changes

	mu       sync.Mutex
	users    map[int64]User
	chats    map[int64]*chat
	guard    *guard
	faults   faults.List[Fault]
	calls    []*Call
	rings    []Ring
	presses  map[string]*Press
	files    map[string]*File
	commands map[string][]Command
	queue    queue
	webhook  webhook

	lastUserID, lastChatID    int64
	lastMessageID, lastFileID int
}

// New makes a stand-in without people and chats.
func New(opts Options) *Server {
	if opts.Token == "" {
		opts.Token = DefaultToken
	}
	if opts.Transport == nil {
		opts.Transport = http.DefaultTransport
	}
	opts.Bot = withBotDefaults(opts.Bot, opts.Token)
	s := &Server{
		opts: opts, guard: newGuard(opts.Limits),
		users: map[int64]User{opts.Bot.ID: opts.Bot}, chats: map[int64]*chat{}, presses: map[string]*Press{},
		files: map[string]*File{}, commands: map[string][]Command{}, queue: newQueue(),
		lastUserID: 500_000_000, lastChatID: 1_800_000_000, lastMessageID: 100,
	}
	s.methods = s.methodTable()
	return s
}

func withBotDefaults(b User, token string) User {
	b.IsBot = true
	b.ID = botID(token)
	if b.FirstName == "" {
		b.FirstName = "panebridge"
	}
	if b.Username == "" {
		b.Username = "panebridge_bot"
	}
	return b
}

// botID returns the number a token begins with, which is the bot's.
func botID(token string) int64 {
	digits, _, _ := strings.Cut(token, ":")
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		panic("telegramtest: a token is NUMBER:SECRET, not " + strconv.Quote(token))
	}
	return id
}

// Token returns the bot's token.
func (s *Server) Token() string { return s.opts.Token }

// Bot returns who the bot is.
func (s *Server) Bot() User { return s.opts.Bot }

// tokenForm: what doesn't look like a token at all is an unknown address.
var tokenForm = regexp.MustCompile(`^[0-9]{1,20}:[A-Za-z0-9_-]{20,}$`)

// ServeHTTP answers /botTOKEN/METHOD and /file/botTOKEN/PATH.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	address, isFile := strings.CutPrefix(r.URL.Path, "/file/bot")
	if !isFile {
		var ok bool
		if address, ok = strings.CutPrefix(r.URL.Path, "/bot"); !ok {
			writeRefusal(w, errNotFound)
			return
		}
	}
	token, rest, _ := strings.Cut(address, "/")
	switch {
	case !tokenForm.MatchString(token):
		s.stray(w, rest, errNotFound)
	case token != s.opts.Token:
		s.stray(w, rest, errUnauthorized)
	case isFile:
		s.download(w, r, rest)
	case s.methods[strings.ToLower(rest)].name == "":
		s.stray(w, rest, errNotFound)
	default:
		s.serveCall(w, r, s.methods[strings.ToLower(rest)])
	}
}

// stray records a call that finds nobody.
func (s *Server) stray(w http.ResponseWriter, method string, r *refusal) {
	s.mu.Lock()
	s.calls = append(s.calls, &Call{Method: method, At: now(), Code: r.code, Description: r.text})
	s.mu.Unlock()
	writeRefusal(w, r)
}

// serveCall takes a call through its journey: travel, arrival, effect, travel.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, m method) {
	c := &call{Call: &Call{Method: m.name, Family: m.family}, method: m}
	var bad *refusal
	c.params, bad = readParams(r)
	c.Thread = int(c.number("message_thread_id"))
	here, back := s.prepare(c)
	if faults.Wait(r.Context(), here) != nil {
		return // it never arrived
	}
	result, refused := s.take(r.Context(), c, bad)
	if c.fault != nil && c.fault.Cut != NoCut {
		panic(http.ErrAbortHandler) // net/http's way to break a connection
	}
	if faults.Wait(r.Context(), back) != nil {
		return
	}
	switch {
	case c.fault != nil && c.fault.Body != "":
		faults.WriteRaw(w, c.fault.Code, c.fault.ContentType, c.fault.Body)
	case refused != nil:
		writeRefusal(w, refused)
	default:
		writeResult(w, result)
	}
}

// prepare finds the chat and the fault of a call, and how long it travels.
func (s *Server) prepare(c *call) (here, back time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if chat, r := s.findChat(c.text("chat_id")); r == nil {
		c.Chat = chat.id
	}
	if s.opts.Latency != nil {
		here, back = s.opts.Latency(c.Method, c.Chat)
	}
	if c.fault = s.faults.Take(func(f Fault) bool { return f.hits(c) }); c.fault != nil {
		here, back = here+c.fault.Before, back+c.fault.After
	}
	return here, back
}

// take lets a call arrive and have its effect.
func (s *Server) take(ctx context.Context, c *call, bad *refusal) (result any, refused *refusal) {
	if refused = s.arrive(c, bad); refused != nil {
		return nil, refused
	}
	if c.method.waits != nil {
		result, refused = c.method.waits(ctx, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.method.run != nil {
		result, refused = c.method.run(c)
	}
	c.settle(refused)
	s.Touch()
	return result, refused
}

// arrive records and counts a call, and refuses it if its time hasn't come, if a
// fault says so, or if it couldn't be read.
func (s *Server) arrive(c *call, bad *refusal) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.At = now()
	if c.method.waits == nil {
		c.Params = c.recorded()
	}
	s.calls = append(s.calls, c.Call)
	refused := s.admit(c)
	if refused == nil {
		refused = s.refuse(c)
	}
	if refused == nil {
		refused = bad
	}
	if refused != nil {
		c.settle(refused)
		s.Touch()
	}
	return refused
}

// admit asks the guard. A call whose chat isn't known is counted for the bot.
func (s *Server) admit(c *call) *refusal {
	k := Key{c.Chat, c.Family}
	silence, inside := s.guard.arrive(k, s.isPrivate(c.Chat), c.At)
	c.InPenalty = inside
	if silence > 0 {
		return tooMany(silence)
	}
	return nil
}
