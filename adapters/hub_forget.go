package adapters

import (
	"context"
	"errors"

	"github.com/panebridge/panebridge/sessions"
)

// Forget ends what's left of a session that nobody knows any more: what its chats
// haven't got yet isn't sent.
func (h *Hub) Forget(ctx context.Context, id sessions.ID) error {
	h.life.Lock()
	defer h.life.Unlock()
	var errs []error
	for _, b := range h.bindingsOf(id) {
		errs = append(errs, h.drop(ctx, b))
	}
	h.mu.Lock()
	delete(h.sessions, id)
	h.mu.Unlock()
	return errors.Join(errs...)
}
