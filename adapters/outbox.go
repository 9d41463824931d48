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
	// ErrMessageGone says that a post of class Cosmetic would have edited a message that's gone or
	// can't be edited. Posts of other classes are made anew.
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
	poster Poster
	chat   func(Target) qos.ChatKey
	shape  func(Target) Shape
	masker *redact.Masker // nil: nothing is masked
	log    *slog.Logger
	// The Hub sets the adapter's deliverer and scheduler once they're made.
	deliverer *Deliverer
	scheduler *qos.OutputQoSScheduler

	mu       sync.Mutex
	waiting  map[string]*waitingPost // by slot key
	perChat  map[qos.ChatKey]int
	bytes    int
	cosmetic map[qos.ChatKey]Post
	messages remembered // ids of messages, by slot key
}

// waitingPost is a post that waits, or whose call is under way.
type waitingPost struct {
	Post
	chat     qos.ChatKey // as it was posted
	inFlight bool
	next     *Post // takes its place when its call has ended

	tried   time.Time // when it was first sent with its nonce
	marked  bool      // it may be there already, and says so
	before  int       // calls that showed what it's to stand below
	unsure  bool      // a call that would have made it wasn't answered
	refused bool      // in every form
	whole   *Post     // as it was before the platform refused something of it; nil: it didn't
	failing failingSince
}

