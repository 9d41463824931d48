package inbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// askStale asks whether an old message is still to be done.
func (in *Inbound) askStale(ctx context.Context, ev intake.Event, s intake.Said) (commands.Result, error) {
	w := cards.NewWaiting(ev, s)
	if err := in.opt.Store.PutWaiting(ctx, w); err != nil {
		return commands.Result{}, fmt.Errorf("keep an old message until it's wanted: %w", err)
	}
	post, err := in.StalePost(ctx, w, "This is "+wording.Age(time.Since(ev.At))+" old: panebridge couldn't see it before. Run it now?")
	if err != nil {
		return commands.Result{}, err
	}
	return commands.Result{Outcome: "asked stale"}, in.PostReply(ev, post)
}

// runStale does what an old message asked for.
func (in *Inbound) runStale(a *commands.Ask) error {
	w, err := in.opt.Store.Waiting(a.Ctx, a.Offered.Args)
	if errors.Is(err, sessions.ErrUnknown) {
		return a.Answer("It was run or skipped already.")
	}
	if err != nil {
		return err
	}
	w.Place = a.Event.Place // its chat may have another id by now
	if w.Session != "" {
		s, err := in.opt.Sessions.Get(string(w.Session))
		if err != nil {
			return err
		}
		if !a.Roles.Has(access.Operator) {
			return errors.New("typing takes the role operator")
		}
		if err := in.runWaiting(a, w, s); err != nil {
			return err
		}
		return a.Replace("Run.")
	}
	d, err := in.handleText(a.Ctx, w.Event(), w.Said, a.Roles, a.Again, true)
	if d.Outcome == "" {
		return err
	}
	if d.Outcome != askedWhich { // then it waits for the session
		err = errors.Join(err, in.opt.Store.DropWaiting(a.Ctx, w.Key))
	}
	return errors.Join(err, a.Replace("Run."))
}

// skipStale forgets an old message.
func (in *Inbound) skipStale(a *commands.Ask) error {
	if err := in.opt.Store.DropWaiting(a.Ctx, a.Offered.Args); err != nil {
		return err
	}
	return a.Replace("Skipped.")
}
