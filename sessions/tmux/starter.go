package tmux

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Starter starts tmux servers for a daemon that is a service of the machine's service manager. What the daemon
// starts itself is part of its unit: it has the unit's hardening for good and ends with it. The starter's unit has
// no hardening and ends the starter alone. A caller can have nothing started but a tmux server with the hidden session.
type Starter struct {
	Program string // "" for "tmux" from PATH
	Log     *slog.Logger
}

const (
	// maxStart is how many bytes a request or its answer may have: an environment is at most 2 MB on Linux.
	maxStart = 4 << 20
	// startWithin is how long one start may take, from the request to the answer.
	startWithin = 10 * time.Second
)

// startRequest asks a Starter for a server, as Options name it.
type startRequest struct {
	SocketName, SocketPath, ConfigFile string
	Environment                        []string // NAME=value
}

// startAnswer is what came of it.
type startAnswer struct {
	Said  string // what tmux printed
	Error string // "": the server runs
}

// ListenStarter makes the socket at a path on which a Starter serves. Others than this user may not enter its folder.
// A socket that nobody listens on is replaced.
func ListenStarter(ctx context.Context, path string) (net.Listener, error) {
	l, err := listenStarter(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("listen for who wants a tmux server: %w", err)
	}
	return l, nil
}

func listenStarter(ctx context.Context, path string) (net.Listener, error) {
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may enter %s, and whoever may start tmux servers there: chmod 700 %[1]s", filepath.Dir(path))
	}
	if err := removeDeadSocket(ctx, path); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "unix", path)
}

// removeDeadSocket removes what a killed process has left.
func removeDeadSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&os.ModeSocket == 0:
		return fmt.Errorf("%s is no socket", path)
	}
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		return errors.Join(fmt.Errorf("somebody listens on %s already", path), conn.Close())
	}
	return os.Remove(path)
}

// Serve answers requests until ctx ends, and returns when the last one is answered. It closes the listener.
func (s Starter) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("wait for who wants a tmux server: %w", err)
		}
		running.Go(func() {
			defer conn.Close()
			s.answer(ctx, conn)
		})
	}
}

// answer serves one caller, which may say nothing or anything.
func (s Starter) answer(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	_ = conn.SetDeadline(time.Now().Add(startWithin)) // fails only for a connection that's closed
	var req startRequest
	if err := json.NewDecoder(io.LimitReader(conn, maxStart)).Decode(&req); err != nil {
		s.Log.Warn("a request for a tmux server can't be read", "err", err)
		return
	}
	c := New(Options{SocketName: req.SocketName, SocketPath: req.SocketPath, ConfigFile: req.ConfigFile, Program: s.Program, Environment: req.Environment})
	said, err := c.startHere(ctx, req.Environment)
	answer := startAnswer{Said: said}
	if err != nil {
		answer.Error = err.Error()
		s.Log.Warn("no tmux server was started", "server", c.Name(), "err", err)
	} else {
		s.Log.Info("a tmux server was started", "server", c.Name())
	}
	_ = json.NewEncoder(conn).Encode(answer) // who doesn't wait for it asks again
}

// startHere starts the server as a process of this one's unit.
func (c *Client) startHere(ctx context.Context, environ []string) (said string, err error) {
	cmd := exec.CommandContext(ctx, c.opt.Program, c.tmuxArgs("new-session", "-d", "-E", "-s", HiddenSession, "-x", "80", "-y", "24", "cat", "-")...)
	cmd.Env = environ
	cmd.WaitDelay = time.Second
	text, err := cmd.CombinedOutput()
	if said = strings.TrimSpace(string(text)); strings.Contains(said, "duplicate session") {
		err = nil
	}
	return said, err
}

// startElsewhere has the Starter at Options.Starter start the server.
func (c *Client) startElsewhere(ctx context.Context) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.opt.Starter)
	if err != nil {
		return "", fmt.Errorf("ask the unit that starts them, and that survives this daemon (`panebridge service status` says how it is): %w", err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline) // fails only for a connection that's closed
	req := startRequest{SocketName: c.opt.SocketName, SocketPath: c.opt.SocketPath, ConfigFile: c.opt.ConfigFile, Environment: c.serverEnv()}
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(req); err != nil {
		return "", err
	}
	if _, err := conn.Write(line.Bytes()); err != nil {
		return "", err
	}
	var answer startAnswer
	if err := json.NewDecoder(io.LimitReader(conn, maxStart)).Decode(&answer); err != nil {
		return "", fmt.Errorf("hear what came of it: %w", err)
	}
	if answer.Error != "" {
		return answer.Said, errors.New(answer.Error)
	}
	return answer.Said, nil
}
