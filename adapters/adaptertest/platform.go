package adaptertest

import (
	"context"
	"slices"
	"strconv"
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
)

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

// Message is what a person sees.
type Message struct {
	ID     string
	Chat   string
	Thread string
	Text   string
	Links  []Link // those within the text, from its beginning
	Data   []byte // of the attached file
	Rang   bool   // people were notified
	Edits  int
	Person bool // a person wrote it
	At     time.Time
	nonce  string
	frozen bool
}

// Link is text that leads to an address.
type Link struct{ Text, Address string }

const (
	maxText = 4096     // UTF-16 units
	maxFile = 50 << 20 // bytes
)

// Options are a platform's rules; by default they're Telegram's (core.telegram.org/bots/faq).
type Options struct {
	// NonceFor is for how long a nonce isn't taken twice. 0: nonces mean nothing.
	NonceFor time.Duration
	// Unlimited switches off that a chat, with all its threads, gets 20 calls in 60 s, and all
	// together 30 in 1 s.
	Unlimited bool
	// Refuse says why the platform doesn't take what a message has in it; "": it does. Nil: it
	// takes all.
	Refuse func(c Call) string
}

// Platform is a chat platform in memory, with groups. It counts by when calls
// arrive, punishes calls during a penalty with a longer one, refuses what it
// can't show, and remembers everything. It's safe for concurrent use.
type Platform struct {
	Traffic // its mutex is the platform's

	opt      Options
	chats    map[string]*chat
	messages []*Message
	last     int // id given
}

// chat is one chat.
type chat struct {
	threads map[string]string // titles by id; nil: it has none
	closed  map[string]bool   // threads
	movedTo string
	gone    bool
	until   time.Time // no calls are taken until then
}

// firstID is below all ids that are given: small ones mean something on some
// platforms (Telegram's General is topic 1).
const firstID = 100

// NewPlatform returns a platform without chats.
func NewPlatform(opt Options) *Platform {
	return &Platform{opt: opt, chats: map[string]*chat{}, last: firstID}
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

// AddThread makes a thread in a group, as a person does, and returns its id.
func (p *Platform) AddThread(chat, title string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.nextID()
	p.chats[chat].threads[id] = title
	return id
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
func (p *Platform) DeleteMessage(chat, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = slices.DeleteFunc(p.messages, func(m *Message) bool { return m.Chat == chat && m.ID == id })
}

// FreezeMessage makes a message too old to be edited.
func (p *Platform) FreezeMessage(chat, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.messages {
		m.frozen = m.frozen || m.Chat == chat && m.ID == id
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

func (p *Platform) nextID() string {
	p.last++
	return strconv.Itoa(p.last)
}

// Conn is one process's connection to a platform in memory.
type Conn struct {
	*way
	platform *Platform
}

// Connect returns a connection.
func (p *Platform) Connect() *Conn { return &Conn{&way{traffic: &p.Traffic}, p} }

// Do makes a call. The error is an *Error, ErrNoConnection, or wraps ErrNoAnswer
// when ctx has ended; the call may then still arrive, up to 5 s after ctx's
// deadline.
func (c *Conn) Do(ctx context.Context, call Call) (Answer, error) {
	var answer Answer
	var refusal error
	err := c.carry(ctx, call, func(f Fault) (arrival int) {
		answer, arrival, refusal = c.platform.arrive(call, f)
		return arrival
	})
	if err != nil {
		return Answer{}, err
	}
	return answer, refusal
}
