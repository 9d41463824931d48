// Command telegramdemo shows panebridge's Telegram side without a token: it starts
// the stand-in for the Bot API that the tests use, a chat view for the browser, and
// bin/panebridge with a tmux server and an agent of its own. `make demo-telegram`
// runs it. Nothing leaves the machine, and nothing is kept.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "telegramdemo:", err)
		os.Exit(1)
	}
}

// run shows the demo until ctx ends.
func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "panebridge-telegram-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{dir: dir, program: filepath.Join("bin", "panebridge")}
	if d.program, err = filepath.Abs(d.program); err != nil {
		return fmt.Errorf("find bin/panebridge: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	view, err := d.standIn(ctx, group)
	if err != nil {
		return err
	}
	if err := d.configure(); err != nil {
		return err
	}
	group.Go(func() error { return d.daemon(ctx) })
	group.Go(func() error { return d.session(ctx) })
	fmt.Printf(text, view)
	<-ctx.Done()
	d.endTmux(context.WithoutCancel(ctx))
	return group.Wait()
}

const text = `
The demo is running. A phone's view of Telegram, at this machine only:

    %s

In the group "Agents" there's a topic for the session. Write in it:
  - count 20      the agent answers; one message grows, its end rings
  - ask           it asks for a permission, and waits
  - /help         what else there is: /screen, /keys, /sessions, /new …

Ctrl-C ends the demo.
`

// demo is what the parts of the demo share.
type demo struct {
	dir     string
	program string // bin/panebridge
	api     string // address of the stand-in
	group   int64
	me      int64
}

// standIn starts the stand-in and its view, and returns the view's address.
func (d *demo) standIn(ctx context.Context, group *errgroup.Group) (string, error) {
	s := telegramtest.New(telegramtest.Options{})
	me := s.AddUser(telegramtest.User{FirstName: "You"})
	d.me, d.group = me.ID, s.AddForum("Agents", me)
	token := rand.Text()
	addresses := make([]string, 0, 2)
	for _, h := range []http.Handler{s, telegramtest.NewView(s, token)} {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return "", fmt.Errorf("open a port: %w", err)
		}
		addresses = append(addresses, "http://"+l.Addr().String())
		group.Go(func() error { return telegramtest.Serve(ctx, l, h) })
	}
	d.api = addresses[0]
	return addresses[1] + "/?token=" + token, nil
}

func (d *demo) configFile() string { return filepath.Join(d.dir, "config.yaml") }
func (d *demo) socket() string     { return filepath.Join(d.dir, "tmux.sock") }

// configure writes the configuration that somebody would write for this group.
func (d *demo) configure() error {
	target := "telegram:" + strconv.FormatInt(d.group, 10)
	cfg, err := yaml.Marshal(map[string]any{
		"tmux":    map[string]any{"servers": []any{map[string]any{"socket_path": d.socket()}}},
		"polling": map[string]any{"output_cadence_s": 0.5},
		"agents":  map[string]any{"demo": map[string]any{"command": []string{d.program, "demo-agent"}}},
		"mirrors": []any{map[string]any{"session": "*", "to": target, "input": true}},
		"access":  map[string]any{"admins": []string{"telegram:" + strconv.FormatInt(d.me, 10)}},
		"adapters": map[string]any{
			"web": map[string]any{"listen": "127.0.0.1:0"},
			"telegram": map[string]any{
				"enabled": true, "api_url": d.api, "token": telegramtest.DefaultToken,
				"chats": []any{map[string]any{"id": d.group, "topics": true}},
			},
		},
		"log": map[string]any{"level": "warn"},
	})
	if err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	if err := os.WriteFile(d.configFile(), cfg, 0o600); err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	return nil
}

// panebridge is a call of the program in the demo's folder.
func (d *demo) panebridge(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.program, append([]string{"--config", d.configFile(), "--state-dir", d.dir}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	return cmd
}

func (d *demo) daemon(ctx context.Context) error {
	if err := d.panebridge(ctx, "run").Run(); err != nil && ctx.Err() == nil {
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
