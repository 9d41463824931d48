package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/events"
	"github.com/panebridge/panebridge/internal/probes"
)

// probe asks by the socket and by the port, which answer alike, and at once.
func (d *daemon) probe(path string) (code int, v probes.ProbeAnswer) {
	d.Helper()
	var dialer net.Dialer
	socket := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", filepath.Join(d.dir, "state", "panebridge.sock"))
	}}
	defer socket.CloseIdleConnections()
	answers := map[string]int{}
	for url, web := range map[string]*http.Client{"http://panebridge" + path: {Transport: socket}, "http://" + d.cfg.Monitoring.Listen + path: {}} {
		begun := time.Now()
		resp, err := web.Get(url)
		if err != nil {
			return 0, v // it isn't there yet
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err := json.Unmarshal(text, &v); err != nil {
			d.Fatalf("%s answers %q: %v", url, text, err)
		}
		if took := time.Since(begun); err != nil || took > 5*time.Second {
			d.Errorf("%s answers after %s, %v", url, took, err)
		}
		if strings.Contains(string(text), d.dir) {
			d.Errorf("%s tells a path: %s", url, text)
		}
		code = resp.StatusCode
		answers[string(text)] = code
	}
	if len(answers) > 1 {
		return 0, v // it has changed meanwhile
	}
	return code, v
}

// awaitProbe waits until both say what they're to say. A nil fault is none.
func (d *daemon) awaitProbe(what string, healthy bool, unready *probes.Fault) {
	d.Helper()
	d.await(what, func() bool {
		code, _ := d.probe("/healthz")
		ready, v := d.probe("/readyz")
		if (code == http.StatusOK) != healthy || code == 0 {
			return false
		}
		if unready == nil {
			return ready == http.StatusOK
		}
		return ready == http.StatusServiceUnavailable && slices.Contains(v.Faults, *unready)
	})
}

// Somebody else holds the database at the start, and later; tmux is stopped; the database is damaged. The process can
// do its work all the time, and isn't ready, for the reason that's so.
func TestProbesSayWhatIs(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"sh", "-c", "while :; do date; sleep 0.3; done"}}); err != nil {
		t.Fatal(err)
	}
	d.stop()
	d.cfg.Monitoring = config.Monitoring{Enabled: true, Listen: freeAddress(t)}
	end := holdDatabase(t, d)
	ready := d.begin()
	d.awaitProbe("a start that waits", true, &probes.Fault{Part: "daemon", Reason: probes.ReasonLocked})
	end()
	d.api = client.New(d.awaitReady(ready).Socket)
	d.awaitProbe("a daemon that works", true, nil)
	end = holdForWriting(t, d)
	d.awaitProbe("a database that can't be written", true, &probes.Fault{Part: "store", Reason: probes.ReasonLocked})
	end()
	d.awaitProbe("a daemon that works again", true, nil)
	cont := d.stopTmux()
	d.awaitProbe("a tmux server that's stopped", true, &probes.Fault{Part: "tmux:tmux", Reason: probes.ReasonSilent})
	cont()
	d.awaitProbe("a daemon that sees tmux again", true, nil)
	d.stop()
	if c, err := net.Dial("tcp", d.cfg.Monitoring.Listen); err == nil {
		t.Error("the port is open behind the end", c.Close())
	}
}

// The disk becomes full under a daemon, and has room again; pages of its database are overwritten, and it's started anew.
// The probes say so each time while the process can do its work, and that all is well again.
func TestProbesOfAFullDiskAndADamagedDatabase(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"sh", "-c", "seq 1 3000; while :; do date; sleep 0.3; done"}}); err != nil {
		t.Fatal(err)
	}
	d.stop()
	d.cfg.Monitoring = config.Monitoring{Enabled: true, Listen: freeAddress(t)}
	state := onSmallDisk(t, d)
	d.start()
	t.Cleanup(func() { d.stop() }) // before the disk goes
	d.awaitProbe("a daemon that works", true, nil)
	end := fillFolder(t, state)
	d.awaitProbe("a disk that's full", true, &probes.Fault{Part: "store", Reason: probes.ReasonFull})
	end()
	d.awaitProbe("a disk with room again", true, nil)
	d.stop() // so that all is in the file itself
	d.start()
	d.awaitProbe("a daemon that's started anew", true, nil)
	if err := overwrite(filepath.Join(state, "panebridge.db"), 1, 3); err != nil {
		t.Fatal(err)
	}
	d.awaitProbe("a database that's damaged", true, &probes.Fault{Part: "store", Reason: probes.ReasonDamaged})
	d.stop()
	d.start()
	d.awaitProbe("a database that was written anew", true, nil)
}

// kept is a log in memory.
type kept struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.b.Write(p)
}

// What sessions print, what's written to them, and what they ask is in no line of the log, at
// any level; each line is an event with a name.
func TestTheLogHasNoTextOfSessions(t *testing.T) {
	slow(t)
	var out kept
	d := newDaemon(t)
	d.stop()
	d.log = slog.New(events.NewHandler(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"sh", "-c", "echo canary-printed; while read -r x; do echo got $x; printf 'Do you want canary-asked? (y/n) '; done; echo; echo canary-last; exit 3"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("a line", d.has(s.ID, "canary-printed"))
	r, err := d.api.Input(d.ctx(), "one", "canary-written", true)
	if err != nil {
		t.Fatal(err)
	}
	d.final(r)
	d.await("its echo", d.has(s.ID, "got canary-written"))
	if err := d.api.Keys(d.ctx(), "one", "c", "a", "n", "a", "r", "y", "-", "k", "Enter"); err != nil {
		t.Fatal(err)
	}
	if err := d.api.Keys(d.ctx(), "one", "C-d"); err != nil {
		t.Fatal(err)
	}
	d.await("its end", d.has(s.ID, "canary-last"))
	d.stop()
	lines := 0
	for line := range strings.Lines(out.b.String()) {
		lines++
		var got struct{ Event, Msg string }
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Event == "" {
			t.Errorf("%q is no event with a name: %v", line, err)
		}
		if strings.Contains(line, "canary") {
			t.Errorf("the log has text of a session: %s", line)
		}
	}
	if lines < 5 {
		t.Errorf("the log has %d lines:\n%s", lines, out.b.String())
	}
}
