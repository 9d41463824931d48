package app_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// What became of a damaged database is said, its damaged file is kept, and sessions go on.
func TestADamagedDatabaseIsSavedAtTheStart(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"sh", "-c", "seq 1 3000; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("the last line", d.has(s.ID, "3000"))
	path := filepath.Join(d.dir, "state", "panebridge.db")
	for _, how := range []struct {
		name   string
		damage func() error
		says   string
	}{
		{"in the middle", func() error { return overwrite(path, 1, 2) }, "it was damaged, and is written anew"},
		{"its beginning", func() error { return overwrite(path, 0, 1) }, "nothing of it could be read"},
		{"empty", func() error { return os.Truncate(path, 0) }, "it was gone at the start"},
		{"gone", func() error { return os.Remove(path) }, "it was gone at the start"},
	} {
		d.stop()
		if err := how.damage(); err != nil {
			t.Fatal(err)
		}
		d.start()
		d.await(how.name+": that it's said", func() bool { return strings.Contains(d.storePart(), how.says) })
		d.await(how.name+": that the session lives", func() bool {
			now, err := d.api.Session(d.ctx(), string(s.ID))
			return err == nil && now.State != sessions.StateEnded && now.Name == "one" && now.Owned
		})
		d.await(how.name+": that it's typed into", func() bool {
			_, err := d.api.Input(d.ctx(), string(s.ID), "after "+how.name, true)
			return err == nil
		})
		d.await(how.name+": the answer", d.has(s.ID, "after "+how.name))
		d.await(how.name+": a new session", func() bool {
			_, err := d.api.NewSession(d.ctx(), api.Create{Name: strings.ReplaceAll(how.name, " ", "-"), Command: []string{"cat"}})
			return err == nil
		})
	}
	kept, err := filepath.Glob(path + "-damaged-*Z")
	if err != nil || len(kept) < 1 {
		t.Errorf("kept are %v, %v", kept, err)
	}
	d.stop()
	d.start()
	d.awaitTmux()
	d.await("that all is well again", func() bool { return !strings.Contains(d.storePart(), "damaged") })
	told := func(said string) (all []bool) {
		for _, one := range kept {
			all = append(all, strings.Contains(said, one))
		}
		return all
	}
	for _, command := range []string{"status", "doctor"} {
		if said := d.cli(command); slices.Contains(told(said), false) || !strings.Contains(said, "nothing of it could be read") || !strings.Contains(said, "rm "+kept[0]+"*") {
			t.Errorf("%s doesn't say that %v lie there: %s", command, kept, said)
		}
	}
	for _, one := range kept {
		if err := os.Rename(one, filepath.Join(d.dir, filepath.Base(one))); err != nil {
			t.Fatal(err)
		}
	}
	d.await("that nothing is said of what's gone", func() bool { return !slices.Contains(told(d.cli("status")), true) })
}

// A database that's cut under the daemon is told of soon, and from then on nothing is said to be
// stored; sessions live on, and go on after the next start.
func TestADatabaseThatIsCutTakesNothing(t *testing.T) {
	slow(t)
	for _, parts := range []int64{0, 1, 2} { // of three
		d := newDaemon(t)
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"sh", "-c", "seq -f 'line %g of what it says' 1 3000; exec cat"}})
		if err != nil {
			t.Fatal(err)
		}
		d.await("the last line", d.has(s.ID, "line 3000 of what it says"))
		d.stop() // so that it's in the file itself
		d.start()
		d.awaitTmux()
		path := filepath.Join(d.dir, "state", "panebridge.db")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		left := info.Size() * parts / 3
		t.Logf("cut from %d to %d bytes", info.Size(), left)
		if err := os.Truncate(path, left); err != nil {
			t.Fatal(err)
		}
		d.await("that it's told", func() bool { return strings.Contains(d.storePart(), "damaged") })
		if r, err := d.api.Input(d.ctx(), string(s.ID), "into nothing", true); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("cut to %d bytes: an input is %+v, %v", left, r, err)
		}
		if s, err := d.api.NewSession(d.ctx(), api.Create{Name: "two", Command: []string{"cat"}}); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("cut to %d bytes: a session is %+v, %v", left, s, err)
		}
		d.stop()
		d.start()
		d.await("that the session lives", func() bool {
			now, err := d.api.Session(d.ctx(), string(s.ID))
			return err == nil && now.State != sessions.StateEnded && now.Name == "one"
		})
		if _, err := d.api.Input(d.ctx(), string(s.ID), "again", true); err != nil {
			t.Error(err)
		}
		d.await("the answer", d.has(s.ID, "again"))
		d.stop()
	}
}

// overwrite writes nonsense over a part of a file: from and to are quarters of it.
func overwrite(path string, from, to int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	quarter := info.Size() / 4
	_, err = f.WriteAt([]byte(strings.Repeat("nonsense", int(quarter*(to-from)/8))), from*quarter)
	return err
}

// storePart is what's said of the store.
func (d *daemon) storePart() string {
	h, err := d.api.Health(context.Background())
	i := slices.IndexFunc(h.Parts, func(p api.HealthPart) bool { return p.Name == "store" })
	if err != nil || i < 0 {
		return ""
	}
	return string(h.Parts[i].State) + " " + h.Parts[i].Detail
}

// A database that another program locks under the daemon is said to be that as soon as a write has failed, and with
// how to find the program; once it's over all is well.
func TestALockUnderTheDaemonIsSaidAtOnce(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "one", Command: []string{"cat"}}); err != nil {
		t.Fatal(err)
	}
	unlock := holdForWriting(t, d)
	if _, err := d.api.Input(d.ctx(), "one", "into nothing", true); err == nil || !strings.Contains(err.Error(), "another process holds the database") {
		t.Errorf("an input gets %v", err)
	}
	for _, said := range []string{d.storePart(), d.cli("status")} {
		if !strings.Contains(said, "down") || !strings.Contains(said, "another process holds the database") || !strings.Contains(said, "lsof") {
			t.Errorf("it's said: %s", said)
		}
	}
	unlock()
	d.await("that all is well again", func() bool { return strings.HasPrefix(d.storePart(), "ok") })
}
