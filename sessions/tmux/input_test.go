package tmux_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

func (s *server) snapshot(p string) sessions.Snapshot {
	s.t.Helper()
	snap, err := s.client.Snapshot(s.ctx(), p, sessions.RowWindow{})
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

func (s *server) shows(p, text string) func() bool {
	return func() bool { return strings.Contains(strings.Join(s.snapshot(p).Rows, "\n"), text) }
}

func TestGuardHoldsPaste(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := s.pane("guard", `printf '\033]2;100%% #{x}, }\007'; echo 'Do you want to proceed?'; exec cat`)
	s.await("dialog", s.shows(p, "proceed"))
	saw := s.snapshot(p)
	phrases := []string{"allow execution of", "do you want to (proceed|create)"}
	paste := func(g sessions.PaneGuard) sessions.GuardOutcome {
		t.Helper()
		out, err := s.client.Paste(s.ctx(), g, "text")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := paste(sessions.PaneGuard{Pane: p, Phrases: phrases, Saw: &saw}); out != sessions.Held {
		t.Errorf("with the dialog on the screen: %s", out)
	}
	other := saw
	other.CursorX++
	if out := paste(sessions.PaneGuard{Pane: p, Saw: &other}); out != sessions.Moved {
		t.Errorf("with the cursor elsewhere: %s", out)
	}
	other = saw
	other.Title = "another"
	if out := paste(sessions.PaneGuard{Pane: p, Saw: &other}); out != sessions.Moved {
		t.Errorf("with another title: %s", out)
	}
	if out := paste(sessions.PaneGuard{Pane: p, Phrases: []string{"apply this change"}, Saw: &saw}); out != sessions.Done {
		t.Errorf("with all as it was seen: %s", out)
	}
	s.await("text", s.shows(p, "text"))
	if n := strings.Count(strings.Join(s.snapshot(p).Rows, "\n"), "text"); n != 1 {
		t.Errorf("pasted %d times", n)
	}
	if _, _, err := s.client.Glances(s.ctx(), 0); err != nil { // buffers are deleted along with the next command
		t.Fatal(err)
	}
	if left := s.tmux("list-buffers"); left != "" {
		t.Errorf("buffers are left: %s", left)
	}
}

// tmux 3.3a ends with all its sessions when a buffer is pasted into a dead
// pane.
func TestDeadPaneIsNotTouched(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.tmux("set-option", "-g", "remain-on-exit", "on")
	p := s.pane("dead", "exit 3")
	s.await("death", func() bool { return s.snapshot(p).Dead })
	for what, do := range map[string]func() (sessions.GuardOutcome, error){
		"paste": func() (sessions.GuardOutcome, error) {
			return s.client.Paste(s.ctx(), sessions.PaneGuard{Pane: p}, "x")
		},
		"press": func() (sessions.GuardOutcome, error) {
			return s.client.Press(s.ctx(), sessions.PaneGuard{Pane: p}, "Enter")
		},
	} {
		if out, err := do(); out != sessions.Dead || err != nil {
			t.Errorf("%s: %s, %v", what, out, err)
		}
	}
	if _, err := s.client.Paste(s.ctx(), sessions.PaneGuard{Pane: "%99"}, "x"); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("paste into a gone pane: %v", err)
	}
	s.tmux("has-session", "-t", "=first")
}

// A pane in a mode swallows keys, so each is left first.
func TestModesAreLeft(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"copy-mode", "clock-mode", "choose-tree"} {
		t.Run(mode, func(t *testing.T) {
			s := startServer(t)
			p := s.pane("mode", "exec cat")
			s.tmux(mode, "-t", p)
			if out, err := s.client.Press(s.ctx(), sessions.PaneGuard{Pane: p}, "a", "b"); out != sessions.Done || err != nil {
				t.Fatalf("%s, %v", out, err)
			}
			s.await("keys", s.shows(p, "ab"))
			s.tmux(mode, "-t", p)
			if out, err := s.client.Paste(s.ctx(), sessions.PaneGuard{Pane: p}, "cd"); out != sessions.Done || err != nil {
				t.Fatalf("%s, %v", out, err)
			}
			s.await("text", s.shows(p, "abcd"))
			if got := s.tmux("display-message", "-p", "-t", p, "#{pane_in_mode}"); got != "0" {
				t.Errorf("it's still in a mode: %s", got)
			}
		})
	}
}

// What the user sees of tmux must not change by our being there.
func TestNoSideEffects(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := s.pane("user", "exec cat", "-x", "100", "-y", "30")
	state := func() string {
		return s.tmux("show-environment", "-t", "=user") + "\n" + s.tmux("show-options", "-t", "=user:") + "\n" +
			s.tmux("show-options", "-w", "-t", "=user:") + "\n" + s.tmux("show-options", "-g") + "\n" +
			s.tmux("display-message", "-p", "-t", p, "#{session_attached} #{window_width}x#{window_height} #{session_windows}") + "\n" + s.tmux("list-buffers")
	}
	before := state()
	if err := s.client.Mark(s.ctx(), p, "pb_x"); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		s.snapshot(p)
	}
	if _, err := s.client.Screen(s.ctx(), p); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.client.Glances(s.ctx(), 0); err != nil {
		t.Fatal(err)
	}
	if after := state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if got := s.tmux("show-options", "-p", "-t", p); got != "@panebridge_id pb_x" {
		t.Errorf("pane options are %q", got)
	}
}

