package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	paneSize    = "-x 120 -y 40"
	fillRows    = 100                    // printed into every pane first: a full screen and some history
	driveEvery  = 300 * time.Millisecond // between two lines of an active pane: 3.3 lines a second
	killTimeout = 10 * time.Second
)

// bed is a tmux server of our own with quiet sessions in it.
type bed struct {
	dir    string
	socket string
	pid    int
	panes  []pane
}

// pane is the only pane of one of a bed's sessions. The program in it is cat,
// which prints nothing by itself; text comes from writing to its terminal, so
// no process is needed per printer.
type pane struct {
	session string
	id      string
	tty     *os.File
}

// newBed starts a server with n sessions. Call close.
func newBed(ctx context.Context, n int) (*bed, error) {
	dir, err := os.MkdirTemp("", "pbbench-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	b := &bed{dir: dir, socket: filepath.Join(dir, "tmux")}
	if err := b.start(ctx, n); err != nil {
		b.close(ctx)
		return nil, err
	}
	return b, nil
}

func (b *bed) start(ctx context.Context, n int) error {
	var conf strings.Builder
	conf.WriteString("set -g default-shell /bin/sh\nset -g history-limit 2000\n")
	for i := range n {
		fmt.Fprintf(&conf, "new-session -d -s bench-%04d %s 'exec cat'\n", i+1, paneSize)
	}
	file := filepath.Join(b.dir, "tmux.conf")
	if err := os.WriteFile(file, []byte(conf.String()), 0o600); err != nil {
		return fmt.Errorf("write tmux's configuration: %w", err)
	}
	if out, err := b.command(ctx, "-f", file, "start-server").CombinedOutput(); err != nil {
		return fmt.Errorf("start a tmux server: %w: %s", err, bytes.TrimSpace(out))
	}
	return b.find(ctx, n)
}

// find waits for the sessions and opens their terminals.
func (b *bed) find(ctx context.Context, n int) error {
	var lines []string
	for {
		out, err := b.command(ctx, "list-panes", "-a", "-F", "#{pid} #{session_name} #{pane_id} #{pane_tty}").Output()
		if err != nil {
			return fmt.Errorf("list the panes: %w", err)
		}
		if lines = strings.Fields(string(out)); len(lines) == 4*n {
			break
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	b.pid, _ = strconv.Atoi(lines[0])
	for f := lines; len(f) > 0; f = f[4:] {
		tty, err := os.OpenFile(f[3], os.O_WRONLY|noControllingTTY, 0)
		if err != nil {
			return fmt.Errorf("open a pane's terminal: %w", err)
		}
		b.panes = append(b.panes, pane{session: f[1], id: f[2], tty: tty})
	}
	return nil
}

// fill gives every pane a full screen.
func (b *bed) fill() error {
	for _, p := range b.panes {
		for row := range fillRows {
			line := fmt.Sprintf("%s row %d: what an agent said some time ago, most of a line long", p.session, row)
			if row%10 == 0 {
				line += line // wraps
			}
			if err := p.write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// command is a tmux call on the bed's server.
func (b *bed) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-S", b.socket}, args...)...)
	cmd.Env = withoutTmux()
	cmd.WaitDelay = time.Second
	return cmd
}

// withoutTmux is our environment without what makes tmux refuse to nest.
func withoutTmux() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TMUX=") && !strings.HasPrefix(kv, "TMUX_PANE=") {
			env = append(env, kv)
		}
	}
	return env
}

// write writes a line to a pane.
func (p pane) write(line string) error {
	if _, err := p.tty.WriteString(line + "\r\n"); err != nil {
		return fmt.Errorf("print to pane %s: %w", p.id, err)
	}
	return nil
}

// drive prints to the first n panes until stopped. The panes take turns, so that
// the load is even.
func (b *bed) drive(n int) (stop func()) {
	active := b.panes[:min(n, len(b.panes))]
	done := make(chan struct{})
	var wg sync.WaitGroup
	if len(active) > 0 {
		wg.Go(func() {
			tick := time.NewTicker(driveEvery / time.Duration(len(active)))
			defer tick.Stop()
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				case <-tick.C:
				}
				p := active[i%len(active)]
				_ = p.write(fmt.Sprintf("%s says line %d, which is about as long as lines mostly are", p.session, i))
			}
		})
	}
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}

// close ends the server and removes the folder, also when ctx has ended.
func (b *bed) close(ctx context.Context) {
	for _, p := range b.panes {
		_ = p.tty.Close()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTimeout)
	defer cancel()
	_ = b.command(ctx, "kill-server").Run() // it may not have started
	if b.pid != 0 {
		for ctx.Err() == nil && alive(b.pid) {
			_ = pause(ctx, 20*time.Millisecond)
		}
	}
	_ = os.RemoveAll(b.dir)
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return errors.Join(errStopped, ctx.Err())
	case <-t.C:
		return nil
	}
}

var errStopped = errors.New("stopped")
