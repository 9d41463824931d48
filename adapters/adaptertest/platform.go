package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Method is what a call does.
type Method string

// The methods.
const (
	Send         Method = "send"
	Edit         Method = "edit"
	SendFile     Method = "file"
	CreateThread Method = "thread"
	CloseThread  Method = "close"
	OpenThread   Method = "open"
	RenameThread Method = "rename"
	Typing       Method = "typing"
)

// Call is one API request.
type Call struct {
	Method  Method
	Chat    string
	Thread  string
	Message string // Edit
	Text    string // of a message, beside a file, or a thread's title
	Name    string // SendFile
	Data    []byte
	Silent  bool   // nobody is notified
	Nonce   string // "": none
	// Of posts; nobody sees them here.
	Picture, Buttons bool
	ReplyTo          string
}

// Answer is what a call made.
type Answer struct {
	ID      string // of the new message or thread
	Existed bool   // there was a message with this nonce already
}

// Error is the platform's refusal.
type Error struct {
	Code       int // as in HTTP
	Text       string
	RetryAfter time.Duration // 429
	MigratedTo string        // 400: the chat has this id now
}

func (e *Error) Error() string { return strconv.Itoa(e.Code) + " " + e.Text }

// The platform's refusals, by text.
const (
	TooMany         = "too many requests"
	TooLong         = "message is too long"
	Empty           = "message text is empty"
	FileTooLarge    = "file is too large"
	NotModified     = "message is not modified"
	MessageNotFound = "message to edit not found"
	NotEditable     = "message can't be edited"
	ThreadNotFound  = "message thread not found"
	ChatNotFound    = "chat not found"
	Upgraded        = "group chat was upgraded to a supergroup chat"
)

// Errors of the way to the platform.
var (
	// ErrNoConnection: the request surely didn't leave.
	ErrNoConnection = errors.New("no connection")
	// ErrNoAnswer: the request left, and no answer came in time.
	ErrNoAnswer = errors.New("no answer in time")
)

// Message is what a person sees.
type Message struct {
	ID     string
	Chat   string
	Thread string
	Text   string
	Data   []byte // of the attached file
	Rang   bool   // people were notified
	Edits  int
	Person bool // a person wrote it
	At     time.Time
	nonce  string
	frozen bool
}

// Arrival is a call that reached the platform.
type Arrival struct {
	At      time.Time
	Call    Call
	Refused string // Error.Text; "": it was done
	Banned  bool   // it came while the platform had ordered silence, and that was heard
}

// Fault is what goes wrong with one call.
type Fault struct {
	Kind       FaultKind
	RetryAfter time.Duration // Throttled
	Out, Back  time.Duration // how long the request and its answer take
}

// FaultKind is how a call goes wrong.
type FaultKind uint8

// The faults.
const (
	Works        FaultKind = iota
	Unconnected            // ErrNoConnection
	Throttled              // 429 with RetryAfter, though there was room
	ServerError            // 500; not done
	BadGateway             // 502; not done, which nobody knows
	BadGatewayOK           // 502, but done
	Lost                   // no answer; never arrives
	Unanswered             // no answer, but done
	faultKinds
)

func (k FaultKind) String() string {
	return [faultKinds]string{"works", "unconnected", "throttled", "server error", "bad gateway", "bad gateway, done", "lost", "unanswered"}[k]
}

// Window is so many calls in any stretch of time of this length.
type Window struct {
	Calls int
	Per   time.Duration
}

// Options are a platform's rules. The zero value of a field means its default,
// which is Telegram's (core.telegram.org/bots/faq, core.telegram.org/api/bots/ai).
type Options struct {
	MaxText int // UTF-16 units; 4096
	MaxFile int // bytes; 50 MB
	// NonceFor is for how long a nonce isn't taken twice. 0: nonces mean nothing.
	NonceFor time.Duration
	Group    []Window // of a group, over all its threads; 20 per 60 s
	Private  []Window // of a private chat; 3 per 3 s and 60 per 60 s
	Bot      []Window // over all chats; 30 per 1 s
	Typing   []Window // of a chat, for Typing; 20 per 5 s and 40 per 30 s
	// PerThread says that each thread has windows and penalties of its own, as on
	// Discord. Those of its chat are for what's outside of threads, and for making them.
	PerThread bool
	// Unlimited switches all windows off.
	Unlimited bool
	// Fault is asked before each call. Nil: all works at once.
	Fault func(c Call) Fault
	// Refuse says why the platform doesn't take what a message has in it; "": it does. Nil: it
	// takes all.
	Refuse func(c Call) string
	// Arriving is told of each call before it's done. Nil: nobody is.
	Arriving func(c Call)
}

