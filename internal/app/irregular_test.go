package app

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/regular"
)

// A pipe, a device, a folder or an endless file where the configuration names a secret's is
// refused at once.
func TestSecretsAreReadFromFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, 1<<40); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(link, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, long, link, "/dev/zero", "/dev/tty", t.TempDir()} {
		for what, read := range map[string]func() error{
			"a token":       func() error { _, err := token(config.Secret{}, name, "telegram"); return err },
			"a password":    func() error { _, err := redisServer(config.Redis{PasswordFile: name}); return err },
			"an authority":  func() error { _, err := redisTLS(config.Redis{TLSCAFile: name}); return err },
			"a certificate": func() error { _, err := keyPair(name, name); return err },
		} {
			done := make(chan error, 1)
			go func() { done <- read() }()
			select {
			case err := <-done:
				if err == nil {
					t.Errorf("%s was read from %s", what, name)
				}
				if name == pipe && !errors.Is(err, regular.ErrIrregular) {
					t.Errorf("%s from a pipe: %v", what, err)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s from %s isn't there after 10 s", what, name)
			}
		}
	}
}
