package store

import (
	"errors"
	"net"
	"os"
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
