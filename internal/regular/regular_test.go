package regular

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Files of this user and of root are read, whoever else may read them; those of others aren't, under
// any name, unless that's asked for.
func TestFilesOfOthersAreNotRead(t *testing.T) {
	for owner, others := range map[uint32]bool{0: false, uint32(os.Geteuid()): false, 1234: true} {
		for _, mode := range []os.FileMode{0o600, 0o640, 0o644} {
			file, link := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "link")
			if err := errors.Join(os.WriteFile(file, []byte("text"), mode), os.Symlink(file, link)); err != nil {
				t.Fatal(err)
			}
			if int(owner) != os.Geteuid() {
				if os.Geteuid() != 0 {
					t.Skip("only root can give files away")
				}
				if err := os.Chown(file, int(owner), -1); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range []string{file, link} {
				text, err := Read(path, 100)
				if others != errors.Is(err, ErrOthers) || !others && string(text) != "text" {
					t.Errorf("a file of user %d with mode %o is read as %q, %v", owner, mode, text, err)
				}
				if err := CheckOwner(path); others != errors.Is(err, ErrOthers) {
					t.Errorf("its owner is checked: %v", err)
				}
				if text, err := ReadAnybodys(path, 100); string(text) != "text" || err != nil {
					t.Errorf("as anybody's it's %q, %v", text, err)
				}
			}
		}
	}
}

// A pipe, a device, a folder or a link in place of a file that's kept is refused, and a pipe in place
// of a folder; nobody waits for them, and what a link leads to isn't changed.
func TestKeptFilesAndBasesAreWhatTheyAre(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	for what, put := range map[string]func(path string) error{
		"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":   func(path string) error { return os.Symlink(victim, path) },
		"file":   func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
	} {
		path := filepath.Join(t.TempDir(), "it")
		if err := errors.Join(os.WriteFile(victim, []byte("mine"), 0o600), put(path)); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(30*time.Second, func() { panic("a " + what + " is waited for") })
		f, kept := OpenKept(path, os.O_CREATE|os.O_TRUNC)
		if kept == nil {
			_ = f.Close()
		}
		r, base := OpenBase(path)
		if base == nil {
			_ = r.Close()
		}
		late.Stop()
		if (kept == nil) != (what == "file") || (base == nil) != (what == "folder") {
			t.Errorf("a %s: as a file %v, as a folder %v", what, kept, base)
		}
		if text, err := os.ReadFile(victim); string(text) != "mine" || err != nil {
			t.Errorf("a %s: the other file has %q, %v", what, text, err)
		}
	}
}

// A folder that's exchanged for a pipe, for a link to one, and back, all the while, is opened or refused:
// nobody waits for the pipe, and no other folder is taken for it.
func TestFoldersThatBecomePipesAreNotWaitedFor(t *testing.T) {
	base := t.TempDir()
	path := filepath.Join(base, "folder")
	pipe, link, away := filepath.Join(base, "pipe"), filepath.Join(base, "link"), filepath.Join(base, "away")
	if err := errors.Join(os.Mkdir(path, 0o700), unix.Mkfifo(pipe, 0o600), os.Symlink(pipe, link)); err != nil {
		t.Fatal(err)
	}
	quit, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			for _, other := range []string{pipe, link} {
				select {
				case <-quit:
					ended <- nil
					return
				default:
				}
				if err := errors.Join(os.Rename(path, away), os.Rename(other, path), os.Rename(path, other), os.Rename(away, path)); err != nil {
					ended <- err
					return
				}
			}
		}
	}()
	root, err := os.OpenRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	late := time.AfterFunc(time.Minute, func() { panic("a pipe in place of a folder is waited for") })
	opened := map[string]int{}
	for n := 0; n < 40_000 || opened["base"] == 0 || opened["folder"] == 0; n++ {
		for what, open := range map[string]func() (*os.Root, error){
			"base":   func() (*os.Root, error) { return OpenBase(path) },
			"folder": func() (*os.Root, error) { return OpenFolder(root, "folder") },
		} {
			if r, err := open(); err == nil {
				opened[what]++
				_ = r.Close()
			}
		}
	}
	late.Stop()
	close(quit)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	t.Logf("opened: %v", opened)
}
