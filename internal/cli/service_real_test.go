//go:build linux

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// atWork is a stand-in for an agent. It counts, writes down each line that's typed, and any signal by which it
// could notice that something ended.
const atWork = `trap 'echo HUP >>"$1.noticed"' HUP; trap 'echo TERM >>"$1.noticed"' TERM; trap 'echo PIPE >>"$1.noticed"' PIPE
( while sleep 0.5; do echo tick; done >>"$1.ticks" ) &
while read -r line; do printf '%s\n' "$line" >>"$1.typed"; echo "took $line"; done
echo END >>"$1.noticed"`

// agents is how many are at work beside one another.
const agents = 20

// crew are the agents of a sandbox.
type crew struct {
	*sandbox

	pids   [agents]string
	rounds int
}

func (c *crew) name(i int) string { return fmt.Sprintf("a%02d", i) }

func (c *crew) file(i int, kind string) string { return "/home/agent/work/" + c.name(i) + "." + kind }

// begin has the daemon begin the agents' sessions.
func (c *crew) begin() {
	c.t.Helper()
	c.write("/home/agent/work/agent.sh", atWork)
	c.forEach(`panebridge sessions new --name "$1" -- sh /home/agent/work/agent.sh "/home/agent/work/$1"`)
	for i := range agents {
		c.await("agent at work", func() bool { return c.read(c.file(i, "ticks")) != "" })
	}
	c.pids = c.processes()
}

// forEach runs a script for each agent, whose name is $1, four at a time.
func (c *crew) forEach(script string) {
	c.t.Helper()
	var names []string
	for i := range agents {
		names = append(names, c.name(i))
	}
	c.must("sh", "-c", `printf '%s\n' "$1" | xargs -P 4 -I NAME sh -c "$2" sh NAME`, "sh", strings.Join(names, "\n"), script)
}

// processes are the agents' own, by the agent: a shell that it has made to count has a higher number.
func (c *crew) processes() (pids [agents]string) {
	c.t.Helper()
	for line := range strings.Lines(c.must("pgrep", "-a", "-f", "^sh /home/agent/work/agent.sh")) {
		pid, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		for i := range agents {
			if pids[i] == "" && strings.HasSuffix(rest, "/"+c.name(i)) {
				pids[i] = pid
			}
		}
	}
	return pids
}

// through sends each agent a text, has something happen to the daemon, and looks whether each text was typed once, and
// no agent has ended, or noticed.
func (c *crew) through(what string, happen func()) {
	c.t.Helper()
	c.rounds++
	c.forEach(`panebridge input "$1" "text ` + strconv.Itoa(c.rounds) + `"`)
	happen()
	var want strings.Builder
	for n := range c.rounds {
		fmt.Fprintf(&want, "text %d\n", n+1)
	}
	for i := range agents {
		c.await("text in "+c.name(i)+" after "+what, func() bool {
			return strings.Count(c.read(c.file(i, "typed")), "\n") >= c.rounds
		})
	}
	for i := range agents {
		if got := c.read(c.file(i, "typed")); got != want.String() {
			c.t.Errorf("%s: %s was typed %q, want %q", what, c.name(i), got, want.String())
		}
	}
	c.checkWork(what)
}

// checkWork looks whether all agents are there, and go on.
func (c *crew) checkWork(what string) {
	c.t.Helper()
	if now := c.processes(); now != c.pids {
		c.t.Errorf("%s: the agents are processes %v, and were %v", what, now, c.pids)
	}
	for i := range agents {
		before := len(c.read(c.file(i, "ticks")))
		c.await("tick of "+c.name(i)+" after "+what, func() bool { return len(c.read(c.file(i, "ticks"))) > before })
		if said := c.read(c.file(i, "noticed")); said != "" {
			c.t.Errorf("%s: %s noticed it: %s", what, c.name(i), said)
		}
	}
}

// awaitNext waits until another process than pid is the daemon, and ready.
func (s *sandbox) awaitNext(pid string) {
	s.t.Helper()
	s.await("next daemon", func() bool {
		now := s.property("panebridge.service", "MainPID")
		return now != pid && now != "0" && s.property("panebridge.service", "ActiveState") == "active"
	})
}

