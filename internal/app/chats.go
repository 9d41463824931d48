package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/redisbots"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/redisbucket"
	"github.com/panebridge/panebridge/sessions"
)

// chatParts are the platforms' parts of the health.
func (d *daemon) chatParts() []api.HealthPart {
	var out []api.HealthPart
	for _, p := range d.platforms {
		if t, ok := p.Platform.(platform.HealthTeller); ok {
			out = append(out, partOf(p.Name, t.Health()))
		}
	}
	return out
}

// partOf is a platform's part of the health, from how its updates come in.
func partOf(name string, h intake.Health) api.HealthPart {
	states := map[intake.Condition]api.HealthState{intake.Well: api.HealthOK, intake.Degraded: api.HealthDegraded, intake.Down: api.HealthDown}
	return api.HealthPart{Name: name, State: states[h.Condition], Detail: h.Detail, LastSuccess: h.LastOK}
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

// sharer is inbound.Options.Shared.
func (d *daemon) sharer(adapter string) string {
	for _, p := range d.platforms {
		if s, ok := p.Platform.(platform.Sharer); ok && p.Name == adapter {
			return s.SharedWith()
		}
	}
	return ""
}

// sharedWith names the processes with which this one shares a bot over Redis; "": it doesn't.
func (d *daemon) sharedWith(adapter string) string { return redisbots.Others(d.standings()[adapter]) }

// accessConfig translates who may do what.
func accessConfig(cfg *config.Config) access.Config {
	out := access.Config{Roles: map[string]access.Roles{}, Names: map[string]string{}, PairingTTL: cfg.Access.PairingTTL.Duration()}
	for role, people := range map[access.Role][]string{
		access.Viewer: cfg.Access.Viewers, access.Operator: cfg.Access.Operators,
		access.Approver: cfg.Access.Approvers, access.Admin: cfg.Access.Admins,
	} {
		for _, id := range people {
			if out.Roles[id] == nil {
				out.Roles[id] = access.Roles{}
			}
			out.Roles[id][role] = true
		}
	}
	for name, ids := range cfg.People {
		for _, id := range ids {
			out.Names[id] = name
		}
	}
	for _, p := range cfg.Adapters.Platforms {
		for _, id := range p.Section.ChatIDs() {
			out.Chats = append(out.Chats, adapters.Target{Adapter: p.Name, Chat: id})
		}
	}
	if to := escalateTo(cfg); to != (adapters.Target{}) {
		out.Chats = append(out.Chats, adapters.Target{Adapter: to.Adapter, Chat: to.Chat})
	}
	return out
}

// pair makes a code that lets a person in.
func (d *daemon) pair(ctx context.Context, role, by string) (api.Pairing, error) {
	if len(d.outlets) == 0 {
		return api.Pairing{}, fmt.Errorf("%w: no chat platform is configured: enable one below adapters: in the configuration", sessions.ErrConflict)
	}
	r, err := access.ParseRole(role)
	if err != nil {
		return api.Pairing{}, fmt.Errorf("%w: %w", sessions.ErrInvalid, err)
	}
	code, expires, err := d.inbound.MakePairingCode(ctx, r, by)
	return api.Pairing{Code: code, Role: string(r), Expires: expires}, err
}

// escalateTo is where questions are shown that nobody has answered; zero: nowhere.
func escalateTo(cfg *config.Config) adapters.Target {
	t, err := adapters.ParseTarget(cfg.Prompts.EscalateTo)
	if err != nil {
		return adapters.Target{} // it's empty: the configuration takes no others
	}
	return t
}

// privateChat is the private chat with a person of a platform that's on; zero: none is known.
func (d *daemon) privateChat(ctx context.Context, id string) (adapters.Target, error) {
	name, person, _ := strings.Cut(id, ":")
	i := slices.IndexFunc(all.Platforms(), func(p platform.Descriptor) bool { return p.Name == name && p.PrivateChat != nil })
	if i < 0 || !slices.Contains(d.outlets, name) {
		return adapters.Target{}, nil
	}
	chat, err := all.Platforms()[i].PrivateChat(ctx, d.store.Notes(name), person)
	if chat == "" || err != nil {
		return adapters.Target{}, err
	}
	return adapters.Target{Adapter: name, Chat: chat}, nil
}

// budget makes the budget of one adapter: this process's own, or one that's shared
// through Redis.
func (d *daemon) budget(adapter string) (qos.Budget, error) {
	ledger := d.store.Ledger(adapter)
	if len(d.config.Redis.Addrs) == 0 {
		return qos.NewLocalBudget(ledger), nil
	}
	s, err := redisbots.Open(d.config, adapter, redisbucket.Options{
		Ledger: ledger, StateFile: filepath.Join(d.opt.StateDir, "redis-"+adapter+".json"), Meter: d.metrics.ObserveRedis(adapter),
		Logger: d.opt.Log.With("component", "redis", "adapter", adapter),
	})
	if err != nil {
		return nil, err
	}
	d.shared = append(d.shared, s)
	return s, nil
}

// yields says why another process reads a bot's updates, of those that share it over Redis: the
// one whose member id is the least does, as long as it's there. "": this one does.
func (d *daemon) yields(adapter string) string { return redisbots.YieldsTo(d.standings()[adapter]) }

// standings are how the shared budgets stand, by their adapter.
func (d *daemon) standings() map[string]redisbucket.MemberStatus {
	all := map[string]redisbucket.MemberStatus{}
	for _, b := range d.shared {
		all[b.Adapter] = b.Status(time.Now())
	}
	return all
}

// redisParts are the parts of the health that tell how the shared budgets are.
func (d *daemon) redisParts() []api.HealthPart {
	var out []api.HealthPart
	for _, b := range d.shared {
		out = append(out, redisbots.Part(b.Adapter, b.Status(time.Now())))
	}
	return out
}
