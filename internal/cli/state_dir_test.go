package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/cli"
	"github.com/panebridge/panebridge/internal/statedir"
)

// besideTheDaemon are commands that open the database themselves, whether a daemon runs or not.
var besideTheDaemon = map[string][]string{
	"notify": {"notify", "done"}, "send": {"send", "--from", "person:ada", "--to", "person:bob", "--text", "hello"},
	"poll": {"poll", "--from", "person:ada"}, "ping": {"ping", "person:bob", "--from", "person:ada"},
	"listen": {"listen", "--from", "person:ada", "--timeout", "1"}, "fleet new": {"fleet", "new", "front"}, "fleet list": {"fleet", "list"},
	"wait": {"wait", "one", "--pattern", "x", "--timeout", "1s"},
}

// command runs a command as it is on a state folder.
func command(dir string, args ...string) (said string, code int) {
	var out, errs bytes.Buffer
	home := filepath.Dir(dir)
	code = cli.Main(context.Background(), cli.Build{}, append(slices.Clone(args), "--state-dir", dir), cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &errs}, func(name string) (string, bool) {
		if name != "HOME" {
			return "", false
		}
		return home, true
	})
	return out.String() + errs.String(), code
}

// A state folder that `run` refuses is refused by the commands that write beside the daemon, too, in the same words, and
// nothing is made in it; one that `run` takes is taken.
func TestCommandsRefuseTheStateFoldersThatRunRefuses(t *testing.T) {
	spoilt := map[string]func(dir string) error{
		"the folder is open":      func(dir string) error { return os.Chmod(dir, 0o777) },
		"the folder is a group's": func(dir string) error { return os.Chmod(dir, 0o770) },
		"a link for the database": func(dir string) error {
			return errors.Join(os.WriteFile(dir+"-victim", []byte("mine"), 0o600), os.Symlink(dir+"-victim", filepath.Join(dir, "panebridge.db")))
		},
		"a link for the bells": func(dir string) error { return os.Symlink("/tmp", filepath.Join(dir, "bells")) },
		"an open database": func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "panebridge.db"), nil, 0o600), os.Chmod(filepath.Join(dir, "panebridge.db"), 0o666))
		},
		"others' folder": func(dir string) error { return os.Chown(dir, 1234, 1234) },
		"others' lock of typing": func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "typing.lock"), nil, 0o600), os.Chown(filepath.Join(dir, "typing.lock"), 1234, 1234))
		},
	}
	for what, spoil := range spoilt {
		if strings.HasPrefix(what, "others'") && os.Geteuid() != 0 {
			continue // only root can give files away
		}
		for name, args := range besideTheDaemon {
			dir := filepath.Join(t.TempDir(), "st")
			if err := errors.Join(os.Mkdir(dir, 0o700), spoil(dir)); err != nil {
				t.Fatal(err)
			}
			before := tree(t, filepath.Dir(dir))
			why := statedir.Check(dir)
			if why == nil {
				t.Fatalf("%s: it's taken", what)
			}
			for _, args := range [][]string{args, {"run"}} {
				if said, _ := command(dir, args...); !strings.Contains(said, why.Error()) {
					t.Errorf("%s: %v says %s, not %v", what, args, said, why)
				}
			}
			if after := tree(t, filepath.Dir(dir)); !slices.Equal(before, after) {
				t.Errorf("%s: %s has left %v where there was %v", what, name, after, before)
			}
		}
	}
	taken := map[string]func(dir string) error{
		"it isn't there":  func(string) error { return nil },
		"by a link":       func(dir string) error { return errors.Join(os.Mkdir(dir+"-real", 0o700), os.Symlink(dir+"-real", dir)) },
		"others may read": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o755)) },
		"one's own things": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Symlink("/nowhere", filepath.Join(dir, "notes")), os.WriteFile(filepath.Join(dir, "panebridge.db-damaged-20260102T150405Z"), nil, 0o600))
		},
	}
	for what, prepare := range taken {
		dir := filepath.Join(t.TempDir(), "st")
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{besideTheDaemon["notify"], besideTheDaemon["fleet new"], {"fleet", "list"}} {
			if said, code := command(dir, args...); code != 0 {
				t.Errorf("%s: %v ends with %d: %s", what, args, code, said)
			}
		}
		if err := statedir.Check(dir); err != nil {
			t.Errorf("%s: behind the commands `run` refuses it: %v", what, err)
		}
	}
}

// tree has the names of all that's below a folder.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	if err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		all = append(all, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}
