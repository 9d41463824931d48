package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// remindEvery is how often a director is reminded to listen at most.
const remindEvery = 30 * time.Second

// reminders remember what directors were told. They're guarded by the mailroom's mutex.
type reminders struct {
	told map[string]bool           // conversations that were told how to listen
	last map[sessions.ID]time.Time // when a session was reminded
}

// fleetAtWork is what a reminder is about: the fleets that a session directs.
type fleetAtWork struct {
	fleets  []string
	members []inbox.Party
}

func newReminders() reminders {
	return reminders{told: map[string]bool{}, last: map[sessions.ID]time.Time{}}
}

// reminder is what a director's agent is told in answer to a hook: at the start of a
// conversation how to listen, and after a tool that it may listen, if members are at work
// and nobody listens. "": nothing.
func (m *mailroom) reminder(ctx context.Context, h agent.Hook) string {
	if h.Signal != agent.SessionStart && h.Signal != agent.ToolEnd {
		return ""
	}
	id := m.d.watchers.About(h)
	if id == "" {
		return ""
	}
	f, ok := m.directs(ctx, id)
	if !ok {
		return ""
	}
	if h.Signal == agent.SessionStart {
		return m.atStart(id, h, f)
	}
	return m.afterTool(ctx, id, f)
}

// directs returns the fleets that a session directs; false: none.
func (m *mailroom) directs(ctx context.Context, id sessions.ID) (fleetAtWork, bool) {
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

func (m *mailroom) atStart(id sessions.ID, h agent.Hook, f fleetAtWork) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := string(id) + " " + h.Conversation
	if m.remind.told[key] {
		return ""
	}
	m.remind.told[key] = true
	names := make([]string, len(f.members))
	for i, p := range f.members {
		names[i] = p.Name
	}
	return fmt.Sprintf("You direct the panebridge fleet %s (members: %s). Send work with `panebridge send --to NAME --text …`. "+
		"Run `panebridge listen` in the background to hear of ends of turns, questions and notices of the members: it prints them as JSON lines and ends; start it again after each. "+
		"`panebridge skill` tells the rest.", strings.Join(f.fleets, " and "), strings.Join(names, ", "))
}

func (m *mailroom) afterTool(ctx context.Context, id sessions.ID, f fleetAtWork) string {
	now := time.Now()
	m.mu.Lock()
	early := now.Sub(m.remind.last[id]) < remindEvery
	m.mu.Unlock()
	if early {
		return ""
	}
	var busy []string
	for _, p := range f.members {
		if s, err := m.d.manager.Get(string(p.ID)); err == nil && (s.State == sessions.StateWorking || s.State == sessions.StateWaiting) {
			busy = append(busy, fmt.Sprintf("%s (%s)", s.Name, s.State))
		}
	}
	if len(busy) == 0 {
		return ""
	}
	if heard, err := inbox.Listens(ctx, m.store, inbox.Address(id)); err != nil || heard {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.remind.last[id]) < remindEvery { // another tool ended at the same time
		return ""
	}
	m.remind.last[id] = now
	return "Members of your panebridge fleet are at work: " + strings.Join(busy, ", ") +
		". Nobody listens for their notices: run `panebridge listen` in the background."
}
