package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// waitSignalled is the outcome of a wait for a channel.
const waitSignalled sessions.WaitOutcome = "signalled"

// errChannelTimeout ends a wait for a channel.
var errChannelTimeout = errors.New("the time is out")

// waitChannel waits until a channel of a tmux server is signalled.
func (p *program) waitChannel(ctx context.Context, f waitFlags) (sessions.WaitResult, error) {
	cfg, err := p.loadPublic()
	if err != nil {
		return sessions.WaitResult{}, err
	}
	timeout := min(time.Duration(f.timeout), cfg.Wait.MaxTimeout.Duration())
	p.noteWait(sessions.WaitNote{Event: sessions.WaitBegun, TimeoutMS: timeout.Milliseconds()}, f)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errChannelTimeout)
	defer cancel()
	began := time.Now()
	err = tmux.WaitFor(ctx, p.channelServer(cfg, f.server), f.channel)
	r := sessions.WaitResult{
		Outcome: waitSignalled, Lines: []string{}, Tail: []string{}, Source: "channel",
		ElapsedMS: time.Since(began).Milliseconds(), TimeoutMS: timeout.Milliseconds(),
	}
	switch {
	case errors.Is(err, errChannelTimeout):
		r.Outcome = sessions.WaitTimeout
	case errors.Is(err, tmux.ErrServerGone):
		r.Outcome, r.Reason = sessions.WaitDied, "the channel wasn't signalled: "+err.Error()
	case err != nil:
		return r, err
	}
	return r, nil
}

// channelServer is the tmux server that's meant: the given one, else that of the pane this
// runs in, else the first of the configuration.
func (p *program) channelServer(cfg *config.Config, given string) tmux.Options {
	if given != "" {
		if strings.Contains(given, "/") {
			return tmux.Options{SocketPath: given}
		}
		return tmux.Options{SocketName: given}
	}
	if inside, ok := p.env("TMUX"); ok && inside != "" {
		socket, _, _ := strings.Cut(inside, ",")
		return tmux.Options{SocketPath: socket}
	}
	if len(cfg.Tmux.Servers) == 0 {
		return tmux.Options{SocketName: "default"}
	}
	first := cfg.Tmux.Servers[0]
	return tmux.Options{SocketName: first.SocketName, SocketPath: first.SocketPath}
}
