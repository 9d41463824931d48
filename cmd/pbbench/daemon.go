package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/sessions"
)

// adoptTimeout bounds the start of a daemon, until all sessions are read.
const adoptTimeout = 2 * time.Minute

// daemonOptions are what a benchmark's daemon differs in.
type daemonOptions struct {
	cadence      float64 // seconds
	historyLimit int     // of panes the daemon makes; 0: the default
	profile      string  // file for a CPU profile from startProfile on; "": none
	adopt        bool    // take in the bed's sessions
	state        string  // folder, which outlives the daemon; "": a new one on the bed
}

// daemon is the real daemon in a process of its own, so that its CPU time is
// its alone.
type daemon struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	api   *client.Client
	pid   int
	ready time.Duration // from its start until it listened
}

// startDaemon starts this program again as a daemon on a bed, and returns when
// it has all sessions. Call stop.
func startDaemon(ctx context.Context, b *bed, opt daemonOptions) (*daemon, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	state := opt.state
	if state == "" {
		if state, err = os.MkdirTemp(b.dir, "state-"); err != nil {
			return nil, fmt.Errorf("make a state folder: %w", err)
		}
	}
	d := &daemon{cmd: exec.CommandContext(ctx, self, "daemon", "--socket", b.socket, "--state", state,
		"--cadence", strconv.FormatFloat(opt.cadence, 'g', -1, 64), "--history-limit", strconv.Itoa(opt.historyLimit),
		"--profile", opt.profile, "--adopt="+strconv.FormatBool(opt.adopt))}
	d.cmd.Env = withoutTmux()
	d.cmd.Stderr = os.Stderr
	d.cmd.Cancel = func() error { return d.stdin.Close() }
	d.cmd.WaitDelay = killTimeout
	if err := d.launch(); err != nil {
		return nil, err
	}
	want := 0
	if opt.adopt {
		want = len(b.panes)
	}
	if err := d.await(ctx, want); err != nil {
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

// launch starts the process and waits for its first line, the API's socket.
func (d *daemon) launch() error {
	stdin, err := d.cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	d.stdin = stdin
	began := time.Now()
	if err := d.cmd.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	d.pid = d.cmd.Process.Pid
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("start the daemon: %w", err), d.stop())
	}
	d.ready = time.Since(began)
	d.api = client.New(strings.TrimSpace(line))
	return nil
}

// await waits until a number of sessions have been read once.
func (d *daemon) await(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, adoptTimeout)
	defer cancel()
	for {
		list, err := d.api.Sessions(ctx)
		if err != nil {
			return err
		}
		ready := 0
		for _, s := range list {
			if s.State != sessions.StateStarting {
				ready++
			}
		}
		if ready >= want {
			return nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return fmt.Errorf("wait for the daemon to read %d sessions; it has %d: %w", want, ready, err)
		}
	}
}

// startProfile leaves the start out of the daemon's profile.
func (d *daemon) startProfile() error {
	if _, err := d.stdin.Write([]byte{'\n'}); err != nil {
		return fmt.Errorf("start the daemon's profile: %w", err)
	}
	return nil
}

// stop ends the daemon and waits for its end.
func (d *daemon) stop() error {
	_ = d.stdin.Close()
	if d.api != nil {
		d.api.Close()
	}
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("end the daemon: %w", err)
	}
	return nil
}

// daemonCommand is the other side: what startDaemon starts.
func daemonCommand() *cobra.Command {
	var opt daemonOptions
	var socket, state string
	cmd := &cobra.Command{
		Use: "daemon", Short: "Run the daemon until standard input ends", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			profile := make(chan struct{}, 1)
			go func() {
				defer cancel() // ends with whoever started us, however that ends
				for b := make([]byte, 1); ; {
					if _, err := os.Stdin.Read(b); err != nil {
						return
					}
					select {
					case profile <- struct{}{}:
					default: // it has begun already
					}
				}
			}()
			stop, err := profileOn(ctx, profile, opt.profile)
			if err != nil {
				return err
			}
			defer stop()
			return runDaemon(ctx, opt, socket, state)
		},
	}
	f := cmd.Flags()
	f.StringVar(&socket, "socket", "", "socket of the tmux server")
	f.StringVar(&state, "state", "", "state folder")
	f.Float64Var(&opt.cadence, "cadence", 1, "seconds between two looks")
	f.IntVar(&opt.historyLimit, "history-limit", 0, "rows, of panes made by the daemon")
	f.StringVar(&opt.profile, "profile", "", "file for a CPU profile")
	f.BoolVar(&opt.adopt, "adopt", false, "take in the benchmark's sessions")
	return cmd
}

// profileOn writes a CPU profile from a signal on until stop.
func profileOn(ctx context.Context, on <-chan struct{}, name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("write a CPU profile: %w", err)
	}
	go func() {
		select {
		case <-on:
			_ = pprof.StartCPUProfile(f) // it fails only where one is being taken
		case <-ctx.Done():
		}
	}()
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}

func runDaemon(ctx context.Context, opt daemonOptions, socket, state string) error {
	cfg := all.Form().Default()
	cfg.Tmux.Servers = []config.TmuxServer{{SocketPath: socket}}
	cfg.Adapters.Web.Listen = "127.0.0.1:0"
	cfg.Polling.OutputCadence = config.Seconds(opt.cadence)
	cfg.Polling.FocusCadence = min(cfg.Polling.FocusCadence, cfg.Polling.OutputCadence)
	cfg.Sessions.LogMaxLines = 2_000_000 // what's trimmed can't be checked
	if opt.historyLimit > 0 {
		cfg.Sessions.HistoryLimit = opt.historyLimit
	}
	if opt.adopt {
		cfg.Sessions.Adopt = []string{"bench-*"}
	}
	err := app.Run(ctx, app.Options{
		Config: cfg, StateDir: state, Version: "bench",
		Log:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Ready: func(i app.Info) { fmt.Println(i.Socket) },
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
