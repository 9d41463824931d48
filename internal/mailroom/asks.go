package mailroom

import (
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// waitingHeld is how long a session waits before that alone is told: what it asks is told
// with its words, and read up to a second or two after a hook has said that it waits.
const waitingHeld = 3 * time.Second

// asks has one thing told of each time that a session waits for somebody: its question,
// if that can be read, else that it waits.
type asks struct {
	asked bool      // a question that was told stands on its screen
	waits string    // that it waits, which isn't told yet; "": it is, or it doesn't
	since time.Time // when it began to
}

// seePrompt takes in what dialog is on the screen, nil for none, and whether it's another
// than before; "": nothing is told.
func (a *asks) seePrompt(p *sessions.Dialog, another bool) (question string) {
	switch {
	case p == nil || p.Kind == sessions.PromptUnread:
		a.asked = false
		return ""
	case !another && a.asked:
		return ""
	}
	a.asked, a.waits = true, ""
	if !another {
		return ""
	}
	return "asks: " + p.Title
}

// changeState takes in a session's state.
func (a *asks) changeState(s sessions.State, reason string, now time.Time) {
	switch {
	case s != sessions.StateWaiting:
		a.waits = ""
	case !a.asked:
		a.waits, a.since = "waits: "+whatWaits(reason), now
	}
}

// takeWaiting returns what's told of a session that has waited long enough; "": nothing.
func (a *asks) takeWaiting(now time.Time) (msg string) {
	if a.waits == "" || now.Sub(a.since) < waitingHeld {
		return ""
	}
	msg, a.waits = a.waits, ""
	return msg
}

// takeWaiting hears of sessions that wait, and whose question isn't known.
func (m *Mailroom) takeWaiting(now time.Time) {
	var due []happened
	m.mu.Lock()
	for id, a := range m.asks {
		if msg := a.takeWaiting(now); msg != "" {
			due = append(due, happened{id, inbox.Waiting, msg, a.since})
		}
	}
	m.mu.Unlock()
	for _, h := range due {
		m.noteHappened(h)
	}
}

// asksOf are those of a session; m.mu is held.
func (m *Mailroom) asksOf(id sessions.ID) *asks {
	if m.asks[id] == nil {
		m.asks[id] = new(asks)
	}
	return m.asks[id]
}
