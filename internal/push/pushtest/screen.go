package pushtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Notification is what a device shows, as adapters/web/static/worker.js makes it of messages.
type Notification struct {
	Tag     string `json:"tag"`
	Session string `json:"session"`
	Title   string `json:"title"`
	Text    string `json:"text"`
	Key     string `json:"key"`
	Over    bool   `json:"over"`
	Sent    int64  `json:"sent"`
}

// ReadMessage is what a message says.
func ReadMessage(m Message) (n Notification, err error) {
	if err = json.Unmarshal([]byte(m.Text), &n); err != nil {
		return n, fmt.Errorf("read the message %q: %w", m.Text, err)
	}
	return n, nil
}

// Screen is what the device shows and holds, by session.
func (d *Device) Screen() (map[string]Notification, error) {
	all := d.Messages()
	shown := map[string]Notification{}
	d.s.mu.Lock()
	closed := maps.Clone(d.closed)
	d.s.mu.Unlock()
	for i, m := range all {
		n, err := ReadMessage(m)
		if err != nil {
			return nil, err
		}
		if i < closed[n.Session] {
			continue
		}
		if was, ok := shown[n.Session]; !ok || was.Sent <= n.Sent {
			shown[n.Session] = n
		}
	}
	for id, n := range shown {
		if n.Over {
			delete(shown, id)
		}
	}
	return shown, nil
}

// Close closes what the device shows of sessions, as the page does when they're muted or its wishes change.
func (d *Device) Close(is func(n Notification) bool) error {
	screen, err := d.Screen()
	if err != nil {
		return err
	}
	got := len(d.Messages())
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.closed == nil {
		d.closed = map[string]int{}
	}
	for id, n := range screen {
		if is(n) {
			d.closed[id] = got
		}
	}
	return nil
}

// Sessions are those of a screen, in order.
func Sessions(screen map[string]Notification) []string {
	var ids []string
	for id := range screen {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
