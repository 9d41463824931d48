package cards

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
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

// NewWaiting is a message as it waits.
func NewWaiting(ev intake.Event, s intake.Said) Waiting {
	return Waiting{
		Key: ev.Key, At: ev.At, Place: ev.Place, Private: ev.Private, Person: ev.Person, Message: ev.Message, Said: s,
	}
}

// Event is the event that it came with.
func (w Waiting) Event() intake.Event {
	return intake.Event{
		Key: w.Key, At: w.At, Place: w.Place, Private: w.Private, Person: w.Person, Message: w.Message, Action: w.Said,
	}
}

// StalePost asks run or skip. Its writer decides.
func (k *Clerk) StalePost(ctx context.Context, w Waiting, text string) (adapters.Post, error) {
	o := Offer{Args: w.Key, Person: w.Person.ID, Single: true, Group: "stale " + w.Key}
	o.Do = "run-stale"
	run, err := k.MakeOffer(ctx, w.Place, "Run", o)
	if err != nil {
		return adapters.Post{}, err
	}
	o.Do = "skip-stale"
	skip, err := k.MakeOffer(ctx, w.Place, "Skip", o)
	if err != nil {
		return adapters.Post{}, err
	}
	return adapters.Post{
		To: w.Place, Key: "stale " + w.Key, Class: qos.Interactive, Session: w.Session, ReplyTo: w.Message, Text: text,
		Buttons: [][]adapters.Button{{run, skip}}, Ring: true,
	}, nil
}
