package mailroom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// happened is something of a session that its director, and who asked for it, may be told.
type happened struct {
	session sessions.ID
	kind    inbox.NoticeType
	msg     string
	at      time.Time
}

// Follow subscribes to what happens to sessions.
func (m *Mailroom) Follow(feed *sessions.Feed) {
	feed.OnOutput(m.handleOutput)
	feed.OnSession(m.handleSession)
}

func (m *Mailroom) handleOutput(ev sessions.OutputEvent) {
	if ev.Complete {
		m.noteHappened(happened{ev.Session, inbox.Complete, turnEnded(ev.Turn), time.Now()})
		m.retryPreviews(ev.Session)
	}
	m.mu.Lock()
	question := m.asksOf(ev.Session).seePrompt(ev.Prompt, ev.Asked)
	m.mu.Unlock()
	if question != "" {
		m.noteHappened(happened{ev.Session, inbox.Question, question, time.Now()})
	}
}

func (m *Mailroom) handleSession(one sessions.Session) {
	m.mu.Lock()
	was := m.states[one.ID]
	m.states[one.ID] = one.State
	if was != one.State && was != "" { // a daemon that has just begun tells nothing again
		m.asksOf(one.ID).changeState(one.State, one.Reason, time.Now())
	}
	if one.State == sessions.StateEnded {
		delete(m.states, one.ID)
		delete(m.asks, one.ID)
	}
	m.mu.Unlock()
	if was == one.State || was == "" && one.State != sessions.StateEnded {
		return
	}
	switch one.State {
	case sessions.StateIdle:
		m.retryPreviews(one.ID)
	case sessions.StateEnded:
		m.noteHappened(happened{one.ID, inbox.Info, "ended: " + one.Reason, time.Now()})
	case sessions.StateStarting, sessions.StateWorking, sessions.StateError: // nothing that a director needs to know
	case sessions.StateWaiting: // see asks
	}
}

// whatWaits says what a session waits for, by the reason of its state.
func whatWaits(reason string) string {
	switch reason {
	case sessions.ReasonAsksLine, sessions.ReasonAsksHidden:
		return reason
	}
	return "a dialog is open"
}

func turnEnded(t sessions.Turn) string {
	if t.Failed != "" {
		return fmt.Sprintf("its turn %d has failed: %s", t.Number, t.Failed)
	}
	if t.Status != nil && *t.Status != 0 {
		return fmt.Sprintf("its turn %d has ended with status %d", t.Number, *t.Status)
	}
	return fmt.Sprintf("its turn %d has ended", t.Number)
}

// maxHeard bounds what waits for the disk.
const maxHeard = 10_000

// noteHappened takes in what may be told to a director.
func (m *Mailroom) noteHappened(h happened) {
	m.mu.Lock()
	if len(m.heard) < maxHeard {
		m.heard = append(m.heard, h)
	}
	m.mu.Unlock()
	m.wakeRun()
}

func (m *Mailroom) takeHappened() []happened {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.heard
	m.heard = nil
	return all
}

// retryPreviews has a session's waiting previews tried again.
func (m *Mailroom) retryPreviews(id sessions.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := inbox.Address(id); !m.waiting[a].IsZero() {
		m.waiting[a] = time.Now()
		m.wakeRun()
	}
}

// tellListeners writes a notice for the director of the fleet whose member a session is, and for
// those who have asked for it. Directors aren't told where notices.auto is off.
func (m *Mailroom) tellListeners(ctx context.Context, h happened) error {
	all, err := m.store.Parties(ctx)
	if err != nil {
		return err
	}
	p, ok := all.Get(h.session)
	if !ok {
		return nil
	}
	to, err := m.store.Subscribers(ctx, h.session)
	if err != nil {
		return err
	}
	if d, ok := all.DirectorOf(p.Fleet); ok && m.opt.Auto && !slices.Contains(to, d.Address()) {
		to = append(to, d.Address())
	}
	var errs []error
	for _, a := range to {
		if who, ok := all.Get(a.Session()); a.Session() != "" && (!ok || who.State == sessions.StateEnded) || a == p.Address() {
			continue
		}
		errs = append(errs, inbox.Notify(ctx, m.store, m.bells, inbox.Notice{To: a, Session: p.Address(), At: h.at, From: p.Name, Type: h.kind, Msg: h.msg}))
	}
	return errors.Join(errs...)
}
