package adapters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// What waits is bounded: somebody who doesn't see a reply asks again.
	maxPosts     = 1000     // that wait at a time
	maxChatPosts = 100      // of them in one chat
	maxPostBytes = 64 << 20 // of all their texts, pictures and files
	maxCosmetic  = 1000     // chats whose newest cosmetic post is remembered
)

// Errors of posts.
var (
	// ErrReplaced says that another post of the same key took a post's place before it
	// was made.
	ErrReplaced = errors.New("another post took its place")
	// ErrTooMuchWaits says that an outbox takes no more posts at the moment.
	ErrTooMuchWaits = errors.New("too many posts wait to be sent already")
	// ErrMessageGone says that the message isn't there any more, or can't be edited, of a
	// post of class Cosmetic: others are made anew.
	ErrMessageGone = errors.New("the message isn't there to be edited")
	// ErrMaybeSent says that a post that was given up may be there all the same: a call for it
	// wasn't answered. Post.Again is for the next.
	ErrMaybeSent = errors.New("it may be there all the same")
	// ErrDropped is what a post's sender hears if nobody said why it was dropped.
	ErrDropped = errors.New("the post was dropped: its session was closed")
)

// Outbox queues the posts of one adapter, and makes each when the scheduler grants
// its slot. What waits is in memory only: a restart forgets it, and who posts it keeps
// what's to be posted again. Uncertain sends are made once more, with a mark unless the
// platform knows the nonce; edits and reactions are simply made again.
//
// It's safe for concurrent use.
type Outbox struct {
	poster    Poster
	chat      func(Target) qos.Chat
	shape     func(Target) Shape
	scheduler func() scheduler
	masker    *redact.Masker // nil: nothing is masked
	log       *slog.Logger
	// made is told of each new message, and returns at once, moved is Deliverer.moved, and catchUp
	// is Deliverer.catchUp. Nil: there are no documents.
	made    func(at Target)
	moved   func(was, now Target)
	catchUp func(ctx context.Context, chat qos.Chat, p Post) (qos.Result, bool)

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

	tried   time.Time // when it was first sent with its nonce
	marked  bool      // it may be there already, and says so
	before  int       // calls that showed what it's to stand below
	unsure  bool      // a call that would have made it wasn't answered
	refused bool      // in every form
	whole   *Post     // as it was before the platform refused something of it; nil: it didn't
	failing failing
}

// again prepares a post to be sent, maybe not for the first time. uncertain says that a
// call before wasn't answered: for this post, if it has a nonce, or for one whose place
// it took.
func (w *waitingPost) again(now time.Time, nonceFor time.Duration, uncertain bool) {
	if w.Nonce != "" && w.tried.IsZero() {
		w.tried = now // others post the same, see Post.Nonce
	}
	if uncertain && (w.Nonce == "" || now.Sub(w.tried) >= nonceFor) {
		w.Nonce, w.marked = "", true
	}
	if w.Nonce == "" {
		w.Nonce, w.tried = randomHex(8), now
	}
}

func newOutbox(poster Poster, a Adapter, s func() scheduler, m *redact.Masker, log *slog.Logger) *Outbox {
	return &Outbox{
		poster: poster, chat: a.Chat, scheduler: s, masker: m, log: log,
		shape:   func(t Target) Shape { return a.Shape(t).withDefaults() },
		waiting: map[string]*waitingPost{}, perChat: map[qos.Chat]int{}, cosmetic: map[qos.Chat]Post{},
	}
}

// Slot keys of requests: all posts of an outbox have one that begins so.
const (
	slotPrefix   = "post\x00"
	cosmeticSlot = slotPrefix + "\x00cosmetic"
)

// slotKey names a post for the scheduler. It has the chat in it, because a chat may
// get another key while the post waits, and the thread: a chat's threads may share its limits.
func slotKey(chat qos.Chat, p Post) string {
	return slotPrefix + string(chat) + "\x00" + p.To.Thread + "\x00" + p.Key
}

