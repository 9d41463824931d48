package adapters

import (
	"context"
	"errors"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// restoredAfter is how long nothing is sent behind a restore. Until then what was printed since the backup is read
// again: from tmux, which takes seconds, and from agents' transcripts.
const restoredAfter = 30 * time.Second

// A restored store knows how far chats were when it was backed up. They have seen more since then, and lines that
// they have seen are read again and stored as new ones. So documents stay closed at first, and begin
// anew behind what's there when that's over. What's printed meanwhile stays in the log.

// awaitRestored lets that time pass, and has documents opened then.
func (h *Hub) awaitRestored(ctx context.Context) {
	if !h.isRestored() || sessions.Pause(ctx, restoredAfter) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addTask("go on in chats behind a restore", h.goOnRestored)
}

// isRestored reports whether documents are closed because the store was restored.
func (h *Hub) isRestored() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.restored
}

// goOnRestored opens all documents behind the newest lines of their sessions. It may be called again after an error.
func (h *Hub) goOnRestored(ctx context.Context) error {
	h.life.Lock()
	defer h.life.Unlock()
	kept, err := h.opt.Store.Bindings(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, k := range kept {
		if b := h.binding(k.Binding.ID); b != nil && !b.open {
			errs = append(errs, h.openRestored(ctx, b, k.Document))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, s := range h.opt.Sessions.List() {
		ended := s.State == sessions.StateEnded
		if !ended {
			errs = append(errs, h.takeUpSession(ctx, s, -1))
		}
		h.mu.Lock()
		if w := h.sessions[s.ID]; w != nil {
			w.begun, w.ended = true, w.ended || ended
		}
		h.mu.Unlock()
		if ended {
			errs = append(errs, h.endSessionLocked(ctx, s.ID))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	h.mu.Lock()
	h.restored = false
	h.mu.Unlock()
	return h.opt.Restored(ctx)
}

// openRestored opens a binding's document behind the newest line. life is held.
func (h *Hub) openRestored(ctx context.Context, b *hubBinding, was Document) error {
	p, err := h.opt.Log.Progress(ctx, b.Session)
	if err != nil {
		return err
	}
	doc := h.followMoves(b.Binding, was.restored(p))
	if err := h.opt.Store.PutBinding(ctx, b.Binding, &doc); err != nil {
		return err
	}
	return h.openKept(ctx, b, doc)
}

// restored is a document of a restored store, as it goes on: where it was, behind the newest line.
func (d Document) restored(p LogProgress) Document {
	next := NewDocument(p.Head, p)
	next.Chat, next.Thread, next.Title, next.Proven, next.Closed, next.Lost = d.Chat, d.Thread, d.Title, d.Proven, d.Closed, d.Lost
	return next
}
