package app_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/host/hosttest"
)

// A daemon that's started while its disk is full, its database is locked by somebody else, or all may
// only be read, doesn't end: it says what it waits for, takes nothing, and goes on by itself when the
// trouble is over, with all that was acknowledged before and what its panes have said meanwhile.
func TestAStartInTroubleGoesOn(t *testing.T) {
	slow(t)
	for name, tc := range map[string]struct {
		begin func(t *testing.T, d *daemon) (end func())
		says  string
		mute  bool // it can't have a socket
	}{
		"full":         {begin: fillDisk, says: "full"},
		"locked":       {begin: holdDatabase, says: "another process holds the database"},
		"write-locked": {begin: holdForWriting, says: "another process holds the database"},
		"read-only":    {begin: mountReadOnly, mute: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDaemon(t)
			s, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"cat"}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := d.api.Input(d.ctx(), "one", "before", true)
			if err != nil {
				t.Fatal(err)
			}
			d.final(r)
			d.stop()
			end := tc.begin(t, d)
			ready := d.begin()
			d.api = client.New(filepath.Join(d.dir, "state", "panebridge.sock"))
			if tc.mute {
				time.Sleep(3 * time.Second)
			} else {
				d.await("that it's told", func() bool { return strings.Contains(d.storePart(), tc.says) })
				h, err := d.api.Health(d.ctx())
				if err != nil || h.State != api.HealthDown || !h.Starting {
					t.Errorf("its health is %+v, %v", h, err)
				}
				if said := d.cli("status"); !strings.Contains(said, "panebridge is down; its start waits") || !strings.Contains(said, tc.says) {
					t.Errorf("its status is %s", said)
				}
				_, err = d.api.Input(d.ctx(), "one", "into nothing", true)
				if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusServiceUnavailable || !strings.Contains(e.Message, tc.says) {
					t.Errorf("an input gets %v", err)
				}
			}
			if err := exec.Command("tmux", "-S", d.socket, "send-keys", "-t", s.Tmux.Pane, "meanwhile", "Enter").Run(); err != nil {
				t.Fatal(err)
			}
			select {
			case s := <-ready:
				t.Fatalf("before the trouble is over: %+v", s)
			default:
			}
			end()
			if info := d.awaitReady(ready); info.Socket != d.api.Socket() {
				t.Errorf("its socket is %s", info.Socket)
			}
			d.awaitTmux()
			d.await("what was said meanwhile", d.has(s.ID, "meanwhile"))
			if lines := d.lines(s.ID); !slices.Contains(lines, "before") || slices.Contains(lines, "into nothing") {
				t.Errorf("its lines are %q", lines)
			}
			if r, err = d.api.Input(d.ctx(), "one", "behind it", true); err != nil {
				t.Fatal(err)
			}
			d.final(r)
			d.stop()
		})
	}
}

// A daemon that waits for its database ends when it's asked to.
func TestAStartThatWaitsEnds(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	d.stop()
	defer holdDatabase(t, d)()
	d.begin()
	d.api = client.New(filepath.Join(d.dir, "state", "panebridge.sock"))
	d.await("that it's told", func() bool { return strings.Contains(d.storePart(), "another process holds the database") })
	d.stop()
	if _, err := d.api.Health(context.Background()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("behind its end: %v", err)
	}
}

// holdDatabase has somebody else hold the database so that it can't even be read.
func holdDatabase(t *testing.T, d *daemon) (end func()) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "state", "panebridge.db")+"?_pragma=locking_mode(EXCLUSIVE)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, text := range []string{"BEGIN EXCLUSIVE", "PRAGMA user_version = 0", "ROLLBACK"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return func() { _ = db.Close() }
}

// holdForWriting has somebody else hold the database so that it can be read and not written to.
func holdForWriting(t *testing.T, d *daemon) (end func()) {
	t.Helper()
	return lock(t, filepath.Join(d.dir, "state", "panebridge.db"))
}

// fillDisk puts the state folder onto a disk that's full.
func fillDisk(t *testing.T, d *daemon) (end func()) {
	t.Helper()
	return fillFolder(t, onSmallDisk(t, d))
}

// fillFolder fills the disk that a folder is on, to the last byte.
func fillFolder(t *testing.T, state string) (end func()) {
	t.Helper()
	ballast, err := os.Create(filepath.Join(state, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = ballast.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
	if err := ballast.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(ballast.Name()); err != nil {
			t.Error(err)
		}
	}
}

// mountReadOnly puts the state folder onto a disk that may only be read.
func mountReadOnly(t *testing.T, d *daemon) (end func()) {
	t.Helper()
	state := onSmallDisk(t, d)
	if err := hosttest.ForbidWrites(state); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := hosttest.AllowWrites(state); err != nil {
			t.Error(err)
		}
	}
}

// onSmallDisk moves the state folder to a disk of its own with 80 MB, and skips the test where none can
// be mounted.
func onSmallDisk(t *testing.T, d *daemon) (state string) {
	t.Helper()
	state = filepath.Join(d.dir, "state")
	old := state + "-old"
	if err := errors.Join(os.Rename(state, old), os.Mkdir(state, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := hosttest.MountMemory(state, "size=80m,mode=0700"); err != nil {
		t.Skipf("no disk can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = hosttest.Detach(state) })
	if out, err := exec.Command("cp", "-a", old+"/.", state).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return state
}

// cli is what a command prints.
func (d *daemon) cli(args ...string) string {
	d.Helper()
	exe, err := os.Executable()
	if err != nil {
		d.Fatal(err)
	}
	cmd := exec.CommandContext(d.ctx(), exe, append(args, "--state-dir", filepath.Join(d.dir, "state"))...)
	cmd.Env = append(os.Environ(), playedCLI+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.Errorf("%v: %v", args, err)
	}
	return string(out)
}
