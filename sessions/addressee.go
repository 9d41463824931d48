package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// settledIn is how long a program must have had the foreground until it may be one in
// which an agent runs that only its hooks tell of: in a container, say.
const settledIn = 5 * time.Second

// reviveWithin is how long the command that begins an agent again may take to be typed:
// whoever asked for it waits.
const reviveWithin = 6 * time.Second

// frontOf tells what has the foreground of the pane of a screen.
func (m *Manager) frontOf(s *Snapshot) Program {
	if m.opt.Front == nil {
		return Program{}
	}
	return m.opt.Front(s)
}

// reaches reports whether a text that was written to somebody in a session at a time is
// read by them, if it's typed now.
func (m *Manager) reaches(id ID, to Addressee, front Program, written time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil {
		return false
	}
	inside := to.agent() != "" && to.agent() == e.Source.Program && time.Since(front.Started) > settledIn &&
		(front.Kind == ProgramOther || front.Kind == ProgramOwn)
	return inside || to.reaches(front, written)
}

// reaches is the same for the typist's text.
func (t *typist) reaches(front Program) bool {
	return t.m.reaches(t.id, t.receipt.To, front, t.receipt.CreatedAt)
}

// strangerIn names the program that has the foreground of a session's pane in place of the
// one that people write to; "": that one has it.
func (m *Manager) strangerIn(id ID, s *Snapshot) string {
	front := m.frontOf(s)
	one, err := m.Get(string(id))
	if err != nil || m.reaches(id, one.Addressee, front, time.Now()) {
		return ""
	}
	return front.Name
}

// address makes a program the one that people write to in a session. If it can't be
// stored it holds until the daemon ends.
func (m *Manager) address(ctx context.Context, id ID, to Addressee) {
	s, ok := m.changeSession(id, func(s *Session) { s.Addressee = to })
	if !ok {
		return
	}
	m.log.Info("texts are for", "session", id, "addressee", to)
	if err := m.opt.Store.PutSession(context.WithoutCancel(ctx), s); err != nil {
		m.log.Error("store whom a session's texts are for", "session", id, "err", err)
	}
}

// yields reports whether another program becomes the session's addressee by itself.
func (m *Manager) yields(id ID, to Addressee) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	return e != nil && e.Addressee.yieldsTo(to)
}

// awaitAddressee holds the text while another program has the foreground than the one
// that it was written to; waits says that it does. Somebody who may can have it typed
// there all the same, or have the agent begun again.
func (t *typist) awaitAddressee(ctx context.Context) (waits bool, err error) {
	front := t.m.frontOf(&t.before)
	t.into, t.goesTo, t.letGo = front, "", false
	if t.reaches(front) {
		if to := addresseeOf(front); t.receipt.To != to && (front.Kind == ProgramAgent || t.receipt.To == "") {
			t.goesTo = to
		}
		return false, nil
	}
	t.takeAhead()
	if t.ahead != nil && t.ahead.quoted == t.frontPrint(front) {
		if t.ahead.revival == "" {
			t.by, t.goesTo, t.letGo = t.ahead.by, addresseeOf(front), true
			return false, nil
		}
		t.answerAhead(t.revive(ctx, t.receipt.To.agent(), t.ahead.revival))
	}
	t.release()
	t.answerAhead(errOtherScreen)
	t.holdForFront(ctx, front)
	return true, t.wait(ctx, heldEvery)
}

// frontPrint stands for one run of a program that has the foreground: see Receipt.Quoted.
func (t *typist) frontPrint(p Program) string {
	sum := sha256.Sum256([]byte(fmt.Sprintln("front", t.pane, p.Kind, p.Name, p.Run, t.refused)))
	return hex.EncodeToString(sum[:8])
}

