package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// Continuations has sessions go on by themselves when their limits are over.
type Continuations interface {
	cards.Continuations
	// Schedule has a session go on; author asks for it, whom people call name. sessions.ErrConflict: it isn't
	// limited, or nobody knows until when. It does disk I/O.
	Schedule(ctx context.Context, id sessions.ID, author, name string) (sessions.Continuation, error)
	// Cancel has it not go on by itself; sessions.ErrUnknown: it doesn't. It does disk I/O.
	Cancel(ctx context.Context, id sessions.ID) (sessions.Continuation, error)
}

// maxUsed is how many sessions /usage tells of.
const maxUsed = 10

// showUsage says what the sessions of a place have used, or the one that's named.
func showUsage(a *Invocation) error {
	list := a.runner.SessionsAt(a.Event.Place, func(adapters.Binding) bool { return true })
	if a.args != "" {
		s, err := a.runner.Sessions.Get(a.args)
		if err != nil {
			return err
		}
		list = []sessions.Session{s}
	}
	if len(list) == 0 {
		return errNoSession
	}
	now := time.Now()
	var lines []string
	var rows [][]adapters.Button
	for i, s := range list {
		if i == maxUsed {
			lines = append(lines, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		text := cards.UsageText(s, now)
		if text == "" {
			text = "its agent has said nothing of what it uses"
		}
		lines = append(lines, wording.Bold(s.Name)+": "+text)
		if limit := a.runner.LimitText(s, now); limit != "" {
			lines = append(lines, limit)
			rows = append(rows, a.goOnButtons(s)...)
		}
	}
	return a.ReplaceText(strings.Join(lines, "\n\n"), rows...)
}

// goOnButtons are those below what says that a session is limited.
func (a *Invocation) goOnButtons(s sessions.Session) [][]adapters.Button {
	if a.runner.Continuations == nil || s.Usage.Limit.Until.IsZero() || !a.Roles.Has(access.Operator) {
		return nil
	}
	_, goesOn := a.runner.Continuations.ContinuationOf(s.ID)
	button, err := a.runner.GoOnButton(a.Ctx, s, goesOn, a.Event.Place)
	if err != nil {
		a.unmade = err
	}
	return [][]adapters.Button{{button}}
}

var errContinue = errors.New("write /continue, and the session goes on when its limit is over, or /continue off; before off the session's name, if it isn't this place's")

// runContinue has a session go on when its limit is over, or not.
func runContinue(a *Invocation) error {
	switch strings.ToLower(a.args) {
	case "":
		return goOn(a)
	case "off":
		return goOnNot(a)
	}
	return errContinue
}

// goOn has a session go on when its limit is over.
func goOn(a *Invocation) error {
	if a.runner.Continuations == nil {
		return errors.New("no session goes on by itself here")
	}
	c, err := a.runner.Continuations.Schedule(a.Ctx, a.Session.ID, a.Event.Person.ID, a.personName())
	if err != nil {
		return refusal(err)
	}
	return a.AnswerPress(fmt.Sprintf("“%s” is sent to %s at %s, unless somebody writes before.", a.runner.Masked(c.Text), a.Session.Name, sessions.ClockUntil(c.Due, time.Now())))
}

// goOnNot has a session not go on by itself.
func goOnNot(a *Invocation) error {
	if a.runner.Continuations == nil {
		return errors.New("no session goes on by itself here")
	}
	if _, err := a.runner.Continuations.Cancel(a.Ctx, a.Session.ID); err != nil && !errors.Is(err, sessions.ErrUnknown) {
		return refusal(err)
	}
	return a.AnswerPress("Nothing is sent to " + a.Session.Name + " by itself.")
}

// refusal is why something is refused, without saying that it's a conflict.
func refusal(err error) error {
	if refused, ok := errors.AsType[*sessions.RefusedError](err); ok {
		return errors.New(refused.Why)
	}
	return err
}
