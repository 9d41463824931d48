// Package pushstoretest has an in-memory store for tests of push.Pusher and of its users.
package pushstoretest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/sessions"
)

// Memory is a push.Store and push.Notes that survives restarts of who uses it.
type Memory struct {
	mu    sync.Mutex
	notes map[string]string
	subs  map[string]string // as JSON: nothing is shared
	at    map[string]time.Time
	waits map[string]wait
	shown map[string]map[sessions.ID]string
	last  map[sessions.ID]string
	full  bool
}

// wait is until when an endpoint is left alone.
type wait struct {
	endpoint string
	until    time.Time
}

// New makes one that has nothing.
func New() *Memory {
	return &Memory{notes: map[string]string{}, subs: map[string]string{}, at: map[string]time.Time{}, waits: map[string]wait{}, shown: map[string]map[sessions.ID]string{}, last: map[sessions.ID]string{}}
}

// Fork returns another that has the same: what's kept from now on in the one isn't in the other.
func (m *Memory) Fork() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	other := &Memory{notes: maps.Clone(m.notes), subs: maps.Clone(m.subs), at: maps.Clone(m.at), waits: maps.Clone(m.waits), shown: map[string]map[sessions.ID]string{}, last: maps.Clone(m.last), full: m.full}
	for browser, all := range m.shown {
		other.shown[browser] = maps.Clone(all)
	}
	return other
}

// SetFull has nothing be written, or everything again.
func (m *Memory) SetFull(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

// Subscriptions is how many there are.
func (m *Memory) Subscriptions() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.subs)
}

func (m *Memory) write(do func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return fmt.Errorf("%w: the disk is full", sessions.ErrUnavailable)
	}
	do()
	return nil
}

// Note implements push.Notes.
func (m *Memory) Note(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notes[key], nil
}

// PutNote implements push.Notes.
func (m *Memory) PutNote(_ context.Context, key, value string) error {
	return m.write(func() { m.notes[key] = value })
}

// PushSubscriptions implements push.Store.
func (m *Memory) PushSubscriptions(context.Context) (all []push.Subscription, err error) {
	for browser, text := range m.subs {
		var s push.Subscription
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, err
		}
		s.Browser, s.Created = browser, m.at[browser]
		if w := m.waits[browser]; w.endpoint == s.Endpoint {
			s.NotBefore = w.until
		}
		all = append(all, s)
	}
	return all, nil
}

// PutPushSubscription implements push.Store.
func (m *Memory) PutPushSubscription(_ context.Context, s push.Subscription) error {
	return m.write(func() {
		for browser, text := range m.subs {
			same := strings.Contains(text, `"`+s.Endpoint+`"`)
			if same != (browser == s.Browser) {
				delete(m.shown, browser)
			}
			if same && browser != s.Browser {
				delete(m.subs, browser)
			}
		}
		text, _ := json.Marshal(s) // it has nothing that can't be written
		m.subs[s.Browser], m.at[s.Browser] = string(text), s.Created
	})
}

// PutPushWait implements push.Store.
func (m *Memory) PutPushWait(_ context.Context, browser, endpoint string, until time.Time) error {
	return m.write(func() { m.waits[browser] = wait{endpoint, until} })
}

// DropPushSubscription implements push.Store.
func (m *Memory) DropPushSubscription(_ context.Context, browser string) error {
	return m.write(func() { delete(m.subs, browser); delete(m.shown, browser) })
}

// ShownAlerts implements push.Store.
func (m *Memory) ShownAlerts(context.Context) (map[string]map[sessions.ID]string, error) {
	out := map[string]map[sessions.ID]string{}
	for browser, all := range m.shown {
		out[browser] = maps.Clone(all)
	}
	return out, nil
}

// PutShownAlert implements push.Store.
func (m *Memory) PutShownAlert(_ context.Context, browser string, id sessions.ID, key string) error {
	return m.write(func() {
		if m.subs[browser] == "" {
			return
		}
		if m.shown[browser] == nil {
			m.shown[browser] = map[sessions.ID]string{}
		}
		m.shown[browser][id] = key
		if key == "" {
			delete(m.shown[browser], id)
		}
	})
}

// LastAlerts implements push.Store.
func (m *Memory) LastAlerts(context.Context) (all []push.Alert, err error) {
	for _, text := range m.last {
		var a push.Alert
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// PutLastAlert implements push.Store.
func (m *Memory) PutLastAlert(_ context.Context, a push.Alert) error {
	return m.write(func() { text, _ := json.Marshal(a); m.last[a.Session] = string(text) })
}

// DropLastAlert implements push.Store.
func (m *Memory) DropLastAlert(_ context.Context, id sessions.ID) error {
	return m.write(func() { delete(m.last, id) })
}
