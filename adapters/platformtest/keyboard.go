package platformtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Keyboard stands for what the Manager does with texts: each is taken at once, and once by its
// key. What was typed outlives processes.
type Keyboard struct {
	// Echo prints a text in its session's log, as the Manager does before Enter. Nil: nothing is
	// printed.
	Echo func(id sessions.ID, req sessions.InputRequest) error

	mu    sync.Mutex
	typed []sessions.Receipt
}

// Typed returns all that was typed, in order.
func (k *Keyboard) Typed() []sessions.Receipt {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.typed)
}

// Input implements inbound.Sessions.
func (k *Keyboard) Input(_ context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.typed {
		if t.Key == req.Key {
			return t, nil
		}
	}
	r := sessions.Receipt{
		ID: fmt.Sprintf("in_%012x", len(k.typed)+1), Session: id, Text: req.Text, Key: req.Key, Submit: true,
		Author: req.Author, Name: req.Name, Origin: req.Origin,
		State: sessions.ReceiptSubmitted, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	k.typed = append(k.typed, r)
	if k.Echo == nil {
		return r, nil
	}
	return r, k.Echo(id, req)
}

// Receipt implements inbound.Sessions.
func (k *Keyboard) Receipt(_ context.Context, id string) (sessions.Receipt, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.typed {
		if t.ID == id {
			return t, nil
		}
	}
	return sessions.Receipt{}, fmt.Errorf("%w input", sessions.ErrUnknown)
}

// Waiting implements inbound.Sessions.
func (k *Keyboard) Waiting(sessions.ID) []sessions.Receipt { return nil }