// holdForFront says who has the foreground, and how the text may go on.
func (t *typist) holdForFront(ctx context.Context, front Program) {
	to := t.receipt.To
	agent := to.agent()
	var why string
	var revivals []Revival
	switch {
	case agent != "" && front.Kind == ProgramAgent:
		why = "it was written to " + agent + ", and " + front.Name + " has its place; it's typed when " + agent + " is back"
	case agent != "" && front.Kind == ProgramShell:
		why = agent + " has ended, and " + front.Name + " would run it as a command; it's typed when " + agent + " is back"
		revivals = t.revivals(agent)
	case agent != "":
		why = "it was written to " + agent + ", and " + front.Name + " has the foreground; it's typed when " + agent + " is back"
	case to != "" && to != "own" && !to.shell():
		why = "the program that it was written to doesn't have the foreground, " + front.Name + " has"
	case front.Kind == ProgramAgent:
		why = front.Name + " was begun after this was written; it's typed when the shell is back"
	case to.shell() && front.Kind == ProgramShell:
		why = "another shell (" + front.Name + ") has the foreground; it's typed when that has ended"
	default:
		why = front.Name + " has the foreground; it's typed when that has ended"
	}
	t.holdWith(ctx, func(r *Receipt) {
		r.setState(ReceiptHeld, "", why)
		r.Quoted, r.Front, r.Revivals = t.frontPrint(front), front.Name, revivals
	})
}

// revivals are the ways in which an agent can be begun again in the session.
func (t *typist) revivals(agent string) (ways []Revival) {
	for _, way := range []Revival{ReviveNew, ReviveResume} {
		if _, ok := t.reviveLine(agent, way); ok {
			ways = append(ways, way)
		}
	}
	return ways
}

// reviveLine is the command line of a revival; false: it can't be done.
func (t *typist) reviveLine(agent string, way Revival) (string, bool) {
	if t.m.opt.Revive == nil || agent == "" {
		return "", false
	}
	conversation := ""
	if way == ReviveResume {
		if conversation = t.m.lastConversation(t.id, agent); !conversationIDs.MatchString(conversation) {
			return "", false
		}
	}
	return t.m.opt.Revive(t.id, agent, conversation)
}

// lastConversation is the one that an agent had in a session; "": it isn't known.
func (m *Manager) lastConversation(id ID, agent string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || e.was.Program != agent {
		return ""
	}
	return e.was.Conversation
}

// revive types the command line that begins the agent again into the shell that has its
// place, if nothing else stands in the shell's line.
func (t *typist) revive(ctx context.Context, agent string, way Revival) error {
	line, ok := t.reviveLine(agent, way)
	if !ok {
		return refuse("it isn't known how %s is begun again", agent)
	}
	if b := t.box(&t.before); !b.Shell || !b.Open || b.Text != "" {
		return refuse("the shell isn't at an empty prompt")
	}
	hand, cancel := inHand(ctx)
	defer cancel()
	hand, late := context.WithTimeout(hand, reviveWithin)
	defer late()
	guard := Guard{Pane: t.pane, Server: t.before.Server, Saw: &t.before, Front: t.before.Front, Lines: t.term.Canonical}
	switch out, err := t.srv.Paste(hand, guard, line); {
	case err != nil:
		return err
	case out != Done:
		return errOtherScreen
	}
	for began := time.Now(); time.Since(began) < reactWithin; {
		if err := rest(hand, lookEvery); err != nil {
			return err
		}
		snap, err := t.look(hand)
		if err != nil {
			return err
		}
		if withoutSpace(t.box(&snap).Text) != withoutSpace(line) || t.term.Unread > 0 {
			continue
		}
		guard = Guard{Pane: t.pane, Server: snap.Server, Saw: &snap, Front: snap.Front}
		if out, err := t.srv.Press(hand, guard, "Enter"); err != nil || out == Done {
			t.m.opt.Pollers.Typed(t.id, line)
			return err
		}
	}
	return errors.New("the command that begins " + agent + " again stands in the shell's line, and couldn't be submitted; look at the session")
}
