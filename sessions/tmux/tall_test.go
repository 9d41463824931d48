package tmux_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

const tallTest = time.Hour // until tmux itself would make a pane as it was

// size is how large a pane is, and what its window says of that.
func (s *server) size(pane string) string {
	s.t.Helper()
	return s.tmux("display-message", "-p", "-t", pane, "#{pane_width}x#{pane_height} #{window-size}#{@panebridge_tall}") + " " + s.tmux("show-options", "-wqv", "-t", pane, "window-size")
}

func (s *server) grow(pane string, most time.Duration) (sessions.Snapshot, error) {
	s.t.Helper()
	id, _ := s.client.Identity()
	return s.client.Grow(s.ctx(), pane, id, 300, most)
}

// A pane that's made taller is seen so by who asks for that alone, and is as it was afterwards.
func TestAPaneIsTallerForAMoment(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for _, own := range []string{"", "manual", "largest", "smallest", "latest"} {
		pane := s.pane("tall"+own, "printf 'one\\ntwo\\n'; exec cat", "-x", "70", "-y", "20")
		if own != "" {
			s.tmux("set-option", "-w", "-t", pane, "window-size", own)
		}
		was := s.size(pane)
		s.await("text", func() bool {
			snap, err := s.client.Snapshot(s.ctx(), pane, sessions.RowWindow{})
			return err == nil && snap.Rows[1] == "two"
		})
		snap, err := s.grow(pane, tallTest)
		if err != nil || snap.Height != 300 || len(snap.Rows) != 300 || snap.Rows[1] != "two" {
			t.Fatalf("%q: %d rows of %d, %v", own, len(snap.Rows), snap.Height, err)
		}
		if _, err := s.client.Snapshot(s.ctx(), pane, sessions.RowWindow{}); !errors.Is(err, sessions.ErrUnavailable) {
			t.Errorf("others see it: %v", err)
		}
		if _, err := s.client.Screen(s.ctx(), pane); !errors.Is(err, sessions.ErrUnavailable) {
			t.Errorf("others see its screen: %v", err)
		}
		if _, err := s.grow(pane, tallTest); !errors.Is(err, sessions.ErrConflict) {
			t.Errorf("once more: %v", err)
		}
		if err := s.client.Shrink(s.ctx(), pane); err != nil {
			t.Error(err)
		}
		if now := s.size(pane); now != was {
			t.Errorf("%q: it's %s, was %s", own, now, was)
		}
		s.client.Settle(pane)
		if snap, err := s.client.Snapshot(s.ctx(), pane, sessions.RowWindow{}); err != nil || snap.Height != 20 || snap.Rows[1] != "two" {
			t.Errorf("as it was: %+v, %v", snap, err)
		}
	}
}

// What somebody sees, or shares, keeps its size.
func TestAPaneThatIsSeenIsNotMadeTaller(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	attach := func(args ...string) {
		c := s.command(append([]string{"-C", "attach-session"}, args...)...)
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
	}
	for what, then := range map[string]func(pane string){
		"attached":  func(string) { attach("-t", "attached") },
		"read-only": func(string) { attach("-r", "-f", "ignore-size", "-t", "read-only") },
		"split":     func(pane string) { s.tmux("split-window", "-d", "-t", pane, "exec cat") },
		"linked":    func(pane string) { s.tmux("link-window", "-d", "-s", pane, "-t", "first:") },
		"grouped":   func(string) { s.tmux("new-session", "-d", "-t", "grouped") },
		"copy":      func(pane string) { s.tmux("copy-mode", "-t", pane) },
		"marked":    func(pane string) { s.tmux("set-option", "-w", "-t", pane, "@panebridge_tall", "x") },
		"dead": func(pane string) {
			s.tmux("set-option", "-w", "-t", pane, "remain-on-exit", "on", ";", "respawn-pane", "-k", "-t", pane, "exit 3")
		},
	} {
		pane := s.pane(what, "exec cat", "-x", "70", "-y", "20")
		then(pane)
		want := map[string]string{"attached": "1", "read-only": "1"}[what]
		s.await(what, func() bool {
			now := s.tmux("display-message", "-p", "-t", pane, "#{session_attached}")
			return want == "" || now == want
		})
		if what == "dead" {
			s.await("its end", func() bool { return s.tmux("display-message", "-p", "-t", pane, "#{pane_dead}") == "1" })
		}
		was := s.size(pane)
		if _, err := s.grow(pane, tallTest); !errors.Is(err, sessions.ErrConflict) {
			t.Errorf("%s: %v", what, err)
		}
		if now := s.size(pane); now != was {
			t.Errorf("%s: it's %s, was %s", what, now, was)
		}
		if _, err := s.client.Snapshot(s.ctx(), pane, sessions.RowWindow{}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Whoever is killed leaves no pane taller: tmux undoes it, and so does who comes next.
func TestNoPaneStaysTaller(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	pane := s.pane("left", "exec cat", "-x", "70", "-y", "20")
	was := s.size(pane)
	if _, err := s.grow(pane, time.Second); err != nil {
		t.Fatal(err)
	}
	s.await("its end", func() bool { return s.size(pane) == was })
	s.client.Settle(pane)

	if _, err := s.grow(pane, time.Second); err != nil { // it's undone before tmux would
		t.Fatal(err)
	}
	if err := s.client.Shrink(s.ctx(), pane); err != nil {
		t.Fatal(err)
	}
	s.client.Settle(pane)
	if _, err := s.grow(pane, tallTest); err != nil {
		t.Fatal(err)
	}
	tall := s.size(pane)
	if _, err := s.grow(s.pane("later", "exec cat", "-x", "70", "-y", "20"), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	s.await("the end of a later one", func() bool { return s.tmux("display-message", "-p", "-t", "later", "#{pane_height}") == "20" })
	if now := s.size(pane); now != tall {
		t.Errorf("what undoes one undoes another: %s, want %s", now, tall)
	}

	next := tmux.New(tmux.Options{SocketPath: s.socket})
	ctx, cancel := context.WithCancel(s.ctx())
	done := make(chan struct{})
	go func() { defer close(done); _ = next.Run(ctx) }()
	defer func() { cancel(); <-done }()
	s.await("the next", func() bool { return next.Status().Connected })
	if now := s.size(pane); now != was {
		t.Errorf("it's %s, was %s", now, was)
	}
}

// An option that isn't ours does nothing.
func TestMarksOfTallerPanesAreChecked(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	pane := s.pane("forged", "exec cat", "-x", "70", "-y", "20")
	for _, mark := range []string{"0123456789abcdef 0 10 none", "0123456789abcdef 10 99999 none", "x 10 10 none", "0123456789abcdef 10 10 none ; kill-server", "0123456789abcdef 10 10 #(touch x)"} {
		s.tmux("set-option", "-w", "-t", pane, "@panebridge_tall", mark)
		if err := s.client.Shrink(s.ctx(), pane); err != nil {
			t.Errorf("%q: %v", mark, err)
		}
		if h := s.tmux("display-message", "-p", "-t", pane, "#{pane_width}x#{pane_height}"); h != "70x20" {
			t.Errorf("%q: it's %s", mark, h)
		}
	}
}
