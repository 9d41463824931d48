package inbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Waiting is a message that isn't typed before its writer has said so.
type Waiting struct {
	// Key is the one it's typed with.
	Key     string
	At      time.Time // when it was written
	Place   adapters.Target
	Private bool
	Person  intake.Person
	Message string
	Said    intake.Said
	Session sessions.ID // it was meant for, if that's known
}

// WaitingStore keeps messages that wait, for a week at least.
type WaitingStore interface {
	PutWaiting(ctx context.Context, w Waiting) error
	// Waiting returns one by its key; sessions.ErrUnknown if there's none.
	Waiting(ctx context.Context, key string) (Waiting, error)
	DropWaiting(ctx context.Context, key string) error
}

func waitingOf(ev intake.Event, s intake.Said) Waiting {
	return Waiting{
		Key: ev.Key, At: ev.At, Place: ev.Place, Private: ev.Private, Person: ev.Person, Message: ev.Message, Said: s,
	}
}

func (w Waiting) event() intake.Event {
	return intake.Event{
		Key: w.Key, At: w.At, Place: w.Place, Private: w.Private, Person: w.Person, Message: w.Message, Action: w.Said,
	}
}

// askStale asks whether an old message is still to be done.
func (in *Inbound) askStale(ctx context.Context, ev intake.Event, s intake.Said) (done, error) {
	w := waitingOf(ev, s)
	if err := in.opt.Store.PutWaiting(ctx, w); err != nil {
		return done{}, fmt.Errorf("keep an old message until it's wanted: %w", err)
	}
	post, err := in.stalePost(ctx, w, "This is "+wording.Age(time.Since(ev.At))+" old: panebridge couldn't see it before. Run it now?")
	if err != nil {
		return done{}, err
	}
	return done{outcome: "asked stale"}, in.replies.postReply(ev, post)
}

// stalePost asks run or skip. Its writer decides.
func (in *Inbound) stalePost(ctx context.Context, w Waiting, text string) (adapters.Post, error) {
	o := offer{Args: w.Key, Person: w.Person.ID, Single: true, Group: "stale " + w.Key}
	o.Do = "run-stale"
	run, err := in.offer(ctx, w.Place, "Run", o)
	if err != nil {
		return adapters.Post{}, err
	}
	o.Do = "skip-stale"
	skip, err := in.offer(ctx, w.Place, "Skip", o)
	if err != nil {
		return adapters.Post{}, err
	}
	return adapters.Post{
		To: w.Place, Key: "stale " + w.Key, Class: qos.Interactive, Session: w.Session, ReplyTo: w.Message, Text: text,
		Buttons: [][]adapters.Button{{run, skip}}, Ring: true,
	}, nil
}

// runStale does what an old message asked for.
func runStale(a *ask) error {
	w, err := a.in.opt.Store.Waiting(a.ctx, a.offered.Args)
	if errors.Is(err, sessions.ErrUnknown) {
		return a.answer("It was run or skipped already.")
	}
	if err != nil {
		return err
	}
	w.Place = a.event.Place // its chat may have another id by now
	if w.Session != "" {
		s, err := a.in.opt.Sessions.Get(string(w.Session))
		if err != nil {
			return err
		}
		if !a.roles.Has(access.Operator) {
			return errors.New("typing takes the role operator")
		}
		if err := a.run(w, s); err != nil {
			return err
		}
		return a.replace("Run.")
	}
	d, err := a.in.said(a.ctx, w.event(), w.Said, a.roles, a.again, true)
	if d.outcome == "" {
		return err
	}
	if d.outcome != askedWhich { // then it waits for the session
		err = errors.Join(err, a.in.opt.Store.DropWaiting(a.ctx, w.Key))
	}
	return errors.Join(err, a.replace("Run."))
}

// skipStale forgets an old message.
func skipStale(a *ask) error {
	if err := a.in.opt.Store.DropWaiting(a.ctx, a.offered.Args); err != nil {
		return err
	}
	return a.replace("Skipped.")
}
