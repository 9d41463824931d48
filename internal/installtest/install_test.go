package installtest_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// placed are the files of an installation in a home, without pages of commands.
var placed = []string{
	".local/bin/panebridge", ".local/share/bash-completion/completions/panebridge", ".local/share/fish/vendor_completions.d/panebridge.fish",
	".local/share/man/man1/panebridge.1", ".local/share/zsh/site-functions/_panebridge",
}

func TestInstallUpgradeUninstall(t *testing.T) {
	first, second := publish(t, "v1.0.0", contents("v1.0.0", "-old", "-both")), publish(t, "v2.0.0", contents("v2.0.0", "-both", "-new"))
	for _, c := range []struct{ shell, fetches, sums string }{
		{"dash", "curl", "sha256sum"}, {"dash", "wget", "shasum"}, {"bash", "curl", "openssl"},
	} {
		m := newMachine(t, c.fetches, c.sums)
		m.shell = c.shell
		if c.sums == "shasum" {
			m.env = append(m.env, "LC_ALL=C") // it's Perl
		}
		mine := filepath.Join(m.home, ".local/share/man/man1/mine.1")
		if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(mine, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		own := m.files()

		said := m.installed("--base-url", first.url)
		for _, want := range []string{"its sum is right", "installed panebridge v1.0.0 as " + m.home + "/.local/bin/panebridge", "isn't in your PATH", "tmux is missing", "next: " + m.home + "/.local/bin/panebridge init"} {
			if !strings.Contains(said, want) {
				t.Errorf("%v: it doesn't say %q:\n%s", c, want, said)
			}
		}
		want := slices.Sorted(slices.Values(append([]string{".local/share/man/man1/mine.1", ".local/share/man/man1/panebridge-both.1", ".local/share/man/man1/panebridge-old.1"}, placed...)))
		found := m.files()
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
			t.Errorf("%v: it placed %v, want %v", c, got, want)
		}
		if mode := found[placed[0]]; !strings.HasPrefix(mode, "-rwxr-xr-x ") {
			t.Errorf("%v: the program has the mode %s", c, mode)
		}

		if said = m.installed("--base-url", second.url); !strings.Contains(said, "upgraded "+m.home+"/.local/bin/panebridge from v1.0.0 to v2.0.0") {
			t.Errorf("%v: it doesn't tell of the upgrade:\n%s", c, said)
		}
		if program := m.program(); !strings.Contains(program, "v2.0.0") {
			t.Errorf("%v: after the upgrade it's %s", c, program)
		}
		got := m.files()
		if _, old := got[".local/share/man/man1/panebridge-old.1"]; old || got[".local/share/man/man1/panebridge-new.1"] == "" {
			t.Errorf("%v: the pages aren't those of the new version: %v", c, got)
		}
		if said = m.installed("--base-url", second.url); !strings.Contains(said, "anew, which was v2.0.0 before") {
			t.Errorf("%v: it doesn't tell that nothing is new:\n%s", c, said)
		}

		if said = m.installed("--uninstall"); !strings.Contains(said, "its state stays in "+m.home+"/.local/state/panebridge") {
			t.Errorf("%v: it doesn't say where the state is:\n%s", c, said)
		}
		if !maps.Equal(m.files(), own) {
			t.Errorf("%v: it left %v", c, m.files())
		}
		if said, code := m.run("--uninstall"); code != 1 || !strings.Contains(said, "there's no panebridge in") {
			t.Errorf("%v: once more it ended with %d:\n%s", c, code, said)
		}
	}
}

func TestFromAPipeWithFoldersOfOnesOwn(t *testing.T) {
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	r := publish(t, "v1.0.0", contents("v1.0.0"))
	m := newMachine(t, "curl", "sha256sum")
	m.env = []string{"XDG_DATA_HOME=" + m.home + "/data", "PANEBRIDGE_BASE_URL=" + r.url + "/"}
	cmd := m.command()
	cmd.Args, cmd.Stdin = []string{cmd.Args[0], "-s"}, bytes.NewReader(text)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	if found := m.files(); found["data/man/man1/panebridge.1"] == "" || found[".local/bin/panebridge"] == "" {
		t.Errorf("it placed %v", found)
	}
	m.installed("--uninstall")
	m.installed("--prefix", m.home+"/opt/p")
	if found := m.files(); found["opt/p/bin/panebridge"] == "" || found["opt/p/share/man/man1/panebridge.1"] == "" || len(found) != len(placed) {
		t.Errorf("with a prefix it placed %v", found)
	}
	m.installed("--uninstall", "--prefix", m.home+"/opt/p")
	if found := m.files(); len(found) > 0 {
		t.Errorf("it left %v", found)
	}
}

