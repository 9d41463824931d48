package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/panebridge/panebridge/internal/host"
)

// ErrServerGone means that the tmux server has ended, or there was none.
var ErrServerGone = errors.New("the tmux server is gone")

// waitForEnd is how long a client that was told to end may take.
const waitForEnd = 500 * time.Millisecond

// WaitFor is tmux's own `wait-for CHANNEL`: it returns nil when the channel is signalled. A
// server that ends wakes all that wait as if it signalled them, so WaitFor looks whether
// it's the same that it was: ErrServerGone if not. No process is left when it returns.
//
// tmux keeps a signal that nobody waits for; but it counts one that has been given up
// as waiting, so the next signal after that may be lost on it.
func WaitFor(ctx context.Context, opt Options, channel string) error {
	c := New(opt)
	before, err := c.oneOff(ctx, "display-message", "-p", "#{pid} #{start_time}")
	if err != nil {
		return err
	}
	if _, err := c.oneOff(ctx, "wait-for", "--", literalArgument(channel)); err != nil {
		return err
	}
	after, err := c.oneOff(ctx, "display-message", "-p", "#{pid} #{start_time}")
	switch {
	case err != nil:
		return err
	case before != after:
		return fmt.Errorf("%w: another one runs now", ErrServerGone)
	}
	return nil
}

// oneOff runs one tmux command as a process of its own.
func (c *Client) oneOff(ctx context.Context, args ...string) (string, error) {
	cmd := c.plainClient(ctx, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = waitForEnd
	cmd.SysProcAttr = host.EndWithParent()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the process is ended when the thread that started it ends
		defer runtime.UnlockOSThread()
		done <- cmd.Run()
	}()
	err := <-done
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil {
		return strings.TrimSpace(out.String()), nil
	}
	said := strings.TrimSpace(errs.String())
	_, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case !exited:
		return "", fmt.Errorf("run tmux %s: %w", args[0], err)
	case said == "", strings.Contains(said, "server exited"), strings.Contains(said, "lost server"),
		strings.Contains(said, "no server running"), strings.Contains(said, "error connecting"):
		return "", fmt.Errorf("%w: %s", ErrServerGone, strings.TrimSpace("tmux "+args[0]+" "+said))
	}
	return "", fmt.Errorf("run tmux %s: %s", args[0], said)
}
