package app_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
)

// A start that's refused leaves a state folder as it found it.
func TestARefusedStartLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	taken, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := all.Form().Default()
	port.Adapters.Web.Listen = taken.Addr().String()
	mirror := all.Form().Default()
	mirror.Mirrors = []config.Mirror{{Session: "*", To: "telegram:1"}}
	for name, cfg := range map[string]*config.Config{"the page's port is taken": port, "a mirror to nowhere": mirror} {
		t.Run(name, func(t *testing.T) {
			cfg.Tmux.Servers = []config.TmuxServer{{SocketPath: filepath.Join(shortTemp(t), "tmux")}}
			run := func(dir string) {
				t.Helper()
				if err := app.Run(context.Background(), app.Options{Config: cfg, StateDir: dir}); err == nil {
					t.Error("it wasn't refused")
				}
			}
			parent := shortTemp(t)
			run(filepath.Join(parent, "state"))
			if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
				t.Errorf("%v, %v is left where no folder was", left, err)
			}
			if err := os.WriteFile(filepath.Join(parent, "mine"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			run(parent)
			if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
				t.Errorf("%v, %v is left where a file of the user's was", left, err)
			}
		})
	}
}

// What stands in the folder without its database, which somebody may have moved away to mend it,
// stays as it was.
func TestARefusedStartKeepsWhatHasNoDatabase(t *testing.T) {
	t.Parallel()
	cfg := all.Form().Default()
	cfg.Tmux.Servers = []config.TmuxServer{{SocketPath: filepath.Join(shortTemp(t), "tmux")}}
	cfg.Mirrors = []config.Mirror{{Session: "*", To: "telegram:1"}}
	state := shortTemp(t)
	files := map[string]string{"panebridge.db-wal": "a log", "panebridge.db-line": "", "shell/own": "mine"}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(state, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(state, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(state, "panebridge.db-wal"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := app.Run(context.Background(), app.Options{Config: cfg, StateDir: state}); err == nil {
		t.Fatal("it wasn't refused")
	}
	aside, err := filepath.Glob(filepath.Join(state, "panebridge.db-left-*-wal"))
	if err != nil || len(aside) != 1 {
		t.Fatalf("the log is kept as %q, %v", aside, err)
	}
	files[filepath.Base(aside[0])] = files["panebridge.db-wal"] // SQLite would delete it under its own name
	delete(files, "panebridge.db-wal")
	for name, content := range files {
		if got, err := os.ReadFile(filepath.Join(state, name)); err != nil || string(got) != content {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
}

// One that was used before keeps what it has.
func TestARefusedStartKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	d.stop()
	state := filepath.Join(d.dir, "state")
	d.cfg.Mirrors = []config.Mirror{{Session: "*", To: "telegram:1"}}
	if err := app.Run(context.Background(), app.Options{Config: d.cfg, StateDir: state}); err == nil {
		t.Fatal("it wasn't refused")
	}
	if _, err := os.Stat(filepath.Join(state, "panebridge.db")); err != nil {
		t.Error(err)
	}
}

// The token of earlier releases, which opened the page for a year, goes with the first
// start.
func TestOldTokenIsRemoved(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	d.stop()
	state := filepath.Join(d.dir, "state")
	for _, name := range []string{"web.token", "web.address"} {
		if err := os.WriteFile(filepath.Join(state, name), []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.start()
	left, err := os.ReadDir(state)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "web.") {
			t.Errorf("%s is left", f.Name())
		}
	}
}
