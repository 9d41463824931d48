package adapters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// refusedPrefix begins Binding.Disabled of what a platform refused, before what that was: "Telegram
// refused to make the topic: …". A person may have repaired it since, or the platform may have
// been in trouble: it's tried again, soon at first, and then seldom.
func refusedPrefix(adapter string) string {
	first, size := utf8.DecodeRuneInString(adapter)
	return string(unicode.ToUpper(first)) + adapter[size:] + " refused to "
}

// refusedOnce began it in databases that are older than that.
const refusedOnce = "the platform refused it: "

const (
	// soonRetry grows to lateRetry, twice as long each time; after soonRetries it's
	// seldomRetry, which grows to rareRetry.
	soonRetry   = 10 * time.Second
	lateRetry   = 25 * time.Second
	soonRetries = 30
	seldomRetry = 10 * time.Minute
	rareRetry   = 6 * time.Hour
	// provesAfter is how long a binding must have worked to show that others of its chat may.
	provesAfter = 5 * time.Second
)

// refusedKey names what was refused for the same reason in the same chat.
type refusedKey struct{ adapter, chat, why string }

// refusedGroup is what's known of bindings that a platform refused for one reason in one chat.
// One of them is tried for all.
type refusedGroup struct {
	tries int
	next  time.Time
	trial BindingID // the one that's tried; "": none is
}

// retryRest is how long to wait before a try, after so many.
func retryRest(tries int) time.Duration {
	if tries < soonRetries {
		return min(soonRetry<<min(tries, 8), lateRetry)
	}
	return min(seldomRetry<<min(tries-soonRetries, 8), rareRetry)
}

// noteRefused plans the next try of a binding that the platform refused, and says whether that's
// news, and how often what was refused for the same reason has been tried. life and mu are held.
func (h *Hub) noteRefused(b *hubBinding) (news bool, tries int) {
	t := b.currentPlace()
	key := refusedKey{t.Adapter, t.Chat, b.Disabled}
	tried := 0
	for k, r := range h.refused {
		if r.trial == b.ID {
			tried = r.tries + 1
			if r.trial = ""; k != key { // others may be refused for that still
				r.tries, r.next = tried, time.Now().Add(retryRest(tried))
			}
		}
	}
	r := h.refused[key]
	if r == nil {
		r = &refusedGroup{}
		h.refused[key] = r
		news = tried == 0
	}
	if tried > 0 || r.next.IsZero() {
		r.tries = max(r.tries, tried)
		r.next = laterTime(time.Now().Add(retryRest(r.tries)), b.notBefore)
	}
	h.wakeRun()
	return news, r.tries
}

// nextRetry is when refused bindings are to be looked at; zero: none are.
func (h *Hub) nextRetry() time.Time {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var at time.Time
	for _, r := range h.refused {
		if at.IsZero() || r.next.Before(at) {
			at = r.next
		}
	}
	return at
}

// retryRefused tries what was refused and is due.
func (h *Hub) retryRefused(ctx context.Context) {
	h.life.Lock()
	defer h.life.Unlock()
	h.mu.RLock()
	var due []refusedKey
	for k, r := range h.refused {
		if !time.Now().Before(r.next) {
			due = append(due, k)
		}
	}
	h.mu.RUnlock()
	for _, k := range due {
		if err := h.retryGroup(ctx, k); err != nil {
			h.log.Warn("what the platform refused couldn't be tried again", "adapter", k.adapter, "chat", k.chat, "err", err)
		}
	}
}

// retryGroup tries one of what was refused for a reason, or all, if one has worked since. life is
// held.
func (h *Hub) retryGroup(ctx context.Context, k refusedKey) error {
	all := h.refusedFor(k)
	h.mu.Lock()
	r := h.refused[k]
	r.next = time.Now().Add(provesAfter)
	trial := h.bindings[r.trial]
	works := trial != nil && trial.open
	switch {
	case len(all) == 0:
		delete(h.refused, k)
	case !works:
		all, r.trial = all[:1], all[0].ID
	default:
		delete(h.refused, k)
	}
	given := !works && r.tries >= soonRetries
	h.mu.Unlock()
	var errs []error
	for _, b := range all {
		errs = append(errs, h.reviveBinding(ctx, b))
	}
	if given {
		errs = append(errs, h.dropEndedBindings(ctx, k))
	}
	return errors.Join(errs...)
}

// dropEndedBindings forgets what's left of sessions that have ended, since a chat has refused it for
// long. life is held.
func (h *Hub) dropEndedBindings(ctx context.Context, k refusedKey) error {
	var errs []error
	for _, b := range h.refusedFor(k) {
		s, err := h.opt.Sessions.Get(string(b.Session))
		if errors.Is(err, sessions.ErrUnknown) || err == nil && s.State == sessions.StateEnded {
			errs = append(errs, h.dropBinding(ctx, b))
		}
	}
	return errors.Join(errs...)
}

