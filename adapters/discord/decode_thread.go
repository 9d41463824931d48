package discord

import (
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// thread reads what an event says about a thread.
func (r record) thread(e *intake.Event) (c channelJSON, err error) {
	if err := r.into(&c); err != nil {
		return c, err
	}
	if !isThread(c.Type) || !isID(c.ID) || !isID(c.Parent) {
		return c, nil
	}
	e.Place, err = placeAt(c.ID, c.Parent)
	return c, err
}

// threadChanged reads how a thread is now. A thread that Discord put away by itself,
// because nobody had written for long, isn't closed: a message takes it out again.
func (r record) threadChanged(e *intake.Event) error {
	c, err := r.thread(e)
	if err != nil || c.Thread == nil || e.Place.Thread == "" {
		return err
	}
	switch {
	case c.Thread.Locked, c.Thread.Archived && !c.putAway():
		e.Action = intake.ThreadClosed{}
	case !c.Thread.Archived:
		e.Action = intake.ThreadOpened{}
	}
	return nil
}

// putAway says whether an archived thread was so by itself.
func (c channelJSON) putAway() bool {
	last := madeAt(c.ID)
	if at := madeAt(c.Last); at.After(last) {
		last = at
	}
	idle := time.Duration(c.Thread.After) * time.Minute
	return idle > 0 && c.Thread.ArchivedAt.Sub(last) >= idle-time.Minute
}

func (r record) threadGone(e *intake.Event) error {
	_, err := r.thread(e)
	if err == nil && e.Place.Thread != "" {
		e.Action = intake.ThreadDeleted{}
	}
	return err
}

// channelChanged reads that a channel has changed: the bot may be let in again.
func (r record) channelChanged(e *intake.Event) error {
	var c channelJSON
	if err := r.into(&c); err != nil || isThread(c.Type) {
		return err
	}
	var err error
	e.Place, err = placeAt(c.ID, "")
	e.Action = intake.ChatBack{}
	return err
}

// channelGone reads that a channel was deleted, or that the bot may not see it any more.
func (r record) channelGone(e *intake.Event) error {
	var c channelJSON
	if err := r.into(&c); err != nil || isThread(c.Type) {
		return err
	}
	var err error
	e.Place, err = placeAt(c.ID, "")
	e.Action = intake.ChatLost{Why: "The channel was deleted, or the bot may not see it any more."}
	return err
}
