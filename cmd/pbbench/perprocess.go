package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// The ways that are compared, as the rows name them.
const (
	wayPanebridge = "panebridge"
	wayFollowed   = "panebridge, followed"
	wayProcesses  = "process-per-session"
)

// look is one session read the other way: has-session and capture-pane, a
// process each.
type look struct {
	screen string
	cpu    time.Duration // of the two processes; what starts them isn't counted
}

func (b *bed) lookByProcesses(ctx context.Context, session string) (look, error) {
	has := b.command(ctx, "has-session", "-t", "="+session)
	if err := has.Run(); err != nil {
		return look{}, fmt.Errorf("look for session %s: %w", session, err)
	}
	capture := b.command(ctx, "capture-pane", "-p", "-t", "="+session+":")
	out, err := capture.Output()
	if err != nil {
		return look{}, fmt.Errorf("capture session %s: %w", session, err)
	}
	return look{string(out), cpuOf(has) + cpuOf(capture)}, nil
}

func cpuOf(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// sweep is all sessions read that way, one after the other.
type sweep struct {
	sessions int // fewer than there are if the time ran out
	client   time.Duration
	server   time.Duration
	wall     time.Duration
}

// sweepByProcesses reads all sessions once, or as many as the limit lets it.
func (b *bed) sweepByProcesses(ctx context.Context, limit time.Duration, seen func(screen string)) (sweep, error) {
	var s sweep
	before, err := cpuTime(b.pid)
	if err != nil {
		return s, err
	}
	start := time.Now()
	for _, p := range b.panes {
		if s.sessions > 0 && time.Since(start) > limit {
			break
		}
		l, err := b.lookByProcesses(ctx, p.session)
		if err != nil {
			return s, err
		}
		s.sessions++
		s.client += l.cpu
		if seen != nil {
			seen(l.screen)
		}
	}
	s.wall = time.Since(start)
	after, err := cpuTime(b.pid)
	s.server = after - before
	return s, err
}
