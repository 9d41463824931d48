package app_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// serverPID is the process id of the test's tmux server.
func (d *daemon) serverPID() int {
	d.Helper()
	out, err := exec.Command("tmux", "-S", d.socket, "display-message", "-p", "#{pid}").Output()
	if err != nil {
		d.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		d.Fatal(err)
	}
	return pid
}

// A stopped tmux server turns health red, and everything goes on without loss
// when it runs again; an input that was sent meanwhile is typed once.
func TestHungServer(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "hang", Command: []string{"sh", "-c", `i=0; while read -r x; do i=$((i+1)); echo "$i <$x>"; done`}})
	if err != nil {
		t.Fatal(err)
	}
	d.say("hang", "before")
	d.await("before", d.has(s.ID, "1 <before>"))
	pid := d.serverPID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	d.await("red health", func() bool {
		h, err := d.api.Health(d.ctx())
		return err == nil && h.State == api.HealthDown
	})
	r, err := d.api.Input(d.ctx(), "hang", "meanwhile", true)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.lines(s.ID)) == 0 {
		t.Error("the API shows no lines while tmux hangs")
	}
	if drawtest.Stressed() {
		time.Sleep(20 * time.Second) // the bar's length; the server must really stand still for so long
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.awaitTmux()
	if r = d.final(r); !r.Submitted() {
		t.Errorf("the input of meanwhile is %s: %s", r.State, r.Reason)
	}
	d.await("meanwhile", d.has(s.ID, "2 <meanwhile>"))
	d.say("hang", "after")
	d.await("after", d.has(s.ID, "3 <after>"))
}

func (d *daemon) say(session, text string) {
	d.Helper()
	r, err := d.api.Input(d.ctx(), session, text, true)
	if err != nil {
		d.Fatal(err)
	}
	if r = d.final(r); !r.Submitted() {
		d.Fatalf("%q is %s: %s", text, r.State, r.Reason)
	}
}

// sessionOfKilledServer makes a session, sees its first line and kills its tmux
// server.
func (d *daemon) sessionOfKilledServer() api.Session {
	d.Helper()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "agent", Command: []string{"sh", "-c", "echo old; cat"}})
	if err != nil {
		d.Fatal(err)
	}
	d.await("old", d.has(s.ID, "old"))
	if err := syscall.Kill(d.serverPID(), syscall.SIGKILL); err != nil {
		d.Fatal(err)
	}
	return s
}

