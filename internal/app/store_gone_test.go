package app_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/statedir"
)

// Somebody deletes the database's files while the daemon runs: it says so, writes them anew, and nothing
// is lost, not what comes meanwhile either.
func TestADeletedDatabaseComesBack(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"sh", "-c", "echo before; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("the first line", d.has(s.ID, "before"))
	files, err := filepath.Glob(filepath.Join(d.dir, "state", "panebridge.db*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("the database has the files %v, %v", files, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	r, err := d.api.Input(d.ctx(), "one", "meanwhile", true)
	if err != nil {
		t.Fatal(err)
	}
	d.final(r)
	d.await("the line that was said meanwhile", d.has(s.ID, "meanwhile"))
	d.await("the file", func() bool { _, err := os.Stat(files[0]); return err == nil })
	d.await("that all is well", func() bool {
		h, err := d.api.Health(d.ctx())
		i := slices.IndexFunc(h.Parts, func(p api.HealthPart) bool { return p.Name == "store" })
		return err == nil && i >= 0 && h.Parts[i].State != api.HealthDown
	})
	db, _ := mailOf(d)
	if all, err := db.Parties(d.ctx()); err != nil || len(all) != 1 {
		t.Errorf("for the command line there are %v, %v", all, err)
	}
	d.stop()
	d.start()
	d.awaitTmux()
	if lines := d.lines(s.ID); !slices.Contains(lines, "before") || !slices.Contains(lines, "meanwhile") {
		t.Errorf("after a restart its lines are %q", lines)
	}
}

// Somebody removes the file with the daemon's number: no second daemon comes in, and it's written anew.
func TestARemovedNumberLetsNoSecondDaemonIn(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	number := filepath.Join(d.dir, "state", "panebridge.pid")
	if err := os.Remove(number); err != nil {
		t.Fatal(err)
	}
	if err := app.Run(d.ctx(), app.Options{Config: d.cfg, StateDir: filepath.Join(d.dir, "state")}); !errors.Is(err, statedir.ErrInUse) {
		t.Errorf("a second daemon gets %v", err)
	}
	d.await("the file", func() bool {
		text, err := os.ReadFile(number)
		return err == nil && string(text) == fmt.Sprintln(os.Getpid())
	})
	if h, err := d.api.Health(d.ctx()); err != nil || slices.ContainsFunc(h.Parts, func(p api.HealthPart) bool { return p.Name == "state folder" }) {
		t.Errorf("its health is %+v, %v", h, err)
	}
}
