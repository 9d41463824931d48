package mailroom

import (
	"context"
	"fmt"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// fleetAtWork is what a reminder is about: the fleets that a session directs.
type fleetAtWork struct {
	fleets  []string
	members []inbox.Party
}

// Reminder is what a director's agent is told in answer to a hook: at the start of a
// conversation how to listen, and after a tool that it may listen, if members are at work
// and nobody listens. "": nothing.
func (m *Mailroom) Reminder(ctx context.Context, h agent.Hook) string {
	if h.Signal != agent.SessionStart && h.Signal != agent.ToolEnd {
		return ""
	}
	id := m.opt.Watchers.About(h)
	if id == "" {
		return ""
	}
	f, ok := m.directs(ctx, id)
	if !ok {
		return ""
	}
	var text string
	var err error
	if h.Signal == agent.SessionStart {
		text, err = m.remind.AtStart(ctx, id, h.Conversation, f.fleets, f.members)
	} else {
		text, err = m.remind.AfterTool(ctx, id, func() []string { return m.busy(f.members) })
	}
	if err != nil && ctx.Err() == nil {
		m.log.Warn("what a director is told couldn't be looked up or kept", "session", id, "err", err)
	}
	return text
}

// busy are those of a fleet's members that are at work, or wait for somebody.
func (m *Mailroom) busy(members []inbox.Party) (busy []string) {
	for _, p := range members {
		if s, err := m.opt.Manager.Get(string(p.ID)); err == nil && (s.State == sessions.StateWorking || s.State == sessions.StateWaiting) {
			busy = append(busy, fmt.Sprintf("%s (%s)", s.Name, s.State))
		}
	}
	return busy
}

// directs returns the fleets that a session directs; false: none.
func (m *Mailroom) directs(ctx context.Context, id sessions.ID) (fleetAtWork, bool) {
	all, err := m.store.Parties(ctx)
	if err != nil {
		return fleetAtWork{}, false
	}
	me, _ := all.Get(id)
	f := fleetAtWork{fleets: me.Directs}
	for _, name := range f.fleets {
		for _, p := range all.Members(name) {
			if p.ID != id {
				f.members = append(f.members, p)
			}
		}
	}
	return f, len(f.fleets) > 0
}
