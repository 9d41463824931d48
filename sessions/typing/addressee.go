package typing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// reviveWithin is how long the command that begins an agent again may take to be typed:
// whoever asked for it waits.
const reviveWithin = 6 * time.Second

// reaches is the same for the typist's text.
func (t *typist) reaches(front sessions.Program) bool {
	return t.desk == nil || t.desk.Reaches(t.receipt.To, front, t.receipt.CreatedAt)
}

// awaitAddressee holds the text while another program has the foreground than the one
// that it was written to; waits says that it does. Somebody who may can have it typed
// there all the same, or have the agent begun again.
func (t *personal) awaitAddressee(ctx context.Context) (waits bool, err error) {
	front := t.frontOf(&t.before)
	t.into, t.goesTo, t.letGo = front, "", false
	if t.reaches(front) {
		if to := front.Addressee(); t.receipt.To != to && (front.Kind == sessions.ProgramAgent || t.receipt.To == "") {
			t.goesTo = to
		}
		return false, nil
	}
	t.takeAhead()
	if t.ahead != nil && t.ahead.Quoted == t.frontPrint(front) {
		if t.ahead.Revival == "" {
			t.by, t.goesTo, t.letGo = t.ahead.By, front.Addressee(), true
			return false, nil
		}
		t.answerAhead(t.revive(ctx, t.receipt.To.Agent(), t.ahead.Revival))
	}
	t.release()
	t.answerAhead(sessions.ErrOtherScreen)
	t.holdForFront(ctx, front)
	return true, t.wait(ctx, heldEvery)
}

// frontPrint stands for one run of a program that has the foreground: see Receipt.Quoted.
func (t *personal) frontPrint(p sessions.Program) string {
	sum := sha256.Sum256([]byte(fmt.Sprintln("front", t.pane, p.Kind, p.Name, p.Run, t.refused)))
	return hex.EncodeToString(sum[:8])
}

// holdForFront says who has the foreground, and how the text may go on.
func (t *personal) holdForFront(ctx context.Context, front sessions.Program) {
	to := t.receipt.To
	agent := to.Agent()
	var why string
	var revivals []sessions.Revival
	switch {
	case agent != "" && front.Kind == sessions.ProgramAgent:
		why = "it was written to " + agent + ", and " + front.Name + " has its place; it's typed when " + agent + " is back"
	case agent != "" && front.Kind == sessions.ProgramShell:
		why = agent + " has ended, and " + front.Name + " would run it as a command; it's typed when " + agent + " is back"
		revivals = t.revivals(agent)
	case agent != "":
		why = "it was written to " + agent + ", and " + front.Name + " has the foreground; it's typed when " + agent + " is back"
	case to != "" && to != "own" && !to.IsShell():
		why = "the program that it was written to doesn't have the foreground, " + front.Name + " has"
	case front.Kind == sessions.ProgramAgent:
		why = front.Name + " was begun after this was written; it's typed when the shell is back"
	case to.IsShell() && front.Kind == sessions.ProgramShell:
		why = "another shell (" + front.Name + ") has the foreground; it's typed when that has ended"
	default:
		why = front.Name + " has the foreground; it's typed when that has ended"
	}
	t.holdWith(ctx, func(r *sessions.Receipt) {
		r.SetState(sessions.ReceiptHeld, "", why)
		r.Quoted, r.Front, r.Revivals = t.frontPrint(front), front.Name, revivals
	})
}

// revivals are the ways in which an agent can be begun again in the session.
func (t *personal) revivals(agent string) (ways []sessions.Revival) {
	for _, way := range []sessions.Revival{sessions.ReviveNew, sessions.ReviveResume} {
		if _, ok := t.reviveLine(agent, way); ok {
			ways = append(ways, way)
		}
	}
	return ways
}

// reviveLine is the command line of a revival; false: it can't be done.
func (t *personal) reviveLine(agent string, way sessions.Revival) (string, bool) {
	if t.opt.Revive == nil || agent == "" {
		return "", false
	}
	conversation := ""
	if way == sessions.ReviveResume {
		if conversation = t.desk.LastConversation(agent); conversation == "" {
			return "", false
		}
	}
	return t.opt.Revive(t.desk.ID(), agent, conversation)
}

// revive types the command line that begins the agent again into the shell that has its
// place, if nothing else stands in the shell's line.
func (t *personal) revive(ctx context.Context, agent string, way sessions.Revival) error {
	line, ok := t.reviveLine(agent, way)
	if !ok {
		return sessions.Refuse("it isn't known how %s is begun again", agent)
	}
	if b := t.box(&t.before); !b.Shell || !b.Open || b.Text != "" {
		return sessions.Refuse("the shell isn't at an empty prompt")
	}
	hand, cancel := inHand(ctx)
	defer cancel()
	hand, late := context.WithTimeout(hand, reviveWithin)
	defer late()
	err := run(hand, &reviving{typist: t.typist, line: line})
	if errors.Is(err, errNotTaken) {
		return errors.New("the command that begins " + agent + " again stands in the shell's line, and couldn't be submitted; look at the session")
	}
	return err
}

// reviving types a command line into a shell at an empty prompt.
type reviving struct {
	*typist

	line  string
	typed time.Time // when it was; zero: it wasn't
}

func (t *reviving) next(ctx context.Context) (step, error) {
	if t.typed.IsZero() {
		guard := sessions.Guard{Pane: t.pane, Server: t.before.Server, Saw: &t.before, Front: t.before.Front, Lines: t.term.Canonical}
		return step{srv: t.srv, guard: guard, text: t.line}, nil
	}
	for time.Since(t.typed) < reactWithin {
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			return step{}, err
		}
		snap, err := t.look(ctx)
		if err != nil {
			return step{}, err
		}
		if withoutSpace(t.box(&snap).Text) == withoutSpace(t.line) && t.term.Unread == 0 {
			return step{srv: t.srv, guard: sessions.Guard{Pane: t.pane, Server: snap.Server, Saw: &snap, Front: snap.Front}, keys: enterKey}, nil
		}
	}
	return step{}, errNotTaken
}

func (t *reviving) after(_ context.Context, s step, out sessions.Outcome, err error) (done bool, failed error) {
	switch {
	case err == nil && out != sessions.Done && s.text != "":
		return false, sessions.ErrOtherScreen
	case err == nil && out != sessions.Done:
		return false, nil
	case s.text != "":
		t.typed = time.Now()
		return false, err
	}
	t.desk.Typed(t.line)
	return true, err
}
