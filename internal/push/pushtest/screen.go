package pushtest

import (
	"encoding/json"
	"fmt"
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
	for _, m := range all {
		n, err := ReadMessage(m)
		if err != nil {
			return nil, err
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

// Sessions are those of a screen, in order.
func Sessions(screen map[string]Notification) []string {
	var ids []string
	for id := range screen {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
