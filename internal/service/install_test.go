package service_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/service"
)

// standInManager follows the rules of systemctl and loginctl, as far as an installation sees them, and fails when it's told to.
type standInManager struct {
	folder  string
	loaded  map[string]string // the units' files, as they were read last
	enabled map[string]bool
	runs    map[string]string // what each unit was started from
	lingers bool
	failAt  int // the call that fails, from 0; negative: none
	calls   int
}

func newManager(folder string) *standInManager {
	return &standInManager{folder: folder, loaded: map[string]string{}, enabled: map[string]bool{}, runs: map[string]string{}, failAt: -1}
}

func (m *standInManager) call(_ context.Context, program string, args ...string) (string, error) {
	n := m.calls
	m.calls++
	if n == m.failAt {
		return "", errors.New("it fails as it was told to")
	}
	if program == "loginctl" {
		switch args[0] {
		case "enable-linger":
			m.lingers = true
		case "disable-linger":
			m.lingers = false
		case "show-user":
			return map[bool]string{true: "yes\n", false: "no\n"}[m.lingers], nil
		}
		return "", nil
	}
	if program == "journalctl" {
		return "", nil
	}
	args = slices.DeleteFunc(args[1:], func(a string) bool { return strings.HasPrefix(a, "--") })
	for _, unit := range args[1:] {
		path := filepath.Join(m.folder, unit)
		switch args[0] {
		case "enable":
			if m.loaded[path] == "" {
				return "", fmt.Errorf("there's no %s", unit)
			}
			m.enabled[unit] = true
		case "disable":
			delete(m.enabled, unit)
		case "restart":
			if m.loaded[path] == "" {
				return "", fmt.Errorf("there's no %s", unit)
			}
			m.runs[unit] = m.loaded[path]
		case "stop":
			delete(m.runs, unit)
		case "is-active":
			if m.runs[unit] == "" {
				return "", errors.New("it isn't")
			}
		case "is-enabled":
			if !m.enabled[unit] {
				return "", errors.New("it isn't")
			}
		}
	}
	if args[0] == "daemon-reload" {
		m.loaded = readAll(m.folder)
	}
	return "", nil
}

func readAll(folder string) map[string]string {
	all := map[string]string{}
	names, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		all[name] = string(text)
	}
	return all
}

// world is all that an installation may change.
func (m *standInManager) world() string {
	return fmt.Sprint(readAll(m.folder), m.loaded, m.enabled, m.runs, m.lingers)
}

// Whichever call fails, an installation is whole or nothing of it is left; what it leaves, another one completes; and
// a file that somebody has edited is never lost.
func TestAnInstallationIsWholeOrNothing(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "units")
		if err != nil {
			rt.Fatal(err)
		}
		m := newManager(folder)
		s := own()
		edits := map[string]bool{}
		d := service.Systemd{Call: m.call, Folder: folder, User: "alex", Say: func(string) {}}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) {
				all := fmt.Sprint(readAll(folder))
				for mark := range edits {
					if !strings.Contains(all, mark) {
						rt.Fatalf("%q is in no file:\n%s", mark, all)
					}
				}
			},
			"install": func(rt *rapid.T) {
				s.Program = rapid.SampledFrom([]string{"/usr/bin/panebridge", "/opt/panebridge"}).Draw(rt, "program")
				replace := rapid.Bool().Draw(rt, "replace")
				m.calls, m.failAt = 0, rapid.IntRange(-8, 14).Draw(rt, "fails at")
				before, failsAt := m.world(), m.failAt
				err := d.Install(rt.Context(), s, replace)
				m.failAt = -1
				switch {
				case errors.Is(err, service.ErrEdited) && replace:
					rt.Fatalf("told to replace, it says %v", err)
				case err != nil:
					if after := m.world(); after != before && !replace {
						rt.Fatalf("it failed at call %d, %v, and left\n%s\nof\n%s", failsAt, err, after, before)
					}
				default:
					for _, u := range service.Units(s) {
						if path := filepath.Join(folder, u.Name); m.runs[u.Name] != u.Text() || !m.enabled[u.Name] || m.loaded[path] != u.Text() {
							rt.Fatalf("installed, %s isn't as it should be: %s", u.Name, m.world())
						}
					}
				}
			},
			"edit": func(rt *rapid.T) {
				unit := rapid.SampledFrom([]string{service.DaemonUnit, service.TmuxUnit}).Draw(rt, "unit")
				path := filepath.Join(folder, unit)
				text, err := os.ReadFile(path)
				if err != nil {
					return
				}
				mark := fmt.Sprintf("# edit %d\n", len(edits))
				edits[mark] = true
				if err := os.WriteFile(path, append(text, mark...), 0o600); err != nil {
					rt.Fatal(err)
				}
				if err := d.Install(rt.Context(), s, false); !errors.Is(err, service.ErrEdited) {
					rt.Fatalf("an edited unit is overwritten: %v", err)
				}
				if got, _ := os.ReadFile(path); !strings.Contains(string(got), mark) {
					rt.Fatal("the edit is gone")
				}
			},
			"uninstall": func(rt *rapid.T) {
				err := d.Uninstall(rt.Context())
				if err != nil && !errors.Is(err, service.ErrNotInstalled) {
					rt.Fatal(err)
				}
				if len(m.enabled)+len(m.runs) > 0 {
					rt.Fatalf("uninstalled, there's %s", m.world())
				}
			},
		})
	})
}

// Installed a second time, nothing is written and nothing started anew; each thing that's done is said.
func TestASecondInstallationTouchesNothing(t *testing.T) {
	m := newManager(filepath.Join(t.TempDir(), "systemd", "user"))
	var said []string
	d := service.Systemd{Call: m.call, Folder: m.folder, User: "alex", Say: func(line string) { said = append(said, line) }}
	if err := d.Install(t.Context(), own(), false); err != nil {
		t.Fatal(err)
	}
	first := strings.Join(said, "\n")
	for _, want := range []string{"made ", "wrote ", "lingering", "enabled ", "started "} {
		if !strings.Contains(first, want) {
			t.Errorf("it says %q, and not what it %s", first, want)
		}
	}
	said = nil
	if err := d.Install(t.Context(), own(), false); err != nil {
		t.Fatal(err)
	}
	for _, line := range said {
		if strings.HasPrefix(line, "wrote") || strings.HasPrefix(line, "started") || strings.HasPrefix(line, "made") {
			t.Errorf("the second time it says %q", line)
		}
	}
}
