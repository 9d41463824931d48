package mailroom

import (
	"context"
	"time"

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
func (m *Mailroom) Type(ctx context.Context, to inbox.Party, text string, fixed bool) (sent bool, why string, err error) {
	if !m.beginTyping() {
		return false, "the daemon is stopping", nil
	}
	defer m.endTyping()
	return m.opt.Manager.TypePreview(ctx, to.ID, m.preview(to, text, fixed))
}

// Finish looks after what another process was typing that has ended.
func (m *Mailroom) Finish(ctx context.Context, to inbox.Party, text string) (p inbox.Preview, why string) {
	if !m.beginTyping() {
		return inbox.PreviewTyping, "the daemon is stopping"
	}
	defer m.endTyping()
	switch end, why := m.opt.Manager.FinishPreview(ctx, to.ID, m.preview(to, text, false)); end {
	case sessions.PreviewFinished:
		return inbox.PreviewTyped, why
	case sessions.PreviewUnclear:
		return inbox.PreviewTyping, why
	default:
		return inbox.PreviewNone, why
	}
}

func (m *Mailroom) preview(to inbox.Party, text string, fixed bool) sessions.Preview {
	return sessions.Preview{
		Text: text, Command: fixed, Plain: inbox.PollCommand, Shell: m.look.Shell,
		Fit: func(text string, s *sessions.Snapshot) string {
			return inbox.Fit(text, m.look.CalledIn(s, m.opt.Executable))
		},
		Box: func(s *sessions.Snapshot) sessions.Box {
			if b := m.opt.Watchers.Box(to.ID, s); b.Known {
				return b
			}
			return m.look.Box(s)
		},
	}
}

func (m *Mailroom) beginTyping() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.quiet != nil {
		return false
	}
	m.typing++
	return true
}

func (m *Mailroom) endTyping() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.typing--; m.typing == 0 && m.quiet != nil {
		close(m.quiet)
	}
}

// TakeTerminals returns when no command types any more by one of its own: who types alone mustn't
// do it beside the daemon. From then on the mailroom types; release lets commands type again. It
// waits 40 s at most for a command that doesn't end. Its error is ctx's, or why nobody knows who types.
func (m *Mailroom) TakeTerminals(ctx context.Context) (release func(), err error) {
	first, cancel := context.WithTimeout(ctx, othersTypeWithin)
	defer cancel()
	release, err = m.typists.Take(first)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case first.Err() != nil:
		m.log.Warn("a command that types by itself doesn't end, and isn't waited for", "waited", othersTypeWithin)
		release = func() {}
	default:
		return nil, err
	}
	m.alone.Store(true)
	return release, nil
}

// WithTyping returns a context for the connections to tmux, which ends after ctx, when
// nothing is being typed any more, by the mailroom or whoever closes typed, and 5 s after ctx at
// the latest. Nothing is begun then.
func (m *Mailroom) WithTyping(ctx context.Context, typed <-chan struct{}) context.Context {
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
func (m *Mailroom) stopTyping() <-chan struct{} {
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
