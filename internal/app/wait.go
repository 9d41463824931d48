package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// wait serves a wait beside the session's poller, over the same connection to tmux; where
// the text comes from a transcript, from the log that the poller writes.
func (d *daemon) wait(ctx context.Context, s sessions.Session, r sessions.WaitRequest, note func(sessions.WaitNote)) (sessions.WaitResult, error) {
	patterns, err := polling.NewWaitPatterns(r)
	if err != nil {
		return sessions.WaitResult{}, err
	}
	d.reloading.Lock()
	opt := waitOptions(d.config, r, note)
	d.reloading.Unlock()
	if s.State == sessions.StateEnded {
		return hasEnded(s, opt), nil
	}
	if s.Source.Transcript != "" {
		return polling.WaitLines(ctx, outputLog{d.store}, waitSession{d.manager, d.coord}, s.ID, patterns, opt)
	}
	for _, c := range d.clients {
		if c.Name() == s.Pane.Server {
			opt.Gone = c.Gone
			return polling.Wait(ctx, c, s.Pane.ID, s.Pane.Identity, patterns, opt)
		}
	}
	return sessions.WaitResult{}, noServer(s)
}

func noServer(s sessions.Session) error {
	return fmt.Errorf("%w tmux server %q of %s: it isn't in the configuration", sessions.ErrUnknown, s.Pane.Server, s.Name)
}

// waitSession is a session as a wait for its log needs it.
type waitSession struct {
	*sessions.Manager
	coord *polling.PollingCoordinator
}

func (w waitSession) LookNow(id sessions.ID) { w.coord.LookNow(id) }

func waitOptions(cfg *config.Config, r sessions.WaitRequest, note func(sessions.WaitNote)) polling.WaitOptions {
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = sessions.DefaultWaitTimeout
	}
	return polling.WaitOptions{
		Timeout: min(timeout, cfg.Wait.MaxTimeout.Duration()), Interval: r.Interval, Note: note,
		CaptureTimeout: cfg.Polling.CaptureTimeout.Duration(), MaxRows: cfg.Polling.MaxCaptureLines,
	}
}

// hasEnded is the result of a wait for a session that has ended before.
func hasEnded(s sessions.Session, opt polling.WaitOptions) sessions.WaitResult {
	reason := "the session has ended before"
	if s.Reason != "" {
		reason += ": " + s.Reason
	}
	return sessions.WaitResult{
		Outcome: sessions.WaitDied, Reason: reason, Exit: s.Exit, Lines: []string{}, Tail: []string{},
		Source: string(sessions.KindPane), TimeoutMS: opt.Timeout.Milliseconds(),
	}
}

// WaitAlone is a wait without a daemon: a client of its own reads the pane. Of a session
// whose text comes from a transcript it's the pane, too: nobody reads that.
func WaitAlone(ctx context.Context, cfg *config.Config, stateDir, idOrName string, r sessions.WaitRequest, note func(sessions.WaitNote)) (sessions.WaitResult, error) {
	var none sessions.WaitResult
	patterns, err := polling.NewWaitPatterns(r)
	if err != nil {
		return none, err
	}
	s, err := storedSession(ctx, stateDir, idOrName)
	if err != nil {
		return none, err
	}
	opt := waitOptions(cfg, r, note)
	if s.State == sessions.StateEnded {
		return hasEnded(s, opt), nil
	}
	for _, server := range cfg.Tmux.Servers {
		c := tmux.New(tmux.Options{SocketName: server.SocketName, SocketPath: server.SocketPath})
		if c.Name() != s.Pane.Server {
			continue
		}
		running, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { defer close(done); _ = c.Run(running) }()
		defer func() { stop(); <-done }()
		if err := connected(ctx, c); err != nil {
			return none, err
		}
		opt.Gone = c.Gone
		if c.Gone() {
			return sessions.WaitResult{
				Outcome: sessions.WaitDied, Reason: "the pane's tmux server has ended", Lines: []string{}, Tail: []string{},
				Source: string(sessions.KindPane), TimeoutMS: opt.Timeout.Milliseconds(),
			}, nil
		}
		return polling.Wait(ctx, c, s.Pane.ID, s.Pane.Identity, patterns, opt)
	}
	return none, noServer(s)
}

// connectWait is how long a wait without a daemon tries to connect to tmux.
const connectWait = 10 * time.Second

// connected waits until the client is connected, or knows that there's no server.
func connected(ctx context.Context, c *tmux.Client) error {
	ctx, cancel := context.WithTimeoutCause(ctx, connectWait, fmt.Errorf("%w: tmux server %s doesn't answer", sessions.ErrUnavailable, c.Name()))
	defer cancel()
	for {
		if s := c.Status(); s.Connected || s.Absent {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// storedSession finds a session in the file that the daemon has left: by id, or the newest of
// that name, a living one first.
func storedSession(ctx context.Context, stateDir, idOrName string) (found sessions.Session, err error) {
	if err := statedir.Check(stateDir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, statedir.ExplainDenied(stateDir, err)
	}
	path := statedir.DatabasePath(stateDir)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return found, fmt.Errorf("%w session %q: no daemon has run on the state folder %s yet", sessions.ErrUnknown, idOrName, stateDir)
	}
	db, err := store.OpenInbox(ctx, path) // which leaves the schema to the daemon
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all, err := db.Parties(ctx)
	if err != nil {
		return found, err
	}
	rank := 0
	for i := range all {
		s, n := &all[i].Session, 0
		switch {
		case string(s.ID) == idOrName:
			n = 3
		case s.Name == idOrName && s.State != sessions.StateEnded:
			n = 2
		case s.Name == idOrName:
			n = 1
		}
		if n > rank || n == rank && n > 0 && s.EndedAt.After(found.EndedAt) {
			found, rank = *s, n
		}
	}
	if rank == 0 {
		return found, fmt.Errorf("%w session %q", sessions.ErrUnknown, idOrName)
	}
	return found, nil
}
