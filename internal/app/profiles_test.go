package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/standin"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// installMine makes a program that draws like Codex, is called mine and is of a version,
// and returns the command line that runs it.
func installMine(t *testing.T, dir, version string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	play := standin.Play{Agent: "codex", Seed: 2, Home: filepath.Join(dir, "home"), Journal: filepath.Join(dir, "journal")}
	command, err := play.Command(exe)
	if err != nil {
		t.Fatal(err)
	}
	pkg := filepath.Join(dir, "lib", "node_modules", "mine")
	if err := os.MkdirAll(pkg, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pkg, "package.json"), []byte(`{"name":"mine","version":"`+version+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pkg, "mine"), program, 0o700); err != nil {
		t.Fatal(err)
	}
	was := filepath.Join(play.Home, ".bin", "codex")
	if !strings.Contains(command, was) {
		t.Fatalf("%q runs something else than %s", command, was)
	}
	return strings.Replace(command, was, filepath.Join(pkg, "mine"), 1)
}

// A profile in the configuration has a program known that panebridge has never heard of:
// its box is read, and its place says once, over restarts, that it's newer than what the
// profile was tried with.
func TestAProfileInTheConfiguration(t *testing.T) {
	slow(t)
	written, err := all.Form().Parse("config.yaml", []byte(`
profiles:
  mine:
    base: codex
    made_from: ["1.0.0"]
    program: {names: ['^mine$']}
`), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t)
	d.stop()
	d.cfg.Profiles = written.Profiles
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "mine", Command: []string{"sh", "-c", installMine(t, d.dir, "1.2.0")}})
	if err != nil {
		t.Fatal(err)
	}
	var in agent.Insight
	d.await("program", func() bool {
		all, err := d.api.Programs(d.ctx())
		if i := slices.IndexFunc(all, func(in agent.Insight) bool { return in.Session == s.ID }); err == nil && i >= 0 {
			in = all[i]
		}
		return in.Program == "mine"
	})
	if in.Version != "1.2.0" || !agent.Untried(in.Version, in.MadeFrom) {
		t.Errorf("it's %+v", in)
	}
	r, err := d.api.Input(d.ctx(), "mine", "say hello", true)
	if err != nil {
		t.Fatal(err)
	}
	if r = d.final(r); r.State != sessions.ReceiptSubmitted || r.Reason != "" {
		t.Errorf("receipt is %+v", r)
	}
	said := func() (n int) {
		for _, line := range d.lines(s.ID) {
			if strings.Contains(line, "mine 1.2.0 runs here, which nobody has tried with this panebridge yet (the newest was 1.0.0)") {
				n++
			}
		}
		return n
	}
	d.await("word of its version", func() bool { return said() > 0 })
	d.stop()
	d.start()
	d.awaitTmux()
	r, err = d.api.Input(d.ctx(), "mine", "say it again", true)
	if err != nil {
		t.Fatal(err)
	}
	if r = d.final(r); r.State != sessions.ReceiptSubmitted || said() != 1 {
		t.Errorf("receipt is %+v; its version was told %d times", r, said())
	}
}
