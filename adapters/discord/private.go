package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"github.com/panebridge/panebridge/adapters"
)

const (
	// notePrivate are the private chats that are known, by id, with whom.
	notePrivate = "private"
	// manyPrivate bounds them. Only people who have access are among them.
	manyPrivate = 1000
)

// private knows with whom private chats are: unlike elsewhere their ids say nothing, and
// only who writes there does. It's safe for concurrent use.
type private struct {
	mu     sync.Mutex
	people map[string]string // id of the person, by that of the channel
}

// LoadPrivate reads with whom private chats are. Call it before anything is bound.
func (a *Adapter) LoadPrivate(ctx context.Context, notes Notes) error {
	text, err := notes.Note(ctx, notePrivate)
	if err != nil {
		return fmt.Errorf("load with whom private chats on Discord are: %w", err)
	}
	people := map[string]string{}
	if text != "" && json.Unmarshal([]byte(text), &people) != nil {
		people = map[string]string{} // they're learned again
	}
	a.private.mu.Lock()
	defer a.private.mu.Unlock()
	a.private.people = people
	return nil
}

// person is whom a private chat is with; "": it's none, or not known.
func (p *private) person(channel string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.people[channel]
}

// all are the private chats that are known.
func (p *private) all() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.people)
}

// learn takes in with whom a private chat is, and notes it. If that fails it's for this
// run alone.
func (p *private) learn(ctx context.Context, notes Notes, channel, person string) error {
	if !isID(channel) || !isID(person) {
		return nil
	}
	p.mu.Lock()
	if p.people == nil {
		p.people = map[string]string{}
	}
	if p.people[channel] == person || len(p.people) >= manyPrivate {
		p.mu.Unlock()
		return nil
	}
	p.people[channel] = person
	text, err := json.Marshal(p.people)
	p.mu.Unlock()
	if err == nil {
		err = notes.PutNote(ctx, notePrivate, string(text))
	}
	return err
}

// knows says whether a channel that isn't configured may be sent to. A private chat is
// asked about by its person.
func (a *Adapter) knows(t adapters.Target) bool {
	if person := a.private.person(t.Chat); person != "" {
		t = adapters.Target{Adapter: Name, Chat: person}
	}
	return a.opt.Knows != nil && a.opt.Knows(t)
}
