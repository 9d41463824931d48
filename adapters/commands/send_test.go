package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// Whatever stands in a session's folder, and whatever path is given: what's read as the session's own is a plain file
// with one name, really below its folder; what's read from outside has its real path said; and nothing is read of
// links, of what has another name, of pipes, and of what's kept back.
func TestFilesFromOutsideAreKnown(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		base, err := os.MkdirTemp("", "sent")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(base) }()
		if base, err = filepath.EvalSymlinks(base); err != nil {
			t.Fatal(err)
		}
		home, alias := filepath.Join(base, "home"), filepath.Join(base, "alias")
		for _, dir := range []string{home, filepath.Join(home, "sub"), filepath.Join(base, "away"), filepath.Join(base, "homely")} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(home, alias); err != nil {
			t.Fatal(err)
		}
		dirs := []string{"home", "home/sub", "away", "homely", "alias", "home/link"}
		_ = os.Symlink(filepath.Join(base, rapid.SampledFrom([]string{"away", "home/sub", "home"}).Draw(t, "link's")), filepath.Join(home, "link"))
		for range rapid.IntRange(1, 6).Draw(t, "things") {
			at := filepath.Join(base, rapid.SampledFrom(dirs).Draw(t, "in"), rapid.SampledFrom([]string{"a", "b", "id_rsa", ".env"}).Draw(t, "name"))
			other := filepath.Join(base, rapid.SampledFrom(dirs[:4]).Draw(t, "of"), "a")
			switch rapid.SampledFrom([]string{"file", "file", "hard link", "link", "pipe", "folder"}).Draw(t, "what") {
			case "file":
				if f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil { // else something has the name
					_, _ = f.WriteString("text")
					_ = f.Close()
				}
			case "hard link":
				_ = os.Link(other, at)
			case "link":
				_ = os.Symlink(other, at)
			case "pipe":
				_ = syscall.Mkfifo(at, 0o600)
			case "folder":
				_ = os.Mkdir(at, 0o700)
			}
		}
		cwd := rapid.SampledFrom([]string{home, alias}).Draw(t, "cwd")
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "sub", "link", "..", "away", "home", "alias", "homely", "id_rsa", ".env", "."}), 1, 5).Draw(t, "path")
		path := strings.Join(parts, "/")
		if rapid.Bool().Draw(t, "whole") {
			path = base + "/" + path
		}
		read, outside, data, err := commands.SentFiles{ShownPath: func(p string) string { return p }}.ReadAnywhere(cwd, path, 1000)
		if err != nil {
			if data != nil {
				t.Fatalf("%s: %v with %q", path, err, data)
			}
			return
		}
		full := read
		if !outside {
			full = filepath.Join(cwd, read)
		}
		where, err := filepath.EvalSymlinks(full)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(home, where)
		within := err == nil && filepath.IsLocal(rel)
		info, statErr := os.Lstat(full)
		if statErr != nil {
			t.Fatal(statErr)
		}
		if links := info.Sys().(*syscall.Stat_t).Nlink; within == outside || outside && where != read || !info.Mode().IsRegular() || links > 1 || string(data) != "text" {
			t.Fatalf("%s in %s is read as %s, outside %v, though it's %s, a %s with %d names: %q", path, cwd, read, outside, where, info.Mode(), links, data)
		}
		if name := filepath.Base(where); name == "id_rsa" || name == ".env" {
			t.Fatalf("%s is read", where)
		}
	})
}
