package inbound_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/redact"
)

// offered are the values that a person is offered for what's being written in the group.
func (w *world) offered(person, command, param, begun string) []string {
	var out []string
	for _, c := range w.in.Complete(w.event(person, intake.Said{}), command, param, begun) {
		out = append(out, c.Value)
	}
	return out
}

// What's offered goes to the platform: no secret of a name or a folder does.
func TestNoSecretIsOffered(t *testing.T) {
	w := newWorld(t)
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.opt = func(o *inbound.Options) { o.Mask = m.Line }
	const secret = "ghp_Zq8Xk2Lw9Rt4Vb7Nm3Pc6Yd1Hf5Js0GaUeI0"
	home := t.TempDir()
	t.Setenv("HOME", home)
	defer w.end()
	w.start()
	w.session("job-" + secret)
	folder(t, home, "plain")
	folder(t, home, secret)
	n := 0
	for _, param := range []string{"session", "folder"} {
		command := map[string]string{"session": "close", "folder": "new"}[param]
		for _, begun := range []string{"", "~/", secret[:10], "job"} {
			for _, c := range w.in.Complete(w.event(ann, intake.Said{}), command, param, begun) {
				if n++; strings.Contains(c.Label+c.Value, secret[5:20]) {
					t.Errorf("%s: %q offers %+v", param, begun, c)
				}
				if begun == secret[:10] {
					t.Errorf("what's hidden is found by %q: %+v", begun, c)
				}
			}
		}
	}
	if n == 0 {
		t.Error("nothing was offered")
	}
}

func TestComplete(t *testing.T) {
	inHome(t, func(w *world, home string) {
		folder(t, home, "src", "panebridge")
		folder(t, home, "src", "other")
		folder(t, home, ".hidden")
		agent := w.manager.List()[0].ID
		other := w.session("builder")
		for _, c := range []struct {
			person, command, param, begun string
			want                          []string
		}{
			{ann, "new", "agent", "", []string{"claude", "codex", "shell"}},
			{ann, "new", "agent", "CO", []string{"codex"}},
			{ann, "new", "folder", "~/", []string{"~/src"}},
			{ann, "new", "folder", "~/src/", []string{"~/src/other", "~/src/panebridge"}},
			{ann, "new", "folder", "src/pa", []string{"~/src/panebridge"}},
			{ann, "new", "folder", "~/../", nil},
			{ann, "new", "folder", "~/src/../..", nil},
			{ann, "new", "folder", "/etc/", nil},
			{ann, "close", "session", "", []string{string(agent), string(other)}}, // the place's own first
			{ann, "close", "session", "build", []string{string(other)}},
			{ann, "search", "text", "x", nil},
			{bob, "history", "session", "build", []string{string(other)}},
			{bob, "new", "agent", "", nil}, // a viewer can't use it
			{bob, "new", "folder", "~/", nil},
			{evil, "history", "session", "", nil},
			{evil, "new", "folder", "", nil},
			{ann, "nothing", "session", "", nil},
		} {
			if got := w.offered(c.person, c.command, c.param, c.begun); !slices.Equal(got, c.want) {
				t.Errorf("%s writes /%s %s:%q and is offered %q, want %q", c.person, c.command, c.param, c.begun, got, c.want)
			}
		}
		for i := range 40 {
			w.session(fmt.Sprint("more-", i))
		}
		if n := len(w.offered(ann, "close", "session", "")); n != 25 {
			t.Errorf("%d sessions are offered", n)
		}
	})
}

// Whoever is let in is let in here, and who writes what looks like a pairing code;
// nobody is counted as a stranger for the question.
func TestAdmits(t *testing.T) {
	inWorld(t, func(w *world) {
		elsewhere := adapters.Target{Adapter: "chat", Chat: "-2"}
		for _, c := range []struct {
			person string
			at     adapters.Target
			action intake.Action
			want   bool
		}{
			{ann, group, intake.Said{Text: "x"}, true},
			{bob, group, intake.Pressed{Data: "x"}, true},
			{evil, group, intake.Said{Text: "/sessions"}, false},
			{evil, group, intake.Pressed{Data: "x"}, false},
			{evil, group, intake.Said{Text: "/pair ABCD2345"}, true},
			{evil, group, intake.Said{Text: "/pair operator"}, false},
			{"", group, intake.Said{Text: "x"}, false},
			{ann, elsewhere, intake.Said{Text: "/bind agent"}, false},
			{cleo, elsewhere, intake.Said{Text: "/bind agent"}, true},
			{cleo, elsewhere, intake.Said{Text: "/sessions"}, false},
		} {
			ev := w.event(c.person, c.action)
			ev.Place = c.at
			if got := w.in.Admits(ev); got != c.want {
				t.Errorf("%s at %s, %+v: %v", c.person, c.at, c.action, got)
			}
		}
		if n := w.in.Strangers(); n != 0 {
			t.Errorf("%d strangers were counted", n)
		}
	})
}
