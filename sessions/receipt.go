package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// ReceiptState says how far an input got.
type ReceiptState string

// The states of a receipt: stored → typed → submitted → answered, with held in between
// where something keeps it back. Failed and cancelled are final. So is submitted (or
// typed, when no Enter was asked for) as to what's done about the text; it becomes
// answered when the turn that it began ends.
const (
	ReceiptStored    ReceiptState = "stored"    // on disk, not typed
	ReceiptHeld      ReceiptState = "held"      // a dialog is open; typed when it has closed
	ReceiptTyping    ReceiptState = "typing"    // about to be typed: the intent, on disk before the pane is touched
	ReceiptTyped     ReceiptState = "typed"     // in the pane, Enter not pressed yet (or not asked for)
	ReceiptSubmitted ReceiptState = "submitted" // Enter was pressed and the screen took it
	ReceiptAnswered  ReceiptState = "answered"  // the turn that it began has ended
	ReceiptFailed    ReceiptState = "failed"    // see Reason
	ReceiptCancelled ReceiptState = "cancelled" // taken back before it was typed
)

// Cause says to programs what a receipt's Reason says to people, where something depends on it.
type Cause string

// The causes. "": none of these.
const (
	CauseBehind     Cause = "behind"     // held: it waits behind another text of the session
	CauseQueued     Cause = "queued"     // submitted: the agent keeps it until it has time
	CausePassed     Cause = "passed"     // submitted: it was queued, but no turn runs any more
	CauseUnverified Cause = "unverified" // submitted or answered: nobody knows that its program took it
)

// Revival is a way to begin an agent again that has ended and left its pane to a shell.
type Revival string

// The ways.
const (
	ReviveNew    Revival = "start"  // with a new conversation
	ReviveResume Revival = "resume" // with the one that it had
)

// Receipt is the record of one input.
type Receipt struct {
	ID      string       `json:"id"` // "in_" and 12 hexadecimal digits
	Session ID           `json:"session"`
	Text    string       `json:"text"`
	Submit  bool         `json:"submit"`        // press Enter behind the text
	Author  string       `json:"author"`        // who wrote it, "web" or "cli" or "telegram:123"
	Name    string       `json:"-"`             // see InputRequest.Name
	Origin  string       `json:"-"`             // see InputRequest.Origin
	Key     string       `json:"key,omitempty"` // see InputRequest.Key
	State   ReceiptState `json:"state"`
	Cause   Cause        `json:"cause,omitempty"`
	Reason  string       `json:"reason,omitempty"` // why it's held or failed, or "unverified: …"; for people
	// Quoted is set while only a dialog's phrase keeps the text, or its Enter, back, on a
	// screen that stands still and on which no dialog is recognised. It stands for that
	// screen: 16 hexadecimal digits. See Manager.SendAnyway. It isn't kept.
	Quoted string `json:"quoted,omitempty"`
	// Behind is the id of the input that's held and that this one waits behind; "": there's
	// none. It isn't kept.
	Behind string `json:"behind,omitempty"`
	// Front is the program that has the foreground in place of the one that the text was
	// written to; "": none has. Quoted then stands for that run of it, and not for a
	// screen. Revivals are the ways in which the other can be begun again.
	Front    string    `json:"front,omitempty"`
	Revivals []Revival `json:"revivals,omitempty"`
	Anyway   string    `json:"anyway,omitempty"` // who sent it anyway; "": nobody
	// To is whom it was written to: the session's addressee of that time, or who somebody
	// has said it's for all the same.
	To Addressee `json:"-"`
	// Pressed says that Enter was pressed behind the text, or is about to be: the intent,
	// on disk before the key.
	Pressed   bool      `json:"-"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// SetState makes a state, and what's to be known of it, the receipt's.
func (r *Receipt) SetState(state ReceiptState, cause Cause, reason string) {
	r.State, r.Cause, r.Reason = state, cause, reason
}

// Submitted reports whether the text was, whatever has become of it.
func (r Receipt) Submitted() bool { return r.State == ReceiptSubmitted || r.State == ReceiptAnswered }

// Unverified reports whether Enter was pressed behind a text of which nobody knows that its
// program took it. Reason says why.
func (r Receipt) Unverified() bool {
	return r.Submitted() && r.Cause == CauseUnverified
}

// Queued reports whether a receipt is of a text that its agent has queued.
func (r Receipt) Queued() bool { return r.State == ReceiptSubmitted && r.Cause == CauseQueued }

// Final reports whether nothing is to be done about the text any more.
func (r Receipt) Final() bool {
	switch r.State {
	case ReceiptSubmitted, ReceiptAnswered, ReceiptFailed, ReceiptCancelled:
		return true
	case ReceiptTyped:
		return !r.Submit
	case ReceiptStored, ReceiptHeld, ReceiptTyping:
		return false
	}
	return false
}

// tellBehind says of the inputs behind a session's first that they wait and why, while that
// one is held, and takes it back of those that don't any more. m.writing is held.
func (m *Manager) tellBehind(ctx context.Context, session ID) {
	for _, r := range m.changeBehind(session) {
		if err := m.opt.Store.PutReceipt(context.WithoutCancel(ctx), r); err != nil {
			m.log.Error("store that an input waits behind another", "session", session, "receipt", r.ID, "err", err)
		}
		m.opt.Feed.PublishReceipt(r)
	}
}

// changeBehind is that in the registry. It returns the receipts that changed.
func (m *Manager) changeBehind(session ID) (changed []Receipt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[session]
	if e == nil {
		return nil
	}
	var first *Receipt
	for _, r := range e.queue {
		if r.Final() {
			continue
		}
		was := *r
		switch {
		case r.State != ReceiptStored && (r.State != ReceiptHeld || r.Behind == ""):
			// It's being worked on, or held for what's in its own way.
		case first != nil && first.keepsBack():
			r.SetState(ReceiptHeld, CauseBehind, "it waits behind another text: "+first.Reason)
			r.Behind = first.ID
		case r.Behind != "":
			r.SetState(ReceiptStored, "", "")
			r.Behind = ""
		}
		if first == nil {
			first = r
		}
		if r.State != was.State || r.Reason != was.Reason || r.Behind != was.Behind {
			r.UpdatedAt = time.Now()
			changed = append(changed, *r)
		}
	}
	return changed
}

// replaceReceipt makes a receipt of the queue one that's given; Manager.mu is held.
func (e *sessionEntry) replaceReceipt(r Receipt) {
	for _, q := range e.queue {
		if q.ID == r.ID {
			*q = r
		}
	}
}

// keepsBack reports whether an input that's the first of its session is held.
func (r *Receipt) keepsBack() bool {
	return r.Reason != "" && (r.State == ReceiptHeld || r.State == ReceiptTyped)
}

// anywayWithin is how long a go-ahead may take: a typist looks every half second.
const anywayWithin = 15 * time.Second

// GoAhead is a person's word that a text, or its Enter, is to be sent though a dialog's phrase is on the
// screen. It holds for the one screen that the person has looked at, and is used once.
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
		wait, cancel := context.WithTimeout(ctx, anywayWithin)
		defer cancel()
		select {
		case err = <-g.done:
		case <-wait.Done():
			err = m.withdrawGoAhead(r.Session, g)
		case <-stopping:
			err = m.withdrawGoAhead(r.Session, g)
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

// withdrawGoAhead takes a go-ahead back, or waits for what comes of it.
func (m *Manager) withdrawGoAhead(session ID, g *GoAhead) error {
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
