package platformtest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/sessions"
)

// Desk is what a person's wishes would change: one session, and the one chat that it's
// mirrored to. What isn't expected of updates that aim at nothing has no method, and panics.
type Desk struct {
	inbound.Sessions
	inbound.Hub

	Session sessions.Session
	Chat    string
	Fetched atomic.Int64 // files that the platform was asked for

	mu    sync.Mutex
	typed []string
}

// Typed are the texts that were typed, in order.
func (d *Desk) Typed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.typed
}

// List implements inbound.Sessions.
func (d *Desk) List() []sessions.Session { return []sessions.Session{d.Session} }

// Get implements inbound.Sessions.
func (d *Desk) Get(name string) (sessions.Session, error) {
	if name == string(d.Session.ID) || name == d.Session.Name {
		return d.Session, nil
	}
	return sessions.Session{}, sessions.ErrUnknown
}

// Input implements inbound.Sessions.
func (d *Desk) Input(_ context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.typed = append(d.typed, req.Text)
	return sessions.Receipt{ID: fmt.Sprintf("in_%012x", len(d.typed)), Session: id, Text: req.Text, Key: req.Key, Submit: true, State: sessions.ReceiptSubmitted}, nil
}

// Receipt implements inbound.Sessions.
func (d *Desk) Receipt(context.Context, string) (sessions.Receipt, error) {
	return sessions.Receipt{}, sessions.ErrUnknown
}

// Prompts implements inbound.Sessions.
func (d *Desk) Prompts() []sessions.Prompt { return nil }

// Prompt implements inbound.Sessions.
func (d *Desk) Prompt(context.Context, string) (sessions.Prompt, error) {
	return sessions.Prompt{}, sessions.ErrUnknown
}

// Post implements inbound.Hub.
func (d *Desk) Post(p adapters.Post) error {
	p.Tell("1", nil)
	return nil
}

// Focus implements inbound.Hub.
func (d *Desk) Focus(sessions.ID) {}

// Leave implements inbound.Hub.
func (d *Desk) Leave(adapters.Target) {}

// At implements inbound.Hub.
func (d *Desk) At(place adapters.Target) []adapters.Binding {
	if place.Chat != d.Chat {
		return nil
	}
	return []adapters.Binding{{ID: "bd_000000000001", Session: d.Session.ID, Target: place, Input: true}}
}

// Unnamed implements inbound.Hub.
func (d *Desk) Unnamed(adapters.Target) bool { return false }

// Uses implements inbound.Hub.
func (d *Desk) Uses(_, chat string) bool { return chat == d.Chat }

// Rest implements inbound.Hub.
func (d *Desk) Rest(context.Context, adapters.BindingID, bool) error { return nil }

// ChatMoved implements inbound.Hub.
func (d *Desk) ChatMoved(context.Context, string, string, string) error { return nil }

// Moves implements inbound.Hub.
func (d *Desk) Moves(context.Context) ([]adapters.Move, error) { return nil, nil }

// ChatLost implements inbound.Hub.
func (d *Desk) ChatLost(context.Context, string, string, string) error { return nil }

// ChatBack implements inbound.Hub.
func (d *Desk) ChatBack(context.Context, string, string) error { return nil }

// Status implements inbound.Hub.
func (d *Desk) Status(sessions.ID) []adapters.BindingStatus { return nil }
