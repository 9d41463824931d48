package mailroom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// sessionNews is something of a session that its director, and who asked for it, may be told.
type sessionNews struct {
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
		m.noteHappened(sessionNews{ev.Session, inbox.Complete, turnEnded(ev.Turn), time.Now()})
		m.retryPreviews(ev.Session)
	}
	m.mu.Lock()
	question := m.waitNoticesOf(ev.Session).seePrompt(ev.Prompt, ev.Asked)
	m.mu.Unlock()
	if question != "" {
		m.noteHappened(sessionNews{ev.Session, inbox.Question, question, time.Now()})
	}
}

func (m *Mailroom) handleSession(one sessions.Session) {
	m.mu.Lock()
	was := m.states[one.ID]
	m.states[one.ID] = one.State
	if was != one.State && was != "" { // a daemon that has just begun tells nothing again
		m.waitNoticesOf(one.ID).changeState(one.State, one.Reason, time.Now())
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
		m.noteHappened(sessionNews{one.ID, inbox.Info, "ended: " + one.Reason, time.Now()})
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
func (m *Mailroom) noteHappened(h sessionNews) {
	m.mu.Lock()
	if len(m.heard) < maxHeard {
		m.heard = append(m.heard, h)
	}
	m.mu.Unlock()
	m.wakeRun()
}

func (m *Mailroom) takeHappened() []sessionNews {
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
func (m *Mailroom) tellListeners(ctx context.Context, h sessionNews) error {
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

// waitingHeld is how long a session waits before that alone is told: what it asks is told
// with its words, and read up to a second or two after a hook has said that it waits.
const waitingHeld = 3 * time.Second

// waitNotices has one thing told of each time that a session waits for somebody: its question,
// if that can be read, else that it waits.
type waitNotices struct {
	asked bool      // a question that was told stands on its screen
	waits string    // that it waits, which isn't told yet; "": it is, or it doesn't
	since time.Time // when it began to
}

// seePrompt takes in what dialog is on the screen, nil for none, and whether it's another
// than before; "": nothing is told.
func (a *waitNotices) seePrompt(p *sessions.Dialog, another bool) (question string) {
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
func (a *waitNotices) changeState(s sessions.State, reason string, now time.Time) {
	switch {
	case s != sessions.StateWaiting:
		a.waits = ""
	case !a.asked:
		a.waits, a.since = "waits: "+whatWaits(reason), now
	}
}

// takeWaiting returns what's told of a session that has waited long enough; "": nothing.
func (a *waitNotices) takeWaiting(now time.Time) (msg string) {
	if a.waits == "" || now.Sub(a.since) < waitingHeld {
		return ""
	}
	msg, a.waits = a.waits, ""
	return msg
}

// takeWaiting hears of sessions that wait, and whose question isn't known.
func (m *Mailroom) takeWaiting(now time.Time) {
	var due []sessionNews
	m.mu.Lock()
	for id, a := range m.asks {
		if msg := a.takeWaiting(now); msg != "" {
			due = append(due, sessionNews{id, inbox.Waiting, msg, a.since})
		}
	}
	m.mu.Unlock()
	for _, h := range due {
		m.noteHappened(h)
	}
}

// waitNoticesOf are those of a session; m.mu is held.
func (m *Mailroom) waitNoticesOf(id sessions.ID) *waitNotices {
	if m.asks[id] == nil {
		m.asks[id] = new(waitNotices)
	}
	return m.asks[id]
}

// fleetAtWork is what a reminder is about: the fleets that a session directs.
type fleetAtWork struct {
	fleets  []string
	members []inbox.Party
}

// Reminder returns what a director's agent is told in answer to a hook: how to listen, at the start of a
// conversation; that it may listen, after a tool if members are at work and nobody listens. "": nothing.
func (m *Mailroom) Reminder(ctx context.Context, h agent.Hook) string {
	if h.Signal != agent.SessionStart && h.Signal != agent.ToolEnd {
		return ""
	}
	id := m.opt.Watchers.About(h)
	if id == "" {
		return ""
	}
	f, ok := m.directedFleets(ctx, id)
	if !ok {
		return ""
	}
	var text string
	var err error
	if h.Signal == agent.SessionStart {
		text, err = m.remind.AtStart(ctx, id, h.Conversation, f.fleets, f.members)
	} else {
		text, err = m.remind.AfterTool(ctx, id, func() []string { return m.busyMembers(f.members) })
	}
	if err != nil && ctx.Err() == nil {
		m.log.Warn("what a director is told couldn't be looked up or kept", "session", id, "err", err)
	}
	return text
}

// busyMembers are those of a fleet's members that are at work, or wait for somebody.
func (m *Mailroom) busyMembers(members []inbox.Party) (busy []string) {
	for _, p := range members {
		if s, err := m.opt.Manager.Get(string(p.ID)); err == nil && (s.State == sessions.StateWorking || s.State == sessions.StateWaiting) {
			busy = append(busy, fmt.Sprintf("%s (%s)", s.Name, s.State))
		}
	}
	return busy
}

// directedFleets returns the fleets that a session directs; false: none.
func (m *Mailroom) directedFleets(ctx context.Context, id sessions.ID) (fleetAtWork, bool) {
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