// prepareAgain prepares a post to be sent, maybe not for the first time. uncertain says that a
// call before wasn't answered: for this post, if it has a nonce, or for one whose place
// it took.
func (w *waitingPost) prepareAgain(now time.Time, nonceFor time.Duration, uncertain bool) {
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

func newOutbox(poster Poster, a Adapter, m *redact.Masker, log *slog.Logger) *Outbox {
	return &Outbox{
		poster: poster, chat: a.Chat, masker: m, log: log,
		shape:   func(t Target) Shape { return a.Shape(t).withDefaults() },
		waiting: map[string]*waitingPost{}, perChat: map[qos.ChatKey]int{}, cosmetic: map[qos.ChatKey]Post{},
	}
}

// Slot keys of requests: all posts of an outbox have one that begins so.
const (
	slotPrefix   = "post\x00"
	cosmeticSlot = slotPrefix + "\x00cosmetic"
)

// slotKey names a post for the scheduler. It has the chat in it, because a chat may
// get another key while the post waits, and the thread: a chat's threads may share its limits.
func slotKey(chat qos.ChatKey, p Post) string {
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
	case p.Drop != "" && (content || p.Reaction != "" || p.Pin != ""):
		return errors.New("a message is deleted in place of a text")
	case !p.IsSign() && !content:
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

// TellSender tells its sender what came of a post.
func (p Post) TellSender(message string, err error) {
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
	p = maskedPost(o.masker, p)
	chat := o.chat(p.To)
	if p.Class >= qos.Cosmetic {
		o.tryCosmetic(chat, p)
		return nil
	}
	key := slotKey(chat, p)
	replaced, undo, err := o.addPost(chat, key, p)
	if err != nil {
		return fmt.Errorf("post to %s: %w", p.To, err)
	}
	err = o.scheduler.PostRequest(qos.Request{Chat: chat, Key: key, Class: p.Class, Session: qos.SessionKey(p.Session)})
	if replaced != nil {
		replaced.TellSender("", ErrReplaced)
	}
	if err != nil {
		undo()
		return fmt.Errorf("post to %s: %w", p.To, err)
	}
	return nil
}

// tryCosmetic makes a cosmetic post, if it can be made right now.
func (o *Outbox) tryCosmetic(chat qos.ChatKey, p Post) {
	o.mu.Lock()
	if len(o.cosmetic) >= maxCosmetic {
		clear(o.cosmetic) // nobody misses them
	}
	o.cosmetic[chat] = p
	o.mu.Unlock()
	o.scheduler.TryRequest(qos.Request{Chat: chat, Key: cosmeticSlot, Session: qos.SessionKey(p.Session)})
}

// addPost adds a post to those that wait. It returns the one whose place it took, and how to take it
// back.
func (o *Outbox) addPost(chat qos.ChatKey, key string, p Post) (replaced *Post, undo func(), err error) {
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
		return nil, func() { o.dropPost(key) }, nil
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

// dropPost forgets a post, with the one that would have taken its place. refused says that the
// platform did, in every form: the post is as it was to be. unsure says that it may be there.
// mu isn't held.
func (o *Outbox) dropPost(key string) (posts []Post, refused, unsure bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waiting[key]
	posts = o.forgetPost(key)
	if w != nil && w.whole != nil {
		posts[0] = *w.whole
	}
	return posts, w != nil && w.refused, w != nil && w.unsure
}

// forgetPost takes a post out, with the one that would have taken its place. mu is held.
func (o *Outbox) forgetPost(key string) []Post {
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

// Failing says why calls for a post have failed for ten seconds or longer that's a session's own in the
// chat of a place, a question say, or that somebody else's is there, a reply say; "": none have.
func (o *Outbox) Failing(session sessions.ID, at Target) string {
	if o == nil { // the adapter can't post
		return ""
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	var worst failingSince
	for _, w := range o.waiting {
		here := w.To == at || w.Session == session && w.To.Chat == at.Chat
		if here && !w.failing.since.IsZero() && (worst.since.IsZero() || w.failing.since.Before(worst.since)) {
			worst = w.failing
		}
	}
	return worst.reason(now)
}

// isPostKey says whether a request is one of posts.
func isPostKey(key string) bool {
	return len(key) >= len(slotPrefix) && key[:len(slotPrefix)] == slotPrefix
}

// deliverPost makes a post's call: see qos.Deliverer.
func (o *Outbox) deliverPost(ctx context.Context, call qos.Call) qos.CallResult {
	if call.Key == cosmeticSlot {
		return o.deliverCosmetic(ctx, call)
	}
	p, message, ok := o.beginPost(call)
	if !ok {
		return qos.CallResult{Outcome: qos.Unchanged} // dropped meanwhile
	}
	if result, called := o.showPreceding(ctx, call, p, message); called {
		return result
	}
	if p.Reaction != "" && p.ReplyTo == "" { // its message was in a group that's gone
		return o.settlePost(call.Key, p, message, Reply{Outcome: qos.Rejected, Err: ErrMessageGone})
	}
	reply := o.poster.Post(ctx, p, message)
	return o.settlePost(call.Key, p, message, reply)
}

func (o *Outbox) deliverCosmetic(ctx context.Context, call qos.Call) qos.CallResult {
	o.mu.Lock()
	p, ok := o.cosmetic[call.Chat]
	delete(o.cosmetic, call.Chat)
	o.mu.Unlock()
	if !ok {
		return qos.CallResult{Outcome: qos.Unchanged}
	}
	r := o.poster.Post(ctx, p, p.Message)
	switch {
	case r.Outcome == qos.Delivered && r.ID == "":
		p.TellSender(p.Message, nil)
	case r.Outcome == qos.Delivered:
		o.deliverer.EndTailAt(p.To)
		p.TellSender(r.ID, nil)
	case r.Outcome == qos.Rejected && r.Missing == MissingMessage:
		p.TellSender("", fmt.Errorf("%w: %w", ErrMessageGone, r.Err))
	case r.Outcome == qos.Rejected:
		p.TellSender("", r.Err)
	default: // as if it had not been made
	}
	if r.Outcome == qos.Migrated {
		p.To.Chat = r.Chat
		return qos.CallResult{Outcome: r.Outcome, Chat: o.chat(p.To), Err: r.Err}
	}
	return r.result()
}

// handleDropped takes in that the scheduler gave a post up. It returns what's to be posted
// elsewhere.
func (o *Outbox) handleDropped(key string, err error) (elsewhere []Post) {
	if err == nil {
		err = ErrDropped
	}
	posts, refused, unsure := o.dropPost(key)
	for i, p := range posts {
		err := err
		if unsure && i == 0 {
			err, p.Again = fmt.Errorf("%w; %w", err, ErrMaybeSent), true
		}
		if moved, ok := p.elsewhere(err); ok && refused {
			o.log.Warn("a post was refused, and goes elsewhere", "target", p.To.String(), "to", moved.To.String(), "session", p.Session, "err", err)
			elsewhere = append(elsewhere, moved)
			continue
		}
		o.log.Warn("a post was given up", "target", p.To.String(), "session", p.Session, "err", err)
		p.TellSender("", err)
	}
	return elsewhere
}

// Marked is a text that may be in the chat already, and says so.
func Marked(text string) string {
	mark := `\` + doubleMark // in Markdown, which it isn't
	if text == "" {
		return mark
	}
	return mark + "\n\n" + text
}

// beginPost begins a post's call.
func (o *Outbox) beginPost(call qos.Call) (p Post, message string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waiting[call.Key]
	if w == nil {
		return p, "", false
	}
	w.inFlight = true
	if w.IsSign() {
		return w.Post, "", true
	}
	message = w.Message
	if message == "" {
		message = o.messages.messageOf(call.Key)
	}
	if message != "" {
		return w.Post, message, true
	}
	w.prepareAgain(time.Now(), o.shape(w.To).NonceFor, call.Uncertain)
	p = w.Post
	if w.marked || p.Again {
		p.Text = Marked(p.Text)
	}
	return p, "", true
}

// maxPreceding bounds the calls that show what a post is to stand below.
const maxPreceding = 3

// showPreceding first shows what a new post is to stand below, in the post's slot. called is false
// if that's shown, or can't be.
func (o *Outbox) showPreceding(ctx context.Context, call qos.Call, p Post, message string) (result qos.CallResult, called bool) {
	if !p.Behind || message != "" {
		return result, false
	}
	result, called = o.deliverer.catchUpDocument(ctx, call.Chat, p)
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waiting[call.Key]
	if w == nil {
		return result, called
	}
	if result.Outcome != qos.Migrated { // which has shown nothing, and comes once
		w.before++
	}
	if w.before >= maxPreceding {
		w.Behind = false
	}
	if !called {
		return result, false
	}
	w.inFlight = false
	switch result.Outcome {
	case qos.Delivered:
		return qos.CallResult{Outcome: qos.Delivered, More: true}, true
	case qos.Rejected, qos.ChatGone: // that's the document's to say; the post goes its own way
		w.Behind = false
		return qos.CallResult{Outcome: qos.Delivered, More: true}, true
	case qos.Migrated:
		return qos.CallResult{Outcome: qos.NotSent, Err: result.Err}, true // the post learns it by itself
	default:
		result.Delivered, result.Final, result.Again = 0, 0, time.Time{}
		return result, true
	}
}

// settlePost takes in what came of a post's call.
func (o *Outbox) settlePost(key string, p Post, message string, r Reply) qos.CallResult {
	result := r.result()
	o.mu.Lock()
	w := o.waiting[key]
	if w == nil { // dropped while its call was under way
		o.mu.Unlock()
		if r.Outcome == qos.Migrated {
			result.Outcome = qos.Failed
		}
		return result
	}
	w.inFlight, w.failing = false, w.failing.afterResult(result, time.Now())
	tell, moved := func() {}, func() {}
	switch r.Outcome {
	case qos.Delivered:
		if p.IsSign() {
			r.ID = ""
		} else if r.ID == "" {
			r.ID = message // an edit
		}
		if r.ID != "" {
			o.messages.putMessage(key, r.ID)
		}
		if message == "" && r.ID != "" {
			o.deliverer.EndTailAt(w.To)
		}
		tell = func() { p.TellSender(r.ID, nil) }
		result.More = o.takeNext(key, w)
	case qos.Rejected:
		switch {
		case r.Missing == MissingMessage && message != "":
			// It's made anew, by a call of its own.
			o.messages.dropMessage(key)
			w.Message = ""
			result.Outcome, result.Err, result.More = qos.Delivered, nil, true
			if w.next != nil {
				tell = func() { p.TellSender("", ErrReplaced) }
				o.takeNext(key, w)
			}
		case w.next != nil:
			tell = func() { p.TellSender("", r.Err) }
			o.takeNext(key, w)
			result.Outcome, result.Err, result.More = qos.Delivered, nil, true
		case r.Content && o.simplifyPost(w, message, r.Err):
			result.Outcome, result.Err, result.More = qos.Delivered, nil, true
		default: // the scheduler drops it, and says so
			w.refused = true
		}
	case qos.Migrated:
		o.followChat(p.To.Chat, r.Chat)
		result.Chat = o.chat(w.To)
		to := w.To
		moved = func() { o.deliverer.moveChat(p.To, to) }
	case qos.Unchanged:
		result.Outcome = qos.NotSent // it would count as made
	case qos.Uncertain, qos.OutcomeUnknown:
		w.unsure = w.unsure || message == ""
	default: // it's called again
	}
	if w := o.waiting[key]; w != nil && w.next != nil && result.Outcome != qos.Delivered {
		// What was to be said before has been overtaken. If it may be in the chat, the
		// scheduler says so with the next call.
		old := w.Post
		tell = func() { old.TellSender("", ErrReplaced) }
		o.takeNext(key, w)
	}
	o.mu.Unlock()
	moved()
	tell()
	return result
}

// followChat moves all that waits for a chat to its new id, where messages have other numbers: what
// was to change one is made anew, what was to answer one stands alone, and a reaction has nothing
// to stand on. mu is held.
func (o *Outbox) followChat(from, to string) {
	for key, w := range o.waiting {
		for _, p := range []*Post{&w.Post, w.next, w.whole} {
			if p == nil || p.To.Chat != from {
				continue
			}
			p.To.Chat, p.Message, p.ReplyTo = to, "", ""
			o.messages.dropMessage(key)
		}
	}
}

// takeNext forgets a post that's done with, or has the next take its place; then it's
// true. mu is held.
func (o *Outbox) takeNext(key string, w *waitingPost) bool {
	if w.next == nil {
		o.forgetPost(key)
		return false
	}
	o.bytes -= w.Size()
	*w = waitingPost{Post: *w.next, chat: w.chat, failing: w.failing}
	return true
}
