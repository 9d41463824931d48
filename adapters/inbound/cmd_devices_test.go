package inbound_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/sessions"
)

// gatehouse has devices in memory.
type gatehouse struct {
	in, waiting []commands.Device
	by          []string
}

func (g *gatehouse) ListDevices(time.Time) []commands.Device { return slices.Concat(g.in, g.waiting) }

func (g *gatehouse) ConfirmDevice(_ context.Context, id, by string) (commands.Device, error) {
	for i, d := range g.waiting {
		if d.ID == id {
			g.waiting = slices.Delete(g.waiting, i, i+1)
			d.Number = ""
			g.in, g.by = append(g.in, d), append(g.by, by)
			return d, nil
		}
	}
	return commands.Device{}, fmt.Errorf("%w device %s", sessions.ErrUnknown, id)
}

func (g *gatehouse) RevokeDevice(_ context.Context, id, by string) error {
	before := len(g.in) + len(g.waiting)
	is := func(d commands.Device) bool { return d.ID == id }
	g.in, g.waiting = slices.DeleteFunc(g.in, is), slices.DeleteFunc(g.waiting, is)
	if len(g.in)+len(g.waiting) == before {
		return fmt.Errorf("%w device %s", sessions.ErrUnknown, id)
	}
	g.by = append(g.by, by)
	return nil
}

// An admin sees the page's devices in a chat, lets those in that wait, and ends others; nobody else does.
func TestDevicesAreSaidAndChangedInChats(t *testing.T) {
	g := &gatehouse{
		in:      []commands.Device{{ID: "br_1", Name: "Laptop", Label: "Firefox on Linux", Roles: "admin"}},
		waiting: []commands.Device{{ID: "br_2", Name: "Ann's *phone*", Label: "Safari on iPhone", Roles: "operator approver", Number: "123 456", From: "100.64.0.7"}},
	}
	inWorld(t, func(w *world) {
		g.in[0].Used = time.Now().Add(-time.Minute)
		w.opt = func(o *inbound.Options) { o.Devices = g }
		w.restart()
		say := func(person, text string) string {
			w.hub.take()
			w.sayIn(privateOf(person), person, text)
			var all []string
			for _, p := range w.hub.take() {
				all = append(all, p.Text)
			}
			return strings.ReplaceAll(strings.Join(all, "\n"), `\`, "")
		}
		if text := say(cleo, "/devices"); !strings.Contains(text, "Laptop (Firefox on Linux)") || !strings.Contains(text, "**123 456**") || !strings.Contains(text, "/devices confirm br_2") {
			t.Errorf("it lists %s", text)
		}
		for _, person := range []string{ann, bob, dora} {
			if text := say(person, "/devices confirm br_2"); len(g.waiting) != 1 {
				t.Errorf("%s lets a device in: %s", person, text)
			}
		}
		if text := say(cleo, "/devices confirm br_2"); len(g.waiting) != 0 || !strings.Contains(text, "is let in (operator approver)") || !slices.Equal(g.by, []string{cleo}) {
			t.Errorf("%s, by %v", text, g.by)
		}
		if text := say(cleo, "/devices confirm br_2"); !strings.Contains(text, "Unknown device br_2") {
			t.Errorf("twice: %s", text)
		}
		if text := say(cleo, "/devices revoke br_1"); len(g.in) != 1 || !strings.Contains(text, "no longer") {
			t.Errorf("%s, left are %+v", text, g.in)
		}
		if text := say(cleo, "/devices let br_1 in"); !strings.Contains(text, "/devices revoke ID") {
			t.Errorf("it says %s", text)
		}
	})
}
