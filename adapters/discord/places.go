package discord

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"sync"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/qos"
)

// threadParents know in which channel threads are: events in a thread don't say. It's for one
// goroutine.
type threadParents struct {
	client  *client
	sharing *botSharing // hears who made threads
	// parents are the channels of threads, by their ids; of what isn't a thread "".
	parents map[string]string
	guilds  map[string]string // the servers of channels, by their ids
}

// manyPlaces is from how many on they're forgotten. They can be asked for.
const manyPlaces = 50_000

func newPlaces(c *client, s *botSharing) *threadParents {
	return &threadParents{client: c, sharing: s, parents: map[string]string{}, guilds: map[string]string{}}
}

// learnChannel takes in what an event says about a channel or thread.
func (p *threadParents) learnChannel(c channelJSON) {
	if !isID(c.ID) || isThread(c.Type) && !isID(c.Parent) {
		return
	}
	if len(p.parents) >= manyPlaces {
		clear(p.parents)
		clear(p.guilds)
	}
	p.sharing.noteOwner(c)
	p.parents[c.ID] = ""
	if isThread(c.Type) {
		p.parents[c.ID] = c.Parent
	} else if isID(c.Guild) {
		p.guilds[c.ID] = c.Guild
	}
}

// parentOf returns the channel of a thread; "" of what isn't one. What isn't known is
// asked for.
func (p *threadParents) parentOf(ctx context.Context, id string) (string, error) {
	if parent, ok := p.parents[id]; ok {
		return parent, nil
	}
	if !isID(id) {
		return "", nil
	}
	c, err := askChannel(ctx, p.client, id)
	switch {
	case isGone(err):
		p.learnChannel(channelJSON{ID: id}) // the bot may not see it
		return "", nil
	case err != nil:
		return "", err
	}
	p.learnChannel(c)
	return p.parents[id], nil
}

// placeOf is the place of a channel or thread that's known; ok is false if it isn't.
func (p *threadParents) placeOf(id string) (adapters.Target, bool) {
	parent, ok := p.parents[id]
	if !ok {
		return adapters.Target{}, false
	}
	t, err := placeAt(id, parent)
	return t, err == nil
}

// askChannel asks how a channel or thread is.
func askChannel(ctx context.Context, cl *client, id string) (channelJSON, error) {
	c := askedChannel{want: id}
	err := cl.callPath(ctx, http.MethodGet, "channels/"+id, nil, &c)
	return c.channelJSON, err
}

// askedChannel is how a channel is that was asked for by its id.
type askedChannel struct {
	channelJSON
	Kind *int `json:"type"`
	want string
}

func (c *askedChannel) Check() error {
	if c.ID != c.want || c.Kind == nil {
		return errors.New("it isn't about the channel")
	}
	c.Type = *c.Kind
	return nil
}

// isGone says whether a call failed because what it's about isn't there, or may not be
// seen: the same call would fail again. Only Discord itself can say so, by a code.
func isGone(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && !f.local && f.Code != 0 && f.Outcome != qos.Throttled && f.Status >= http.StatusBadRequest && f.Status < http.StatusInternalServerError &&
		f.Status != http.StatusUnauthorized && f.Status != http.StatusTooManyRequests
}

const (
	// notePrivate are the private chats that are known, by id, with whom.
	notePrivate = "private"
	// manyPrivate bounds them. Only people who have access are among them.
	manyPrivate = 1000
)

// privateChats knows with whom private chats are: unlike elsewhere their ids say nothing, and
// only who writes there does. It's safe for concurrent use.
type privateChats struct {
	mu     sync.Mutex
	people map[string]string // id of the person, by that of the channel
}

// loadPrivate reads with whom private chats are.
func (a *Adapter) loadPrivate(ctx context.Context) error {
	text, err := a.opt.Notes.Note(ctx, notePrivate)
	if err != nil {
		return err
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

// personOf is whom a private chat is with; "": it's none, or not known.
func (p *privateChats) personOf(channel string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.people[channel]
}

// allChats are the private chats that are known.
func (p *privateChats) allChats() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.people)
}

// learnPerson takes in with whom a private chat is, and notes it. If that fails it's for this
// run alone.
func (p *privateChats) learnPerson(ctx context.Context, notes platform.Notes, channel, person string) error {
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
	if person := a.private.personOf(t.Chat); person != "" {
		t = adapters.Target{Adapter: Name, Chat: person}
	}
	return a.opt.Knows != nil && a.opt.Knows(t)
}
