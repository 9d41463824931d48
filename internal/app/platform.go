package app

import (
	"context"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// chats is a chat platform that's on.
type chats struct {
	platform.Descriptor
	platform.Platform
}

// section is the platform's in a configuration.
func section(cfg *config.Config, p platform.Descriptor) config.Section {
	return cfg.Adapters.Section(p.Name)
}

// enabled are the platforms that a configuration has on.
func enabled(cfg *config.Config) []platform.Descriptor {
	return slices.DeleteFunc(all.Platforms(), func(p platform.Descriptor) bool { return !section(cfg, p).IsEnabled() })
}

// buildPlatforms makes the platforms that are on.
func (d *daemon) buildPlatforms(ctx context.Context) error {
	for _, p := range enabled(d.config) {
		made, err := p.New(ctx, section(d.config, p), d.hostOf(p.Name))
		if err != nil {
			return err
		}
		d.platforms = append(d.platforms, chats{p, made})
	}
	return nil
}

// hostOf is what a platform has of the daemon. It's made before the hub and the inbound half, which are there once
// it runs.
func (d *daemon) hostOf(name string) platform.Host {
	return platform.Host{
		Notes: d.store.Notes(name), Journal: d.store.Journal(name), Logger: d.opt.Log.With("component", name),
		Commands: commands.Commands(),
		Handle:   func(ctx context.Context, e intake.Event) error { return d.inbound.Handle(ctx, e) },
		GaveUp:   func(e intake.Event) { d.inbound.GaveUp(e) },
		Expired:  func(from, to time.Time) error { return d.inbound.Expired(name, from, to) },
		Learn:    func(s qos.Scope, l qos.Learned) { d.hub.Learn(name, s, l) },
		Panicked: func() { d.metrics.CountPanic("interaction") },
		Knows:    func(t adapters.Target) bool { return d.inbound != nil && d.inbound.MayBind(t) },
		Uses:     func(t adapters.Target) bool { return d.hub.Uses(t.Adapter, t.Chat) },
		Shows:    func(t adapters.Target) bool { return len(d.hub.At(t)) > 0 },
		Mirrored: func() []adapters.Target { return d.mirroredOn(name) },
		Yields:   func() string { return d.yields(name) }, SharedWith: func() string { return d.sharedWith(name) },
		Admits: func(e intake.Event) bool { return d.inbound.Admits(e) },
		Complete: func(e intake.Event, command, param, begun string) []intake.Candidate {
			return d.inbound.Complete(e, command, param, begun)
		},
		Offered:  func(ctx context.Context, data string) bool { return d.inbound.Offered(ctx, data) },
		Concerns: func(e intake.Event) bool { return d.inbound.Concerns(e) },
	}
}

// mirroredOn are the places on a platform that show living sessions, or would if nobody
// had closed them.
func (d *daemon) mirroredOn(platform string) []adapters.Target {
	var out []adapters.Target
	for _, b := range d.hub.Status("") {
		s, err := d.manager.Get(string(b.Binding.Session))
		if b.Target.Adapter == platform && !b.Binding.Unbound && err == nil && s.State != sessions.StateEnded {
			out = append(out, b.Target)
		}
	}
	return out
}

// chatParts are the platforms' parts of the health.
func (d *daemon) chatParts() []api.Part {
	var out []api.Part
	for _, p := range d.platforms {
		if t, ok := p.Platform.(platform.HealthTeller); ok {
			out = append(out, partOf(p.Name, t.Health()))
		}
	}
	return out
}

// partOf is a platform's part of the health, from how its updates come in.
func partOf(name string, h intake.Health) api.Part {
	states := map[intake.Condition]api.HealthState{intake.Well: api.HealthOK, intake.Degraded: api.HealthDegraded, intake.Down: api.HealthDown}
	return api.Part{Name: name, State: states[h.Condition], Detail: h.Detail, LastSuccess: h.LastOK}
}