// Of the folders that are made for it, none is left but those that hold something else.
func TestEmptyFoldersGo(t *testing.T) {
	r := publish(t, "v1.0.0", contents("v1.0.0"))
	m := newMachine(t, "curl", "sha256sum")
	mine := filepath.Join(m.home, ".local/share/zsh/mine")
	if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.installed("--base-url", r.url)
	m.installed("--uninstall")
	var folders []string
	err := filepath.WalkDir(m.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, strings.TrimPrefix(path, m.home))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"", "/.local", "/.local/share", "/.local/share/zsh"}; !slices.Equal(folders, want) {
		t.Errorf("the folders %q are left, want %q", folders, want)
	}
}

// A running daemon goes on at an upgrade, and isn't taken its program away.
func TestADaemonThatRunsIsSpokenOf(t *testing.T) {
	m := newMachine(t, "curl", "sha256sum")
	r := publish(t, "v1.0.0", contents("v1.0.0"))
	m.installed("--base-url", r.url)
	running := filepath.Join(m.home, "running")
	if err := os.WriteFile(running, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := m.installed("--base-url", r.url); !strings.Contains(said, "a daemon is running: it goes on as it was until you restart it") {
		t.Errorf("it doesn't tell of the daemon:\n%s", said)
	}
	before := m.files()
	if said, code := m.run("--uninstall"); code != 1 || !strings.Contains(said, "stop it first") || !maps.Equal(before, m.files()) {
		t.Errorf("it ended with %d, and left %v:\n%s", code, m.files(), said)
	}
}

// What a machine lacks is said before anything is changed.
func TestWhatAMachineLacks(t *testing.T) {
	r := publish(t, "v1.0.0", contents("v1.0.0"))
	uname := func(system, processor string) func(*machine) {
		return func(m *machine) {
			m.replace("uname", "#!/bin/sh\ncase $1 in -s) echo "+system+" ;; -m) echo "+processor+" ;; esac\n")
		}
	}
	for name, c := range map[string]struct {
		programs []string
		play     func(*machine)
		says     string
	}{
		"nothing to fetch with":  {[]string{"sha256sum"}, nil, "neither curl nor wget is here"},
		"nothing to check with":  {[]string{"curl"}, nil, "the download cannot be checked"},
		"another processor":      {[]string{"curl", "sha256sum"}, uname("Linux", "riscv64"), "there's no release for riscv64"},
		"another system":         {[]string{"curl", "sha256sum"}, uname("SunOS", "x86_64"), "there's no release for SunOS"},
		"a system without files": {[]string{"curl", "sha256sum"}, uname("FreeBSD", "arm64"), "has no archive for freebsd arm64"},
		"no home":                {[]string{"curl", "sha256sum"}, func(m *machine) { m.env = []string{"HOME="} }, "HOME isn't a folder"},
		"a file in the way": {[]string{"curl", "sha256sum"}, func(m *machine) {
			if err := os.WriteFile(filepath.Join(m.home, ".local"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "can't be made: nothing was changed"},
		"a folder in the way": {[]string{"curl", "sha256sum"}, func(m *machine) {
			if err := os.MkdirAll(filepath.Join(m.home, ".local/bin/panebridge"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "is a folder: move it away"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, c.programs...)
			if c.play != nil {
				c.play(m)
			}
			before := m.files()
			said, code := m.run("--base-url", r.url)
			if code != 1 || !strings.Contains(said, c.says) {
				t.Errorf("it ended with %d and said, without %q:\n%s", code, c.says, said)
			}
			if !maps.Equal(before, m.files()) {
				t.Errorf("the home is another: %v", m.files())
			}
		})
	}
}

// The address that people fetch from is that of the module.
func TestTheAddressIsTheModules(t *testing.T) {
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Fields(string(module))[1]
	if !strings.Contains(string(text), "\treleases=https://"+name+"/releases\n") {
		t.Errorf("install.sh doesn't fetch from %s", name)
	}
	for _, found := range regexp.MustCompile(`github\.com/[a-z]+/[a-z]+`).FindAllString(string(text), -1) {
		if found != name {
			t.Errorf("install.sh names %s, and the module is %s", found, name)
		}
	}
}
