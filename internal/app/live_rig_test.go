package app_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

// liveMode is how a real agent program is run.
type liveMode struct {
	agent         string
	width, height int
	screen        agentlab.Screen
	hooks         bool
	kills         int  // of the daemon, in mid-turn
	orders        bool // the model takes orders
	daemon        bool // Codex runs with its own daemon
	mcp           bool // and with an MCP server
	byNew         bool // it's begun from a chat, by /new
	page          bool // it's shown on the page, too
	fresh         bool // as agentlab's
	env           []string
	again         []string // arguments with which it's begun once more when it has ended
}

func (m liveMode) String() string {
	screen, hooks := string(m.screen), "nohooks"
	if m.screen == agentlab.Default {
		screen = "default"
	}
	if m.hooks {
		hooks = "hooks"
	}
	if m.daemon {
		hooks += "-daemon"
	}
	return fmt.Sprintf("%s-%dx%d-%s", screen, m.width, m.height, hooks)
}

// liveRig is a real agent program in a pane, and a daemon in a process of its own
// that shows it in a topic of Telegram's and a thread of Discord's.
type liveRig struct {
	*daemon
	mode    liveMode
	run     *agentlab.Run
	process *exec.Cmd
	id      sessions.ID

	telegram *telegramtest.Server
	forum    int64
	ann      *telegramtest.Person
	discord  *discordtest.Server
	channel  string
	bob      *discordtest.Person

	asked  []string // by the person, each of which began a turn
	killed int      // how often the daemon was
}

// newLiveRig starts all of it and waits until the program takes input.
func newLiveRig(t *testing.T, m liveMode) *liveRig {
	t.Helper()
	k := beginLiveRig(t, m)
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k
}

// beginLiveRig starts all of it, the daemon first.
func beginLiveRig(t *testing.T, m liveMode) *liveRig {
	t.Helper()
	k := prepareLiveRig(t, m)
	pane := k.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", m.agent, "-x", fmt.Sprint(m.width), "-y", fmt.Sprint(m.height), k.run.Command())
	k.run.Attach(strings.TrimSpace(pane))
	k.await("session", func() bool {
		out, err := k.api.Adopt(k.ctx(), api.Create{Tmux: m.agent})
		if err == nil {
			k.id = out[0].ID
		}
		return err == nil
	})
	return k
}

