// Command chatdemo shows panebridge's side on Telegram or Discord without a token: it
// starts the stand-in for the platform that the tests use, a chat view for the browser,
// and bin/panebridge with a tmux server and an agent of its own. `make demo-telegram` and
// `make demo-discord` run it. Nothing leaves the machine, and nothing is kept.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/internal/memnet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	name := flag.String("platform", "telegram", "what it shows: telegram or discord")
	flag.Parse()
	if err := run(ctx, *name); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "chatdemo:", err)
		os.Exit(1)
	}
}

// run shows the demo until ctx ends.
func run(ctx context.Context, name string) (err error) {
	begin, ok := platforms[name]
	if !ok {
		return fmt.Errorf("there's no platform %q: it's telegram or discord", name)
	}
	dir, err := os.MkdirTemp("", "panebridge-"+name+"-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{dir: dir, program: filepath.Join("bin", "panebridge")}
	if d.program, err = filepath.Abs(d.program); err != nil {
		return fmt.Errorf("find bin/panebridge: %w", err)
	}
	// The platform is there until the daemon has ended, which would miss it.
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	servers, serving := errgroup.WithContext(serving)
	defer func() { end(); err = errors.Join(err, servers.Wait()) }()
	p := begin()
	api, err := listen(serving, servers, p.api)
	if err != nil {
		return err
	}
	token := rand.Text()
	view, err := listen(serving, servers, p.view(token))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	if err := d.configure(p, api); err != nil {
		return err
	}
	group.Go(func() error { return d.daemon(ctx) })
	group.Go(func() error { return d.session(ctx) })
	fmt.Printf(text, p.named, view+"/?token="+token, p.where)
	select {
	case <-ctx.Done():
	case <-serving.Done(): // it couldn't go on
		stop()
	}
	d.endTmux(context.WithoutCancel(ctx))
	return group.Wait()
}

const text = `
The demo is running. A phone's view of %s, at this machine only:

    %s

%s for the session. Write in it:
  - anything      the agent answers, with a tool, a table and code; its end rings
  - ask, choose   it says why, asks, and waits: answer by button or menu
  - count 20      twenty lines; count 5000 is a long answer
  - /help         what else there is: /screen, /keys, /sessions, /new …

Ctrl-C ends the demo.
`

// demo is what the parts of the demo share.
type demo struct {
	dir     string
	program string // bin/panebridge
}

// listen serves a handler at this machine only, and returns its address.
func listen(ctx context.Context, group *errgroup.Group, h http.Handler) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("open a port: %w", err)
	}
	group.Go(func() error { return memnet.Serve(ctx, l, h) })
	return "http://" + l.Addr().String(), nil
}

// configure writes the configuration that somebody would write for this chat.
func (d *demo) configure(p platform, api string) error {
	chats := p.adapter(api)
	chats["web"] = map[string]any{"listen": "127.0.0.1:0"}
	cfg, err := yaml.Marshal(map[string]any{
		"tmux":     map[string]any{"servers": []any{map[string]any{"socket_path": d.socket()}}},
		"polling":  map[string]any{"output_cadence_s": 0.5},
		"agents":   map[string]any{"demo": map[string]any{"command": []string{d.program, "demo-agent"}}},
		"mirrors":  []any{map[string]any{"session": "*", "to": p.target, "input": true}},
		"access":   map[string]any{"admins": []string{p.me}},
		"adapters": chats,
		"log":      map[string]any{"level": "warn"},
	})
	if err == nil {
		err = os.WriteFile(d.configFile(), cfg, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	return nil
}

func (d *demo) configFile() string { return filepath.Join(d.dir, "config.yaml") }
func (d *demo) socket() string     { return filepath.Join(d.dir, "tmux.sock") }

// panebridge is a call of the program in the demo's folder.
func (d *demo) panebridge(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.program, append([]string{"--config", d.configFile(), "--state-dir", d.dir}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	return cmd
}

func (d *demo) daemon(ctx context.Context) error {
	cmd := d.panebridge(ctx, "run")
	cmd.Stdout = nil // where its page is: this has a page of its own
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("run the daemon: %w", err)
	}
	return nil
}

// session begins the demo's session as soon as the daemon is there.
func (d *demo) session(ctx context.Context) error {
	socket := filepath.Join(d.dir, "panebridge.sock")
	for {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
	cmd := d.panebridge(ctx, "sessions", "new", "--agent", "demo", "--name", "demo")
	cmd.Stdout = nil
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("begin the demo's session: %w", err)
	}
	return nil
}

// endTmux ends the demo's tmux server, and its agent with it.
func (d *demo) endTmux(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = exec.CommandContext(ctx, "tmux", "-S", d.socket(), "kill-server").Run() // it may have ended by itself
}
