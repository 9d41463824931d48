package mailroom

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/adapters"
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

// justStarted says why mail isn't announced yet.
const justStarted = "the daemon has just started"

// Options are a Mailroom's parts. All are needed but for Logger.
type Options struct {
	StateDir   string // has the database, which the mailroom opens beside the store
	Manager    *sessions.Manager
	Watchers   *agent.Watchers
	Profiles   *agent.Set
	Executable string // how this program is called in panes
	MaxRunes   int    // of a mail's text that's typed
	Auto       bool   // directors are told what becomes of their members though they didn't ask
	// People are those whom the configuration names, with their ids on the platforms. It returns
	// at once, and something else after a reload.
	People func() map[string][]string
	// PrivateChat is the bot's chat with a person alone, by an id as in People; the zero value if
	// none is known. It may read the database.
	PrivateChat func(ctx context.Context, person string) (adapters.Target, error)
	Panicked    func(worker string) // counts a panic that was contained
	Logger      *slog.Logger
}

// Mailroom is what the daemon does for the agents' mail and notices: it types previews
// when they can be typed, shows mail to people in their chats, and tells directors what becomes of
// their members.
type Mailroom struct {
	opt      Options
	log      *slog.Logger
	store    *store.Inbox
	previews *inbox.Previews
	typists  inbox.Typists
	alone    atomic.Bool // no command types: see TakeTerminals
	bells    inbox.Bells
	look     *agent.Foreground
	remind   *inbox.Reminders
	wake     chan struct{}

	mu      sync.Mutex
	chats   Chats                       // from Run on
	waiting map[inbox.Address]time.Time // whose previews couldn't be typed, and when they're tried again
	trying  map[inbox.Address]bool
	heard   []sessionNews // what may be told to a director
	states  map[sessions.ID]sessions.State
	asks    map[sessions.ID]*waitNotices
	typing  int           // previews that are being typed
	quiet   chan struct{} // not nil: nothing more is typed; closed when nothing is
}

// Open opens the inbox's own connection to the database; Close closes it.
func Open(ctx context.Context, opt Options) (*Mailroom, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	db, err := store.OpenInbox(ctx, statedir.DatabasePath(opt.StateDir))
	if err != nil {
		return nil, err
	}
	m := &Mailroom{
		opt: opt, log: opt.Logger, store: db, typists: inbox.Typists{Folder: opt.StateDir}, bells: inbox.Bells{Folder: filepath.Join(opt.StateDir, inbox.BellFolder)}, look: agent.NewForeground(opt.Profiles),
		wake:    make(chan struct{}, 1),
		waiting: map[inbox.Address]time.Time{}, trying: map[inbox.Address]bool{}, states: map[sessions.ID]sessions.State{}, asks: map[sessions.ID]*waitNotices{},
	}
	if m.remind, err = inbox.LoadReminders(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	m.previews = &inbox.Previews{Store: db, Typist: m, MaxRunes: opt.MaxRunes, Returned: m.announceSoon}
	return m, nil
}

// Announce types or shows what waits for somebody. The command line asks for it when it has stored a message.
func (m *Mailroom) Announce(ctx context.Context, to inbox.Address) error {
	if name, person := to.Person(); person {
		return m.showMail(ctx, name)
	}
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waiting[to] = time.Now().Add(previewAgainEvery) // run looks whether anything does
	}()
	// Once begun it's carried through, whatever becomes of who asked.
	return m.announceTo(context.WithoutCancel(ctx), to)
}

// announceTo types what waits for a session, if no command is typing still.
func (m *Mailroom) announceTo(ctx context.Context, to inbox.Address) error {
	if !m.alone.Load() {
		return m.store.HoldPreviews(ctx, to, justStarted)
	}
	return m.previews.Announce(ctx, to)
}

// Run types what waits, shows mail to people in chats, and writes what directors are told, until
// ctx ends. It returns nil.
func (m *Mailroom) Run(ctx context.Context, chats Chats) error {
	m.mu.Lock()
	m.chats = chats
	m.mu.Unlock()
	if err := m.store.TellPeopleAgain(ctx); err != nil && ctx.Err() == nil {
		m.log.Warn("mail to people that was being shown isn't shown again", "err", err)
	}
	awaited, err := m.store.AwaitedBy(ctx)
	if err != nil && ctx.Err() == nil {
		m.log.Warn("previews that wait couldn't be read", "err", err)
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
		for _, h := range m.takeHappened() {
			if err := m.containPanic(func() error { return m.tellListeners(ctx, h) }); err != nil && ctx.Err() == nil {
				m.log.Warn("nobody could be told of a session", "session", h.session, "err", err)
			}
		}
		for _, a := range m.takeDue(time.Now()) {
			tries.Go(func() { m.announceAgain(ctx, a) })
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
func (m *Mailroom) takeDue(now time.Time) (due []inbox.Address) {
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

// announceAgain announces what still waits for somebody, if anything does.
func (m *Mailroom) announceAgain(ctx context.Context, to inbox.Address) {
	again := previewAgainEvery
	waits, err := m.store.Awaits(ctx, to)
	if name, person := to.Person(); person && waits {
		again, err = letterAgainEvery, m.containPanic(func() error { return m.showMail(ctx, name) })
	} else if waits {
		err = m.containPanic(func() error { return m.announceTo(ctx, to) })
	}
	if err == nil && waits {
		waits, err = m.store.Awaits(ctx, to)
	}
	if err != nil && ctx.Err() == nil {
		m.log.Warn("mail couldn't be announced", "to", string(to), "err", err)
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
func (m *Mailroom) containPanic(work func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = sessions.PanicError(r)
			m.log.Error("announcing mail panicked", "err", err, "stack", string(debug.Stack()))
			m.opt.Panicked("mail")
		}
	}()
	return work()
}

// announceSoon has what waits for somebody announced soon.
func (m *Mailroom) announceSoon(to inbox.Address) {
	m.mu.Lock()
	m.waiting[to] = time.Now()
	m.mu.Unlock()
	m.wakeRun()
}

// wakeRun has Run look now.
func (m *Mailroom) wakeRun() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Close closes the connection to the database.
func (m *Mailroom) Close() error { return m.store.Close() }

// typedWithin is how long a stopping daemon waits for a text that's in an input box to be
// submitted: left there, it would be in the way of all that's typed later.
const typedWithin = 5 * time.Second

// othersTypeWithin is how long a daemon that starts waits for a command that types by
// itself. It's more than one needs that isn't stopped: see sessions.Preview.
const othersTypeWithin = 40 * time.Second

// Type types a text into a session's pane: inbox.Typist. why says why it wasn't sent.
func (m *Mailroom) Type(ctx context.Context, to inbox.Party, text string, fixed bool) (sent bool, why string, err error) {
	if !m.beginTyping() {
		return false, "the daemon is stopping", nil
	}
	defer m.endTyping()
	return m.opt.Manager.TypePreview(ctx, to.ID, m.preview(to, text, fixed))
}

// Finish looks after a text that another process was typing when it ended: inbox.Typist.
func (m *Mailroom) Finish(ctx context.Context, to inbox.Party, text string) (p inbox.PreviewState, why string) {
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
		Box: func(s *sessions.Snapshot) sessions.InputBox {
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

// TakeTerminals waits until no command types by itself any more, 40 s at most. From then on the mailroom
// types, and release lets commands type again. The error is ctx's, or says why it isn't known who types.
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

// WithTyping returns a context for the connections to tmux. It ends after ctx, when nothing is being typed
// any more by the mailroom or by whoever closes typed, at the latest 5 s after ctx. Once ctx has ended
// nothing more is typed.
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
