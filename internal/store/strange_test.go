package store

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// strange are what may have the name of one of a database's files. Whoever opens the first for reading
// or for writing waits for the other end for ever.
var strange = map[string]func(path string) error{
	"pipe":    func(path string) error { return unix.Mkfifo(path, 0o600) },
	"device":  func(path string) error { return os.Symlink("/dev/zero", path) },
	"folder":  func(path string) error { return os.MkdirAll(path+"/within", 0o700) },
	"loop":    func(path string) error { return os.Symlink(path, path) },
	"endless": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
	"socket": func(path string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			return err
		}
		l.SetUnlinkOnClose(false)
		return l.Close()
	},
	"link to a pipe": func(path string) error {
		return errors.Join(unix.Mkfifo(path+".to", 0o600), os.Symlink(path+".to", path))
	},
}

// Whatever has the name of one of a database's files, nobody waits for it: not who asks whether the
// database is sound, who notes that it isn't, or who opens it.
func TestNothingStrangeBesideADatabaseHoldsAnybodyUp(t *testing.T) {
	for what, put := range strange {
		for _, suffix := range []string{unsoundSuffix, lineSuffix, roomSuffix} {
			path := dbPath(t)
			if err := put(path + suffix); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				unsound := Unsound(path)
				if noted := noteUnsound(path, errors.New("torn")); suffix == unsoundSuffix && what != "endless" && (unsound == nil || errors.Is(unsound, ErrDamaged) || noted == nil) {
					t.Errorf("with a %s it's taken for the mark: %v, %v", what, unsound, noted)
				}
				s, err := Open(t.Context(), path, Options{})
				if refused := suffix != unsoundSuffix && what != "endless"; refused != (err != nil) {
					t.Errorf("a %s for %s: %v", what, suffix, err)
				}
				if err == nil {
					err = s.Close()
				}
				if err != nil && suffix == unsoundSuffix {
					t.Error(err)
				}
			}()
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Fatalf("a %s for %s is waited for", what, suffix)
			}
		}
	}
}

// Whatever has the name of the database or of a file beside it, who opens it or looks at it is told which that is, what
// it is and what would be right, and what stands there stays.
func TestWhatIsStrangeBesideADatabaseIsNamed(t *testing.T) {
	const right = "a file of this user's alone is right there"
	puts := map[string]func(path string) error{
		"a folder": strange["folder"], "a pipe or a device": strange["pipe"], "a socket": strange["socket"],
		"a link":           func(path string) error { return os.Symlink(path+".elsewhere", path) },
		"belongs to user":  func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 1234, -1)) },
		"others can write": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666)) },
		"has another name": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Link(path, path+".elsewhere"))
		},
	}
	for what, put := range puts {
		if what == "belongs to user" && os.Geteuid() != 0 {
			continue // only root can give files away
		}
		for _, suffix := range append([]string{unsoundSuffix}, ownSuffixes...) {
			path := dbPath(t)
			if suffix != "" {
				if err := mustOpen(t, path, Options{}).Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.RemoveAll(path+suffix), put(path+suffix)); err != nil {
				t.Fatal(err)
			}
			looks := map[string]func() error{
				"finish":  func() error { return FinishRewrite(path) },
				"examine": func() error { return Examine(t.Context(), path) },
				"a daemon": func() error {
					s, err := Open(t.Context(), path, Options{})
					if err != nil {
						return err
					}
					return s.Close()
				},
				"a command": func() error {
					s, err := OpenInbox(t.Context(), path)
					if err != nil {
						return err
					}
					return s.Close()
				},
			}
			if suffix == unsoundSuffix {
				looks = map[string]func() error{"the note": func() error { return Unsound(path) }}
			}
			for by, look := range looks {
				if err := look(); !errors.Is(err, ErrStrange) || !strings.Contains(err.Error(), path+suffix) || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), right) {
					t.Errorf("%s for %q: %s is told %v", what, suffix, by, err)
				}
			}
			if _, err := os.Lstat(path + suffix); err != nil {
				t.Errorf("%s for %q: %v", what, suffix, err)
			}
		}
	}
}
