package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// Folders and names are taken as they are by the daemon too: of sessions that it begins,
// and of panes that are adopted by hand or by a pattern.
func TestFoldersAndNamesAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	d.stop()
	d.cfg.Sessions.Adopt = []string{"*|agent*"}
	d.start()
	d.awaitTmux()
	dir, err := filepath.EvalSymlinks(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"#(touch ran)", "C#Samples", "a##b", "#{pane_id}", "%H", "~", "a|b;c\"d'e", "-x"} {
		folder := filepath.Join(dir, "folders", name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Cwd: folder, Command: []string{"sh", "-c", `pwd >here; exec cat`}})
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if s.Cwd != folder || s.Name != name {
			t.Errorf("%q: it's %q in %q", name, s.Name, s.Cwd)
		}
		d.await("start in "+name, func() bool {
			text, _ := os.ReadFile(filepath.Join(folder, "here"))
			return string(text) == folder+"\n"
		})
	}
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "gone", Cwd: filepath.Join(dir, "#(touch ran)", "gone")}); err == nil || !strings.Contains(err.Error(), "no such folder") {
		t.Errorf("in a folder that isn't there: %v", err)
	}

	d.tmux("new-session", "-d", "-s", "a|agent ##(touch ran) %7C%25", "exec cat") // tmux takes ## for #
	d.tmux("new-session", "-d", "-s", "b|##{pane_id}", "exec cat")
	name := "a|agent #(touch ran) %7C%25"
	d.await("adoption of "+name, func() bool { return d.living()[name] != "" })
	if all, err := d.api.Adopt(d.ctx(), api.Create{Tmux: "b|#{pane_id}"}); err != nil || len(all) != 1 || all[0].Name != "b|#{pane_id}" {
		t.Errorf("adopt: %+v, %v", all, err)
	}
	d.tmux("rename-session", "-t", "=b|#{pane_id}", "c|##(touch ran)")
	d.await("new name", func() bool { return d.living()["c|#(touch ran)"] != sessions.ID("") })
	d.tmux("run-shell", ":")
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		if filepath.Base(path) == "ran" {
			t.Errorf("%s was made", path)
		}
		return nil
	})
	if _, err := os.Stat("ran"); err == nil {
		t.Error("it ran in the tests' folder")
		_ = os.Remove("ran")
	}
}
