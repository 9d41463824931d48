package app_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/internal/redistest"
)

// Whatever hangs, a daemon that's asked to end has ended within ten seconds: a platform that
// doesn't answer any more, a database that somebody else has locked, a tmux server that's stopped, a Redis that
// takes connections and says nothing, from the start or later, and several of them. With a pipe in its
// state folder that nobody writes into it ends by itself, and says so.
func TestADaemonEndsWhateverHangs(t *testing.T) {
	slow(t)
	for name, tc := range map[string]struct{ platform, database, tmux, redis, mute, pipe bool }{
		"platform": {platform: true}, "database": {database: true}, "both": {platform: true, database: true}, "pipe": {pipe: true},
		"tmux": {tmux: true}, "redis": {redis: true}, "redis from the start": {mute: true}, "tmux and redis": {tmux: true, redis: true},
		"all": {platform: true, database: true, tmux: true, redis: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := shortTemp(t)
			state, config := filepath.Join(dir, "state"), filepath.Join(dir, "config.yaml")
			telegram := telegramtest.New(telegramtest.Options{})
			group := telegram.AddForum("Agents", telegram.AddUser(telegramtest.User{FirstName: "O"}))
			var hangs atomic.Bool
			address := onAPort(t, faults.NewProxy(telegram, func(*http.Request, []byte) faults.Fate {
				if hangs.Load() {
					return faults.Fate{Back: time.Hour}
				}
				return faults.Fate{}
			}))
			text := fmt.Sprintf("tmux: {servers: [{socket_path: %q}]}\nadapters:\n  web: {enabled: false}\n  telegram: {enabled: true, token: %q, api_url: %s, chats: [{id: %d, topics: true}]}\nmirrors: [{session: '*', to: 'telegram:%d', view: stream}]\n",
				filepath.Join(dir, "tmux"), telegram.Token(), address, group, group)
			pauseRedis := func() error { return nil }
			if tc.redis || tc.mute {
				s, err := redistest.New(t.Context(), filepath.Join(dir, "redis"), false)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(s.Kill)
				text += fmt.Sprintf("redis: {addrs: [%q]}\n", s.Addr)
				pauseRedis = s.Pause
			}
			if tc.mute {
				if err := pauseRedis(); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if tc.pipe {
				if err := os.Mkdir(state, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := unix.Mkfifo(filepath.Join(state, "panebridge.db-unsound"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			daemon := exec.Command(exe, "run", "--config", config, "--state-dir", state)
			daemon.Env = append(os.Environ(), playedCLI+"=1")
			daemon.Stderr = &said
			if err := daemon.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(time.Minute, func() { _ = daemon.Process.Kill() })
			defer late.Stop()
			t.Cleanup(func() { endTmux(filepath.Join(dir, "tmux")) })
			if tc.pipe {
				began := time.Now()
				_ = daemon.Wait()
				if took := time.Since(began); took > 10*time.Second || !strings.Contains(said.String(), "panebridge.db-unsound is a pipe") {
					t.Errorf("it took %s; it said\n%s", took, said.String())
				}
				return
			}
			beBusy(t, filepath.Join(state, "panebridge.sock"))
			hangs.Store(tc.platform)
			if err := pauseRedis(); err != nil {
				t.Fatal(err)
			}
			if tc.tmux {
				goOn := stand(t, filepath.Join(dir, "tmux"))
				defer goOn()
			}
			if tc.database {
				unlock := lock(t, filepath.Join(state, "panebridge.db"))
				defer unlock()
			}
			time.Sleep(2 * time.Second)
			began := time.Now()
			if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = daemon.Wait()
			took := time.Since(began)
			t.Logf("it took %s", took.Round(10*time.Millisecond))
			if took > 10*time.Second {
				t.Errorf("it took %s; it said\n%s", took, said.String())
			}
			if watched := strings.Contains(said.String(), "didn't end within"); watched {
				t.Errorf("it ended by its last resort; it said\n%s", said.String())
			}
		})
	}
}

// beBusy has a daemon make a session that prints something all the time.
func beBusy(t *testing.T, socket string) {
	t.Helper()
	c := client.New(socket)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if _, err := c.NewSession(ctx, api.Create{Name: "busy", Command: []string{"sh", "-c", "while :; do date; sleep 0.2; done"}}); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("no session could be made")
}

// stand stops a tmux server, until it's told to go on.
func stand(t *testing.T, socket string) (goOn func()) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "tmux", "-S", socket, "display-message", "-p", "#{pid}").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
}

// lock has somebody else hold a database.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = conn.Close(); _ = db.Close() }
}
