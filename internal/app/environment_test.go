package app_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

// secretRig is the program in a process of its own, of an ordinary user, with secrets in
// its environment, its configuration and its files.
type secretRig struct {
	*daemon
	user    *syscall.SysProcAttr
	program string
	environ []string
	planted map[string]string // by what each is
	process *exec.Cmd
	wait    func() // until the process has ended
}

// ordinaryUser is a user who isn't root: whoever runs the test, else nobody.
func ordinaryUser() *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

// newSecretRig plants 20 secrets. Those that panebridge knows stand in variables that a
// login has, too, and in those that the configuration names.
func newSecretRig(t *testing.T) *secretRig {
	t.Helper()
	dir := shortTemp(t)
	r := &secretRig{
		daemon: &daemon{T: t, dir: dir, socket: filepath.Join(dir, "tmux"), api: client.New(filepath.Join(dir, "state", "panebridge.sock"))},
		user:   ordinaryUser(), program: filepath.Join(dir, "panebridge"),
	}
	const token, discord, redis, sentinel, proxy = "7000000001:AAEplanted_telegram-Token-0123456789x", "MTplanted.discord.Token-0123456789", "planted-redis-0123", "planted-sentinel-0123", "planted+proxy/0123"
	half := strings.TrimPrefix(token, "7000000001:")
	r.planted = map[string]string{
		"Telegram token": half, "in base64": base64.StdEncoding.EncodeToString([]byte("me:" + token)), "escaped": url.QueryEscape(token), "Discord token": discord,
		"Redis password": redis, "Sentinels' password": sentinel, "proxy password": url.PathEscape(proxy), "proxy password unescaped": proxy,
		"Discord proxy password": "planted-second-proxy", "agent's key": "planted-agents-key-0123",
	}
	r.environ = []string{
		playedCLI + "=1", "GOTRACEBACK=crash", "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "USER=somebody", "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=xterm-256color", "XDG_RUNTIME_DIR=/run/somebody",
		"TELEGRAM_TOKEN=" + token, "DISCORD_TOKEN=" + discord, "REDIS_PASSWORD=" + redis, "PROXY_PASSWORD=" + url.PathEscape(proxy), "KEY_OF_AGENT=" + r.planted["agent's key"],
		"INNOCENT=" + token, "HOOK=https://127.0.0.1/bot" + token + "/sendMessage", "BASIC=" + r.planted["in base64"],
		"LC_NAME=" + discord, "XDG_DATA_HOME=/data/" + token + "/share", "XDG_CACHE_HOME=/" + url.QueryEscape(token), "XDG_STATE_HOME=/x/" + r.planted["in base64"], "TERMINFO=/" + sentinel, "MAIL=" + half,
		"NAMED_CACHE=redis://somebody:" + redis + "@127.0.0.1:1/0", "NAMED_PROXY=http://somebody:" + proxy + "@127.0.0.1:1", "NAMED_SAFE=as it is",
		"HTTPS_PROXY=http://somebody:planted-proxy-of-environment@127.0.0.1:1",
	}
	r.planted["HTTPS_PROXY"] = "planted-proxy-of-environment"
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DATABASE_URL", "NPM_CONFIG", "NOTE", "OPENAI_API_KEY", "PGPASS", "CI_JOB", "SLACK_TOKEN"} {
		r.planted[name] = "planted-in-" + strings.ToLower(name)
		r.environ = append(r.environ, name+"=x://y:"+r.planted[name]+"@z")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.program, text, 0o700); err != nil {
		t.Fatal(err)
	}
	r.write("sentinel", sentinel)
	r.write("config.yaml", fmt.Sprintf(`tmux: {servers: [{socket_path: %q}], environment: [NAMED_CACHE, NAMED_PROXY, NAMED_SAFE]}
log: {level: debug}
adapters:
  web: {listen: "127.0.0.1:0"}
  telegram: {enabled: true, token: "${TELEGRAM_TOKEN}", api_url: "http://127.0.0.1:1", proxy: "http://somebody:${PROXY_PASSWORD}@127.0.0.1:1"}
  discord: {enabled: true, token: "${DISCORD_TOKEN}", api_url: "http://127.0.0.1:1", proxy: "http://me:planted-second-proxy@127.0.0.1:1", guild: "112233445566778899"}
redis: {addrs: ["127.0.0.1:1"], master_name: it, password: "${REDIS_PASSWORD}", sentinel_password_file: %q}
agents:
  keyed: {command: [sh, -c, "env; exec cat"], env: {AGENT_API_KEY: "${KEY_OF_AGENT}"}}
  plain: {command: [sh, -c, "env; exec cat"]}
`, r.socket, filepath.Join(dir, "sentinel")))
	r.own(dir)
	t.Cleanup(func() { endTmux(r.socket) })
	return r
}

