package app_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/events"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/sessions"
)

// daemon is a daemon in this process on a tmux server of the test's own.
type daemon struct {
	*testing.T
	dir, socket string
	cfg         *config.Config
	file        string // of the configuration; "": there's none
	api         *client.Client
	adapters    func() []adapters.Adapter // for the next start; nil: none
	push        push.Route                // for the next start
	log         *slog.Logger              // for the next start; nil: nothing is logged
	stop        func()
}

func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// endTmux ends a tmux server. kill-server isn't enough: tmux 3.3a doesn't end as long as a
// client of it has output for a reader that was killed.
func endTmux(socket string) {
	pid, _ := exec.Command("tmux", "-S", socket, "display-message", "-p", "#{pid}").Output()
	_ = exec.Command("tmux", "-S", socket, "kill-server").Run()
	if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil {
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	dir := shortTemp(t)
	d := &daemon{T: t, dir: dir, socket: filepath.Join(dir, "tmux")}
	d.cfg = all.Form().Default()
	d.cfg.Tmux.Servers = []config.TmuxServer{{SocketPath: d.socket}}
	d.cfg.Adapters.Web.Listen = "127.0.0.1:0"
	d.cfg.Polling.OutputCadence, d.cfg.Polling.FocusCadence = 0.1, 0.1
	t.Cleanup(func() { endTmux(d.socket) })
	d.start()
	return d
}

// start runs the daemon; stop ends it.
func (d *daemon) start() {
	d.Helper()
	d.api = client.New(d.awaitReady(d.begin()).Socket)
}

// begin runs the daemon, and says when it's ready; stop ends it.
func (d *daemon) begin() (ready <-chan started) {
	d.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	begun, done := make(chan started, 2), make(chan struct{})
	opt := app.Options{Config: d.cfg, ConfigPath: d.file, StateDir: filepath.Join(d.dir, "state"), Ready: func(i app.Info) { begun <- started{info: i} }}
	opt.Push, opt.Log = d.push, d.log
	if d.log != nil {
		opt.LogCounts = d.log.Handler().(*events.Handler).Count
	}
	if d.adapters != nil {
		opt.Adapters = d.adapters()
	}
	var err error
	go func() {
		err = app.Run(ctx, opt)
		begun <- started{err: err}
		close(done)
	}()
	stopped := false
	d.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if <-done; err != nil {
			d.Error(err)
		}
	}
	d.Cleanup(d.stop)
	return begun
}

// started is what became of a start.
type started struct {
	info app.Info
	err  error // it has ended
}

// awaitReady waits until a daemon is ready.
func (d *daemon) awaitReady(ready <-chan started) app.Info {
	d.Helper()
	s := <-ready
	if s.info.Socket == "" {
		d.Fatalf("it has ended: %v", s.err)
	}
	return s.info
}

// patience is for a hung test, not for a slow machine.
const patience = 2 * time.Minute

// await waits until ok, which it asks the more seldom the longer it takes: most of what's asked costs more than a look.
func (d *daemon) await(what string, ok func() bool) {
	d.Helper()
	end := time.Now().Add(patience)
	for pause := 5 * time.Millisecond; !ok(); pause = min(pause*5/4, 100*time.Millisecond) {
		if time.Now().After(end) {
			if d.socket != "" {
				all, err := d.api.Sessions(d.ctx())
				d.Logf("sessions: %+v, %v", all, err)
				d.Log(d.tmux("list-panes", "-a", "-F", "#{pane_id} #{session_name} #{@panebridge_id}"))
			}
			d.Fatalf("no %s within two minutes", what)
		}
		time.Sleep(pause)
	}
}

// awaitTmux waits until all parts are well.
func (d *daemon) awaitTmux() {
	d.Helper()
	d.await("good health", func() bool {
		h, err := d.api.Health(d.ctx())
		return err == nil && h.State == api.HealthOK
	})
}

func (d *daemon) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	d.Cleanup(cancel)
	return ctx
}

// lines are all lines of a session.
func (d *daemon) lines(id sessions.ID) []string {
	d.Helper()
	var out []string
	for from := int64(0); ; {
		o, err := d.api.Output(d.ctx(), string(id), from, 0)
		if err != nil {
			d.Fatal(err)
		}
		for _, l := range o.Lines {
			out = append(out, l.Text)
		}
		if o.Next == from || len(o.Lines) == 0 {
			return out
		}
		from = o.Next
	}
}

func (d *daemon) has(id sessions.ID, line string) func() bool {
	return func() bool { return slices.Contains(d.lines(id), line) }
}

func (d *daemon) final(r sessions.Receipt) sessions.Receipt {
	d.Helper()
	d.await("final receipt", func() bool {
		var err error
		if r, err = d.api.Receipt(d.ctx(), r.ID); err != nil {
			d.Fatal(err)
		}
		return r.Final()
	})
	return r
}

func TestFromPaneToLogAndBack(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"sh", "-c", `echo hello; while read -r x; do echo "got <$x>"; done; exit 3`}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("hello", d.has(s.ID, "hello"))
	r, err := d.api.Input(d.ctx(), "one", "-n a;b $HOME #{x} Enter;", true)
	if err != nil {
		t.Fatal(err)
	}
	if r = d.final(r); !r.Submitted() {
		t.Fatalf("receipt is %+v", r)
	}
	d.await("answer", d.has(s.ID, "got <-n a;b $HOME #{x} Enter;>"))
	d.stop()
	d.start()
	d.awaitTmux()
	if err := d.api.Keys(d.ctx(), "one", "C-d"); err != nil {
		t.Fatal(err)
	}
	d.await("end", func() bool {
		x, err := d.api.Session(d.ctx(), string(s.ID))
		return err == nil && x.State == sessions.StateEnded
	})
	got := strings.Join(d.lines(s.ID), "\n") // with what was sent, as the log has it for others, and as the terminal echoes it
	want := "hello\n-n a;b $HOME #{x} Enter;\n-n a;b $HOME #{x} Enter;\ngot <-n a;b $HOME #{x} Enter;>\nsession ended: its program has ended, with status 3"
	if got != want {
		t.Errorf("lines are:\n%s\nwant:\n%s", got, want)
	}
}

// The sections of the platforms in a configuration.
func telegramConfig(cfg *config.Config) *telegram.Config { return telegram.ConfigOf(cfg) }
func discordConfig(cfg *config.Config) *discord.Config   { return discord.ConfigOf(cfg) }

type (
	telegramChat   = telegram.ChatConfig
	discordChannel = discord.ChannelConfig
)
