package telegramtest

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
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

// method is what the stand-in knows of one method of the Bot API.
type method struct {
	name   string
	family Family
	run    func(*call) (any, *refusal)
	// waits is set instead of run for what may take long. It's called without the
	// lock.
	waits func(context.Context, *call) (any, *refusal)
}

// methods returns what's spoken, by name in small letters: "All methods in the
// Bot API are case-insensitive" (core.telegram.org/bots/api#making-requests).
func (s *Server) methodTable() map[string]method {
	table := map[string]method{}
	add := func(name string, family Family, run func(*call) (any, *refusal)) {
		table[strings.ToLower(name)] = method{name: name, family: family, run: run}
	}
	table["getupdates"] = method{name: "getUpdates", waits: s.getUpdates}

	add("getMe", Free, s.getMe)
	add("setWebhook", Free, s.setWebhook)
	add("deleteWebhook", Free, s.deleteWebhook)
	add("getWebhookInfo", Free, s.getWebhookInfo)
	add("getChat", Free, s.getChat)
	add("getChatMember", Free, s.getChatMember)
	add("getChatAdministrators", Free, s.getChatAdministrators)
	add("getFile", Free, s.getFile)
	add("getMyCommands", Free, s.getMyCommands)
	add("answerCallbackQuery", Free, s.answerCallbackQuery)
	add("leaveChat", Free, s.leaveChat)

	add("setMyCommands", Menus, s.setMyCommands)
	add("deleteMyCommands", Menus, s.deleteMyCommands)

	add("sendChatAction", Typing, s.sendChatAction)
	add("sendMessageDraft", Typing, s.sendMessageDraft)

	add("sendMessage", Messages, s.sendMessage)
	add("sendDocument", Messages, s.sendDocument)
	add("sendPhoto", Messages, s.sendPhoto)
	add("editMessageText", Messages, s.editMessageText)
	add("editMessageCaption", Messages, s.editMessageCaption)
	add("editMessageReplyMarkup", Messages, s.editMessageReplyMarkup)
	add("deleteMessage", Messages, s.deleteMessage)
	add("deleteMessages", Messages, s.deleteMessages)
	add("setMessageReaction", Messages, s.setMessageReaction)
	add("pinChatMessage", Messages, s.pinChatMessage)
	add("unpinChatMessage", Messages, s.unpinChatMessage)
	add("createForumTopic", Messages, s.createForumTopic)
	add("editForumTopic", Messages, s.editForumTopic)
	add("closeForumTopic", Messages, s.closeForumTopic)
	add("reopenForumTopic", Messages, s.reopenForumTopic)
	add("deleteForumTopic", Messages, s.deleteForumTopic)
	return table
}

func (s *Server) familyOf(name string) Family {
	return s.methods[strings.ToLower(name)].family
}

// Call is one call of the bot, as it arrived.
type Call struct {
	Method      string // in Telegram's spelling
	Family      Family
	Chat        int64 // 0 if it names none that's known
	Thread      int
	Message     int       // that it made or changed
	At          time.Time // of arrival: the request was complete
	Params      map[string]string
	Code        int // 200, or Telegram's error_code; 0 while it has had no effect
	Description string
	RetryAfter  time.Duration
	InPenalty   bool // it came while the bot had to be silent
	Faulted     bool // a Fault decided its answer, or that there was none
}

// Refused reports whether the answer was an error.
func (c Call) Refused() bool { return c.Code != 0 && c.Code != 200 }

// call is a call on its way through the stand-in.
type call struct {
	*Call
	params
	method method
	fault  *Fault
}

// settle writes down the answer.
func (c *call) settle(r *refusal) {
	c.Code = 200
	if r != nil {
		c.Code, c.Description, c.RetryAfter = r.code, r.text, r.retryAfter
	}
}

// Calls returns the calls that have arrived so far, in order. Those to an unknown
// method or with a wrong token are among them.
func (s *Server) Calls() []Call { return s.callsIf(func(Call) bool { return true }) }

// CallsTo returns the counted calls to a chat: what costs its budget.
func (s *Server) CallsTo(chat int64) []Call {
	return s.callsIf(func(c Call) bool { return c.Chat == chat && c.Family != Free })
}

