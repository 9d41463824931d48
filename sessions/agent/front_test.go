package agent

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// What has a shell's whole screen is known by its name, at once; what's the pane's own
// program, or leaves the screen to the shell, is none of the shell's.
func TestWhatAShellRunsOnItsScreen(t *testing.T) {
	h := newHost(t)
	p := h.pane(1000)
	look := func(alternate bool) string {
		t.Helper()
		h.now = h.now.Add(100 * time.Millisecond)
		screen := snapshot("~\n~\n")
		screen.PID, screen.Alternate = 1000, alternate
		return p.see(sessions.Poll{Screen: screen, Now: h.now}).Front
	}
	vim := Process{PID: 1<<30 + 7, Name: "vim", Args: []string{"/usr/bin/vim", "notes.md"}}
	for _, c := range []struct {
		alternate bool
		runs      bool
		want      string
	}{{false, false, ""}, {true, true, "vim"}, {false, true, ""}, {true, false, "vim"}} {
		delete(h.running, 1000)
		if c.runs {
			h.running[1000] = vim
		}
		if got := look(c.alternate); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	h.now = h.now.Add(time.Second)
	if got := look(true); got != "" {
		t.Errorf("the shell itself has the screen: %q", got)
	}
}
