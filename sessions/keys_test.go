package sessions_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Keys are pressed on the screen that was seen: in a dialog only by somebody who may answer
// it and can have seen it.
func TestKeysGoByTheScreen(t *testing.T) {
	for _, c := range []struct {
		name  string
		open  bool // a dialog is open, and was told of
		press sessions.KeyPress
		want  error // nil: the key is pressed
	}{
		{"no dialog", false, sessions.KeyPress{Keys: []string{"Down"}}, nil},
		{"a dialog", true, sessions.KeyPress{Keys: []string{"Down"}}, sessions.ErrConflict},
		{"what refuses", true, sessions.KeyPress{Keys: []string{"Escape"}}, nil},
		{"what refuses and more", true, sessions.KeyPress{Keys: []string{"Escape", "Down"}}, sessions.ErrConflict},
		{"an approver", true, sessions.KeyPress{Keys: []string{"Down"}, Answers: true, Seen: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}, nil},
		{"an approver who hasn't seen it", true, sessions.KeyPress{Keys: []string{"Down"}, Answers: true, Seen: time.Unix(1, 0)}, sessions.ErrConflict},
		{"an approver of whom nothing is known", true, sessions.KeyPress{Keys: []string{"Down"}, Answers: true}, nil},
		{"no key", false, sessions.KeyPress{Keys: []string{"Nothing"}}, sessions.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			withDesk(t, func(d *desk) {
				if c.open {
					d.pane.ask(&question{title: "May I?", options: []string{"Yes", "No"}})
				}
				d.pass(1500 * time.Millisecond)
				var before int
				d.pane.with(func() { before = d.pane.keys })
				c.press.Author = "ann"
				err := d.manager.Keys(context.Background(), d.id, c.press)
				if !errors.Is(err, c.want) {
					t.Errorf("it comes to %v, want %v", err, c.want)
				}
				var after int
				d.pane.with(func() { after = d.pane.keys })
				if pressed := after > before; pressed != (c.want == nil) {
					t.Errorf("pressed: %v", pressed)
				}
			})
		})
	}
}
