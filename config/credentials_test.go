package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/panebridge/panebridge/config"
)

// What systemd hands over by a key's name takes the place of the file that the key names, and of nothing else: not of a
// key without a file, and not where the folder isn't one.
func TestCredentialsTakeTheirFilesPlaces(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"redis.password_file", "voice.key_file"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("secret"), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "redis.sentinel_password_file"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "config.yaml")
	text := "redis: {addrs: [\"a:1\"], master_name: m, password_file: /etc/one, sentinel_password_file: /etc/two}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for credentials, want := range map[string]string{
		"": "/etc/one", "unset": "/etc/one", filepath.Join(folder, "none"): "/etc/one", folder: filepath.Join(folder, "redis.password_file"),
	} {
		cfg, err := config.Form{}.Load(file, func(name string) (string, bool) { return credentials, name == "CREDENTIALS_DIRECTORY" })
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Redis.PasswordFile; got != want {
			t.Errorf("with %q the password is in %s, want %s", credentials, got, want)
		}
		if cfg.Redis.SentinelPasswordFile != "/etc/two" || cfg.Voice.KeyFile != "" {
			t.Errorf("with %q it's %s and %q", credentials, cfg.Redis.SentinelPasswordFile, cfg.Voice.KeyFile)
		}
	}
}
