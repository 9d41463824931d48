package adapters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/panebridge/panebridge/qos"
)

const (
	// What waits is bounded: somebody who doesn't see a reply asks again.
	maxPosts      = 1000     // that wait at a time
	maxChatPosts  = 100      // of them in one chat
	maxPostBytes  = 64 << 20 // of all their texts, pictures and files
	maxCosmetic   = 1000     // chats whose newest cosmetic post is remembered
	maxRemembered = 10_000   // posts whose messages can be edited by their keys
)

// Errors of posts.
var (
	// ErrReplaced says that another post of the same key took a post's place before it
	// was made.
	ErrReplaced = errors.New("another post took its place")
	// ErrTooMuchWaits says that an outbox takes no more posts at the moment.
	ErrTooMuchWaits = errors.New("too many posts wait to be sent already")
	// errDropped is what a post's sender hears if nobody said why it was dropped.
	errDropped = errors.New("the post was dropped: its session was closed")
)

// Outbox queues the posts of one adapter, and makes each when the scheduler grants
// its slot. What waits is in memory only: a restart forgets it. Uncertain sends are
// made once more, with a mark; edits and reactions are simply made again.
//
// It's safe for concurrent use.
type Outbox struct {
	poster    Poster
	chat      func(Target) qos.Chat
	scheduler func() scheduler
	log       *slog.Logger

	mu       sync.Mutex
	waiting  map[string]*waitingPost // by slot key
	perChat  map[qos.Chat]int
	bytes    int
	cosmetic map[qos.Chat]Post
	messages remembered // ids of messages, by slot key
}

// scheduler is what an Outbox needs of qos.OutputQoSScheduler.
type scheduler interface {
	Post(r qos.Request) error
	Try(r qos.Request)
}

// waitingPost is a post that waits, or whose call is under way.
type waitingPost struct {
	Post
	chat     qos.Chat // as it was posted
	inFlight bool
	next     *Post // takes its place when its call has ended
}

func newOutbox(poster Poster, chat func(Target) qos.Chat, s func() scheduler, log *slog.Logger) *Outbox {
	return &Outbox{
		poster: poster, chat: chat, scheduler: s, log: log,
		waiting: map[string]*waitingPost{}, perChat: map[qos.Chat]int{}, cosmetic: map[qos.Chat]Post{},
	}
}

// Slot keys of requests: all posts of an outbox have one that begins so.
const (
	slotPrefix   = "post\x00"
	cosmeticSlot = slotPrefix + "\x00cosmetic"
)

// slotKey names a post for the scheduler. It has the chat in it, because a chat may
// get another key while the post waits.
func slotKey(chat qos.Chat, key string) string { return slotPrefix + string(chat) + "\x00" + key }

// check says what's wrong with a post.
func (p Post) check() error {
	content := p.Text != "" || p.Picture != nil || p.File != nil
	switch {
	case p.Key == "" || p.To.Chat == "":
		return errors.New("a post needs a key and a chat")
	case p.Reaction != "" && (content || p.ReplyTo == ""):
		return errors.New("a reaction stands on a message, in place of a text")
	case p.Reaction == "" && !content:
		return errors.New("a post needs a text, a picture or a file")
	case p.Picture != nil && p.File != nil:
		return errors.New("a post has a picture or a file, not both")
	default:
		return nil
	}
}

func (p Post) size() int {
	n := len(p.Text) + len(p.Picture)
	if p.File != nil {
		n += len(p.File.Data)
	}
	return n
}

func (p Post) sent(message string, err error) {
	if p.Sent != nil {
		p.Sent(message, err)
	}
}

// Post queues a post. With an error, nobody is told anything more of it: it wraps
// ErrTooMuchWaits, qos.ErrDraining or qos.ErrStopped, or is about a field that can't
// be.
func (o *Outbox) Post(p Post) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("post to %s: %w", p.To, err)
	}
	chat := o.chat(p.To)
	if p.Class >= qos.Cosmetic {
		o.try(chat, p)
		return nil
	}
	key := slotKey(chat, p.Key)
	replaced, undo, err := o.add(chat, key, p)
	if err != nil {
		return fmt.Errorf("post to %s: %w", p.To, err)
	}
	err = o.scheduler().Post(qos.Request{Chat: chat, Key: key, Class: p.Class, Session: qos.Session(p.Session)})
	if replaced != nil {
		replaced.sent("", ErrReplaced)
	}
	if err != nil {
		undo()
		return fmt.Errorf("post to %s: %w", p.To, err)
	}
	return nil
}