func (r *secretRig) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

// own gives a folder to the ordinary user.
func (r *secretRig) own(dir string) {
	r.Helper()
	if r.user == nil {
		return
	}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(r.user.Credential.Uid), int(r.user.Credential.Gid))
	})
	if err != nil {
		r.Fatal(err)
	}
}

// command is one that the ordinary user runs in the rig's folder.
func (r *secretRig) command(environ []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = r.dir, environ, r.user
	return cmd
}

// run starts the daemon from a shell that would have it leave a core file.
func (r *secretRig) run() {
	r.Helper()
	said, err := os.OpenFile(filepath.Join(r.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		r.Fatal(err)
	}
	defer said.Close()
	r.process = r.command(r.environ, "/bin/sh", "-c", `ulimit -c unlimited; exec "$@"`, "sh", r.program, "run", "--config", filepath.Join(r.dir, "config.yaml"), "--state-dir", filepath.Join(r.dir, "state"))
	r.process.Stdout, r.process.Stderr = said, said
	if err := r.process.Start(); err != nil {
		r.Fatal(err)
	}
	ended := make(chan struct{})
	r.wait = func() { <-ended }
	go func() { defer close(ended); _ = r.process.Wait() }()
	r.Cleanup(func() {
		_ = r.process.Process.Kill()
		r.wait()
		if r.Failed() {
			r.Logf("the daemon said:\n%s", r.said())
		}
	})
	r.await("a daemon", func() bool {
		select {
		case <-ended:
			r.Fatal("the daemon has ended")
		default:
		}
		_, err := r.api.Health(r.ctx())
		return err == nil
	})
}

func (r *secretRig) said() string {
	text, err := os.ReadFile(filepath.Join(r.dir, "log"))
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

// without fails the test if a text has one of the planted secrets, but for some.
func (r *secretRig) without(what, text string, but ...string) {
	r.Helper()
	for name, secret := range r.planted {
		if i := strings.Index(text, secret); i >= 0 && !slices.Contains(but, name) {
			r.Errorf("%s has the %s: …%q…", what, name, text[max(0, i-60):min(len(text), i+len(secret)+20)])
		}
	}
}

// proc reads a file about a process as root or its user can.
func proc(pid int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)) // one that has ended has none
	return strings.ReplaceAll(string(text), "\x00", "\n")
}

// below are a process and all that it has started, directly or not.
func below(t *testing.T, top int) []int {
	t.Helper()
	children := map[int][]int{}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		for line := range strings.Lines(proc(pid, "status")) {
			if text, ok := strings.CutPrefix(line, "PPid:"); ok {
				parent, _ := strconv.Atoi(strings.TrimSpace(text))
				children[parent] = append(children[parent], pid)
			}
		}
	}
	out := []int{top}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

// make makes a session and waits for what it prints last.
func (r *secretRig) make(c api.Create, last string) api.Session {
	r.Helper()
	s, err := r.api.NewSession(r.ctx(), c)
	if err != nil {
		r.Fatal(err)
	}
	if last != "" {
		r.await("the environment of "+c.Name, func() bool {
			return slices.ContainsFunc(r.lines(s.ID), func(l string) bool { return strings.Contains(l, last) })
		})
	}
	return s
}

// seen are a session's lines, wrapped ones joined.
func (r *secretRig) seen(id sessions.ID) string { return strings.Join(r.lines(id), "\n") }

// look looks at a process and all below it, the daemon's own clients included. Some may
// have some of the secrets.
func (r *secretRig) look(what string, top int, but ...string) {
	r.Helper()
	for _, pid := range below(r.T, top) {
		name := fmt.Sprintf("%s, process %d (%s)", what, pid, strings.TrimSpace(proc(pid, "comm")))
		r.without(name+": its command line", proc(pid, "cmdline"), but...)
		r.without(name+": its environment", proc(pid, "environ"), but...)
	}
}

