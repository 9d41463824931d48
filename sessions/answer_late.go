package sessions

import (
	"context"
	"fmt"
)

// closedFirst is why a prompt is closed that was said to be refused, where a key at the pane came first.
const closedFirst = "somebody at the pane was first: what was refused here was done"

// refusal is a prompt that was refused here, and the turn in which.
type refusal struct {
	prompt Prompt
	turn   int64
}

// CallMade takes in that the program of a session has carried out a call, by its record. If that was
// refused here in this turn, the refusal came too late: a key at the pane was read already, and not
// shown yet. That's said then. It returns at once.
func (m *Manager) CallMade(id ID, call string) {
	m.mu.Lock()
	e := m.entries[id]
	late := e != nil && e.refused != nil && e.refused.prompt.Dialog.toldCall() == call
	m.mu.Unlock()
	if late {
		m.later(func(ctx context.Context) { m.takeRefusalBack(ctx, id, call) })
	}
}

func (m *Manager) takeRefusalBack(ctx context.Context, id ID, call string) {
	m.asks.Lock()
	defer m.asks.Unlock()
	m.mu.Lock()
	e := m.entries[id]
	if e == nil || e.refused == nil || e.refused.prompt.Dialog.toldCall() != call || e.refused.turn != e.Turn.Number {
		m.mu.Unlock()
		return
	}
	p := e.refused.prompt
	e.refused = nil
	m.mu.Unlock()
	said := fmt.Sprintf("%q came too late: somebody at the pane was first, and it was done: %s", p.Chosen(), inShort(p.Dialog.About(), 200))
	p.State, p.Reason, p.Answer = PromptClosed, closedFirst, nil
	if err := m.opt.Store.PutPrompt(ctx, p); err != nil {
		m.log.Error("store a prompt", "session", id, "prompt", p.ID, "err", err)
	}
	m.log.Info("a refusal came too late", "session", id, "prompt", p.ID)
	m.opt.Feed.PublishPrompt(p)
	if err := m.Note(ctx, id, said); err != nil {
		m.log.Error("say that a refusal came too late", "session", id, "err", err)
	}
}

// noteRefused keeps what was refused here, or that it isn't the last any more; m.mu is held.
func (e *entry) noteRefused(p Prompt) {
	if e.refused = nil; p.State == PromptAnswered && p.Refuses() && p.Dialog.toldCall() != "" {
		e.refused = &refusal{p, e.Turn.Number}
	}
}
