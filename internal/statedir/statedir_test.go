package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular/regulartest"
)

// A state folder that a daemon has left is free at once, though a child that's just being
// started has its lock's file open until it runs its program.
func TestAFolderThatWasLeftIsFree(t *testing.T) {
	dir := t.TempDir()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, f := range []*os.File{d.folder, d.number} {
		child, err := unix.Dup(int(f.Fd())) // as fork leaves it
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, child)
	}
	if _, err := Open(dir); !errors.Is(err, ErrInUse) {
		t.Fatalf("opened twice: %v", err)
	}
	d.Close()
	again, err := Open(dir)
	if err != nil {
		t.Fatalf("behind its end: %v", err)
	}
	again.Close()
	for _, child := range children {
		if err := unix.Close(child); err != nil {
			t.Fatal(err)
		}
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
		"panebridge.db is a link": func(dir string) error { return os.Symlink(victim, filepath.Join(dir, DatabaseFile)) },
		"shell is a link":         func(dir string) error { return os.Symlink(filepath.Dir(victim), filepath.Join(dir, ShellFolder)) },
		"panebridge.db-unsound is a pipe": func(dir string) error {
			return unix.Mkfifo(filepath.Join(dir, DatabaseFile+"-unsound"), 0o600)
		},
		"another name": func(dir string) error {
			return os.Link(victim, filepath.Join(dir, DatabaseFile))
		},
		"others can write to DIR/panebridge.db": func(dir string) error {
			file := filepath.Join(dir, DatabaseFile)
			return errors.Join(os.WriteFile(file, nil, 0o600), os.Chmod(file, 0o666))
		},
		"belongs to user 1234": func(dir string) error {
			file := filepath.Join(dir, "redis-telegram.json")
			return errors.Join(os.WriteFile(file, nil, 0o600), os.Chown(file, 1234, 1234))
		},
		"belongs to user 4321, and panebridge runs as 0: run it as that user (in a container: --user 4321:4321)": func(dir string) error { return os.Chown(dir, 4321, 4321) },
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
		d, err := Open(dir)
		if !errors.Is(err, errNotOurs) || !strings.Contains(err.Error(), strings.ReplaceAll(what, "DIR", dir)) {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			d.Close()
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
	d, err := Open(link)
	if err != nil {
		t.Fatalf("one's own folder by a link, with something of one's own in it: %v", err)
	}
	d.Close()
}

// A state folder is one daemon's, whatever becomes of the file with its number: it's removed, replaced,
// or locked by a release that locks nothing else; and so is a folder that was made anew since it looked.
func TestAFolderIsOneDaemonsWhateverIsRemoved(t *testing.T) {
	for what, spoil := range map[string]func(dir, file string) error{
		"nothing":  func(_, _ string) error { return nil },
		"the file": func(_, file string) error { return os.Remove(file) },
		"another file": func(_, file string) error {
			return errors.Join(os.Remove(file), os.WriteFile(file, []byte("7\n"), 0o600))
		},
		"an empty file":    func(_, file string) error { return os.Truncate(file, 0) },
		"all of it":        func(dir, _ string) error { return os.RemoveAll(dir) },
		"made anew":        func(dir, _ string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)) },
		"another's folder": func(dir, _ string) error { return errors.Join(os.Rename(dir, dir+"-old"), os.Mkdir(dir, 0o700)) },
	} {
		dir := filepath.Join(t.TempDir(), "state")
		file := filepath.Join(dir, pidFile)
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir, file); err != nil {
			t.Fatal(err)
		}
		refused := func(when string) {
			t.Helper()
			other, err := Open(dir)
			if !errors.Is(err, ErrInUse) {
				t.Errorf("%s, %s: another gets %v", what, when, err)
			}
			other.Close()
		}
		if strings.Contains(what, "file") {
			refused("at once")
		}
		if err := d.Recheck(); err != nil && what != "all of it" {
			t.Errorf("%s: it finds %v", what, err)
		}
		if what == "all of it" {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := d.Recheck(); err != nil {
				t.Errorf("%s, when it's there again: it finds %v", what, err)
			}
		}
		refused("once it has looked")
		if text, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(text)) != strconv.Itoa(os.Getpid()) {
			t.Errorf("%s: the file says %q, %v", what, text, err)
		}
		d.Close()
		again, err := Open(dir)
		if err != nil {
			t.Errorf("%s, behind its end: %v", what, err)
		}
		again.Close()
	}
}

// Of two daemons on one name, the second of which has come when the folder was made anew, the first says so.
func TestAFolderThatAnotherHasTakenIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	first, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := os.Rename(dir, dir+"-old"); err != nil {
		t.Fatal(err)
	}
	second, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := first.Recheck(); !errors.Is(err, ErrInUse) {
			t.Errorf("the first finds %v", err)
		}
		if err := second.Recheck(); err != nil {
			t.Errorf("the second finds %v", err)
		}
	}
	second.Close()
	if err := first.Recheck(); err != nil {
		t.Errorf("when the second has ended: %v", err)
	}
}

// An older release locks the file with its number alone.
func TestAnOlderReleaseIsSeen(t *testing.T) {
	dir := t.TempDir()
	old, err := os.Create(filepath.Join(dir, pidFile))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := unix.Flock(int(old.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("beside an older release: %v", err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
}

// A state folder that this user may not use says what helps.
func TestAFolderThatMayNotBeUsedSaysWhatToDo(t *testing.T) {
	if regulartest.RunAsNobody(t) {
		return
	}
	for what, spoil := range map[string]func(dir, number string) error{
		"the folder":       func(dir, _ string) error { return os.Chmod(dir, 0o500) },
		"not to be read":   func(dir, _ string) error { return os.Chmod(dir, 0) },
		"the number":       func(_, number string) error { return os.WriteFile(number, nil, 0) },
		"the folder above": func(dir, _ string) error { return errors.Join(os.Remove(dir), os.Chmod(filepath.Dir(dir), 0o500)) },
	} {
		dir := filepath.Join(t.TempDir(), "state")
		if err := errors.Join(os.Mkdir(dir, 0o700), spoil(dir, filepath.Join(dir, pidFile))); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "chown -R "+strconv.Itoa(os.Geteuid())+" "+dir) {
			t.Errorf("%s: %v", what, err)
		}
		_ = os.Chmod(filepath.Dir(dir), 0o700)
		_ = os.Chmod(dir, 0o700)
	}
}
