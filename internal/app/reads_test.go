package app_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// A program that reads a line, or a password, is seen to wait for it, and to go on; what's
// typed is said nowhere. One that's at work behind something like a question isn't, and
// neither is a shell that waits for a command.
func TestAProgramThatReadsALineIsSeenToWait(t *testing.T) {
	slow(t)
	if _, err := os.Stat("/proc/self/wchan"); err != nil {
		t.Skip("this system doesn't tell what processes wait for")
	}
	d := newDaemon(t)
	const script = `printf 'Downloading: '; sleep 5; echo
		while :; do printf 'Name: '; read -r x; sleep 1; stty -echo; printf 'Password: '; read -r x; stty echo; echo; sleep 1; done`
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "reader", Command: []string{"sh", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := d.api.NewSession(d.ctx(), api.Create{Name: "plain", Command: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := d.api.NewSession(d.ctx(), api.Create{Name: "lines", Command: []string{"sh", "-c", "echo ready; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	now := func() api.Session {
		one, err := d.api.Session(d.ctx(), string(s.ID))
		if err != nil {
			t.Fatal(err)
		}
		said[one.Reason] = true
		return one
	}
	d.await("download", func() bool {
		text, err := d.api.Screen(d.ctx(), "reader", "text")
		return err == nil && strings.Contains(text, "Downloading:")
	})
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(50 * time.Millisecond) {
		if one := now(); one.State == sessions.StateWaiting {
			t.Fatalf("a program at work is said to wait: %s", one.Reason)
		}
	}
	waits := func(why string) {
		t.Helper()
		d.await("wait for "+why, func() bool {
			one := now()
			return one.State == sessions.StateWaiting && strings.Contains(one.Reason, why)
		})
	}
	for range 3 {
		waits("asks for a line")
		d.tmux("send-keys", "-t", s.Tmux.Pane, "-l", "Ada")
		time.Sleep(300 * time.Millisecond)
		d.tmux("send-keys", "-t", s.Tmux.Pane, "Enter")
		waits("doesn't show")
		d.tmux("send-keys", "-t", s.Tmux.Pane, "-l", "hunter2")
		time.Sleep(300 * time.Millisecond)
		waits("doesn't show")
		d.tmux("send-keys", "-t", s.Tmux.Pane, "Enter")
	}
	for reason := range said {
		if strings.Contains(reason, "hunter") || strings.Contains(reason, "Ada") {
			t.Errorf("it's said what was typed: %q", reason)
		}
	}
	d.tmux("send-keys", "-t", lines.Tmux.Pane, "-l", "half-")
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(50 * time.Millisecond) {
		if one, err := d.api.Session(d.ctx(), string(lines.ID)); err != nil || one.State == sessions.StateWaiting {
			t.Fatalf("what's typed into a program that asks nothing is taken for a question: %s (%s), %v", one.State, one.Reason, err)
		}
	}
	if one, err := d.api.Session(d.ctx(), string(plain.ID)); err != nil || one.State == sessions.StateWaiting {
		t.Errorf("a shell at its prompt is %s (%s), %v", one.State, one.Reason, err)
	}
}