// try makes a cosmetic post, if it can be made right now.
func (o *Outbox) try(chat qos.Chat, p Post) {
	o.mu.Lock()
	if len(o.cosmetic) >= maxCosmetic {
		clear(o.cosmetic) // nobody misses them
	}
	o.cosmetic[chat] = p
	o.mu.Unlock()
	o.scheduler().Try(qos.Request{Chat: chat, Key: cosmeticSlot, Session: qos.Session(p.Session)})
}

// add has a post wait. It returns the one whose place it took, and how to take it
// back.
func (o *Outbox) add(chat qos.Chat, key string, p Post) (replaced *Post, undo func(), err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waiting[key]
	if w == nil {
		if len(o.waiting) >= maxPosts || o.perChat[chat] >= maxChatPosts || o.bytes+p.size() > maxPostBytes {
			return nil, nil, ErrTooMuchWaits
		}
		w = &waitingPost{Post: p, chat: chat}
		o.waiting[key] = w
		o.perChat[chat]++
		o.bytes += p.size()
		return nil, func() { o.dropped(key) }, nil
	}
	slot := &w.Post
	if w.inFlight {
		if w.next == nil {
			w.next = &Post{}
		} else {
			old := *w.next
			replaced = &old
		}
		slot = w.next
	} else {
		old := w.Post
		replaced = &old
	}
	if o.bytes-slot.size()+p.size() > maxPostBytes {
		return nil, nil, ErrTooMuchWaits
	}
	o.bytes += p.size() - slot.size()
	*slot = p
	return replaced, func() {}, nil // the slot that was asked for before is still to come, or nothing is
}

// dropped forgets a post. mu isn't held.
func (o *Outbox) dropped(key string) []Post {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.forget(key)
}

// forget takes a post out, with the one that would have taken its place. mu is held.
func (o *Outbox) forget(key string) []Post {
	w := o.waiting[key]
	if w == nil {
		return nil
	}
	delete(o.waiting, key)
	if o.perChat[w.chat]--; o.perChat[w.chat] == 0 {
		delete(o.perChat, w.chat)
	}
	out := []Post{w.Post}
	if w.next != nil {
		out = append(out, *w.next)
	}
	for _, p := range out {
		o.bytes -= p.size()
	}
	return out
}

// Waiting is how many posts wait.
func (o *Outbox) Waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting)
}

// owns says whether a request is one of posts.
func owns(key string) bool { return len(key) >= len(slotPrefix) && key[:len(slotPrefix)] == slotPrefix }

// request makes a post's call: see qos.Deliverer.
func (o *Outbox) request(ctx context.Context, call qos.Call) qos.Result {
	if call.Key == cosmeticSlot {
		return o.requestCosmetic(ctx, call)
	}
	p, message, ok := o.take(call.Key)
	if !ok {
		return qos.Result{Outcome: qos.Unchanged} // dropped meanwhile
	}
	if call.Uncertain && message == "" && p.Reaction == "" {
		p.Text = marked(p.Text)
	}
	reply := o.poster.Post(ctx, p, message)
	return o.settle(call.Key, p, message, reply)
}

