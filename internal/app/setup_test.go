package app_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
)

func none(string) (string, bool) { return "", false }

func firstTelegram(dir string) telegram.SetupAnswers {
	return telegram.SetupAnswers{
		TokenFile: filepath.Join(dir, "telegram-token"),
		Chat:      telegram.ChatConfig{ID: -100123, Topics: true}, Title: "Agents: all # of them", Admin: 42, Name: "Ada", Mirror: "a\"[*]",
	}
}

func firstFiles(dir string, c telegram.SetupAnswers) app.FirstFiles {
	return app.FirstFiles{File: filepath.Join(dir, "config.yaml"), FirstConfig: platform.FirstConfig{
		Token: config.NewSecret("1:secret"), TokenFile: c.TokenFile, YAML: c.YAML(),
	}}
}

// Whatever stands in a path or a pattern is in the configuration as it was.
func TestFirstConfigurationMeansWhatItSays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a "b" ${HOME} ü: # long `+strings.Repeat("x y ", 40), "below")
	c := firstTelegram(dir)
	c.APIURL, c.Proxy = "https://api.example", "socks5://127.0.0.1:1080"
	f := firstFiles(dir, c)
	written, err := f.Write(none)
	if err != nil || !written {
		t.Fatalf("written: %t, %v", written, err)
	}
	cfg, err := all.Form().Load(f.File, none)
	if err != nil {
		t.Fatal(err)
	}
	tg := telegramConfig(cfg)
	if tg.TokenFile != f.TokenFile || tg.APIURL != c.APIURL || tg.Proxy != c.Proxy || tg.Chats[0].ID != -100123 || cfg.Mirrors[0].Session != c.Mirror {
		t.Errorf("read %+v, %+v", tg, cfg.Mirrors)
	}
	text, err := os.ReadFile(f.TokenFile)
	if err != nil || string(text) != "1:secret\n" {
		t.Errorf("the token's file has %q, %v", text, err)
	}
	for _, path := range []string{f.File, f.TokenFile} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
}

func TestFirstConfigurationLeavesNothingAfterAnError(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "x", "y")
	c := firstTelegram(dir)
	c.Mirror = "[" // no pattern
	f := firstFiles(dir, c)
	if written, err := f.Write(none); err == nil || written {
		t.Errorf("written: %t, %v", written, err)
	}
	c.Mirror = "*"
	c.TokenFile = filepath.Join(above, "z", strings.Repeat("long", 100)) // no file can be called that
	f = firstFiles(dir, c)
	if written, err := f.Write(none); err == nil || written {
		t.Errorf("written: %t, %v", written, err)
	}
	if list, err := os.ReadDir(above); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// Not even a link that points nowhere is replaced.
func TestFirstConfigurationReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	f := firstFiles(dir, firstTelegram(dir))
	if err := os.Symlink(filepath.Join(dir, "nowhere"), f.File); err != nil {
		t.Fatal(err)
	}
	if written, err := f.Write(none); err != nil || written {
		t.Errorf("written: %t, %v", written, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("behind the link: %v", err)
	}
	if err := f.Check(); err != nil {
		t.Errorf("the same token again: %v", err)
	}
	f.Token = config.NewSecret("1:another")
	if err := f.Check(); err == nil || strings.Contains(err.Error(), "1:") {
		t.Errorf("another token: %v", err)
	}
}
