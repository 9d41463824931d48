package app

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/redisbots"
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
	names := []string{pipe, long, link, "/dev/zero", "/dev/tty", t.TempDir()}
	if os.Geteuid() == 0 { // only root can give files away
		others := filepath.Join(t.TempDir(), "others")
		if err := errors.Join(os.WriteFile(others, []byte("12345:secret"), 0o644), os.Chown(others, 1234, -1)); err != nil {
			t.Fatal(err)
		}
		names = append(names, others)
	}
	for _, name := range names {
		for what, read := range map[string]func() error{
			"a token":      func() error { _, err := platform.ReadToken(config.Secret{}, name, "telegram"); return err },
			"a password":   func() error { _, err := redisbots.ServerOf(config.Redis{PasswordFile: name}); return err },
			"an authority": func() error { _, err := redisbots.ServerOf(config.Redis{TLS: true, TLSCAFile: name}); return err },
			"a certificate": func() error {
				_, err := redisbots.ServerOf(config.Redis{TLS: true, TLSCertFile: name, TLSKeyFile: name})
				return err
			},
			"doctor's token": func() error {
				if all := findings.ExamineTokenFile("telegram", name); len(all) == 1 && all[0].Severity == findings.Broken {
					return fmt.Errorf("%s: %w", all[0].Detail, regular.ErrIrregular)
				}
				return nil
			},
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

// A start says which secrets others can read.
func TestASecretThatOthersCanReadIsToldAtTheStart(t *testing.T) {
	dir := t.TempDir()
	file, token := filepath.Join(dir, "panebridge.yaml"), filepath.Join(dir, "token")
	for _, mode := range []os.FileMode{0o600, 0o644} {
		for path, text := range map[string]string{file: "adapters: {discord: {token: abcdefgh}}\n", token: "12345:secret\n"} {
			if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
				t.Fatal(err)
			}
		}
		var log bytes.Buffer
		cfg := all.Form().Default()
		discord.ConfigOf(cfg).Token, telegram.ConfigOf(cfg).TokenFile = config.NewSecret("abcdefgh"), token
		d := &daemon{opt: Options{ConfigPath: file, Log: slog.New(slog.NewTextHandler(&log, nil))}, config: cfg}
		d.warnOfExposure()
		for _, one := range []string{"adapters.discord.token stands", "can read " + token} {
			if told := strings.Contains(log.String(), one); told != (mode == 0o644) {
				t.Errorf("with mode %o %q is told: %t", mode, one, told)
			}
		}
	}
}
