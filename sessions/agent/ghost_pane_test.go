package agent_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// canvas is a pane of a real tmux that shows what's written to its terminal.
type canvas struct {
	t      *testing.T
	client *tmux.Client
	pane   string
	tty    *os.File
	drawn  int
}

func newCanvas(t *testing.T) *canvas {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	run := func(args ...string) string {
		out, err := exec.Command("tmux", append([]string{"-u", "-S", socket}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("-f", "/dev/null", "new-session", "-d", "-s", "keep", "-x", "100", "-y", "30", "exec cat", ";", "set", "-g", "status", "off")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	// Before the client comes: tmux 3.3a may end when two come at once.
	pane, tty, _ := strings.Cut(run("new-session", "-d", "-s", "work", "-x", "100", "-y", "30", "-P", "-F", "#{pane_id} #{pane_tty}", "stty -echo raw; exec cat"), " ")
	c := &canvas{t: t, client: tmux.New(tmux.Options{SocketPath: socket}), pane: pane}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = c.client.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	if c.tty, err = os.OpenFile(tty, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.tty.Close() })
	for end := time.Now().Add(time.Minute); !c.client.Status().Connected; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no connection within a minute")
		}
	}
	return c
}

// show draws a screen, and returns what tmux says of it.
func (c *canvas) show(s *shownBox) (*sessions.Snapshot, error) {
	c.drawn++
	title := fmt.Sprintf("drawn %d", c.drawn)
	want := s.snapshot()
	var b strings.Builder
	b.WriteString("\x1b[0m\x1b[2J\x1b[H")
	for i, row := range want.Styled {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m%s", i+1, row)
	}
	fmt.Fprintf(&b, "\x1b[0m\x1b[%d;%dH\x1b]2;%s\x1b\\", want.CursorY+1, want.CursorX+1, title)
	if _, err := c.tty.WriteString(b.String()); err != nil {
		return nil, err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		snap, err := c.client.Snapshot(ctx, c.pane, sessions.RowWindow{Styled: true})
		cancel()
		if err != nil {
			return nil, err
		}
		if snap.Title == title {
			return &snap, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%q wasn't drawn within a minute", title)
		}
	}
}

// The same on the screen of a real tmux, with its widths of characters and its way to
// tell styles.
func TestGhostsAreToldInTmux(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts tmux")
	}
	set, err := agent.LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	c := newCanvas(t)
	for _, d := range drawnBoxes() {
		t.Run(d.agent, func(t *testing.T) {
			profile := set.Get(d.agent)
			drawtest.Check(t, func(rt *rapid.T) {
				s := anyBox(rt, &d)
				snap, err := c.show(s)
				if err != nil {
					rt.Fatal(err)
				}
				if wrong := s.wrong(profile.Box(snap)); wrong != "" {
					rt.Fatalf("typed %q, guessed %q: %s\ncursor %d,%d\n%q", s.written, s.guess, wrong, snap.CursorX, snap.CursorY, snap.Styled)
				}
			})
		})
	}
}
