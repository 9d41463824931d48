package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What was put aside is told of with what to do, whatever it is, and goes with all that belongs to it when it's as old
// as is said. What else lies there stays, whatever its name, and so does what the store itself goes on with.
func TestWhatWasPutAsideGoesInTime(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	old, young := "20260102T030405Z", "20260302T030405Z"
	write := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.WriteFile(path+name, []byte("content"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	others := []string{"-damaged-notes", "-damaged-" + old + "-mine", "-keeps-" + old, "-left-" + old, "-kept-" + young}
	write(others...)
	write("-damaged-"+old, "-damaged-"+old+"-wal", "-damaged-"+old+"-lost", "-left-"+old+"-wal", "-kept-"+old, "-kept-"+old+"-wal", "-kept-"+old+"-shm")
	all, err := s.Asides()
	var said []string
	for _, a := range all {
		said = append(said, a.String())
	}
	text := strings.Join(said, "\n")
	if err != nil || len(all) != 4 {
		t.Fatalf("%v, it says\n%s", err, text)
	}
	for _, want := range []string{
		"was damaged lies in " + path + "-damaged-" + old + ". Another was written in its place; content.",
		"replaced by another lies in " + path + "-kept-" + old + ". Stop panebridge and give it the database's name",
		"replaced by another lies in " + path + "-kept-" + young,
		"without its database lies in " + path + "-left-" + old + "-wal. If you have its database, stop panebridge and give both their names",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it doesn't say %q:\n%s", want, text)
		}
	}
	at, err := time.Parse("20060102T150405Z", old)
	if err != nil {
		t.Fatal(err)
	}
	if dropped, err := s.DropAsides(at); err != nil || len(dropped) != 0 {
		t.Errorf("%v are deleted, %v, and none is older", dropped, err)
	}
	inUse := path + "-kept-" + old
	s.kept.Store(&inUse)
	if dropped, err := s.DropAsides(at.Add(time.Second)); err != nil || len(dropped) != 2 {
		t.Errorf("%v are deleted, %v; want those that nothing uses", dropped, err)
	}
	s.kept.Store(nil)
	if dropped, err := s.DropAsides(at.Add(time.Second)); err != nil || len(dropped) != 1 || dropped[0].Path != inUse {
		t.Errorf("%v are deleted, %v; want %s", dropped, err, inUse)
	}
	left, err := filepath.Glob(path + "-*" + old + "*")
	if err != nil || len(left) != 3 {
		t.Errorf("%v, there are %q", err, left)
	}
	for _, name := range others {
		if _, err := os.Stat(path + name); errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is gone", name)
		}
	}
}
