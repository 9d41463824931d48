package commands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// Whatever stands in a session's folder, and whatever path is given: what's read as the session's own is a plain file
// with one name, really below its folder; what's read from outside has its real path said; and nothing is read of
// links, of what has another name, of pipes, and of what's kept back, by whichever name its folder goes. It stays so when the
// session's program puts a link to another folder where its own was, or where the folder above was.
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
		for _, dir := range []string{home, filepath.Join(home, "sub"), filepath.Join(base, "away"), filepath.Join(base, "homely"), filepath.Join(base, ".kube"), filepath.Join(base, ".kube", "sub")} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.Symlink(home, alias), os.Symlink(filepath.Join(base, ".kube"), filepath.Join(base, "tidy"))); err != nil {
			t.Fatal(err)
		}
		dirs := []string{"home", "home/sub", "away", "homely", ".kube", "alias", "home/link"}
		_ = os.Symlink(filepath.Join(base, rapid.SampledFrom([]string{"away", "home/sub", "home"}).Draw(t, "link's")), filepath.Join(home, "link"))
		if rapid.Bool().Draw(t, "a file in each") {
			for _, dir := range dirs[:5] {
				if err := os.WriteFile(filepath.Join(base, dir, "a"), []byte("text"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "things") {
			at := filepath.Join(base, rapid.SampledFrom(dirs).Draw(t, "in"), rapid.SampledFrom([]string{"a", "b", "id_rsa", ".env"}).Draw(t, "name"))
			other := filepath.Join(base, rapid.SampledFrom(dirs[:5]).Draw(t, "of"), "a")
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
		cwd := rapid.SampledFrom([]string{home, alias, filepath.Join(home, "sub"), filepath.Join(base, "tidy")}).Draw(t, "cwd")
		began, err := filepath.EvalSymlinks(cwd)
		if err != nil {
			t.Fatal(err)
		}
		if put := rapid.SampledFrom([]string{"", "", "away", ".kube", "homely"}).Draw(t, "put in its place"); put != "" {
			at := rapid.SampledFrom([]string{home, alias, filepath.Join(home, "sub")}).Draw(t, "at")
			_ = os.Rename(at, at+" was") // what isn't there any more has no place
			_ = os.Symlink(filepath.Join(base, put), at)
		}
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "sub", "link", "..", "away", "home", "alias", "homely", "id_rsa", ".env", ".", ".kube", "home was"}), 1, 5).Draw(t, "path")
		path := strings.Join(parts, "/")
		switch rapid.IntRange(0, 3).Draw(t, "from where") {
		case 0:
			path = base + "/" + path
		case 1:
			path = "a"
		}
		read, outside, data, err := commands.SentFiles{ShownPath: func(p string) string { return p }}.ReadAnywhere(sessions.Session{Cwd: cwd, RealCwd: began}, path, 1000)
		if err != nil {
			if data != nil {
				t.Fatalf("%s: %v with %q", path, err, data)
			}
			return
		}
		full := read
		if !outside {
			full = filepath.Join(began, read)
		}
		where, err := filepath.EvalSymlinks(full)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(began, where)
		within := err == nil && filepath.IsLocal(rel)
		info, statErr := os.Lstat(full)
		if statErr != nil {
			t.Fatal(statErr)
		}
		if links := info.Sys().(*syscall.Stat_t).Nlink; within == outside || outside && where != read || !info.Mode().IsRegular() || links > 1 || string(data) != "text" {
			t.Fatalf("%s in %s is read as %s, outside %v, though it's %s, a %s with %d names: %q", path, cwd, read, outside, where, info.Mode(), links, data)
		}
		if name := filepath.Base(where); name == "id_rsa" || name == ".env" || strings.Contains(where, "/.kube/") {
			t.Fatalf("%s is read", where)
		}
	})
}

// While a program puts a link to another folder in place of its own and takes it away again, nothing of the other folder
// is read as its own.
func TestAFolderIsNotExchangedBeneathARead(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, aside, away := filepath.Join(base, "home"), filepath.Join(base, "aside"), filepath.Join(base, "away")
	if err := errors.Join(
		os.Mkdir(home, 0o700), os.Mkdir(away, 0o700),
		os.WriteFile(filepath.Join(home, "a"), []byte("own"), 0o600), os.WriteFile(filepath.Join(away, "a"), []byte("other"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := errors.Join(os.Rename(home, aside), os.Symlink(away, home), os.Remove(home), os.Rename(aside, home)); err != nil {
				done <- err
				return
			}
		}
	}()
	files, own := commands.SentFiles{ShownPath: func(p string) string { return p }}, 0
	for range drawtest.Times(100_000, 5000, 1000) {
		_, outside, data, err := files.ReadAnywhere(sessions.Session{Cwd: home, RealCwd: home}, "a", 1000)
		if err == nil && !outside {
			if own++; string(data) != "own" {
				t.Errorf("%q is read as its own", data)
				break
			}
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Logf("read as its own %d times", own)
}