// Refusals returns the calls that were answered with an error, but for those that
// a test asked to fail.
func (s *Server) Refusals() []Call {
	return s.callsIf(func(c Call) bool { return c.Refused() && !c.Faulted })
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

// Worst is the most calls that a window ever had.
type Worst struct {
	Key
	Window
	Most int
}

// Worst returns, for every window that anything was counted in, the most calls
// that any span of its length had, over all that have arrived. It counts the log
// anew, refused calls included.
func (s *Server) Worst() []Worst {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Worst
	for k := range s.guard.arrivals {
		for _, w := range s.guard.limits.windowsOf(k, s.isPrivate(k.Chat)) {
			list = append(list, Worst{k, w, s.guard.arrivals.worst(k, w.Per)})
		}
	}
	slices.SortFunc(list, func(a, b Worst) int { return b.Most*a.Calls - a.Most*b.Calls })
	return list
}

// Used returns how many calls each window of a chat has had in the span that ends
// now.
func (s *Server) Used(chat int64) []Worst {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Worst
	for _, family := range []Family{Messages, Typing} {
		k := Key{chat, family}
		for _, w := range s.guard.limits.windowsOf(k, s.isPrivate(chat)) {
			list = append(list, Worst{k, w, s.guard.arrivals.count(k, w.Per, now())})
		}
	}
	return list
}

func (s *Server) isPrivate(chat int64) bool {
	c := s.chats[chat]
	return c != nil && c.kind == Private
}

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
	// Method, Chat and Thread choose the calls; zero means any.
	Method string
	Chat   int64
	Thread int
	// Times is how many calls it hits; 0 means all of them.
	Times int

	// Before passes until the call arrives, After until its answer leaves.
	Before, After time.Duration

	// RetryAfter orders silence: for the method's family, or, if it's long, for the
	// chat. The call has no effect.
	RetryAfter time.Duration
	// Code, with Description, is an error in Telegram's form, such as 502 "Bad
	// Gateway". The call has no effect.
	Code        int
	Description string
	// Body is sent as it is, with Code (or 502) and this content type (or text/html),
	// as a proxy in between would. The call has no effect.
	Body        string
	ContentType string
	// Cut breaks the connection.
	Cut Cut
}

func (f *Fault) hits(c *call) bool {
	return (f.Method == "" || strings.EqualFold(f.Method, c.Method)) &&
		(f.Chat == 0 || f.Chat == c.Chat) && (f.Thread == 0 || f.Thread == c.Thread)
}

// decides reports whether the fault takes the place of the call's effect.
func (f *Fault) decides() bool {
	return f.RetryAfter > 0 || f.Code != 0 || f.Body != "" || f.Cut == CutBefore
}

// Inject makes calls fail or wait. The first fault that fits a call is the one
// that hits it. The function it returns takes the fault back.
func (s *Server) Inject(f Fault) (remove func()) { return s.faults.Add(f, f.Times) }

// refuse returns what a fault answers in Telegram's form, if it does.
func (s *Server) refuse(c *call) *refusal {
	f := c.fault
	if f == nil {
		return nil
	}
	c.Faulted = f.decides() || f.Cut != NoCut
	if !f.decides() {
		return nil
	}
	switch {
	case f.Cut == CutBefore:
		return &refusal{} // nobody hears of it
	case f.RetryAfter > 0:
		return tooMany(s.guard.order(Key{c.Chat, c.Family}, f.RetryAfter, now()))
	}
	code := f.Code
	if code == 0 {
		code = http.StatusBadGateway
	}
	return &refusal{code: code, text: f.Description}
}

// refusal is an answer that isn't ok. The words are Telegram's own, because
// clients have nothing else to tell one 400 from another.
type refusal struct {
	code       int
	text       string
	retryAfter time.Duration // whole seconds
	migrateTo  int64
}

func badRequest(format string, args ...any) *refusal {
	return &refusal{code: http.StatusBadRequest, text: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func forbidden(text string) *refusal {
	return &refusal{code: http.StatusForbidden, text: "Forbidden: " + text}
}

func conflict(text string) *refusal {
	return &refusal{code: http.StatusConflict, text: "Conflict: " + text}
}

func tooMany(retryAfter time.Duration) *refusal {
	seconds := wholeSeconds(retryAfter)
	return &refusal{
		code: http.StatusTooManyRequests, retryAfter: seconds,
		text: fmt.Sprintf("Too Many Requests: retry after %d", int(seconds.Seconds())),
	}
}

// complaint is what a parser has against a text, in Telegram's words: they begin
// with a capital.
type complaint string

func (c complaint) Error() string { return string(c) }

func complain(format string, args ...any) error {
	return complaint(fmt.Sprintf(format, args...))
}

// wholeSeconds rounds up: a client that waits what it's told must not come too
// early.
func wholeSeconds(d time.Duration) time.Duration {
	return max(time.Second, (d + time.Second - 1).Truncate(time.Second))
}

var (
	errUnauthorized = &refusal{code: http.StatusUnauthorized, text: "Unauthorized"}
	errNotFound     = &refusal{code: http.StatusNotFound, text: "Not Found"}
	errTooLarge     = &refusal{code: http.StatusRequestEntityTooLarge, text: "Request Entity Too Large"}
)