// tmux before 3.6 keeps what capture-pane -p printed over control mode, for
// ever: 4 KB for 50 rows.
func TestServerMemoryStaysFlat(t *testing.T) {
	t.Parallel()
	n := 3000
	if drawtest.Stressed() {
		n = 10_000
	}
	s := startServer(t)
	p := s.pane("flat", "seq 1 1000; exec cat", "-x", "120", "-y", "50")
	s.await("text", s.shows(p, "1000"))
	pid := s.tmux("display-message", "-p", "#{pid}")
	for range 500 {
		s.snapshot(p) // buffers, once grown, stay
	}
	before := rss(t, pid)
	for range n {
		s.snapshot(p)
	}
	if grown := rss(t, pid) - before; grown > 1024 {
		t.Errorf("the server grew by %d KB over %d captures", grown, n)
	} else {
		t.Logf("the server grew by %d KB over %d captures", grown, n)
	}
}

// rss is a process's resident memory in KB.
func rss(t *testing.T, pid string) int {
	t.Helper()
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmRSS:" {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// The hidden session goes when the client does, and lets a server end whose
// user has ended everything.
func TestHiddenSessionLeaves(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	if got := s.tmux("list-sessions", "-F", "#{session_name}"); got != "_panebridge\nfirst" {
		t.Fatalf("sessions are %q", got)
	}
	s.tmux("kill-session", "-t", "=first")
	if err := s.client.Leave(s.ctx()); err != nil && !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatal(err)
	}
	s.await("end of the server", func() bool { return s.client.Gone() })
}

// A session that's made while the server's last has just ended, and the server is given up or
// ends, is made: on that server, or on another.
func TestASessionIsMadeAsTheServerEnds(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.tmux("kill-session", "-t", "=first")
	rnd := drawtest.Rand(t, 0)
	for n := range 40 {
		leave, kill := time.Duration(rnd.IntN(30))*time.Millisecond, rnd.IntN(3) == 0
		var others sync.WaitGroup
		others.Go(func() {
			time.Sleep(leave)
			if err := s.client.Leave(s.ctx()); err != nil && !errors.Is(err, sessions.ErrUnavailable) && !kill {
				t.Error(err)
			}
		})
		if kill {
			others.Go(func() { _ = s.command("kill-server").Run() })
		}
		time.Sleep(time.Duration(rnd.IntN(60)) * time.Millisecond)
		req := sessions.PaneRequest{Session: fmt.Sprint("next-", n), Command: []string{"cat"}, Cwd: "/", Width: 80, Height: 24, HistoryLimit: 100}
		info, err := s.client.Create(s.ctx(), sessions.NewID(), req)
		others.Wait()
		switch {
		case kill && err != nil: // its server may have been killed with it
		case err != nil:
			t.Errorf("round %d, given up after %s: %v", n, leave, err)
		default:
			if err := s.client.Kill(s.ctx(), info.ID); err != nil && !kill {
				t.Errorf("round %d: %v", n, err)
			}
		}
	}
}

// tmux copies keys to all panes of a window with synchronize-panes, where they'd submit
// what's half typed, or answer what's asked.
func TestWhatIsTypedStaysInItsPane(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	ours := s.pane("shared", "exec cat", "-x", "100", "-y", "30")
	other := s.tmux("split-window", "-t", ours, "-P", "-F", "#{pane_id}", "stty raw -echo; printf ready; exec cat -v")
	s.await("the neighbour", s.shows(other, "ready"))
	options := func() string {
		return s.tmux("show-options", "-p", "-t", ours) + "|" + s.tmux("show-options", "-w", "-t", ours) + "|" + s.tmux("show-options", "-p", "-t", other)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	want := ""
	for range 60 {
		for _, scope := range [][]string{{"-w", "-t", ours}, {"-p", "-t", ours}, {"-p", "-t", other}} {
			set := append([]string{"set-option"}, scope...)
			switch rnd.IntN(3) {
			case 0:
				s.tmux(append(set, "synchronize-panes", "on")...)
			case 1:
				s.tmux(append(set, "synchronize-panes", "off")...)
			case 2:
				s.tmux(append(set, "-u", "synchronize-panes")...)
			}
		}
		before := options()
		press := func() (sessions.GuardOutcome, error) {
			return s.client.Press(s.ctx(), sessions.PaneGuard{Pane: ours, Phrases: []string{"nothing"}}, "x")
		}
		if rnd.IntN(2) == 0 {
			press = func() (sessions.GuardOutcome, error) {
				return s.client.Paste(s.ctx(), sessions.PaneGuard{Pane: ours}, "x")
			}
		}
		if out, err := press(); out != sessions.Done || err != nil {
			t.Fatalf("with %s: %s, %v", before, out, err)
		}
		want += "x"
		if after := options(); after != before {
			t.Fatalf("options were %s, and are %s", before, after)
		}
	}
	s.await("what was typed", s.shows(ours, want))
	// What tmux would have copied stands before this.
	s.tmux("set-option", "-p", "-t", other, "synchronize-panes", "off")
	s.tmux("send-keys", "-l", "-t", other, "end")
	s.await("the neighbour's end", s.shows(other, "end"))
	if got := strings.TrimSpace(strings.Join(s.snapshot(other).Rows, "")); got != "readyend" {
		t.Errorf("the neighbour shows %q", got)
	}
}