// triedFor is why a binding was refused that's being tried again, until that works; "": it's
// none. mu is held.
func (h *Hub) triedFor(id BindingID) string {
	for k, r := range h.refused {
		if r.trial == id {
			return k.why
		}
	}
	return ""
}

// refusedFor returns the bindings that were refused for a reason, the oldest first.
func (h *Hub) refusedFor(k refusedKey) []*hubBinding {
	var out []*hubBinding
	for _, b := range h.bindingsIn(k.adapter, k.chat) {
		if b.Disabled == k.why && !b.Unbound && !b.Resting {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b *hubBinding) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out
}

// reviveBinding makes a binding work again that the platform refused. What's left of a session that
// has ended is sent. life is held.
func (h *Hub) reviveBinding(ctx context.Context, b *hubBinding) error {
	next := b.Binding
	next.Disabled = ""
	if _, err := h.changeBinding(ctx, b, next); err != nil {
		return err
	}
	s, err := h.opt.Sessions.Get(string(b.Session))
	if err != nil || s.State != sessions.StateEnded {
		return err
	}
	return h.endSessionLocked(ctx, b.Session)
}

// isRefusal says whether a binding does nothing because the platform refused it.
func (b Binding) isRefusal() bool {
	return strings.HasPrefix(b.Disabled, refusedPrefix(b.Target.Adapter)) || strings.HasPrefix(b.Disabled, refusedOnce)
}

// handleSchedulerEvent takes in what a scheduler says. It doesn't block.
func (h *Hub) handleSchedulerEvent(o *outlet, ev qos.SchedulerEvent) {
	switch ev.Kind {
	case qos.DocClosed, qos.DocStopped, qos.DocAbandoned:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.addTask("take in that a document has ended", func(ctx context.Context) error { return h.handleDocEnded(ctx, o, ev) })
	case qos.ChatSilenced:
		h.log.Warn("the platform ordered silence", "adapter", o.adapter.Name(), "chat", ev.Chat, "until", ev.Until)
	case qos.ChatMoved:
		h.log.Info("a chat has another id now", "adapter", o.adapter.Name(), "from", ev.Chat, "to", ev.To)
	case qos.RequestDropped:
		if o.outbox != nil && isPostKey(ev.Key) {
			h.postElsewhere(o, o.outbox.handleDropped(ev.Key, ev.Err))
		}
	}
}

// postElsewhere has Run post what was refused where it was to go.
func (h *Hub) postElsewhere(o *outlet, posts []Post) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range posts {
		h.addTask("post elsewhere what was refused", func(context.Context) error {
			if err := o.outbox.Post(p); err != nil {
				p.TellSender("", err)
			}
			return nil
		})
	}
}

// handleDocEnded takes in that the scheduler has closed a document.
func (h *Hub) handleDocEnded(ctx context.Context, o *outlet, ev qos.SchedulerEvent) error {
	h.life.Lock()
	defer h.life.Unlock()
	b := h.binding(BindingID(ev.Doc))
	if b == nil || !b.open || b.outlet != o {
		return nil // closed by us
	}
	w := h.watchedSession(b.Session)
	ended := w == nil || w.ended
	next := b.Binding
	var err error
	switch {
	case ev.Kind == qos.DocAbandoned:
		next.Disabled = fmt.Sprintf("the session has ended, and its lines after %d couldn't be sent in time; they're tried again at the next start", ev.Delivered)
		h.closeBinding(b)
	case ev.Kind == qos.DocStopped:
		next.Disabled = refusedPrefix(b.Target.Adapter) + fmt.Sprint(ev.Err)
		if err = h.disableBinding(ctx, b, next); err != nil {
			break
		}
		h.mu.Lock()
		news, tries := h.noteRefused(b)
		h.mu.Unlock()
		if ended && tries >= soonRetries {
			return h.dropBinding(ctx, b)
		}
		if !news {
			return nil
		}
	case ended:
		return h.dropBinding(ctx, b)
	}
	if err == nil && next.Disabled != "" {
		h.log.Warn("a binding is disabled", "session", b.Session, "target", b.Target.String(), "reason", next.Disabled)
		h.opt.Disabled(next)
	}
	return err
}

func (h *Hub) disableBinding(ctx context.Context, b *hubBinding, next Binding) error {
	if err := h.opt.Store.PutBinding(ctx, next, nil); err != nil {
		return fmt.Errorf("disable the binding to %s: %w", b.Target, err)
	}
	h.updateBinding(b, next)
	h.closeBinding(b)
	return nil
}