func (r *secretRig) panePID(s api.Session) int {
	r.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(r.asUser("tmux", "-S", r.socket, "display-message", "-p", "-t", "="+s.Tmux.Session+":", "#{pane_pid}")))
	if err != nil {
		r.Fatal(err)
	}
	return pid
}

func (r *secretRig) asUser(args ...string) string {
	r.Helper()
	out, err := r.command([]string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}, args...).CombinedOutput()
	if err != nil {
		r.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// None of 20 secrets of the daemon gets to the tmux server that it starts, to a session
// there or a process below, but an agent's key to that agent; nor to its own clients, its
// log, or a core file.
func TestNoSecretGetsToATmuxServerOfOurs(t *testing.T) {
	slow(t)
	r := newSecretRig(t)
	if len(r.planted) != 20 {
		t.Fatalf("%d secrets are planted", len(r.planted))
	}
	r.run()
	script := []string{"sh", "-c", "env; echo over; exec cat"}
	env := r.make(api.Create{Name: "env", Command: script}, "over")
	bash := r.make(api.Create{Name: "bash"}, "")
	r.say("bash", "env; echo o''ver")
	r.await("what env prints in a shell", r.has(bash.ID, "over"))
	r.without("what env prints in a shell", r.seen(bash.ID))
	r.make(api.Create{Name: "zsh", Command: []string{"zsh"}}, "")
	keyed := r.make(api.Create{Name: "keyed", Agent: "keyed"}, "AGENT_API_KEY=")
	plain := r.make(api.Create{Name: "plain", Agent: "plain"}, "PANEBRIDGE_SESSION=")
	r.without("what env prints", r.seen(env.ID))
	r.without("what env prints to an agent", r.seen(plain.ID))
	if text := r.seen(keyed.ID); !strings.Contains(text, "AGENT_API_KEY="+r.planted["agent's key"]) {
		t.Errorf("the agent hasn't the key that its configuration gives it:\n%s", text)
	}
	for _, kv := range []string{"LANG=C.UTF-8", "HOME=" + r.dir, "SHELL=/bin/bash", "XDG_RUNTIME_DIR=/run/somebody", "NAMED_SAFE=as it is", "PATH=" + os.Getenv("PATH")} {
		if !strings.Contains(strings.ReplaceAll(r.seen(env.ID), "\n", ""), strings.ReplaceAll(kv, "\n", "")) {
			t.Errorf("env doesn't print %s", kv)
		}
	}

	r.without("the server's environment", r.asUser("tmux", "-S", r.socket, "show-environment", "-g"))
	for name := range strings.FieldsSeq(r.asUser("tmux", "-S", r.socket, "list-sessions", "-F", "#{session_name}")) {
		r.without("the environment of "+name, r.asUser("tmux", "-S", r.socket, "show-environment", "-t", "="+name))
	}
	server, err := strconv.Atoi(strings.TrimSpace(r.asUser("tmux", "-S", r.socket, "display-message", "-p", "#{pid}")))
	if err != nil {
		t.Fatal(err)
	}
	own := r.panePID(keyed)
	r.look("the server", server, "agent's key")
	for _, pid := range below(t, server) {
		if strings.Contains(proc(pid, "environ"), r.planted["agent's key"]) && !slices.Contains(below(t, own), pid) {
			t.Errorf("process %d has another agent's key", pid)
		}
	}
	if len(below(t, server)) < 8 {
		t.Errorf("below the server are only %d", below(t, server))
	}
	for _, client := range below(t, r.process.Process.Pid)[1:] {
		r.look("a client of the daemon's", client)
	}
	r.without("the daemon's command line", proc(r.process.Process.Pid, "cmdline"))
}

// An ordinary user, the daemon's own too, can't read its environment. Killed by a signal
// that leaves a core file, it leaves none, and neither its log nor the trace has a secret.
func TestADaemonKeepsItsMemoryToItself(t *testing.T) {
	r := newSecretRig(t)
	r.run()
	r.make(api.Create{Name: "one", Command: []string{"cat"}}, "")
	pid := r.process.Process.Pid
	for _, file := range []string{"environ", "mem", "maps"} {
		if out, err := r.command(nil, "/bin/cat", fmt.Sprintf("/proc/%d/%s", pid, file)).CombinedOutput(); err == nil || !strings.Contains(string(out), "Permission denied") {
			t.Errorf("an ordinary user who reads the daemon's %s gets %d bytes, %v", file, len(out), err)
		}
	}
	text := r.metrics()
	for _, name := range []string{"process_cpu_seconds_total", "process_open_fds", "process_max_fds", "process_resident_memory_bytes", "process_start_time_seconds"} {
		if !strings.Contains(text, "\n"+name+" ") {
			t.Errorf("there's no metric %s any more", name)
		}
	}
	r.without("the metrics", text)
	out, _ := r.command(r.environ, r.program, "doctor", "--config", filepath.Join(r.dir, "config.yaml"), "--state-dir", filepath.Join(r.dir, "state")).CombinedOutput()
	r.without("what doctor says", string(out))
	for _, name := range []string{"XDG_DATA_HOME has the Telegram token", "NAMED_CACHE has the Redis password", "TERMINFO has the Redis password"} {
		if !strings.Contains(string(out), name) {
			t.Errorf("doctor doesn't say that %s:\n%s", name, out)
		}
	}
	if err := r.process.Process.Signal(syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	r.wait()
	said := r.said()
	if !strings.Contains(said, "SIGABRT") {
		t.Error("it wasn't ended by the signal")
	}
	if !strings.Contains(said, `"XDG_DATA_HOME"`) {
		t.Error("the log doesn't name the variables that weren't passed")
	}
	r.without("the log", said)
	if cores, _ := filepath.Glob(filepath.Join(r.dir, "core*")); len(cores) > 0 {
		t.Errorf("it left %v", cores)
	}
}

// metrics are the daemon's, by its socket.
func (r *secretRig) metrics() string {
	r.Helper()
	over := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(r.dir, "state", "panebridge.sock"))
	}}}
	req, err := http.NewRequestWithContext(r.ctx(), http.MethodGet, "http://daemon/metrics", http.NoBody)
	if err != nil {
		r.Fatal(err)
	}
	resp, err := over.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

