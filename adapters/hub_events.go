package adapters

import (
	"context"
	"fmt"

	"github.com/panebridge/panebridge/qos"
)

// event takes in what a scheduler says. It doesn't block.
func (h *Hub) event(o *outlet, ev qos.Event) {
	switch ev.Kind {
	case qos.DocClosed, qos.DocStopped, qos.DocAbandoned:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.later("take in that a document has ended", func(ctx context.Context) error { return h.docEnded(ctx, o, ev) })
	case qos.ChatSilenced:
		h.log.Warn("the platform ordered silence", "adapter", o.adapter.Name(), "chat", ev.Chat, "until", ev.Until)
	case qos.ChatMoved:
		h.log.Info("a chat has another id now", "adapter", o.adapter.Name(), "from", ev.Chat, "to", ev.To)
	case qos.RequestDropped:
		if o.outbox != nil && owns(ev.Key) {
			h.postElsewhere(o, o.outbox.requestDropped(ev.Key, ev.Err))
		}
	}
}

// postElsewhere has Run post what was refused where it was to go.
func (h *Hub) postElsewhere(o *outlet, posts []Post) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range posts {
		h.later("post elsewhere what was refused", func(context.Context) error {
			if err := o.outbox.Post(p); err != nil {
				p.Tell("", err)
			}
			return nil
		})
	}
}

// docEnded takes in that the scheduler has closed a document.
func (h *Hub) docEnded(ctx context.Context, o *outlet, ev qos.Event) error {
	h.life.Lock()
	defer h.life.Unlock()
	h.mu.RLock()
	b := h.bindings[BindingID(ev.Doc)]
	h.mu.RUnlock()
	if b == nil || !b.open || b.outlet != o {
		return nil // closed by us
	}
	w := h.watched(b.Session)
	ended := w == nil || w.ended
	next := b.Binding
	var err error
	switch {
	case ev.Kind == qos.DocAbandoned:
		next.Disabled = fmt.Sprintf("the session has ended, and its lines after %d couldn't be sent in time; they're tried again at the next start", ev.Delivered)
		h.close(b)
	case ev.Kind == qos.DocStopped:
		next.Disabled = refusedBy(b.Target.Adapter) + fmt.Sprint(ev.Err)
		if err = h.disable(ctx, b, next); err != nil {
			break
		}
		h.mu.Lock()
		news, tries := h.noteRefused(b)
		h.mu.Unlock()
		if ended && tries >= soonRetries {
			return h.drop(ctx, b)
		}
		if !news {
			return nil
		}
	case ended:
		return h.drop(ctx, b)
	}
	if err == nil && next.Disabled != "" {
		h.log.Warn("a binding is disabled", "session", b.Session, "target", b.Target.String(), "reason", next.Disabled)
		h.opt.Disabled(next)
	}
	return err
}

func (h *Hub) disable(ctx context.Context, b *bound, next Binding) error {
	if err := h.opt.Store.PutBinding(ctx, next, nil); err != nil {
		return fmt.Errorf("disable the binding to %s: %w", b.Target, err)
	}
	h.update(b, next)
	h.close(b)
	return nil
}
