package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
	"github.com/panebridge/panebridge/sessions/typing"
)

const (
	// announceTime bounds the daemon's answer: it types, which takes some seconds.
	announceTime = 45 * time.Second
	typistsTime  = 60 * time.Second // until others must have typed
	typistsLook  = 50 * time.Millisecond
	daemonLook   = 500 * time.Millisecond // between looks whether one has started
	paneLookTime = 5 * time.Second        // until tmux must have answered
)

// announcer asks the daemon, and types itself while that's stopped.
type announcer struct{ m *mailbox }

func (m *mailbox) announcer() inbox.Announcer { return announcer{m} }

func (a announcer) daemon() *client.Client { return client.New(statedir.SocketPath(a.m.dir)) }

// Announce has a recipient's waiting previews typed.
func (a announcer) Announce(ctx context.Context, to inbox.Address) error {
	if to.Session() == "" { // only the daemon reaches people
		if err := a.ask(ctx, func(ctx context.Context, c *client.Client) error { return c.Announce(ctx, to) }); !errors.Is(err, client.ErrNotRunning) && !client.CutOff(err) {
			return err
		}
		return nil // it stays as it's stored, and the next daemon goes on with it
	}
	return a.either(ctx,
		func(ctx context.Context, c *client.Client) error { return c.Announce(ctx, to) },
		func(p *inbox.Previews) error { return p.Announce(ctx, to) })
}

// ask asks the daemon.
func (a announcer) ask(ctx context.Context, daemon func(ctx context.Context, c *client.Client) error) error {
	c := a.daemon()
	defer c.Close()
	call, cancel := context.WithTimeout(ctx, announceTime)
	defer cancel()
	return daemon(call, c)
}

// either has the daemon do it, or does it while none runs and nobody else types. One that
// starts or ends meanwhile is asked again: it types from its first connection to tmux
// until its last has ended. What one has left that was killed is finished, and not done
// again.
func (a announcer) either(ctx context.Context, daemon func(ctx context.Context, c *client.Client) error, alone func(p *inbox.Previews) error) error {
	for began := time.Now(); ; {
		if err := a.ask(ctx, daemon); !errors.Is(err, client.ErrNotRunning) && !client.CutOff(err) {
			return err
		}
		give, ours, err := inbox.Typists{Folder: a.m.dir}.Try()
		switch {
		case err != nil:
			return err
		case ours && a.answers(ctx):
			give()
			continue // it waits for its turn
		case ours:
			defer give()
			stop, done := a.untilDaemon(ctx)
			defer done()
			return alone(&inbox.Previews{Store: a.m.store, Once: true, MaxRunes: a.m.maxText(), Typist: lonelyTypist{a.m.program, stop}})
		case time.Since(began) > typistsTime:
			return fmt.Errorf("others have been typing for %s", typistsTime)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(typistsLook):
		}
	}
}

// answers reports whether a daemon runs, which may not have connected to tmux yet.
func (a announcer) answers(ctx context.Context) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "unix", statedir.SocketPath(a.m.dir))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// untilDaemon returns what's closed when a daemon has started, which waits until nobody
// else types. done has to be called when that's the case.
func (a announcer) untilDaemon(ctx context.Context) (stop <-chan struct{}, done func()) {
	started, ctxDone := make(chan struct{}), make(chan struct{})
	go func() {
		for !a.answers(ctx) {
			select {
			case <-ctxDone:
				return
			case <-time.After(daemonLook):
			}
		}
		close(started)
	}()
	return started, sync.OnceFunc(func() { close(ctxDone) })
}

// lonelyTypist types by a connection to tmux of its own, for one text. What only the
// daemon knows, whether an agent is working, isn't known here: agents queue what's
// submitted meanwhile.
type lonelyTypist struct {
	p    *program
	stop <-chan struct{} // closed when the daemon wants to
}

func (t lonelyTypist) Type(ctx context.Context, to inbox.Party, text string, fixed bool) (sent bool, why string, err error) {
	unreachable := t.connected(ctx, to, func(ctx context.Context, pane lonelyPane) {
		sent, why, err = typing.TypePreview(ctx, pane.client, to.Pane, pane.preview(text, fixed), pane.generic.DialogPhrases(), pane.generic.Dialog)
	})
	if unreachable != "" {
		return false, unreachable, nil
	}
	return sent, why, err
}

func (t lonelyTypist) Finish(ctx context.Context, to inbox.Party, text string) (p inbox.Preview, why string) {
	p = inbox.PreviewTyping
	unreachable := t.connected(ctx, to, func(ctx context.Context, pane lonelyPane) {
		var end sessions.PreviewEnd
		end, why = typing.FinishPreview(ctx, pane.client, to.Pane, pane.preview(text, false), pane.generic.DialogPhrases(), pane.generic.Dialog)
		p = map[sessions.PreviewEnd]inbox.Preview{
			sessions.PreviewFinished: inbox.PreviewTyped, sessions.PreviewUnclear: inbox.PreviewTyping, sessions.PreviewUnknown: inbox.PreviewNone,
		}[end]
	})
	if unreachable != "" {
		return p, unreachable
	}
	return p, why
}

// lonelyPane is a pane to which a lonely typist is connected.
type lonelyPane struct {
	client  *tmux.Client
	watch   *agent.Foreground
	generic *agent.Profile
	stop    <-chan struct{}
}

func (l lonelyPane) preview(text string, fixed bool) sessions.Preview {
	executable, _ := ownPath() // without it, it's called by its name
	return sessions.Preview{
		Text: text, Command: fixed, Plain: inbox.PollCommand, Box: l.watch.Box, Shell: l.watch.Shell, Stop: l.stop,
		Fit: func(text string, s *sessions.Snapshot) string {
			return inbox.Fit(text, l.watch.CalledIn(s, executable))
		},
	}
}

// connected does something at a pane, or says why it can't be reached.
func (t lonelyTypist) connected(ctx context.Context, to inbox.Party, do func(ctx context.Context, pane lonelyPane)) (unreachable string) {
	profiles, err := t.p.loadProfiles()
	if err != nil {
		return err.Error()
	}
	options := tmux.Options{SocketName: to.Pane.Server}
	if strings.Contains(to.Pane.Server, "/") {
		options = tmux.Options{SocketPath: to.Pane.Server}
	}
	up := make(chan struct{}, 1)
	options.OnUp = func(sessions.ServerIdentity) { up <- struct{}{} }
	c := tmux.New(options)
	if _, err := os.Stat(c.SocketPath()); err != nil {
		return "no tmux server runs at " + c.SocketPath()
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	select {
	case <-up:
	case <-time.After(paneLookTime):
		return reachable(c.Status())
	}
	do(ctx, lonelyPane{c, agent.NewForeground(profiles), profiles.Generic(), t.stop})
	return ""
}

// reachable says why there's no connection to a tmux server.
func reachable(s tmux.Status) string {
	if s.Err != nil {
		return "tmux can't be reached: " + s.Err.Error()
	}
	return "tmux doesn't answer"
}
