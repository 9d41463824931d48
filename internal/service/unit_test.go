package service_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/service"
)

var update = flag.Bool("update", false, "write the golden files anew")

func own() service.Spec {
	return service.Spec{
		Program: "/usr/local/bin/panebridge", StateDir: "/home/alex/.local/state/panebridge", Path: "/home/alex/.local/bin:/usr/bin:/bin", Home: "/home/alex",
	}
}

func machines() service.Spec {
	s := own()
	s.User, s.Config = "alex", "/home/alex/.config/panebridge/config.yaml"
	s.Credentials = []service.Credential{{Key: "adapters.chat.token_file", File: "/etc/panebridge/token"}}
	return s
}

// hard has in every path what service managers read otherwise.
func hard() service.Spec {
	s := machines()
	s.Program, s.Config, s.StateDir = `/opt/100% "my" $HOME/it's\n/panebridge`, `/etc/a;b/%h/${X}.yaml`, `/srv/<state> & more`
	s.Path, s.TmuxDir, s.Credentials[0].File = `/a b:/$c:/%d:/"e"`, `/run/tm%ux`, `/etc/a b/%t`
	return s
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

func TestUnitsAreAsEver(t *testing.T) {
	for name, s := range map[string]service.Spec{"own": own(), "machines": machines(), "hard": hard()} {
		for _, u := range service.Units(s) {
			golden(t, name+"-"+u.Name, u.Text())
		}
		golden(t, name+".plist", service.NewJob(s).Text())
	}
}

// A property list is sound XML, in which each text is what it was.
func TestAJobIsReadAsItWasMeant(t *testing.T) {
	s := hard()
	d := xml.NewDecoder(strings.NewReader(service.NewJob(s).Text()))
	var texts []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
	all := strings.Join(texts, "\x00")
	for _, want := range []string{s.Program, s.Config, s.StateDir, s.Path, s.TmuxDir} {
		if !strings.Contains(all, "\x00"+want+"\x00") {
			t.Errorf("%q isn't in it", want)
		}
	}
}

// analyze runs systemd-analyze on units of a program that's there.
func analyze(t *testing.T, s service.Spec, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	s.Program = filepath.Join(dir, "panebridge")
	if err := os.WriteFile(s.Program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, u := range service.Units(s) {
		path := filepath.Join(dir, u.Name)
		if err := os.WriteFile(path, []byte(u.Text()), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	cmd := exec.Command("systemd-analyze", args...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// systemd finds nothing wrong with the units.
func TestSystemdUnderstandsTheUnits(t *testing.T) {
	withinReach := hard()
	withinReach.User = "root" // who's there
	for name, s := range map[string]service.Spec{"own": own(), "machine's": withinReach} {
		args := []string{"verify", "--man=no"}
		if s.User == "" {
			args = append(args, "--user")
		}
		out := analyze(t, s, args...)
		for line := range strings.Lines(out) {
			if strings.Contains(line, "panebridge") { // it looks at other units of the machine as well
				t.Errorf("%s unit: %s", name, line)
			}
		}
	}
}

// The daemon's exposure, by systemd's own measure of 0 to 10, doesn't grow unnoticed.
func TestTheDaemonIsHardened(t *testing.T) {
	dir := t.TempDir()
	s := machines()
	path := filepath.Join(dir, service.DaemonUnit)
	if err := os.WriteFile(path, []byte(service.Units(s)[0].Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("systemd-analyze", "security", "--offline=yes", "--no-pager", path).CombinedOutput()
	found := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(string(out))
	if err != nil || found == nil {
		t.Fatalf("%v: %s", err, out)
	}
	if level, _ := strconv.ParseFloat(found[1], 64); level > mostExposed {
		t.Errorf("it's %s, want at most %.1f:\n%s", found[1], mostExposed, out)
	}
}

// mostExposed is what's left: network, /home, /tmp, /proc and the user's processes are its work.
const mostExposed = 2.5

// What no unit can say is refused.
func TestWhatAUnitCannotSayIsRefused(t *testing.T) {
	for name, change := range map[string]func(*service.Spec){
		"a line's end":      func(s *service.Spec) { s.Program = "/usr/bin/pane\nExecStartPre=/bin/evil" },
		"no absolute path":  func(s *service.Spec) { s.StateDir = "state" },
		"no UTF-8":          func(s *service.Spec) { s.Config = "/etc/\xff" },
		"a space at an end": func(s *service.Spec) { s.Path = "/bin " },
		"a credential":      func(s *service.Spec) { s.Credentials = []service.Credential{{"key", "/a\rb"}} },
	} {
		s := own()
		change(&s)
		if files, err := (service.Systemd{}).Files(s); err == nil {
			t.Errorf("%s is taken: %v", name, files)
		}
		if files, err := (service.Launchd{}).Files(s); err == nil {
			t.Errorf("%s is taken by launchd: %v", name, files)
		}
	}
}
