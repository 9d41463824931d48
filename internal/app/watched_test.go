package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/events"
	"github.com/panebridge/panebridge/qos"
)

// The rules and the dashboard are what the tools of Prometheus take for such.
func TestRulesAreSound(t *testing.T) {
	slow(t)
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"}, {"check", "rules", "panebridge.rules.yml"}, {"test", "rules", "panebridge.rules.test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), "promtool", args...)
		cmd.Dir = "../../contrib/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// A real Prometheus, for which a minute is a second, watches daemons: while they work no alert fires, and of each failure
// exactly its own alert tells.
func TestEachAlertHasItsFailure(t *testing.T) {
	slow(t)
	var deny atomic.Bool
	telegram := telegramtest.New(telegramtest.Options{})
	group := telegram.AddForum("Agents", telegram.AddUser(telegramtest.User{FirstName: "O"}))
	d := newDaemon(t)
	d.stop()
	d.useForum(telegram, group)
	telegramConfig(d.cfg).APIURL = onAPort(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if deny.Load() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"ok":false,"error_code":401,"description":"Unauthorized"}`))
			return
		}
		telegram.ServeHTTP(w, r)
	}))
	d.cfg.Monitoring = config.Monitoring{Enabled: true, Listen: freeAddress(t)}
	d.cfg.Mirrors = []config.Mirror{{Session: "work-*", To: "telegram:" + strconv.FormatInt(group, 10), View: "stream"}}
	d.cfg.Sessions.HistoryLimit = 1000
	d.log = slog.New(events.NewHandler(slog.DiscardHandler))
	state := filepath.Join(d.dir, "state")
	if err := unix.Mount("panebridge-test", state, "tmpfs", 0, "size=4g,mode=0700"); err != nil {
		t.Skipf("no disk can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(state, unix.MNT_DETACH) })
	d.start()
	t.Cleanup(d.stop) // before the disk goes
	for i := range 5 {
		if _, err := d.api.NewSession(d.ctx(), api.Create{Name: fmt.Sprint("work-", i), Command: []string{"sh", "-c", "while :; do date; sleep 0." + strconv.Itoa(i+3) + "; done"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "loud", Command: []string{"sh", "-c", "while read -r n; do seq 1 $n; done"}}); err != nil {
		t.Fatal(err)
	}
	d.awaitTmux()
	p := startScraper(t, d.cfg.Monitoring.Listen)
	quiet := 15 * time.Second
	if drawtest.Stressed() {
		quiet = time.Hour / scale
	}
	p.remainQuiet(quiet)
	for panel, expr := range dashboardQueries(t) {
		if all, err := p.query(expr); err != nil || len(all) == 0 {
			t.Errorf("the dashboard's %s (%s) has %d series, %v", panel, expr, len(all), err)
		}
	}
	resize := func(size string) {
		if err := unix.Mount("", state, "", unix.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
	}
	p.play(alarm{"PanebridgeTmuxDown", 5 * time.Second, d.stopTmux})
	p.play(alarm{"PanebridgeDiskLow", 8 * time.Second, func() func() { resize("500m"); return func() { resize("4g") } }})
	p.play(alarm{"PanebridgeDatabaseDown", 20 * time.Second, func() func() { return holdForWriting(t, d) }})
	p.play(alarm{"PanebridgeLinesMissing", 5 * time.Second, func() func() {
		typed, err := d.api.Input(d.ctx(), "loud", "400000", true)
		if err != nil {
			t.Fatal(err)
		}
		d.await("its being typed", func() bool {
			r, err := d.api.Receipt(d.ctx(), typed.ID)
			return err == nil && r.Submitted()
		})
		return func() {}
	}})
	p.play(alarm{"PanebridgeChatDown", 20 * time.Second, func() func() { deny.Store(true); return func() { deny.Store(false) } }})
	p.play(alarm{"PanebridgeDown", 4 * time.Second, func() func() { d.stop(); return d.start }})
	d.awaitTmux()
	for i := range 5 {
		if err := d.api.CloseSession(d.ctx(), fmt.Sprint("work-", i)); err != nil {
			t.Fatal(err)
		}
	}
	// What their chat isn't told now would be left to the platform of the next failures, which doesn't know that chat.
	d.await("their ends in the chat", func() bool {
		all, err := d.api.Adapters(d.ctx())
		return err == nil && len(all) == 1 && all[0].Documents == 0
	})
	d.stop()
	d.playChatFailures(p)
}

// stopTmux stops the tmux server until cont is called, or the test is over.
func (d *daemon) stopTmux() (cont func()) {
	d.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(d.tmux("display-message", "-p", "#{pid}")))
	if err != nil {
		d.Fatal(err)
	}
	cont = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	d.Cleanup(cont)
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	return cont
}

// frailAdapter panics, or has its scheduler hang, when it's told to.
type frailAdapter struct {
	adapters.Adapter
	panics atomic.Bool
	hangs  chan struct{} // closed: it hangs no more
	stuck  atomic.Bool
}

func (a *frailAdapter) Call(ctx context.Context, op adapters.Op) adapters.Reply {
	if a.panics.CompareAndSwap(true, false) {
		panic("a fault of the test's")
	}
	return a.Adapter.Call(ctx, op)
}

// Options gives the scheduler a log that blocks, as one does on a pipe that nobody reads.
func (a *frailAdapter) Options() qos.Options {
	o := a.Adapter.Options()
	o.Logger = slog.New(blockingLog{slog.DiscardHandler, a})
	return o
}

type blockingLog struct {
	slog.Handler
	of *frailAdapter
}

func (l blockingLog) Enabled(context.Context, slog.Level) bool { return true }

func (l blockingLog) Handle(context.Context, slog.Record) error {
	if l.of.stuck.Load() {
		<-l.of.hangs
	}
	return nil
}

// playChatFailures plays what may become of a chat.
func (d *daemon) playChatFailures(p *scraper) {
	d.Helper()
	platform := adaptertest.NewPlatform(adaptertest.Options{})
	platform.AddGroup("-100777", false)
	platform.AddGroup("-100888", false) // which is well, or the platform would be silent as a whole
	var refusals, penalty atomic.Int64
	platform.SetFault(func(c adaptertest.Call) adaptertest.Fault {
		if c.Chat == "-100777" && refusals.Add(-1) >= 0 {
			return adaptertest.Fault{Kind: adaptertest.Throttled, RetryAfter: time.Duration(penalty.Load())}
		}
		return adaptertest.Fault{}
	})
	frail := &frailAdapter{hangs: make(chan struct{})}
	tg := telegramConfig(d.cfg)
	tg.Enabled, tg.QoS.MinSessionTick = false, 0.1
	d.cfg.Mirrors = []config.Mirror{{Session: "chat-*", To: "telegram:-100777", View: "stream"}, {Session: "answers", To: "telegram:-100777", View: "final"}, {Session: "well", To: "telegram:-100888", View: "stream"}}
	d.adapters = func() []adapters.Adapter {
		frail.Adapter = &adaptertest.Adapter{Conn: platform.Connect(), Named: "telegram"}
		return []adapters.Adapter{frail}
	}
	d.start()
	for name, program := range map[string]string{"chat-1": "while :; do date; sleep 0.5; done", "well": "while :; do date; sleep 5; done", "answers": "while read -r x; do echo the answer is $x; echo '[Output Complete]'; done"} {
		if _, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh", "-c", program}}); err != nil {
			d.Fatal(err)
		}
	}
	d.await("lines in the chat", func() bool { return len(platform.Seen("-100777", "")) > 0 })
	p.await("quiet", time.Minute, func() bool { return len(p.firing()) == 0 })
	refuse := func(times int, wait time.Duration) {
		penalty.Store(int64(wait))
		refusals.Store(int64(times))
	}
	p.play(alarm{"PanebridgeFault", 5 * time.Second, func() func() { frail.panics.Store(true); return func() {} }})
	p.play(alarm{"PanebridgeRefused", 45 * time.Second, func() func() { refuse(12, 500*time.Millisecond); return func() { refuse(0, 0) } }})
	p.await("time to forget the refusals", time.Minute, func() bool {
		all, err := p.query("increase(panebridge_too_many_requests_total[15s]) > 0")
		return err == nil && len(all) == 0
	})
	p.play(alarm{"PanebridgeAnswersWait", 10 * time.Second, func() func() {
		refuse(1, 20*time.Second)
		if _, err := d.api.Input(d.ctx(), "answers", "forty-two", true); err != nil {
			d.Fatal(err)
		}
		return func() {}
	}})
	p.play(alarm{"PanebridgeStuck", 25 * time.Second, func() func() {
		frail.stuck.Store(true)
		refuse(1, time.Second)
		return func() { frail.stuck.Store(false); close(frail.hangs) }
	}})
}