// Sessions of a tmux server that's killed end with a notice, and a new server's
// panes, which have the same ids again, are never taken for them.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	old := d.sessionOfKilledServer()
	d.await("end", func() bool {
		x, err := d.api.Session(d.ctx(), string(old.ID))
		return err == nil && x.State == sessions.StateEnded
	})
	lines := d.lines(old.ID)
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "session ended: the tmux server") {
		t.Errorf("the last line is %q", last)
	}
	if _, err := d.api.Input(d.ctx(), string(old.ID), "x", true); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("input to the ended session: %v", err)
	}
	fresh, err := d.api.NewSession(d.ctx(), api.Create{Name: "agent", Command: []string{"sh", "-c", "echo fresh; cat"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("fresh", d.has(fresh.ID, "fresh"))
	if got := d.lines(old.ID); len(got) != len(lines) {
		t.Errorf("the old session got lines of the new one: %q", got)
	}
}

// The daemon is killed again and again while a session prints: at the end the
// log is complete and has nothing twice.
func TestKilledDaemon(t *testing.T) {
	slow(t)
	kills, lines := 5, 3000
	if drawtest.Stressed() {
		kills, lines = 50, 20_000
	}
	dir := shortTemp(t)
	k := &killed{T: t, dir: dir, socket: filepath.Join(dir, "tmux")}
	t.Cleanup(func() { endTmux(k.socket) })
	k.run()
	s, err := k.api.NewSession(context.Background(), api.Create{Name: "printer", Command: []string{"sh", "-c", fmt.Sprintf("i=1; while [ $i -le %d ]; do echo $i; i=$((i+1)); sleep 0.004; done; echo done; cat", lines)}})
	if err != nil {
		t.Fatal(err)
	}
	random := drawtest.Rand(t, 0)
	for range kills {
		target := random.Int64N(int64(lines/kills)) + 1
		from := k.count(s.ID)
		k.await("more lines", func() bool { n := k.count(s.ID); return n-from >= target || n >= int64(lines) })
		k.kill()
		k.run()
	}
	d := &daemon{T: t, api: k.api}
	d.await("all lines", d.has(s.ID, "done"))
	for i, l := range d.lines(s.ID) {
		if i < lines && l != strconv.Itoa(i+1) {
			t.Fatalf("line %d is %q after %d kills", i+1, l, kills)
		}
	}
	o, err := k.api.Output(context.Background(), string(s.ID), 0, 1)
	if err != nil || len(o.Gaps) > 0 {
		t.Errorf("gaps %v, error %v", o.Gaps, err)
	}
	t.Logf("%d kills, %d lines, 0 missing, 0 twice", kills, lines)
}

// killed is a daemon in a process of its own.
type killed struct {
	*testing.T
	dir, socket string
	cmd         *exec.Cmd
	api         *client.Client
}

func (k *killed) run() {
	k.Helper()
	k.cmd = exec.Command(os.Args[0])
	k.cmd.Env = append(os.Environ(), "PANEBRIDGE_TEST_DAEMON="+k.dir)
	k.cmd.Stderr = os.Stderr
	if err := k.cmd.Start(); err != nil {
		k.Fatal(err)
	}
	k.Cleanup(func() { _ = k.cmd.Process.Kill(); _, _ = k.cmd.Process.Wait() })
	k.api = client.New(filepath.Join(k.dir, "state", "panebridge.sock"))
	k.await("daemon", func() bool {
		h, err := k.api.Health(context.Background())
		return err == nil && h.State == api.HealthOK
	})
}

func (k *killed) kill() {
	_ = k.cmd.Process.Kill()
	_, _ = k.cmd.Process.Wait()
}

func (k *killed) await(what string, ok func() bool) {
	k.Helper()
	(&daemon{T: k.T}).await(what, ok)
}

func (k *killed) count(id sessions.ID) int64 {
	s, err := k.api.Session(context.Background(), string(id))
	if err != nil {
		return 0
	}
	return s.Lines
}

// serve is the daemon in the other process.
func serve(dir string) {
	cfg := all.Form().Default()
	cfg.Tmux.Servers = []config.TmuxServer{{SocketPath: filepath.Join(dir, "tmux")}}
	cfg.Adapters.Web.Enabled = false
	cfg.Sessions.HistoryLimit = 20_000
	cfg.Polling.OutputCadence, cfg.Polling.FocusCadence = 0.1, 0.1
	if err := app.Run(context.Background(), app.Options{Config: cfg, StateDir: filepath.Join(dir, "state")}); err != nil {
		panic(err)
	}
}

// A server that's killed and started again at once has panes of the same ids;
// nothing of theirs may get into the old sessions, and nothing typed into the
// old ones may reach them.
func TestServerStartedAnewAtOnce(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	old := d.sessionOfKilledServer()
	d.await("the new server", func() bool {
		return exec.Command("tmux", "-S", d.socket, "-f", "/dev/null", "new-session", "-d", "-s", "new", "-x", "80", "-y", "24", "echo intruder; exec cat").Run() == nil
	})
	for range 4 {
		d.tmux("new-window", "-t", "=new:", "echo intruder; exec cat")
	}
	_, _ = d.api.Input(d.ctx(), string(old.ID), "stray", true)
	d.await("end", func() bool {
		x, err := d.api.Session(d.ctx(), string(old.ID))
		return err == nil && x.State == sessions.StateEnded
	})
	for _, l := range d.lines(old.ID) {
		if strings.Contains(l, "intruder") {
			t.Errorf("the old session has a line of the new server: %q", l)
		}
	}
	for pane := range strings.FieldsSeq(d.tmux("list-panes", "-a", "-F", "#{pane_id}")) {
		if strings.Contains(d.tmux("capture-pane", "-p", "-t", pane), "stray") {
			t.Errorf("what was typed into the old session reached pane %s of the new server", pane)
		}
	}
}
