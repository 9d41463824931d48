package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// anywayWithin is how long a go-ahead may take: a typist looks every half second.
const anywayWithin = 15 * time.Second

// GoAhead has a text, or its Enter, sent though a dialog's phrase is on the screen. It's
// for the one screen that somebody has looked at, and is used once.
type GoAhead struct {
	Receipt string
	Quoted  string // see Receipt.Quoted
	By      string
	Revival Revival    // begins the agent again that the text was written to; "": the text goes to who is there
	done    chan error // gets one: what came of it
}

// Answer tells who left the go-ahead what came of it; nil: it's in the pane. It's called once.
func (g *GoAhead) Answer(err error) { g.done <- err }

// SendAnyway sends a text that only a dialog's phrase holds, on a screen on which no
// dialog is recognised: quoted is the Receipt.Quoted of the screen that by has looked at.
// It returns when the text, or its Enter, is in the pane, or surely isn't. ErrConflict
// says that the screen is another by now, that somebody else was faster, or that the
// receipt isn't held so.
//
// A text that's held because another program has the foreground goes to that run of it,
// and so does what's written to the session from then on.
func (m *Manager) SendAnyway(ctx context.Context, id, quoted, by string) (Receipt, error) {
	return m.leaveGoAhead(ctx, id, GoAhead{Quoted: quoted, By: by})
}

// Revive begins the agent again that a held text was written to, in the shell that has
// its place: quoted is the Receipt.Quoted of a receipt whose Revivals have the way. The
// text is typed when the agent takes it. It returns when the command that begins the
// agent was submitted, or surely wasn't; errors are those of SendAnyway.
func (m *Manager) Revive(ctx context.Context, id, quoted, by string, way Revival) (Receipt, error) {
	if way != ReviveNew && way != ReviveResume {
		return Receipt{}, fmt.Errorf("%w request: an agent is begun again by %q or %q", ErrInvalid, ReviveNew, ReviveResume)
	}
	return m.leaveGoAhead(ctx, id, GoAhead{Quoted: quoted, By: by, Revival: way})
}

// leaveGoAhead leaves a go-ahead for the typist of a held receipt, and waits for what
// comes of it.
func (m *Manager) leaveGoAhead(ctx context.Context, id string, ahead GoAhead) (Receipt, error) {
	r, err := m.Receipt(ctx, id)
	if err != nil {
		return r, err
	}
	if ahead.Quoted == "" {
		return r, fmt.Errorf("%w request: say which screen was looked at, by the receipt's “quoted”", ErrInvalid)
	}
	g := &ahead
	g.Receipt, g.done = id, make(chan error, 1)
	stopping, err := m.offerGoAhead(r.Session, g)
	if err == nil {
		timer := time.NewTimer(anywayWithin)
		defer timer.Stop()
		select {
		case err = <-g.done:
		case <-ctx.Done():
			err = m.withdraw(r.Session, g)
		case <-stopping:
			err = m.withdraw(r.Session, g)
		case <-timer.C:
			err = m.withdraw(r.Session, g)
		}
	}
	m.log.Info("an input is sent anyway", "session", r.Session, "receipt", id, "author", g.By, "revival", g.Revival, "err", err)
	if now, failed := m.Receipt(context.WithoutCancel(ctx), id); failed == nil {
		r = now
	}
	return r, err
}

// offerGoAhead leaves a go-ahead for the typist, if the receipt waits for one.
func (m *Manager) offerGoAhead(session ID, g *GoAhead) (stopping <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[session]
	if e == nil || len(e.queue) == 0 || e.queue[0].ID != g.Receipt || m.ctx == nil {
		return nil, Refuse("the input isn't held by a dialog's words (any more)")
	}
	switch r := e.queue[0]; {
	case e.ahead != nil:
		return nil, Refuse("%s has just sent it anyway", e.ahead.By)
	case r.Final():
		return nil, Refuse("the input is %s already", r.State)
	case r.Quoted == "" && r.Reason != "":
		return nil, Refuse("it can't be sent anyway now: %s", r.Reason)
	case r.Quoted == "":
		return nil, Refuse("the input isn't held by a dialog's words (any more)")
	case r.Quoted != g.Quoted:
		return nil, ErrOtherScreen
	case g.Revival != "" && !slices.Contains(r.Revivals, g.Revival):
		return nil, Refuse("the agent can't be begun again in that way")
	}
	e.ahead = g
	return m.ctx.Done(), nil
}

// ErrOtherScreen says that somebody has looked at a screen that's gone.
var ErrOtherScreen = Refuse("the screen isn't the one that was looked at any more; nothing was sent, look again")

// withdraw takes a go-ahead back, or waits for what comes of it.
func (m *Manager) withdraw(session ID, g *GoAhead) error {
	m.mu.Lock()
	e := m.entries[session]
	taken := e == nil || e.ahead != g
	if !taken {
		e.ahead = nil
	}
	m.mu.Unlock()
	if taken {
		return <-g.done // whoever took it is at it
	}
	return fmt.Errorf("%w: the session couldn't be looked at in time; nothing was sent", ErrUnavailable)
}

// asksNow reports whether a dialog is known to be open in a session.
func (m *Manager) asksNow(id ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	return e != nil && (e.prompt != nil && e.prompt.Kind() != PromptLine || e.shown != nil && e.shown.Kind != PromptLine)
}
