package app

import (
	"context"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/sessions"
)

// pushNotes is whose notes the daemon's key for push services is among.
const pushNotes = "push"

// buildPusher makes what notifies browsers that have no page open; without the page there's none.
func (d *daemon) buildPusher(ctx context.Context) error {
	if !d.config.Adapters.Web.Enabled {
		return nil
	}
	d.pusher = push.New(push.Options{
		Store: d.store, Notes: d.store.Notes(pushNotes), Prompts: d.maskedSessions().Prompts, Mask: d.masker.Line,
		Name: func(id sessions.ID) (string, bool) {
			s, err := d.manager.Get(string(id))
			return d.masker.Line(s.Name), err == nil
		},
		Words: func(ctx context.Context, id sessions.ID, t sessions.Turn) (string, error) {
			return adapters.TurnWords(ctx, adapters.MaskedLog(d.store, d.masker), id, t)
		},
		May: d.maySee, RingAfter: d.hub.RingAfter, Route: d.opt.Push, Logger: d.opt.Log.With("component", "push"),
	})
	if err := d.pusher.Load(ctx); err != nil {
		return err
	}
	d.browsers.OnGone(d.pusher.Forget)
	d.hidePush(d.pusher.Secret())
	return nil
}

// maySee reports whether a browser may see sessions now.
func (d *daemon) maySee(browser string, now time.Time) bool {
	return slices.ContainsFunc(d.browsers.List(now), func(b browsers.Browser) bool { return b.ID == browser && b.Roles.Has(access.Viewer) })
}
