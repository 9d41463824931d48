//go:build linux

package agent_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

const (
	marked = sessions.ID("pb_0123456789ab")
	home   = "/home/somebody/state"
)

// chain is a program that was begun in a pane by way of others.
type chain struct {
	pane, last int
	inside     bool // what can be known of it
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// begin begins a shell as a pane's program, and below it one shell for each step. It
// returns when the last has begun.
func begin(t *testing.T, steps []string, marks []string) chain {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	script := "echo $$ >" + quoted(file+".new") + " && mv " + quoted(file+".new") + " " + quoted(file) + " && exec sleep 1000"
	for _, step := range slices.Backward(steps) {
		inner := "sh -c " + quoted(script)
		switch step {
		case "child":
			script = inner + "; :"
		case "orphan":
			script = "exec " + inner + " & exit 0"
		case "setsid":
			script = "setsid " + inner + "; :"
		case "clear":
			script = `env -i PATH="$PATH" ` + inner + "; :"
		}
	}
	cmd := exec.Command("sh", "-c", script+"; sleep 1000")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, marks...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as a terminal's first process is
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := chain{pane: cmd.Process.Pid}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.pane, syscall.SIGKILL)
		_ = syscall.Kill(c.last, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	for end := time.Now().Add(2 * time.Minute); c.last == 0; time.Sleep(time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil {
			c.last, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if time.Now().After(end) {
			t.Fatal("the chain hasn't begun within two minutes")
		}
	}
	// What's left of the descent that ends at the last process, from the last orphan on.
	below, atTerminal, environ := true, true, len(marks) > 0
	terminal, mark := atTerminal, environ
	for _, step := range steps {
		switch step {
		case "orphan":
			below, terminal, mark = false, atTerminal, environ
		case "setsid":
			atTerminal = false
		case "clear":
			environ = false
		}
	}
	c.inside = below || terminal || mark
	return c
}

// A process that was begun in a pane is known by whatever way it was begun, unless it has
// lost its parent, its terminal's session and its environment.
func TestWhatWasBegunInAPaneIsKnown(t *testing.T) {
	if checkOrigin(t, t, []string{"clear", "setsid", "orphan"}, []string{"TMUX_PANE=%7"}) {
		t.Fatal("what has lost all that tells is inside")
	}
	drawtest.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"child", "orphan", "setsid", "clear"}), 0, 5).Draw(rt, "steps")
		marks := rapid.SampledFrom([][]string{
			nil,
			{"PANEBRIDGE_SESSION=" + string(marked)},
			{"PANEBRIDGE_SESSION=pb_ffffffffffff", "PANEBRIDGE_STATE_DIR=" + home},
			{"TMUX=/tmp/a,b/tmux-0/default,4242,0", "TMUX_PANE=%7"},
			{"TMUX_PANE=%7"},
		}).Draw(rt, "marks")
		checkOrigin(t, rt, steps, marks)
	})
}

// checkOrigin begins a process and fails if it isn't known as one of the pane's, though it
// is one, or the other way round.
func checkOrigin(t *testing.T, tb rapid.TB, steps, marks []string) (inside bool) {
	t.Helper()
	c := begin(t, steps, marks)
	panes := []agent.SessionPane{{Session: marked, Server: 4242, Pane: "%7", PID: c.pane}, {Server: 4242, Pane: "%8", PID: os.Getpid()}}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		id, err := agent.NewProcesses().Origins(panes, home).Of(c.last)
		switch { // who let it go may end a moment later, and nobody can tell as it does
		case err == nil && c.inside && id == "":
			tb.Fatalf("%q with %q isn't known", steps, marks)
		case err == nil && c.inside == (id != ""):
			return c.inside
		case time.Now().After(end):
			tb.Fatalf("%q with %q is of %s, %v", steps, marks, id, err)
		}
	}
}

// startApart starts a program in a terminal session of its own, with an environment, until the test
// ends.
func startApart(t *testing.T, env []string, program string, args ...string) (pid int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// A process that begins one program after the other, of which the kernel shows no environment
// at such a moment, is never taken for one from outside.
func TestWhatBeginsOtherProgramsIsKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(file, []byte("exec sh "+quoted(file)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	panes := []agent.SessionPane{{Session: marked, Server: 4242, Pane: "%7"}}
	for _, more := range []int{0, 20_000} {
		pid := startApart(t, []string{"MORE=" + strings.Repeat("x", more), "PATH=" + os.Getenv("PATH"), "PANEBRIDGE_SESSION=" + string(marked)}, "sh", file)
		known := 0
		for range 1500 {
			id, err := agent.NewProcesses().Origins(panes, home).Of(pid)
			switch {
			case id == "" && err == nil:
				t.Fatal("it's taken for one from outside")
			case id != "":
				known++
			}
		}
		if known < 1000 {
			t.Errorf("it was known %d times of 1500", known)
		}
	}
}

// A process without any environment, or one that has written its title over it, as Chromium
// does, is one from outside, and that's said at once.
func TestWhatHasNoVariablesIsKnown(t *testing.T) {
	for _, env := range [][]string{{}, {"a title"}} {
		pid := startApart(t, env, "sleep", "60")
		panes := []agent.SessionPane{{Session: marked, Server: 4242, Pane: "%7"}}
		if id, err := agent.NewProcesses().Origins(panes, home).Of(pid); id != "" || err != nil {
			t.Errorf("with %q it's taken for one of session %q (%v)", env, id, err)
		}
	}
}

// What belongs to a pane that's no session's, to another server's, or to another daemon's
// session isn't a session's.
func TestOtherPanesAreTheUsersOwn(t *testing.T) {
	for _, marks := range [][]string{
		nil,
		{"TMUX=/tmp/tmux-0/default,4242,0", "TMUX_PANE=%8"},
		{"TMUX=/tmp/tmux-0/default,17,0", "TMUX_PANE=%7"},
		{"PANEBRIDGE_SESSION=pb_ffffffffffff", "PANEBRIDGE_STATE_DIR=/elsewhere"},
		{"PANEBRIDGE_SESSION=nonsense", "PANEBRIDGE_STATE_DIR=" + home},
	} {
		c := begin(t, []string{"child"}, marks)
		panes := []agent.SessionPane{{Session: marked, Server: 4242, Pane: "%7"}, {Server: 4242, Pane: "%8", PID: c.pane}}
		if id, err := agent.NewProcesses().Origins(panes, home).Of(c.last); id != "" || err != nil {
			t.Errorf("with %q it's of %q, %v", marks, id, err)
		}
	}
	if _, err := agent.NewProcesses().Origins(nil, home).Of(1 << 30); err == nil {
		t.Error("a process that isn't there was begun nowhere")
	}
}

// Of all who have a socket, only those of a session's pane are of interest.
func TestASocketsHolderIsFound(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	inode, _ := strconv.ParseUint(strings.Trim(link, "socket:[]"), 10, 64)
	holder := func(pane int) sessions.ID {
		t.Helper()
		id, err := agent.NewProcesses().Origins([]agent.SessionPane{{Session: marked, Pane: "%7", PID: pane}}, home).Holding(inode, os.Geteuid())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	other := begin(t, []string{"child"}, nil)
	if id := holder(other.pane); id != "" {
		t.Errorf("it's held by %s, whose programs don't have it", id)
	}
	cmd := exec.Command("sh", "-c", "sleep 1000; :")
	cmd.ExtraFiles = []*os.File{f}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() }()
	if id := holder(cmd.Process.Pid); id != marked {
		t.Errorf("it's held by %q", id)
	}
}
