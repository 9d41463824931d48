package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// install makes Claude Code be of a version, and says in which folder its program is.
func (h *paneHost) install(version string) (bin string) {
	h.Helper()
	bin, versions := filepath.Join(h.home, "bin"), filepath.Join(h.home, "share", "claude", "versions")
	for _, dir := range []string{bin, versions} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			h.Fatal(err)
		}
	}
	program := filepath.Join(versions, version)
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		h.Fatal(err)
	}
	_ = os.Remove(filepath.Join(bin, "claude"))
	if err := os.Symlink(program, filepath.Join(bin, "claude")); err != nil {
		h.Fatal(err)
	}
	return bin
}

// A program that's newer than what was tried is told of once in its session, whatever
// becomes of daemon and program; the next version is news again.
func TestAnUntriedVersionIsToldOnce(t *testing.T) {
	h := newHost(t)
	tried := h.w.opt.Profiles.Get("claude").MadeFrom()
	begin := func(p *pane, pid int, version string) {
		bin := h.install(version)
		process := h.run(p.pid, pid, h.now)
		process.Environ = func() map[string]string { return map[string]string{"HOME": h.home, "PATH": bin} }
		h.running[p.pid] = process
		p.look(2*time.Second, atRest("nothing"))
		p.look(2*time.Second, atRest("nothing"))
	}
	end := func(p *pane) {
		delete(h.running, p.pid)
		p.look(2*time.Second, "$ ")
		p.look(2*time.Second, "$ ")
	}
	p := h.pane(7)
	for i, c := range []struct {
		version string
		said    bool
	}{{NewestTried(tried), false}, {"9.0.0", true}, {"9.0.0", false}, {"9.0.1", true}, {NewestTried(tried), false}} {
		p.told = nil
		begin(p, i, c.version)
		p.restart()
		p.look(2*time.Second, atRest("nothing"))
		end(p)
		p.restart()
		said := slices.DeleteFunc(slices.Clone(p.told), func(line string) bool { return !strings.HasPrefix(line, "notice ") })
		want := 0
		if c.said {
			want = 1
		}
		if len(said) != want || c.said && !strings.Contains(said[0], "claude "+c.version+" runs here, which nobody has tried") {
			t.Errorf("%d. of %s it said %q", i, c.version, said)
		}
	}
}

// docs/agents.md names every version that a profile says was tried.
func TestTriedVersionsAreInTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		for _, version := range set.Get(name).MadeFrom() {
			row := ""
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "(`"+name+"`)") {
					row = line
				}
			}
			if cells := strings.Split(row, "|"); len(cells) < 4 || !slices.Contains(strings.Split(strings.TrimSpace(cells[3]), ", "), version) {
				t.Errorf("docs/agents.md doesn't say that %s %s was tried", name, version)
			}
		}
	}
}
