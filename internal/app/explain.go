package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// place is a chat of an adapter, as its scheduler knows it.
type place struct {
	adapter string
	key     qos.ChatKey
}

func (p place) String() string { return p.adapter + ":" + string(p.key) }

// Explain implements api.Outbound.
func (o outbound) Explain(ctx context.Context, chat string) (api.Explanation, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	p, err := o.findPlace(ctx, chat)
	if err != nil {
		return api.Explanation{}, err
	}
	scheduler := o.d.hub.Scheduler(p.adapter)
	x, known, err := scheduler.Explain(ctx, p.key)
	if err != nil {
		return api.Explanation{}, fmt.Errorf("ask the scheduler of %s: %w", p.adapter, err)
	}
	if !known { // nothing waits, and nothing is remembered
		s, err := scheduler.Status(ctx)
		if err != nil {
			return api.Explanation{}, fmt.Errorf("ask the scheduler of %s: %w", p.adapter, err)
		}
		x = qos.Explanation{At: s.At, Mode: s.Mode, BudgetErr: s.Bot.BudgetErr, Chat: qos.ChatStatus{Chat: p.key, Multiplier: 1}}
	}
	return o.explanation(p, x), nil
}

// findPlace finds the chat that somebody names: as chats and bindings are listed, with or without
// the adapter, by a part that only one has, or by the name of a session that's bound there.
func (o outbound) findPlace(ctx context.Context, name string) (place, error) {
	var places []place
	add := func(p place) {
		if !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	list, err := o.Adapters(ctx)
	if err != nil {
		return place{}, err
	}
	for _, a := range list {
		for _, c := range a.Chats {
			add(place{a.Name, qos.ChatKey(c.Chat)})
		}
	}
	var named []place
	for _, s := range o.d.hub.Status("") {
		if s.Binding.Unbound {
			continue
		}
		key, err := o.d.hub.LimitKey(s.Target)
		if err != nil {
			continue // its adapter isn't enabled
		}
		p := place{s.Target.Adapter, key}
		add(p)
		session, err := o.d.manager.Get(string(s.Binding.Session))
		if err == nil && (session.Name == name || string(session.ID) == name) && !slices.Contains(named, p) {
			named = append(named, p)
		}
	}
	if to, err := adapters.ParseTarget(name); err == nil {
		if key, err := o.d.hub.LimitKey(to); err == nil {
			return place{to.Adapter, key}, nil
		}
	}
	for _, fits := range []func(p place) bool{
		func(p place) bool { return p.String() == name || string(p.key) == name },
		func(p place) bool { return slices.Contains(named, p) },
		func(p place) bool { return strings.Contains(p.String(), name) },
	} {
		var found []place
		for _, p := range places {
			if fits(p) {
				found = append(found, p)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		default:
			return place{}, fmt.Errorf("%w chat: %q is several; say which: %s", sessions.ErrInvalid, name, listPlaces(found))
		}
	}
	if len(places) == 0 {
		return place{}, fmt.Errorf("%w chat %q: no session is bound to a chat", sessions.ErrUnknown, name)
	}
	return place{}, fmt.Errorf("%w chat %q; there are: %s", sessions.ErrUnknown, name, listPlaces(places))
}

func listPlaces(places []place) string {
	var names []string
	for _, p := range places {
		names = append(names, p.String())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (o outbound) explanation(p place, x qos.Explanation) api.Explanation {
	chat := chatState(x.Chat)
	out := api.Explanation{
		Adapter: p.adapter, Chat: string(p.key), At: x.At, Mode: x.Mode.String(), Tick: x.Chat.Tick.Seconds(),
		ActiveSessions: x.ActiveSessions, Reserve: x.Chat.Reserve, Multiplier: x.Chat.Multiplier, CallsToPace: x.Chat.CallsToPace,
		PenaltyUntil: x.Chat.PenaltyUntil, Windows: chat.Windows, Next: []api.NextCall{},
	}
	if x.BudgetErr != nil {
		out.Error = x.BudgetErr.Error()
	}
	if c := x.Call; c != nil {
		out.Call = &api.CallBegun{Session: o.sessionName(c.Session), Class: c.Class.String(), Began: c.Began, Deadline: c.Deadline}
	}
	for _, n := range x.Next {
		next := api.NextCall{
			Binding: string(n.Doc), Session: o.sessionName(n.Session), Class: n.Class.String(), Family: string(n.Family),
			Age: n.Waited.Seconds(), LastCall: n.LastCall, At: n.At, Holds: []api.Hold{},
		}
		for _, h := range n.Holds {
			hold := api.Hold{Kind: h.Kind.String(), Until: h.Until, Count: h.Count, Every: h.Every.Seconds(), Knobs: []api.Knob{}}
			for _, k := range h.Knobs {
				hold.Knobs = append(hold.Knobs, api.Knob{Path: "adapters." + p.adapter + ".qos." + k.Name, Value: k.Value, Try: k.Try})
			}
			next.Holds = append(next.Holds, hold)
		}
		out.Next = append(out.Next, next)
	}
	return out
}

// sessionName is a session as people are told of it.
func (o outbound) sessionName(key qos.SessionKey) string {
	if s, err := o.d.manager.Get(string(key)); err == nil {
		return s.Name
	}
	return string(key)
}