// A tmux server that somebody has started from the shell that has the secrets is left as
// it is; the sessions that are made there have none that panebridge knows.
func TestNoSecretGetsIntoOurSessionsOnAServerThatHasThem(t *testing.T) {
	r := newSecretRig(t)
	if out, err := r.command(r.environ, "tmux", "-S", r.socket, "-f", "/dev/null", "new-session", "-d", "-s", "theirs", "exec cat").CombinedOutput(); err != nil {
		t.Fatalf("start a server: %v: %s", err, out)
	}
	before := r.asUser("tmux", "-S", r.socket, "show-environment", "-g")
	r.run()
	r.await("a connection", func() bool { return strings.Contains(r.said(), `"tmux connected"`) })
	env := r.make(api.Create{Name: "env", Command: []string{"sh", "-c", "env; echo over; exec cat"}}, "over")
	// What panebridge doesn't know of is the user's, as everything on that server.
	var theirs []string
	for name := range r.planted {
		if strings.ToUpper(name) == name {
			theirs = append(theirs, name)
		}
	}
	r.without("what env prints", r.seen(env.ID), theirs...)
	r.look("a session of ours", r.panePID(env), theirs...)
	if after := r.asUser("tmux", "-S", r.socket, "show-environment", "-g"); after != before {
		t.Errorf("the server's environment isn't as it was:\n%s", after)
	}
	r.without("the environment of the session", r.asUser("tmux", "-S", r.socket, "show-environment", "-t", "="+env.Tmux.Session))
	out, _ := r.command(r.environ, r.program, "doctor", "--config", filepath.Join(r.dir, "config.yaml"), "--state-dir", filepath.Join(r.dir, "state")).CombinedOutput()
	if !strings.Contains(string(out), "set-environment -g -u TELEGRAM_TOKEN") {
		t.Errorf("doctor doesn't say what to do:\n%s", out)
	}
	r.without("what doctor says", string(out))
	r.without("the log", r.said())
}
