package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// chatLog is the store as documents are rendered from it.
type chatLog struct{ *store.Store }

func (l chatLog) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	return l.Store.Read(ctx, id, from, limit)
}

// buildHub makes the Hub over the chat platforms.
func (d *daemon) buildHub() error {
	settings, err := hubSettings(d.config)
	if err != nil {
		return err
	}
	log := d.opt.Log.With("component", "adapters")
	var outlets []adapters.Outlet
	all := d.opt.Adapters
	for _, p := range d.platforms {
		all = append(slices.Clip(all), p.Outbound())
	}
	for _, a := range all {
		d.outlets = append(d.outlets, a.Name())
		budget, err := d.budget(a.Name())
		if err != nil {
			return err
		}
		outlets = append(outlets, adapters.Outlet{Adapter: a, Budget: budget, Observer: d.metrics.Observe(a.Name())})
	}
	d.hub, err = adapters.NewHub(adapters.HubOptions{
		Outlets: outlets, Store: d.store, Log: chatLog{d.store}, Sessions: d.manager, Screens: d.broker,
		Masker: d.masker, Settings: settings, Disabled: d.bindingDisabled, Panicked: func() { d.metrics.CountPanic("delivery") }, Logger: log,
		EndsTurn: func(line string) bool { return d.coord.Marker().IsAlone(line) },
		Quiet:    func(t adapters.Target, s sessions.ID, now time.Time) bool { return d.inbound.Quiet(t, s, now) }, // made later
		Users:    func(t adapters.Target, now time.Time) []string { return d.inbound.Users(t, now) },
		Moved: func() {
			if d.inbound != nil {
				d.inbound.Moved()
			}
		},
		Placed: func(s sessions.ID) {
			if d.inbound != nil {
				d.inbound.Placed(s)
			}
		},
	})
	return d.locate(err)
}

// bindingDisabled says in the session's own log that a chat has lost it.
func (d *daemon) bindingDisabled(b adapters.Binding) {
	d.opt.Log.Warn("binding disabled", "session", string(b.Session), "target", b.Target.String(), "reason", b.Disabled)
	select {
	case d.disabled <- b:
	default: // it's in the log of the daemon, and in the list of bindings
	}
}

// noteDisabled writes these notices, which the page shows.
func (d *daemon) noteDisabled(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case b := <-d.disabled:
			text := fmt.Sprintf("%s doesn't mirror this session any more: %s", b.Target, b.Disabled)
			if err := d.manager.NoteElsewhere(ctx, b.Session, adapters.Target{Adapter: b.Target.Adapter, Chat: b.Target.Chat}.String(), text); err != nil && !errors.Is(err, sessions.ErrEnded) && ctx.Err() == nil {
				d.opt.Log.Warn("write a notice", "session", string(b.Session), "err", err)
			}
		}
	}
}
