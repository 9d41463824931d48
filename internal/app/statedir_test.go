package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A state folder that a daemon has left is free at once, though a child that's just being
// started has its lock's file open until it runs its program.
func TestAFolderThatWasLeftIsFree(t *testing.T) {
	dir := t.TempDir()
	d, err := openStateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	child, err := unix.Dup(int(d.lock.Fd())) // as fork leaves it
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openStateDir(dir); !errors.Is(err, ErrInUse) {
		t.Fatalf("opened twice: %v", err)
	}
	d.close()
	again, err := openStateDir(dir)
	if err != nil {
		t.Fatalf("behind its end: %v", err)
	}
	again.close()
	if err := unix.Close(child); err != nil {
		t.Fatal(err)
	}
}

// What somebody else has put into a state folder, or can, is refused with what would be right, and
// nothing that it leads to is changed.
func TestAStateFolderIsOnesOwn(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	for what, spoil := range map[string]func(dir string) error{
		"others can write to": func(dir string) error { return os.Chmod(dir, 0o777) },
		"panebridge.pid is a link": func(dir string) error {
			return os.Symlink(victim, filepath.Join(dir, "panebridge.pid"))
		},
		"panebridge.db is a link": func(dir string) error { return os.Symlink(victim, filepath.Join(dir, databaseFile)) },
		"shell is a link":         func(dir string) error { return os.Symlink(filepath.Dir(victim), filepath.Join(dir, shellFolder)) },
		"another name": func(dir string) error {
			return os.Link(victim, filepath.Join(dir, databaseFile))
		},
		"others can write to DIR/panebridge.db": func(dir string) error {
			file := filepath.Join(dir, databaseFile)
			return errors.Join(os.WriteFile(file, nil, 0o600), os.Chmod(file, 0o666))
		},
		"belongs to user 1234": func(dir string) error {
			file := filepath.Join(dir, "redis-telegram.json")
			return errors.Join(os.WriteFile(file, nil, 0o600), os.Chown(file, 1234, 1234))
		},
		"belongs to user 4321": func(dir string) error { return os.Chown(dir, 4321, 4321) },
	} {
		dir := t.TempDir()
		if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(what, "belongs") && os.Geteuid() != 0 {
			continue // only root can give files away
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		d, err := openStateDir(dir)
		if !errors.Is(err, errNotOurs) || !strings.Contains(err.Error(), strings.ReplaceAll(what, "DIR", dir)) {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			d.close()
		}
		if text, err := os.ReadFile(victim); string(text) != "mine" || err != nil {
			t.Errorf("%s: the other file has %q, %v", what, text, err)
		}
	}
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "state")
	if err := errors.Join(os.Symlink(dir, link), os.Symlink(victim, filepath.Join(dir, "notes"))); err != nil {
		t.Fatal(err)
	}
	d, err := openStateDir(link)
	if err != nil {
		t.Fatalf("one's own folder by a link, with something of one's own in it: %v", err)
	}
	d.close()
}