// check says what's wrong with a post.
func (p Post) check() error {
	content := p.Text != "" || p.Picture != nil || p.File != nil
	switch {
	case p.Key == "" || p.To.Chat == "":
		return errors.New("a post needs a key and a chat")
	case p.Reaction != "" && (content || p.ReplyTo == ""):
		return errors.New("a reaction stands on a message, in place of a text")
	case p.Pin != "" && (content || p.Reaction != ""):
		return errors.New("a message is pinned in place of a text")
	case p.Reaction == "" && p.Pin == "" && !content:
		return errors.New("a post needs a text, a picture or a file")
	case p.Picture != nil && p.File != nil:
		return errors.New("a post has a picture or a file, not both")
	default:
		return nil
	}
}

// Size is how much memory a post's content takes, in bytes.
func (p Post) Size() int {
	n := len(p.Text) + len(p.Numbered) + len(p.Picture)
	if p.File != nil {
		n += len(p.File.Data)
	}
	return n
}

// Tell tells its sender what came of a post.
func (p Post) Tell(message string, err error) {
	switch {
	case p.SentTo != nil:
		p.SentTo(p.To, message, err)
	case p.Sent != nil:
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
	p = masked(o.masker, p)
	chat := o.chat(p.To)
	if p.Class >= qos.Cosmetic {
		o.try(chat, p)
		return nil
	}
	key := slotKey(chat, p)
	replaced, undo, err := o.add(chat, key, p)
	if err != nil {
		return fmt.Errorf("post to %s: %w", p.To, err)
	}
	err = o.scheduler().Post(qos.Request{Chat: chat, Key: key, Class: p.Class, Session: qos.Session(p.Session)})
	if replaced != nil {
		replaced.Tell("", ErrReplaced)
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
		if len(o.waiting) >= maxPosts || o.perChat[chat] >= maxChatPosts || o.bytes+p.Size() > maxPostBytes {
			return nil, nil, ErrTooMuchWaits
		}
		w = &waitingPost{Post: p, chat: chat}
		o.waiting[key] = w
		o.perChat[chat]++
		o.bytes += p.Size()
		return nil, func() { o.drop(key) }, nil
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
		replaced, w.whole = &old, nil
	}
	if o.bytes-slot.Size()+p.Size() > maxPostBytes {
		return nil, nil, ErrTooMuchWaits
	}
	o.bytes += p.Size() - slot.Size()
	*slot = p
	return replaced, func() {}, nil // the slot that was asked for before is still to come, or nothing is
}

// drop forgets a post, with the one that would have taken its place. refused says that the
// platform did, in every form: the post is as it was to be. unsure says that it may be there.
// mu isn't held.
func (o *Outbox) drop(key string) (posts []Post, refused, unsure bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waiting[key]
	posts = o.forget(key)
	if w != nil && w.whole != nil {
		posts[0] = *w.whole
	}
	return posts, w != nil && w.refused, w != nil && w.unsure
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
		o.bytes -= p.Size()
	}
	return out
}

// Waiting is how many posts wait.
func (o *Outbox) Waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting)
}

// Failing says why calls for a post have failed for ten seconds or longer that's a session's own in the
// chat of a place, a question say, or that somebody else's is there, a reply say; "": none have.
func (o *Outbox) Failing(session sessions.ID, at Target) string {
	if o == nil { // the adapter can't post
		return ""
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	var worst failing
	for _, w := range o.waiting {
		here := w.To == at || w.Session == session && w.To.Chat == at.Chat
		if here && !w.failing.since.IsZero() && (worst.since.IsZero() || w.failing.since.Before(worst.since)) {
			worst = w.failing
		}
	}
	return worst.said(now)
}

// owns says whether a request is one of posts.
func owns(key string) bool { return len(key) >= len(slotPrefix) && key[:len(slotPrefix)] == slotPrefix }
