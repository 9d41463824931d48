package inbound_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/sessions"
)

// A file that's sent in parts is where files from chats are, whole and once, whatever comes twice or late, and under a
// name that's harmless.
func TestFilesComeInParts(t *testing.T) {
	dir := t.TempDir()
	u := &inbound.Uploads{StateDir: t.TempDir(), MaxFile: 10}
	to := sessions.Session{ID: "pb_1", Name: "one", Cwd: dir, State: sessions.StateIdle}
	send := func(key, name string, size, offset int64, text string) (string, error) {
		return u.TakePart(to, inbound.UploadPart{Key: key, Name: name, Size: size, Offset: offset, Bytes: []byte(text)})
	}
	must := func(whole bool) func(path string, err error) string {
		return func(path string, err error) string {
			t.Helper()
			if err != nil || (path != "") != whole {
				t.Fatalf("%q, %v; want whole: %t", path, err, whole)
			}
			return path
		}
	}
	must(false)(send("a", "../../evil name;.png", 10, 0, "0123"))
	must(false)(send("a", "../../evil name;.png", 10, 0, "0123")) // from the beginning again
	must(false)(send("a", "../../evil name;.png", 10, 4, "4567"))
	must(false)(send("a", "../../evil name;.png", 10, 4, "4567")) // the answer was lost
	path := must(true)(send("a", "../../evil name;.png", 10, 8, "89"))
	if again := must(true)(send("a", "../../evil name;.png", 10, 8, "89")); again != path {
		t.Errorf("sent again it's %s, was %s", again, path)
	}
	if !strings.HasPrefix(path, filepath.Join(dir, ".panebridge", "in", "evil_name_-")) || !strings.HasSuffix(path, ".png") {
		t.Errorf("it's at %s", path)
	}
	if got, err := os.ReadFile(path); string(got) != "0123456789" || err != nil {
		t.Errorf("it has %q, %v", got, err)
	}
	if other := must(true)(send("b", "evil name;.png", 1, 0, "x")); other == path {
		t.Errorf("another upload has the same place")
	}

	for what, err := range map[string]error{
		"too large":          second(send("c", "x", 11, 0, "0")),
		"empty":              second(send("c", "x", 0, 0, "")),
		"longer than it was": second(send("c", "x", 3, 2, "xx")),
		"before it":          second(send("c", "x", 3, -1, "x")),
	} {
		if !errors.Is(err, sessions.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := second(send("d", "x", 3, 1, "x")); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("without its beginning: %v", err)
	}
	to.State = sessions.StateEnded
	if err := second(send("d", "x", 1, 0, "x")); !errors.Is(err, sessions.ErrEnded) {
		t.Errorf("for a session that has ended: %v", err)
	}
	to.State, u.MaxFile = sessions.StateIdle, -1
	if err := second(send("d", "x", 1, 0, "x")); !errors.Is(err, sessions.ErrInvalid) {
		t.Errorf("where none is taken: %v", err)
	}
}

func second(_ string, err error) error { return err }

// What's left of a file that nobody went on to send is removed a day later; a link in its place is neither followed nor
// written to.
func TestPartsThatAreLeft(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "theirs")
	u := &inbound.Uploads{StateDir: t.TempDir(), MaxFile: 10}
	to := sessions.Session{ID: "pb_1", Cwd: dir, State: sessions.StateIdle}
	part := inbound.UploadPart{Key: "a", Name: "x.txt", Size: 4, Bytes: []byte("ab")}
	if _, err := u.TakePart(to, part); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, ".panebridge", "in")
	left := func() []string {
		all, err := filepath.Glob(filepath.Join(in, ".part-*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if len(left()) != 1 {
		t.Fatalf("there are %v", left())
	}
	if err := os.Remove(left()[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, []byte("ab"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(in, ".part-x-"+markOf(t, u, to)+".txt")
	if err := os.Symlink(outside, name); err != nil {
		t.Fatal(err)
	}
	part.Offset = 2
	if _, err := u.TakePart(to, part); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("through a link: %v", err)
	}
	if got, err := os.ReadFile(outside); !bytes.Equal(got, []byte("ab")) || err != nil {
		t.Errorf("the other file has %q, %v", got, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	part.Offset = 0
	if _, err := u.TakePart(to, part); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(left()[0], old, old); err != nil {
		t.Fatal(err)
	}
	part.Key, part.Size = "b", 2
	if path, err := u.TakePart(to, part); path == "" || err != nil {
		t.Fatal(path, err)
	}
	if len(left()) != 0 {
		t.Errorf("there are %v still", left())
	}
}

// markOf is the mark that a file gets of the upload "a".
func markOf(t *testing.T, u *inbound.Uploads, to sessions.Session) string {
	t.Helper()
	path, err := u.TakePart(sessions.Session{ID: to.ID, Cwd: t.TempDir(), State: to.State}, inbound.UploadPart{Key: "a", Name: "x.txt", Size: 1, Bytes: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "x-"), ".txt")
}