// status is a line of what the kernel says of a process of the sandbox.
func (s *sandbox) status(pid, key string) string {
	for line := range strings.Lines(s.read(filepath.Join("/proc", pid, "status"))) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// A real systemd runs the daemon for twenty agents. Whatever becomes of the daemon, no agent ends or notices, and
// what was sent is typed once.
func TestAgentsOutliveTheService(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	c := &crew{sandbox: startSandbox(t)}
	c.write("/home/agent/.config/panebridge/config.yaml", "adapters: {web: {enabled: false}}\n")
	said := c.must("panebridge", "service", "install")
	for _, want := range []string{"wrote /home/agent/.config/systemd/user/panebridge.service", "enabled panebridge.service", "lingering is off", "it's ready"} {
		if !strings.Contains(said, want) {
			t.Errorf("the installation says\n%s\nand not %q", said, want)
		}
	}
	c.begin()
	pid := func() string { return c.property("panebridge.service", "MainPID") }

	if daemon, agent := c.status(pid(), "NoNewPrivs"), c.status(c.pids[0], "NoNewPrivs"); daemon != "1" || agent != "0" {
		t.Errorf("NoNewPrivs is %s of the daemon and %s of an agent, want 1 and 0", daemon, agent)
	}
	if daemon, agent := c.status(pid(), "Seccomp"), c.status(c.pids[0], "Seccomp"); daemon != "2" || agent != "0" {
		t.Errorf("Seccomp is %s of the daemon and %s of an agent, want 2 and 0", daemon, agent)
	}
	group := c.read(filepath.Join("/proc", c.pids[0], "cgroup"))
	if !strings.Contains(group, "panebridge-tmux.service") {
		t.Errorf("an agent is in %q, want the tmux unit", group)
	}

	again := c.must("panebridge", "service", "install")
	if strings.Contains(again, "wrote") || !strings.Contains(again, "wasn't touched") {
		t.Errorf("installed a second time it says\n%s", again)
	}
	c.through("restart", func() { c.must("panebridge", "service", "restart") })
	for _, signal := range []string{"SEGV", "KILL"} {
		c.through("SIG"+signal, func() {
			old := pid()
			c.must("kill", "-"+signal, old)
			c.awaitNext(old)
		})
	}
	c.through("SIGKILL of the starter", func() {
		c.must("kill", "-KILL", c.property("panebridge-tmux.service", "MainPID"))
		c.await("next starter", func() bool { return c.property("panebridge-tmux.service", "ActiveState") == "active" })
	})
	// What's kept beside a unit survives, here a watchdog that has less patience.
	c.write("/home/agent/.config/systemd/user/panebridge.service.d/quick.conf", "[Service]\nWatchdogSec=6\nTimeoutAbortSec=2\n")
	c.must("systemctl", "--user", "daemon-reload")
	c.must("panebridge", "service", "restart")
	c.through("a hung daemon", func() {
		old := pid()
		c.must("kill", "-STOP", old)
		c.awaitNext(old)
	})
	c.through("an upgrade", func() {
		old := pid()
		if out, err := c.try("/opt/bin/next/panebridge", "service", "install"); err != nil {
			t.Errorf("install another build: %v\n%s", err, out)
		}
		c.awaitNext(old)
		if exe, err := os.Readlink(filepath.Join(c.root, "proc", pid(), "exe")); err != nil || !strings.HasSuffix(exe, "/opt/bin/next/panebridge") {
			t.Errorf("the daemon is %s, want the other build (%v)", exe, err)
		}
	})
	said = c.must("panebridge", "service", "uninstall")
	if !strings.Contains(said, "removed ") || !strings.Contains(said, "/home/agent/.local/state/panebridge") {
		t.Errorf("it's uninstalled, and says\n%s", said)
	}
	if c.read("/home/agent/.config/systemd/user/panebridge.service") != "" {
		t.Error("the unit is still there")
	}
	c.checkWork("uninstalling")
	c.must("panebridge", "service", "install")
	c.through("another installation", func() {})
	c.must("tmux", "kill-server")
}

// A daemon that can't read its configuration isn't started over and over, and an installation that fails leaves nothing.
func TestABadConfigurationIsNotTriedAgain(t *testing.T) {
	s := startSandbox(t)
	s.write("/home/agent/.config/panebridge/config.yaml", "adapters: {web: {enabled: 7}}\n")
	if out, err := s.try("panebridge", "service", "install"); err == nil || !strings.Contains(out, "adapters.web.enabled") {
		t.Errorf("it's installed with a bad configuration: %s", out)
	}
	s.write("/home/agent/.config/systemd/user/panebridge.service.d/count.conf", "[Service]\nExecStartPre=sh -c 'echo start >>starts'\n")
	out, err := s.try("panebridge", "service", "install", "--unchecked")
	if err == nil || !strings.Contains(out, "undone: wrote") {
		t.Errorf("an installation whose daemon doesn't start says\n%s", out)
	}
	time.Sleep(3 * time.Second) // longer than RestartSec
	if got := s.read("/home/agent/starts"); got != "start\n" {
		t.Errorf("the daemon was started %q, want once", got)
	}
	if left, _ := s.try("find", "/home/agent/.config/systemd", "-name", "panebridge*.service"); left != "" && !strings.Contains(left, "No such file") {
		t.Errorf("it left %s", left)
	}
}

// init has the daemon run as a service, and mirror what's there.
func TestInitRunsAService(t *testing.T) {
	s := startSandbox(t)
	s.must("tmux", "new-session", "-d", "-s", "work", "cat")
	s.must("tmux", "new-session", "-d", "-s", "other", "cat")
	out := s.must("panebridge", "init", "page", "--service", "--adopt", "all")
	if !strings.Contains(out, "started panebridge.service") || strings.Contains(out, "Next:\n  panebridge run") {
		t.Errorf("it says\n%s", out)
	}
	if list := s.must("panebridge", "sessions", "list"); !strings.Contains(list, "work") || !strings.Contains(list, "other") {
		t.Errorf("mirrored are\n%s\nafter\n%s", list, out)
	}
	if out := s.must("panebridge", "init", "page"); !strings.Contains(out, "runs as a service already") {
		t.Errorf("a second time it says\n%s", out)
	}
	s.must("panebridge", "service", "uninstall")
	s.must("tmux", "kill-server")
}