// prepareLiveRig starts all but the program.
func prepareLiveRig(t *testing.T, m liveMode) *liveRig {
	t.Helper()
	dir := shortTemp(t)
	k := &liveRig{
		daemon: &daemon{T: t, dir: dir, socket: filepath.Join(dir, "tmux"), api: client.New(filepath.Join(dir, "state", "panebridge.sock"))},
		mode:   m, telegram: telegramtest.New(telegramtest.Options{}), discord: discordtest.New(discordtest.Options{}),
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := agentlab.Config{Agent: m.agent, Width: m.width, Height: m.height, Screen: m.screen, Socket: k.socket, Orders: m.orders, Daemon: m.daemon, Fresh: m.fresh, MCP: m.mcp, Again: m.again}
	cfg.Env = append([]string{playedCLI + "=1"}, m.env...) // its hooks are the test's program
	if k.run, err = agentlab.Prepare(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	k.configure()
	if m.hooks {
		k.installHooks(exe)
	}
	t.Cleanup(func() { endTmux(k.socket) })
	t.Cleanup(func() {
		if err := k.run.Stop(); err != nil {
			t.Error(err)
		}
	})
	k.tmux(
		"-f", "/dev/null", "new-session", "-d", "-s", "keep", "exec cat", ";",
		"set", "-g", "status", "off", ";", "set", "-g", "history-limit", "20000", ";", "set", "-g", "default-terminal", "tmux-256color",
	)
	k.begin()
	t.Cleanup(k.kill)
	k.awaitTmux()
	return k
}

// installHooks has panebridge's hooks put into the agent's settings as a person would.
func (k *liveRig) installHooks(exe string) {
	k.Helper()
	cmd := exec.CommandContext(k.Context(), exe, "hooks", "install", "--yes", "--state-dir", filepath.Join(k.dir, "state"), k.mode.agent)
	cmd.Env = append(os.Environ(), playedCLI+"=1", "HOME="+k.run.Home, "CODEX_HOME="+filepath.Join(k.run.Home, ".codex"))
	if out, err := cmd.CombinedOutput(); err != nil {
		k.Fatalf("install the hooks: %v\n%s", err, out)
	}
}

// configure writes the daemon's configuration, all of which is as it comes but for the
// places.
func (k *liveRig) configure() {
	k.Helper()
	k.ann = k.telegram.AddUser(telegramtest.User{FirstName: "Ann"})
	k.forum = k.telegram.AddForum("Agents", k.ann)
	k.bob = k.discord.Person("Bob")
	guild := k.discord.Guild("house")
	k.channel = guild.TextChannel("agents").ID
	text := fmt.Sprintf(`tmux: {servers: [{socket_path: %q}]}
adapters:
  web: {enabled: %t, listen: "127.0.0.1:0"}
  telegram:
    enabled: true
    token: %q
    api_url: %s
    chats: [{id: %d, topics: true}]
  discord:
    enabled: true
    token: %q
    api_url: %s/api
    guild: %q
    channels: [{id: %q, threads: true}]
mirrors:
  - {session: "*", to: "telegram:%d", view: stream, input: true}
  - {session: "*", to: "discord:%s", view: stream, input: true}
access: {admins: ["telegram:%d", "discord:%s"]}
`, k.socket, k.mode.page, k.telegram.Token(), onAPort(k.T, k.telegram), k.forum,
		k.discord.Token(), onAPort(k.T, k.discord), guild.ID, k.channel, k.forum, k.channel, k.ann.ID, k.bob.ID)
	if k.mode.byNew {
		text += fmt.Sprintf("agents: {%s: {command: [%q, %q]}}\n", k.mode.agent, k.run.Program()[0], k.run.Program()[1])
	}
	if err := os.WriteFile(filepath.Join(k.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		k.Fatal(err)
	}
}

// begin starts the daemon, and doesn't wait for it.
func (k *liveRig) begin() {
	k.Helper()
	exe, err := os.Executable()
	if err != nil {
		k.Fatal(err)
	}
	said, err := os.OpenFile(filepath.Join(k.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		k.Fatal(err)
	}
	defer said.Close()
	k.process = exec.Command(exe, "run", "--config", filepath.Join(k.dir, "config.yaml"), "--state-dir", filepath.Join(k.dir, "state"))
	k.process.Env = append(os.Environ(), playedCLI+"=1")
	k.process.Stdout, k.process.Stderr = said, said
	if err := k.process.Start(); err != nil {
		k.Fatal(err)
	}
}

// kill ends the daemon where it stands.
func (k *liveRig) kill() {
	if k.process == nil {
		return
	}
	k.end(syscall.SIGKILL)
	k.killed++
}

// end ends the daemon by a signal. One that's asked to end has 10 s for it.
func (k *liveRig) end(sig syscall.Signal) {
	k.Helper()
	began := time.Now()
	_ = k.process.Process.Signal(sig)
	late := time.AfterFunc(patience, func() { _ = k.process.Process.Kill() })
	_ = k.process.Wait()
	late.Stop()
	if took := time.Since(began); took > 10*time.Second {
		k.Errorf("%s took %s", sig, took)
	}
	k.process = nil
}

// again starts the daemon anew, and waits until it answers.
func (k *liveRig) again(ctx context.Context) {
	k.Helper()
	k.begin()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		_, err := k.api.Session(ctx, string(k.id))
		if err == nil {
			return
		}
		if time.Now().After(end) {
			k.must(err)
		}
	}
}

// delivered waits until all of the session's lines but blank ones at the end are in the
// chats, and nothing is under way.
func (k *liveRig) delivered() {
	k.Helper()
	lines := k.logged()
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].Text) == "" {
		lines = lines[:len(lines)-1]
	}
	k.await("all lines in the chats", func() bool {
		s, err := k.api.Session(k.ctx(), string(k.id))
		if err != nil || len(s.Bindings) != 2 {
			return false
		}
		for _, b := range s.Bindings {
			if b.Delivered < int64(len(lines)) {
				return false
			}
		}
		return true
	})
	k.await("rest", func() bool {
		all, err := k.api.Adapters(k.ctx())
		if err != nil {
			return false
		}
		for _, a := range all {
			for _, c := range a.Chats {
				if len(c.Waiting) > 0 {
					return false
				}
			}
			if a.InFlight > 0 {
				return false
			}
		}
		return true
	})
}

// must ends the test with what the agent's screen and the daemon show.
func (k *liveRig) must(err error) {
	k.Helper()
	if err == nil {
		return
	}
	said, _ := os.ReadFile(filepath.Join(k.dir, "log"))
	k.Fatalf("%v\nthe daemon said:\n%s", err, said)
}

// screen is what the agent's pane shows.
func (k *liveRig) screen(ctx context.Context) string {
	s, _ := k.run.Screen(ctx)
	return s
}
