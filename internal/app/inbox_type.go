package app

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// typedWithin is how long a stopping daemon waits for a text that's in an input box to be
// submitted: left there, it would be in the way of all that's typed later.
const typedWithin = 5 * time.Second

// othersTypeWithin is how long a daemon that starts waits for a command that types by
// itself. It's more than one needs that isn't stopped: see sessions.Preview.
const othersTypeWithin = 40 * time.Second

// Type types into a session's pane.
func (m *mailroom) Type(ctx context.Context, to inbox.Party, text string, fixed bool) (sent bool, why string, err error) {
	if !m.beginTyping() {
		return false, "the daemon is stopping", nil
	}
	defer m.endTyping()
	return m.d.manager.Preview(ctx, to.ID, m.preview(to, text, fixed))
}

// Finish looks after what another process was typing that has ended.
func (m *mailroom) Finish(ctx context.Context, to inbox.Party, text string) (p inbox.Preview, why string) {
	if !m.beginTyping() {
		return inbox.PreviewTyping, "the daemon is stopping"
	}
	defer m.endTyping()
	switch end, why := m.d.manager.FinishPreview(ctx, to.ID, m.preview(to, text, false)); end {
	case sessions.PreviewFinished:
		return inbox.PreviewTyped, why
	case sessions.PreviewUnclear:
		return inbox.PreviewTyping, why
	default:
		return inbox.PreviewNone, why
	}
}

func (m *mailroom) preview(to inbox.Party, text string, fixed bool) sessions.Preview {
	return sessions.Preview{
		Text: text, Command: fixed, Plain: inbox.PollCommand, Shell: m.look.Shell,
		Fit: func(text string, s *sessions.Snapshot) string {
			return inbox.Fit(text, m.look.CalledIn(s, m.d.opt.Executable))
		},
		Box: func(s *sessions.Snapshot) sessions.Box {
			if b := m.d.watchers.Box(to.ID, s); b.Known {
				return b
			}
			return m.look.Box(s)
		},
	}
}

func (m *mailroom) beginTyping() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.quiet != nil {
		return false
	}
	m.typing++
	return true
}

func (m *mailroom) endTyping() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.typing--; m.typing == 0 && m.quiet != nil {
		close(m.quiet)
	}
}

// runClients runs the connections to tmux, from when no command types any more by one of
// its own until they're gone: who types alone mustn't do it beside the daemon.
// typed is closed when the manager types no more.
func (d *daemon) runClients(ctx context.Context, typed <-chan struct{}) error {
	first, cancel := context.WithTimeout(ctx, othersTypeWithin)
	defer cancel()
	give, err := d.mail.typists.Take(first)
	switch {
	case err == nil:
		defer give()
	case ctx.Err() != nil:
		return nil //nolint:nilerr // it stops before it has begun
	case first.Err() != nil:
		d.opt.Log.Warn("a command that types by itself doesn't end, and isn't waited for", "waited", othersTypeWithin)
	default:
		return err
	}
	d.mail.alone.Store(true)
	longer := d.mail.outlasted(ctx, typed)
	var clients errgroup.Group
	for _, c := range d.clients {
		clients.Go(func() error { return c.Run(longer) })
	}
	return clients.Wait()
}

// outlasted returns a context for the connections to tmux, which ends after ctx, when
// nothing is being typed any more, by the mailroom or whoever closes typed. Nothing is
// begun then.
func (m *mailroom) outlasted(ctx context.Context, typed <-chan struct{}) context.Context {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer cancel()
		late := time.After(typedWithin)
		for _, quiet := range []<-chan struct{}{m.stopTyping(), typed} {
			select {
			case <-quiet:
			case <-late:
				return
			}
		}
	})
	return longer
}

// stopTyping returns what's closed when nothing is being typed.
func (m *mailroom) stopTyping() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.quiet == nil {
		m.quiet = make(chan struct{})
		if m.typing == 0 {
			close(m.quiet)
		}
	}
	return m.quiet
}
