package app

import (
	"context"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// outbound is the hub as the API sees it.
type outbound struct{ d *daemon }

var _ api.Outbound = outbound{}

func (o outbound) Bindings(id sessions.ID) []api.Binding {
	var out []api.Binding
	for _, s := range o.d.hub.Status(id) {
		if !s.Binding.Unbound {
			out = append(out, bindingState(s))
		}
	}
	return out
}

func (o outbound) Bind(ctx context.Context, id sessions.ID, b api.Bind) (api.Binding, error) {
	to, err := adapters.ParseTarget(b.To)
	if err != nil {
		return api.Binding{}, fmt.Errorf("%w binding: %w", sessions.ErrInvalid, err)
	}
	bound, err := o.d.hub.Bind(ctx, id, to, adapters.View(b.View), b.Input)
	if err != nil {
		return api.Binding{}, err
	}
	for _, s := range o.d.hub.Status(id) {
		if s.Binding.ID == bound.ID {
			return bindingState(s), nil
		}
	}
	return api.Binding{}, fmt.Errorf("%w binding %s: it was taken back at once", sessions.ErrUnknown, bound.ID)
}

func (o outbound) Unbind(ctx context.Context, id string) error {
	return o.d.hub.Unbind(ctx, adapters.BindingID(id))
}

func bindingState(s adapters.BindingStatus) api.Binding {
	return api.Binding{
		ID: string(s.Binding.ID), To: s.Target.String(), View: string(s.Binding.View), Input: s.Binding.Input,
		Origin: string(s.Binding.Origin), Disabled: s.Binding.Disabled, Problem: s.Problem(), Delivered: s.Delivered, Behind: s.Pressure.Behind,
	}
}

// Adapters are the schedulers' snapshots as the API shows them.
func (o outbound) Adapters(ctx context.Context) ([]api.Adapter, error) {
	d := o.d
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var out []api.Adapter
	for _, name := range d.outlets {
		s, err := d.hub.Scheduler(name).Snapshot(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask the scheduler of %s: %w", name, err)
		}
		out = append(out, adapterState(name, s))
	}
	return out, nil
}

var classes = []qos.Class{qos.Interactive, qos.Final, qos.Stream, qos.Cosmetic} //nolint:gochecknoglobals // a constant table

func adapterState(name string, s qos.Snapshot) api.Adapter {
	a := api.Adapter{
		Name: name, Mode: s.Mode.String(), InFlight: s.InFlight, Documents: s.Documents,
		Tick: s.Load.Tick.Seconds(), ActiveSessions: s.Load.ActiveSessions, OldestAge: s.Load.Oldest.Seconds(), Errors: s.Totals.Errors(),
		PenaltyUntil: s.Bot.PenaltyUntil, Multiplier: s.Bot.Multiplier,
		Totals: api.CallTotals{
			Calls: map[string]uint64{}, Outcomes: map[string]uint64{},
			Updates: s.Totals.Updates, Coalesced: s.Totals.Coalesced, Shed: s.Totals.Shed, Penalties: s.Totals.Penalties,
		},
		Chats: []api.Chat{},
	}
	if err := s.Bot.BudgetErr; err != nil {
		a.Error = err.Error()
	}
	for _, c := range classes {
		a.Totals.Calls[c.String()] = s.Totals.Calls[c]
	}
	for o, n := range s.Totals.Outcomes {
		if n > 0 {
			a.Totals.Outcomes[qos.Outcome(o).String()] = n
		}
	}
	for _, c := range s.Chats {
		a.Chats = append(a.Chats, chatState(c))
	}
	return a
}

func chatState(c qos.ChatStatus) api.Chat {
	out := api.Chat{
		Chat: string(c.Chat), Windows: []api.WindowUse{}, Reserve: c.Reserve, InFlight: c.InFlight, NextSlot: c.NextSlot,
		PenaltyUntil: c.PenaltyUntil, BackoffUntil: c.BackoffUntil, Multiplier: c.Multiplier,
		Waiting: map[string]api.Waiting{}, Documents: []api.Document{},
	}
	for _, w := range c.Windows {
		out.Windows = append(out.Windows, api.WindowUse{
			Family: string(w.Family), Calls: w.Window.Calls, Seconds: w.Window.Per.Seconds(), Used: w.Used, FreeAt: w.Free,
		})
	}
	for class, w := range c.Waiting {
		if w.Count > 0 {
			out.Waiting[qos.Class(class).String()] = api.Waiting{Count: w.Count, OldestAge: w.Oldest.Seconds()}
		}
	}
	for _, d := range c.Documents {
		out.Documents = append(out.Documents, api.Document{
			Binding: string(d.Doc), Session: string(d.Session), Class: d.Class.String(),
			Delivered: d.Delivered, Wanted: d.Wanted, Age: d.Pressure.Age.Seconds(), Uncertain: d.Uncertain,
		})
	}
	return out
}
