package app

import (
	"context"

	"github.com/panebridge/panebridge/sessions"
)

// registry is the manager as the API calls it: who forgets a session has all parts
// forget it.
type registry struct {
	questions
	d *daemon
}

func (r registry) Forget(ctx context.Context, id sessions.ID) error {
	if err := r.questions.Forget(ctx, id); err != nil {
		return err
	}
	return r.d.hub.Forget(ctx, id)
}
