package app

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// previewAgainEvery is how often previews are tried again that couldn't be typed. The end
// of a turn is a reason to try at once.
const previewAgainEvery = 3 * time.Second

// letterAgainEvery is the same of mail that no chat of a person took.
const letterAgainEvery = time.Minute

// mailroom is what the daemon does for the agents' mail and notices: it types previews
// when they can be typed, and tells directors what becomes of their members.
type mailroom struct {
	d        *daemon
	store    *store.Inbox
	previews *inbox.Previews
	typists  inbox.Typists
	alone    atomic.Bool // no command types: see runClients
	bells    inbox.Bells
	look     *agent.Foreground
	auto     bool
	remind   *inbox.Reminders
	wake     chan struct{}

	mu      sync.Mutex
	waiting map[inbox.Address]time.Time // whose previews couldn't be typed, and when they're tried again
	trying  map[inbox.Address]bool
	heard   []happened // what may be told to a director
	states  map[sessions.ID]sessions.State
	asks    map[sessions.ID]*asks
	typing  int           // previews that are being typed
	quiet   chan struct{} // not nil: nothing more is typed; closed when nothing is
}

// openMailroom opens the inbox's own connection to the database, beside the store's.
func (d *daemon) openMailroom(ctx context.Context) error {
	db, err := store.OpenInbox(ctx, statedir.DatabasePath(d.opt.StateDir))
	if err != nil {
		return err
	}
	m := &mailroom{
		d: d, store: db, typists: inbox.Typists{Folder: d.opt.StateDir}, bells: inbox.Bells{Folder: filepath.Join(d.opt.StateDir, inbox.BellFolder)}, look: agent.NewForeground(d.profiles),
		auto: d.config.Notices.Auto, wake: make(chan struct{}, 1),
		waiting: map[inbox.Address]time.Time{}, trying: map[inbox.Address]bool{}, states: map[sessions.ID]sessions.State{}, asks: map[sessions.ID]*asks{},
	}
	if m.remind, err = inbox.LoadReminders(ctx, db); err != nil {
		return errors.Join(err, db.Close())
	}
	m.previews = &inbox.Previews{Store: db, Typist: m, MaxRunes: d.config.Mail.MaxTextLen, Returned: m.await}
	d.mail = m
	return nil
}

// Announce is asked for by the command line when it has stored a message.
func (m *mailroom) Announce(ctx context.Context, to inbox.Address) error {
	if name, person := to.Person(); person {
		return m.tellPerson(ctx, name)
	}
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waiting[to] = time.Now().Add(previewAgainEvery) // run looks whether anything does
	}()
	// Once begun it's carried through, whatever becomes of who asked.
	return m.announce(context.WithoutCancel(ctx), to)
}

// announce types what waits for a session, if no command is typing still.
func (m *mailroom) announce(ctx context.Context, to inbox.Address) error {
	if !m.alone.Load() {
		return m.store.HoldPreviews(ctx, to, "the daemon has just started")
	}
	return m.previews.Announce(ctx, to)
}

// run types what waits, and writes what directors are told, until ctx ends.
func (m *mailroom) run(ctx context.Context) error {
	if err := m.store.TellPeopleAgain(ctx); err != nil && ctx.Err() == nil {
		m.d.opt.Log.Warn("mail to people that was being shown isn't shown again", "err", err)
	}
	awaited, err := m.store.AwaitedBy(ctx)
	if err != nil && ctx.Err() == nil {
		m.d.opt.Log.Warn("previews that wait couldn't be read", "err", err)
	}
	m.mu.Lock()
	for _, a := range awaited {
		m.waiting[a] = time.Now()
	}
	m.mu.Unlock()
	var tries sync.WaitGroup
	defer tries.Wait()
	tick := time.NewTicker(previewAgainEvery)
	defer tick.Stop()
	for {
		m.takeWaiting(time.Now())
		for _, h := range m.takeHeard() {
			if err := m.containPanic(func() error { return m.tellListeners(ctx, h) }); err != nil && ctx.Err() == nil {
				m.d.opt.Log.Warn("nobody could be told of a session", "session", h.session, "err", err)
			}
		}
		for _, a := range m.takeDue(time.Now()) {
			tries.Go(func() { m.tryAgain(ctx, a) })
		}
		select {
		case <-ctx.Done():
			return nil
		case <-m.wake:
		case <-tick.C:
		}
	}
}

// takeDue are those whose previews are tried now. They aren't again before that's done.
func (m *mailroom) takeDue(now time.Time) (due []inbox.Address) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for a, at := range m.waiting {
		if !at.After(now) && !m.trying[a] {
			m.trying[a] = true
			due = append(due, a)
		}
	}
	return due
}

// tryAgain announces what still waits for somebody, if anything does.
func (m *mailroom) tryAgain(ctx context.Context, to inbox.Address) {
	again := previewAgainEvery
	waits, err := m.store.Awaits(ctx, to)
	if name, person := to.Person(); person && waits {
		again, err = letterAgainEvery, m.containPanic(func() error { return m.tellPerson(ctx, name) })
	} else if waits {
		err = m.containPanic(func() error { return m.announce(ctx, to) })
	}
	if err == nil && waits {
		waits, err = m.store.Awaits(ctx, to)
	}
	if err != nil && ctx.Err() == nil {
		m.d.opt.Log.Warn("mail couldn't be announced", "to", string(to), "err", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.trying, to)
	if m.waiting[to] = time.Now().Add(again); err == nil && !waits {
		delete(m.waiting, to)
	}
}

// containPanic does work for one that mail is for. A panic in it is logged with its stack,
// counted and returned as an error: what's for others goes on.
func (m *mailroom) containPanic(work func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = sessions.PanicError(r)
			m.d.opt.Log.Error("announcing mail panicked", "err", err, "stack", string(debug.Stack()))
			m.d.metrics.panicked("mail")
		}
	}()
	return work()
}

// await has what waits for somebody announced soon.
func (m *mailroom) await(to inbox.Address) {
	m.mu.Lock()
	m.waiting[to] = time.Now()
	m.mu.Unlock()
	m.poke()
}

// poke has run look now.
func (m *mailroom) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// close closes the connection to the database. There may be none.
func (m *mailroom) close() error {
	if m == nil {
		return nil
	}
	return m.store.Close()
}
