package discord

import (
	"context"
	"errors"
	"net/http"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// places know in which channel threads are: events in a thread don't say. It's for one
// goroutine.
type places struct {
	client  *client
	sharing *sharing // hears who made threads
	// parents are the channels of threads, by their ids; of what isn't a thread "".
	parents map[string]string
	guilds  map[string]string // the servers of channels, by their ids
}

// manyPlaces is from how many on they're forgotten. They can be asked for.
const manyPlaces = 50_000

func newPlaces(c *client, s *sharing) *places {
	return &places{client: c, sharing: s, parents: map[string]string{}, guilds: map[string]string{}}
}

// learn takes in what an event says about a channel or thread.
func (p *places) learn(c channelJSON) {
	if !isID(c.ID) || isThread(c.Type) && !isID(c.Parent) {
		return
	}
	if len(p.parents) >= manyPlaces {
		clear(p.parents)
		clear(p.guilds)
	}
	p.sharing.describes(c)
	p.parents[c.ID] = ""
	if isThread(c.Type) {
		p.parents[c.ID] = c.Parent
	} else if isID(c.Guild) {
		p.guilds[c.ID] = c.Guild
	}
}

// parent returns the channel of a thread; "" of what isn't one. What isn't known is
// asked for.
func (p *places) parent(ctx context.Context, id string) (string, error) {
	if parent, ok := p.parents[id]; ok {
		return parent, nil
	}
	if !isID(id) {
		return "", nil
	}
	c, err := askChannel(ctx, p.client, id)
	switch {
	case isGone(err):
		p.learn(channelJSON{ID: id}) // the bot may not see it
		return "", nil
	case err != nil:
		return "", err
	}
	p.learn(c)
	return p.parents[id], nil
}

// of is the place of a channel or thread that's known; ok is false if it isn't.
func (p *places) of(id string) (adapters.Target, bool) {
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
	err := cl.raw(ctx, http.MethodGet, "channels/"+id, nil, &c)
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
