package adapters

import (
	"context"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// request makes a post's call: see qos.Deliverer.
func (o *Outbox) request(ctx context.Context, call qos.Call) qos.Result {
	if call.Key == cosmeticSlot {
		return o.requestCosmetic(ctx, call)
	}
	p, message, ok := o.take(call)
	if !ok {
		return qos.Result{Outcome: qos.Unchanged} // dropped meanwhile
	}
	if result, called := o.precede(ctx, call, p, message); called {
		return result
	}
	if p.Reaction != "" && p.ReplyTo == "" { // its message was in a group that's gone
		return o.settle(call.Key, p, message, Reply{Outcome: qos.Rejected, Err: ErrMessageGone})
	}
	reply := o.poster.Post(ctx, p, message)
	return o.settle(call.Key, p, message, reply)
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
	switch {
	case r.Outcome == qos.Delivered && r.ID == "":
		p.Tell(p.Message, nil)
	case r.Outcome == qos.Delivered:
		if o.made != nil {
			o.made(p.To)
		}
		p.Tell(r.ID, nil)
	case r.Outcome == qos.Rejected && r.Missing == MissingMessage:
		p.Tell("", fmt.Errorf("%w: %w", ErrMessageGone, r.Err))
	case r.Outcome == qos.Rejected:
		p.Tell("", r.Err)
	default: // as if it had not been made
	}
	if r.Outcome == qos.Migrated {
		p.To.Chat = r.Chat
		return qos.Result{Outcome: r.Outcome, Chat: o.chat(p.To), Err: r.Err}
	}
	return r.result()
}

// requestDropped takes in that the scheduler gave a post up. It returns what's to be posted
// elsewhere.
func (o *Outbox) requestDropped(key string, err error) (elsewhere []Post) {
	if err == nil {
		err = ErrDropped
	}
	posts, refused, unsure := o.drop(key)
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
		p.Tell("", err)
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

// take begins a post's call.
func (o *Outbox) take(call qos.Call) (p Post, message string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waiting[call.Key]
	if w == nil {
		return p, "", false
	}
	w.inFlight = true
	if w.Reaction != "" || w.Pin != "" {
		return w.Post, "", true
	}
	message = w.Message
	if message == "" {
		message = o.messages.get(call.Key)
	}
	if message != "" {
		return w.Post, message, true
	}
	w.again(time.Now(), o.shape(w.To).NonceFor, call.Uncertain)
	p = w.Post
	if w.marked || p.Again {
		p.Text = Marked(p.Text)
	}
	return p, "", true
}

// maxPreceding bounds the calls that show what a post is to stand below.
const maxPreceding = 3

// precede has what a new post is to stand below be shown first, in its slot. called is false
// if that's shown, or can't be.
func (o *Outbox) precede(ctx context.Context, call qos.Call, p Post, message string) (result qos.Result, called bool) {
	if !p.Behind || message != "" || o.catchUp == nil {
		return result, false
	}
	result, called = o.catchUp(ctx, call.Chat, p)
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waiting[call.Key]
	if w == nil {
		return result, called
	}
	if w.before++; w.before >= maxPreceding {
		w.Behind = false
	}
	if !called {
		return result, false
	}
	w.inFlight = false
	switch result.Outcome {
	case qos.Delivered:
		return qos.Result{Outcome: qos.Delivered, More: true}, true
	case qos.Rejected, qos.ChatGone: // that's the document's to say; the post goes its own way
		w.Behind = false
		return qos.Result{Outcome: qos.Delivered, More: true}, true
	case qos.Migrated:
		return qos.Result{Outcome: qos.NotSent, Err: result.Err}, true // the post learns it by itself
	default:
		result.Delivered, result.Final, result.Again = 0, 0, time.Time{}
		return result, true
	}
}

// settle takes in what came of a post's call.
func (o *Outbox) settle(key string, p Post, message string, r Reply) qos.Result {
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
	w.inFlight, w.failing = false, w.failing.after(result, time.Now())
	tell, moved := func() {}, func() {}
	switch r.Outcome {
	case qos.Delivered:
		if p.Reaction != "" || p.Pin != "" {
			r.ID = ""
		} else if r.ID == "" {
			r.ID = message // an edit
		}
		if r.ID != "" {
			o.messages.put(key, r.ID)
		}
		if message == "" && r.ID != "" && o.made != nil {
			o.made(w.To)
		}
		tell = func() { p.Tell(r.ID, nil) }
		result.More = o.advance(key, w)
	case qos.Rejected:
		switch {
		case r.Missing == MissingMessage && message != "":
			// It's made anew, by a call of its own.
			o.messages.drop(key)
			w.Message = ""
			result.Outcome, result.Err, result.More = qos.Delivered, nil, true
			if w.next != nil {
				tell = func() { p.Tell("", ErrReplaced) }
				o.advance(key, w)
			}
		case w.next != nil:
			tell = func() { p.Tell("", r.Err) }
			o.advance(key, w)
			result.Outcome, result.Err, result.More = qos.Delivered, nil, true
		case r.Content && o.simplify(w, message, r.Err):
			result.Outcome, result.Err, result.More = qos.Delivered, nil, true
		default: // the scheduler drops it, and says so
			w.refused = true
		}
	case qos.Migrated:
		o.follow(p.To.Chat, r.Chat)
		result.Chat = o.chat(w.To)
		if to := w.To; o.moved != nil {
			moved = func() { o.moved(p.To, to) }
		}
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
		tell = func() { old.Tell("", ErrReplaced) }
		o.advance(key, w)
	}
	o.mu.Unlock()
	moved()
	tell()
	return result
}

// follow has all that waits for a chat go to its new id, where messages have other numbers: what
// was to change one is made anew, what was to answer one stands alone, and a reaction has nothing
// to stand on. mu is held.
func (o *Outbox) follow(from, to string) {
	for key, w := range o.waiting {
		for _, p := range []*Post{&w.Post, w.next, w.whole} {
			if p == nil || p.To.Chat != from {
				continue
			}
			p.To.Chat, p.Message, p.ReplyTo = to, "", ""
			o.messages.drop(key)
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
	o.bytes -= w.Size()
	*w = waitingPost{Post: *w.next, chat: w.chat, failing: w.failing}
	return true
}