// Platform is a chat platform in memory. It counts its windows by when calls
// arrive, punishes calls during a penalty with a longer one, refuses what it
// can't show, and remembers everything. It's safe for concurrent use.
type Platform struct {
	opt Options

	mu       sync.Mutex
	fault    func(c Call) Fault
	chats    map[string]*chat
	threads  map[string]string // the chats of all that ever were
	messages []*Message
	arrivals []Arrival
	last     int // id given
	running  sync.WaitGroup
}

// chat is one chat.
type chat struct {
	private bool
	threads map[string]string // titles by id; nil: it has none
	closed  map[string]bool   // threads
	movedTo string
	gone    bool
	// orders are those of silence, by thread where each has its own.
	orders map[string]*order
}

// order is one to be silent.
type order struct {
	until   time.Time // no calls until then
	told    bool      // and somebody has heard of it
	strikes int       // calls during penalties since the last that was allowed
}

// order is the one that a call falls under. mu is held.
func (p *Platform) order(c *chat, call Call) *order {
	thread := ""
	if p.opt.PerThread {
		thread = call.Thread
	}
	o := c.orders[thread]
	if o == nil {
		o = &order{}
		if c.orders == nil {
			c.orders = map[string]*order{}
		}
		c.orders[thread] = o
	}
	return o
}

// firstID is below all ids that are given: small ones mean something on some
// platforms (Telegram's General is topic 1).
const firstID = 100

// NewPlatform returns a platform without chats.
func NewPlatform(opt Options) *Platform {
	if opt.MaxText == 0 {
		opt.MaxText = 4096
	}
	if opt.MaxFile == 0 {
		opt.MaxFile = 50 << 20
	}
	windows := func(w *[]Window, d ...Window) {
		if len(*w) == 0 {
			*w = d
		}
	}
	windows(&opt.Group, Window{20, time.Minute})
	windows(&opt.Private, Window{3, 3 * time.Second}, Window{60, time.Minute})
	windows(&opt.Bot, Window{30, time.Second})
	windows(&opt.Typing, Window{20, 5 * time.Second}, Window{40, 30 * time.Second})
	return &Platform{opt: opt, fault: opt.Fault, chats: map[string]*chat{}, threads: map[string]string{}, last: firstID}
}

