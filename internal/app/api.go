package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/render/screenshot"
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
	bound, err := o.d.hub.BindAs(ctx, id, to, adapters.BindingWish{View: adapters.View(b.View), Input: b.Input, Quotes: b.Quotes, Work: adapters.WorkShown{
		Tools: adapters.Extent(b.Tools), Thinking: adapters.Extent(b.Thinking), Prompts: adapters.Extent(b.Prompts), Output: adapters.Length(b.Output),
	}})
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
	work := s.Binding.Work.Whole()
	return api.Binding{
		Tools: string(work.Tools), Thinking: string(work.Thinking), Prompts: string(work.Prompts), Output: string(work.Output), Quotes: s.Binding.Quotes,
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
		s, err := d.hub.Scheduler(name).Status(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask the scheduler of %s: %w", name, err)
		}
		out = append(out, adapterState(name, s))
	}
	return out, nil
}

var classes = []qos.Class{qos.Interactive, qos.Final, qos.Stream, qos.Cosmetic} //nolint:gochecknoglobals // a constant table

func adapterState(name string, s qos.SchedulerStatus) api.Adapter {
	a := api.Adapter{
		Name: name, Mode: s.Mode.String(), InFlight: s.InFlight, Documents: s.Documents,
		Tick: s.Load.Tick.Seconds(), ActiveSessions: s.Load.ActiveSessions, OldestAge: s.Load.Oldest.Seconds(), Errors: s.Totals.Errors(),
		Pace: s.Load.Pace, Reserve: s.Load.Reserve, Waiting: waitingOf(s.Load.Waiting),
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
			a.Totals.Outcomes[qos.CallOutcome(o).String()] = n
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
		PenaltyUntil: c.PenaltyUntil, BackoffUntil: c.BackoffUntil, Multiplier: c.Multiplier, CallsToPace: c.CallsToPace,
		Tick: c.Tick.Seconds(), ActiveSessions: c.ActiveSessions,
		Waiting: waitingOf(c.Waiting), Documents: []api.Document{},
	}
	for _, w := range c.Windows {
		out.Windows = append(out.Windows, api.WindowUse{
			Family: string(w.Family), Calls: w.Window.Calls, Seconds: w.Window.Per.Seconds(), Used: w.Used, FreeAt: w.Free,
		})
	}
	for _, d := range c.Documents {
		out.Documents = append(out.Documents, api.Document{
			Binding: string(d.Doc), Session: string(d.Session), Class: d.Class.String(),
			Delivered: d.Delivered, Wanted: d.Wanted, Age: d.Pressure.Age.Seconds(), Uncertain: d.Uncertain,
		})
	}
	return out
}

// waitingOf is what waits, by the classes' names.
func waitingOf(counts [qos.Cosmetic]qos.WaitingCount) map[string]api.Waiting {
	out := map[string]api.Waiting{}
	for class, w := range counts {
		if w.Count > 0 {
			out[qos.Class(class).String()] = api.Waiting{Count: w.Count, OldestAge: w.Oldest.Seconds()}
		}
	}
	return out
}

// mirrorParts are the parts of the health that are about what chats are shown: one for each
// platform of which a chat doesn't show a living session as it should. It's down when none of the platform's
// mirrors works, and degraded when others do.
func (d *daemon) mirrorParts() []api.HealthPart {
	if d.hub == nil {
		return nil
	}
	var out []api.HealthPart
	for _, name := range d.outlets {
		var wrong []adapters.BindingStatus
		all, lost := 0, 0
		for _, st := range d.hub.Status("") {
			s, err := d.manager.Get(string(st.Binding.Session))
			if st.Target.Adapter != name || st.Binding.Unbound || st.Binding.Resting || err != nil || s.State == sessions.StateEnded {
				continue
			}
			if all++; bindingState(st).Trouble() != "" {
				wrong = append(wrong, st)
			}
			if severity(st) > 0 {
				lost++
			}
		}
		if len(wrong) == 0 {
			continue
		}
		worst := slices.MaxFunc(wrong, func(a, b adapters.BindingStatus) int { return cmp.Compare(severity(a), severity(b)) })
		b := bindingState(worst)
		part := api.HealthPart{Name: name + " mirrors", State: api.HealthDegraded, Detail: b.To + ": " + b.Trouble()}
		if lost == all {
			part.State = api.HealthDown
		}
		if len(wrong) > 1 {
			part.Detail = fmt.Sprintf("%d of %d don't show their session as they should, as %s", len(wrong), all, part.Detail)
		}
		out = append(out, part)
	}
	return out
}

// severity is 0 if what a chat doesn't show is shown elsewhere.
func severity(st adapters.BindingStatus) int {
	switch {
	case st.Binding.Disabled != "":
		return 2
	case st.Failing != "":
		return 1
	default:
		return 0
	}
}

// accessOf is who may do what in chats, as the API lists and changes it.
type accessOf struct{ d *daemon }

func (a accessOf) List() []api.AccessEntry {
	var out []api.AccessEntry
	for _, l := range a.d.inbound.ListAccess() {
		e := api.AccessEntry{Person: l.Person, Name: l.Name, Role: string(l.Role), By: l.By, At: l.At, LastUsed: l.Used, Checked: l.Checked, Void: l.Void}
		if l.Config {
			e.By = "configuration"
		}
		if l.Chat.Chat != "" {
			e.Chat = l.Chat.String()
		}
		out = append(out, e)
	}
	return out
}

func (a accessOf) Grant(ctx context.Context, person, role, by string) error {
	return a.d.inbound.GiveRole(ctx, person, access.Role(role), by)
}

func (a accessOf) Revoke(ctx context.Context, person, role, by string) (api.AccessRevoked, error) {
	rest, err := a.d.inbound.RevokeRoles(ctx, person, access.Role(role), by)
	if err != nil {
		return api.AccessRevoked{}, err
	}
	out := api.AccessRevoked{Rest: []string{}, Message: commands.RevokedText(person, rest)}
	for r := range rest {
		out.Rest = append(out.Rest, string(r))
	}
	slices.Sort(out.Rest)
	return out, nil
}

// renderer is made when the first picture is asked for: its fonts take some memory.
var renderer = sync.OnceValues(screenshot.New) //nolint:gochecknoglobals // made once, and then constant

// picture draws a screen as a PNG.
func picture(s sessions.Screen) ([]byte, error) {
	r, err := renderer()
	if err != nil {
		return nil, err
	}
	data, _, err := r.PNG(s)
	return data, err
}