// marked is a text that may be in the chat already.
func marked(text string) string {
	mark := `\` + doubleMark // in Markdown, which it isn't
	if text == "" {
		return mark
	}
	return mark + "\n\n" + text
}

// take begins a post's call.
func (o *Outbox) take(key string) (p Post, message string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waiting[key]
	if w == nil {
		return p, "", false
	}
	w.inFlight = true
	if w.Reaction != "" {
		return w.Post, "", true
	}
	message = w.Message
	if message == "" {
		message = o.messages.get(key)
	}
	return w.Post, message, true
}

// settle takes in what came of a post's call.
func (o *Outbox) settle(key string, p Post, message string, r Reply) qos.Result {
	result := qos.Result{Outcome: r.Outcome, RetryAfter: r.RetryAfter, Global: r.Global, Err: r.Err}
	o.mu.Lock()
	w := o.waiting[key]
	if w == nil { // dropped while its call was under way
		o.mu.Unlock()
		if r.Outcome == qos.Migrated {
			result.Outcome = qos.Failed
		}
		return result
	}
	w.inFlight = false
	var tell func()
	switch r.Outcome {
	case qos.Delivered:
		if p.Reaction != "" {
			r.ID = ""
		} else if r.ID == "" {
			r.ID = message // an edit
		}
		if r.ID != "" {
			o.messages.put(key, r.ID)
		}
		tell = func() { p.sent(r.ID, nil) }
		result.More = o.advance(key, w)
	case qos.Rejected:
		switch {
		case r.Missing == MissingMessage && message != "":
			// It's made anew, by a call of its own.
			o.messages.drop(key)
			w.Message = ""
			result.Outcome, result.Err, result.More = qos.Delivered, nil, true
			if w.next != nil {
				tell = func() { p.sent("", ErrReplaced) }
				o.advance(key, w)
			}
		case w.next != nil:
			tell = func() { p.sent("", r.Err) }
			o.advance(key, w)
			result.Outcome, result.Err, result.More = qos.Delivered, nil, true
		}
		// Else the scheduler drops it, and says so.
	case qos.Migrated:
		o.follow(p.To.Chat, r.Chat)
		result.Chat = o.chat(w.To)
	case qos.Unchanged:
		result.Outcome = qos.NotSent // it would count as made
	default: // it's called again
	}
	if w := o.waiting[key]; w != nil && w.next != nil && result.Outcome != qos.Delivered {
		// What was to be said before has been overtaken. If it may be in the chat, the
		// scheduler says so with the next call.
		old := w.Post
		tell = func() { old.sent("", ErrReplaced) }
		o.advance(key, w)
	}
	o.mu.Unlock()
	if tell != nil {
		tell()
	}
	return result
}

// follow has all that waits for a chat go to its new id. mu is held.
func (o *Outbox) follow(from, to string) {
	for _, w := range o.waiting {
		for _, p := range []*Post{&w.Post, w.next} {
			if p != nil && p.To.Chat == from {
				p.To.Chat = to
			}
		}
	}
}

// advance forgets a post that's done with, or has the next take its place; then it's
// true. mu is held.
func (o *Outbox) advance(key string, w *waitingPost) bool {
	if w.next == nil {
		o.forget(key)
		return false
	}
	o.bytes -= w.size()
	w.Post, w.next = *w.next, nil
	return true
}

func (o *Outbox) requestCosmetic(ctx context.Context, call qos.Call) qos.Result {
	o.mu.Lock()
	p, ok := o.cosmetic[call.Chat]
	delete(o.cosmetic, call.Chat)
	o.mu.Unlock()
	if !ok {
		return qos.Result{Outcome: qos.Unchanged}
	}
	r := o.poster.Post(ctx, p, p.Message)
	if r.Outcome == qos.Delivered {
		p.sent(r.ID, nil)
	}
	if r.Outcome == qos.Migrated {
		p.To.Chat = r.Chat
		return qos.Result{Outcome: r.Outcome, Chat: o.chat(p.To), Err: r.Err}
	}
	return qos.Result{Outcome: r.Outcome, RetryAfter: r.RetryAfter, Global: r.Global, Err: r.Err}
}

// requestDropped takes in that the scheduler gave a post up.
func (o *Outbox) requestDropped(key string, err error) {
	if err == nil {
		err = errDropped
	}
	for _, p := range o.dropped(key) {
		o.log.Warn("a post was given up", "target", p.To.String(), "session", p.Session, "err", err)
		p.sent("", err)
	}
}

// remembered keeps the newest of what was put into it, between half of
// maxRemembered and all of it.
type remembered struct {
	recent, older map[string]string
}

func (r *remembered) get(key string) string {
	if id, ok := r.recent[key]; ok {
		return id
	}
	id, ok := r.older[key]
	if ok {
		r.put(key, id)
	}
	return id
}

func (r *remembered) put(key, id string) {
	if len(r.recent) >= maxRemembered/2 {
		r.older, r.recent = r.recent, nil
	}
	if r.recent == nil {
		r.recent = map[string]string{}
	}
	r.recent[key] = id
}

func (r *remembered) drop(key string) {
	delete(r.recent, key)
	delete(r.older, key)
}