// AddGroup makes a group; with threads, it can have some.
func (p *Platform) AddGroup(id string, threads bool) {
	c := &chat{closed: map[string]bool{}}
	if threads {
		c.threads = map[string]string{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chats[id] = c
}

// AddPrivate makes a private chat.
func (p *Platform) AddPrivate(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chats[id] = &chat{private: true}
}

// AddThread makes a thread in a group, as a person does, and returns its id.
func (p *Platform) AddThread(chat, title string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.nextID()
	p.chats[chat].threads[id], p.threads[id] = title, chat
	return id
}

// SetFault replaces Options.Fault.
func (p *Platform) SetFault(fault func(c Call) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// Say posts a message of a person.
func (p *Platform) Say(chat, thread, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = append(p.messages, &Message{ID: p.nextID(), Chat: chat, Thread: thread, Text: text, Person: true, At: time.Now()})
}

// SetRefuse replaces Options.Refuse.
func (p *Platform) SetRefuse(refuse func(c Call) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opt.Refuse = refuse
}

// DeleteMessage deletes a message, as a person does.
func (p *Platform) DeleteMessage(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = slices.DeleteFunc(p.messages, func(m *Message) bool { return m.ID == id })
}

// Freeze makes a message too old to be edited.
func (p *Platform) Freeze(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.messages {
		m.frozen = m.frozen || m.ID == id
	}
}

// DeleteThread deletes a thread with its messages.
func (p *Platform) DeleteThread(chat, thread string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.chats[chat].threads, thread)
	p.messages = slices.DeleteFunc(p.messages, func(m *Message) bool { return m.Chat == chat && m.Thread == thread })
}

// DeleteChat deletes a chat, or throws the bot out of it.
func (p *Platform) DeleteChat(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chats[id].gone = true
}

// Migrate gives a chat a new id. Its messages and what was used of its windows go
// with it.
func (p *Platform) Migrate(from, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := *p.chats[from]
	p.chats[to] = &now
	p.chats[from] = &chat{movedTo: to}
	for _, m := range p.messages {
		if m.Chat == from {
			m.Chat = to
		}
	}
	for i := range p.arrivals {
		if p.arrivals[i].Call.Chat == from {
			p.arrivals[i].Call.Chat = to
		}
	}
}

// Seen returns what a person sees in a chat's thread (""; outside of threads), in
// order.
func (p *Platform) Seen(chat, thread string) []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Message
	for _, m := range p.messages {
		if m.Chat == chat && m.Thread == thread {
			out = append(out, *m)
		}
	}
	return out
}

// Threads returns the threads of a chat that have a title.
func (p *Platform) Threads(chat, title string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for id, t := range p.chats[chat].threads {
		if t == title {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Closed says whether a thread was closed.
func (p *Platform) Closed(chat, thread string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chats[chat].closed[thread]
}

// Arrivals returns all calls that arrived, in order.
func (p *Platform) Arrivals() []Arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.arrivals)
}

// Wait returns when no call is under way any more, those included that nobody waits
// for.
func (p *Platform) Wait() { p.running.Wait() }

func (p *Platform) nextID() string {
	p.last++
	return strconv.Itoa(p.last)
}

// lateBy is how long after its deadline a call may still arrive.
const lateBy = 5 * time.Second

// Conn is one process's connection to a platform.
type Conn struct {
	platform *Platform

	mu     sync.Mutex
	killed bool
	lost   bool // what was under way when it was killed doesn't arrive
}

// Connect returns a connection.
func (p *Platform) Connect() *Conn { return &Conn{platform: p} }

// ChatOf returns the chat that a thread is in, or was before it was deleted; "": there
// was none. On some platforms calls to threads name no chat.
func (c *Conn) ChatOf(thread string) string {
	c.platform.mu.Lock()
	defer c.platform.mu.Unlock()
	return c.platform.threads[thread]
}

// Kill ends the process: it makes no further calls. Those under way arrive all the
// same, unless lost.
func (c *Conn) Kill(lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed, c.lost = true, lost
}

func (c *Conn) state() (killed, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed, c.lost
}

// Do makes a call. The error is an *Error, ErrNoConnection, or wraps ErrNoAnswer
// when ctx has ended; the call may then still arrive, up to 5 s after ctx's
// deadline.
func (c *Conn) Do(ctx context.Context, call Call) (Answer, error) {
	p := c.platform
	if killed, _ := c.state(); killed {
		return Answer{}, ErrNoConnection
	}
	p.mu.Lock()
	var f Fault
	if p.fault != nil {
		f = p.fault(call)
	}
	p.mu.Unlock()
	if f.Kind == Unconnected || ctx.Err() != nil {
		return Answer{}, ErrNoConnection
	}
	type outcome struct {
		answer Answer
		err    error
	}
	done := make(chan outcome, 1)
	p.running.Go(func() {
		time.Sleep(f.Out)
		deadline, timed := ctx.Deadline()
		_, lost := c.state()
		if f.Kind == Lost || lost || timed && time.Now().After(deadline.Add(lateBy)) {
			return
		}
		a, err := p.arrive(call, f)
		if f.Kind == Unanswered {
			return
		}
		time.Sleep(f.Back)
		if killed, _ := c.state(); !killed && ctx.Err() == nil {
			p.heard(call)
			done <- outcome{a, err}
		}
	})
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
		return Answer{}, fmt.Errorf("%w: %w", ErrNoAnswer, ctx.Err())
	}
}

// Connected tells whoever traces a request that there's a connection, as a face of a real
// platform's API must unless a Conn had none.
func Connected(ctx context.Context) {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
}

// Respond answers a request with JSON.
func Respond(r *http.Request, status int, body any) *http.Response {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return RespondRaw(r, status, string(text))
}

// RespondRaw answers a request with a text, as somebody between may.
func RespondRaw(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// Field is a field of a form.
type Field struct {
	Name    string
	File    string // its name; "": it's no file
	Content []byte
}

// ReadForm reads the fields of a form with files in it, which the boundary parts.
func ReadForm(r *http.Request, boundary string) ([]Field, error) {
	parts := multipart.NewReader(r.Body, boundary)
	var out []Field
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		out = append(out, Field{part.FormName(), part.FileName(), content})
	}
}
