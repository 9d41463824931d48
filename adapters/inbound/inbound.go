package inbound

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/render/screenshot"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Options are an Inbound's parts.
type Options struct {
	Platforms []intake.Platform
	Sessions  Sessions
	Hub       Hub
	Store     Store
	// Conversations knows what agents can go on with; nil: nothing is known.
	Conversations commands.Conversations
	// Interrupt returns the keys that end what a session's program is doing, one after the
	// other, by the profile of the program that runs in it. None, or a nil Interrupt: it
	// isn't known.
	Interrupt func(s sessions.Session) []string
	// Mail is the agents' mail; nil: there's none.
	Mail commands.Mail
	// Paired hears of each pairing code that's made, before anybody else; nil: nobody does.
	Paired func(code string)
	Access access.Config // by configuration; people and chats that were paired come on top
	// StaleAfter is how old what somebody wrote may get until it isn't typed without
	// asking. 0: 10 minutes.
	StaleAfter time.Duration
	// RemindAfter is how long a question stands unanswered until people are reminded of
	// it, once; 0: never. EscalateTo is where it's shown then, too; zero: nowhere.
	RemindAfter time.Duration
	EscalateTo  adapters.Target
	// Shared says who else reads a platform's updates with the same bot, as far as is known, to
	// begin a sentence with: "Another panebridge"; "": nobody does. It returns at once. Nil: nobody
	// does.
	Shared func(adapter string) string
	// Pinned keeps a list of a chat's sessions pinned in it.
	Pinned bool
	// StateDir is where files go that a session's own folder doesn't take.
	StateDir string
	// MaxFile is the size in bytes of the largest file that's taken; less than 0: none
	// is. 0: 20 MiB, which is what Telegram's getFile gives.
	MaxFile int64
	// Mask takes secrets out of what's offered while somebody writes, which goes through no
	// Outbox, and of what's cut before it goes through one. Nil: nothing is masked.
	Mask func(text string) string
	// Folders is the folder below which /new offers others; "": the home folder.
	Folders string
	// Panicked is told that a worker of Run's panicked, and is begun anew. It must not
	// block. Nil: nobody is told.
	Panicked func(worker string)
	Logger   *slog.Logger
}

const (
	defaultStaleAfter = 10 * time.Minute
	defaultMaxFile    = 20 << 20
	forgetEvery       = time.Hour
)

// Sessions is the registry of sessions, and the way into them.
type Sessions interface {
	commands.Sessions
	// Input stores a text and has it typed. The same InputRequest.Key gives the same
	// receipt, and nothing is typed again.
	Input(ctx context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error)
}

// Hub is the outbound half.
type Hub interface {
	commands.Hub
	// Leave says that somebody has written at a place. It returns at once.
	Leave(place adapters.Target)
	// Unnamed says that what's told to be written in a chat itself may have been written in any of
	// its threads; At returns the bindings of all then.
	Unnamed(place adapters.Target) bool
}

// Store keeps what must be known after a restart: see ClerkStore.
type Store interface {
	access.Store
	commands.Store
	AuditStore
	// MessageSession returns the session of which a message in a chat shows lines;
	// sessions.ErrUnknown if it's none of ours.
	MessageSession(ctx context.Context, adapter, chat, message string) (sessions.ID, error)
	// ForgetInbound drops what isn't needed any more: offers, codes and waiting texts
	// that expired before a time, origins that are done and were made before it.
	ForgetInbound(ctx context.Context, before time.Time) error
}

// Inbound carries what people do in chats to the sessions. Call Load first, Run once, and
// Finish at last. Handle may be called from several goroutines, for one place from one at a
// time.
type Inbound struct {
	*commands.Runner

	opt       Options
	roleHints *intake.Seldom
	early     early
}

// New returns an Inbound. The error joins all that's wrong with the options.
func New(opt Options) (*Inbound, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Panicked == nil {
		opt.Panicked = func(string) {}
	}
	if opt.StaleAfter == 0 {
		opt.StaleAfter = defaultStaleAfter
	}
	if opt.MaxFile == 0 {
		opt.MaxFile = defaultMaxFile
	}
	var errs []error
	if opt.StaleAfter < 0 {
		errs = append(errs, fmt.Errorf("stale_after is %s: it must be more than 0", opt.StaleAfter))
	}
	if opt.RemindAfter < 0 {
		errs = append(errs, fmt.Errorf("prompts.remind_after is %s: it must be 0 or more", opt.RemindAfter))
	}
	platforms := map[string]intake.Platform{}
	for _, p := range opt.Platforms {
		if platforms[p.Name()] != nil {
			errs = append(errs, fmt.Errorf("platform %s is there twice", p.Name()))
		}
		platforms[p.Name()] = p
	}
	pictures, err := screenshot.New()
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("make inbound: %w", err)
	}
	guard := access.NewGuard(access.Options{
		Config: opt.Access, Store: opt.Store, Hub: opt.Hub, Sessions: opt.Sessions.List, Platforms: platforms, Paired: opt.Paired, Logger: opt.Logger,
	})
	in := &Inbound{opt: opt, roleHints: intake.NewSeldom(roleHintEvery)}
	in.Runner = commands.NewRunner(cards.Options{
		Guard: guard, Platforms: platforms, Pictures: pictures, Mask: opt.Mask, StaleAfter: opt.StaleAfter,
		RemindAfter: opt.RemindAfter, EscalateTo: opt.EscalateTo, Pinned: opt.Pinned, Log: opt.Logger,
	}, commands.Options{
		Sessions: opt.Sessions, Hub: opt.Hub, Store: opt.Store, Conversations: opt.Conversations, Interrupt: opt.Interrupt, Mail: opt.Mail,
		StateDir: opt.StateDir, Folders: opt.Folders,
	})
	in.HandleButton("input", true, in.inputChosen)
	in.HandleButton("run-stale", true, in.runStale)
	in.HandleButton("skip-stale", true, in.skipStale)
	return in, nil
}

// Run tells people how far what they wrote has got, and when a question is open,
// until ctx ends.
func (in *Inbound) Run(ctx context.Context) error {
	workers := in.Workers()
	workers["forget"] = in.forgetExpired
	var children sync.WaitGroup
	for worker, run := range workers {
		children.Go(func() { in.keepRunning(ctx, worker, run) })
	}
	children.Wait()
	return nil
}

// forgetExpired drops what nobody needs any more, every hour until ctx ends.
func (in *Inbound) forgetExpired(ctx context.Context) {
	for {
		if err := in.opt.Store.ForgetInbound(ctx, time.Now()); err != nil && ctx.Err() == nil {
			in.Log.Warn("forgetting what has expired failed; it's tried again in an hour", "err", err)
		}
		in.ForgetVisits(time.Now())
		if intake.Pause(ctx, forgetEvery) != nil {
			return
		}
	}
}

// Handle does what an event asks for. When it returns nil the event has had its
// effect, or was refused. After an error, a panic or a crash the same event comes
// again; what it types is typed at most once all the same, and a command that
// wouldn't be the same twice isn't done again.
func (in *Inbound) Handle(ctx context.Context, ev intake.Event) error {
	switch ev.Action.(type) {
	case intake.Said, intake.Edited, intake.Pressed:
	default:
		return in.handlePlaceChange(ctx, ev)
	}
	who, err := in.Admit(ctx, ev)
	switch {
	case err != nil:
		return err
	case who.Paired:
		return in.recordWhole(ctx, ev, Entry{Kind: "pair", What: string(who.Role), Outcome: "done"}, func() {
			in.Say(ev, "paired", qos.Interactive, who.Welcome)
		})
	case !who.Admitted:
		return nil
	}
	if _, said := ev.Action.(intake.Said); said {
		in.opt.Hub.Leave(ev.Place)
	}
	ev = in.early.latestText(ev)
	entry := entryOf(ev)
	before, err := in.opt.Store.BeginEntry(ctx, entry)
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	if before != nil && before.Outcome != "" {
		return nil
	}
	defer in.BeginHandling(ev.Key, before != nil)()
	d, err := in.dispatch(ctx, ev, who.Roles, before != nil)
	if err != nil && (d.Outcome == "" || ctx.Err() != nil) {
		return fmt.Errorf("handle %s: %w", ev.Key, err)
	}
	if err != nil {
		in.Log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
	if d.What != "" {
		entry.What = d.What
	}
	entry.Session, entry.Outcome = d.Session, d.Outcome
	return in.endEntry(ctx, entry)
}

// dispatch does what a person asks for who was let in. again says that it was begun
// before.
func (in *Inbound) dispatch(ctx context.Context, ev intake.Event, roles access.Roles, again bool) (commands.Result, error) {
	switch a := ev.Action.(type) {
	case intake.Said:
		return in.handleText(ctx, ev, a, roles, again, false)
	case intake.Edited:
		return in.handleEdit(ctx, ev, a)
	case intake.Pressed:
		return in.PressButton(ctx, ev, a, roles, again)
	default:
		return commands.Result{}, fmt.Errorf("%w action %T", sessions.ErrUnknown, a)
	}
}

// GaveUp tells who did something that it couldn't be handled, after many tries. It
// returns at once; see QueueOptions.GaveUp.
func (in *Inbound) GaveUp(ev intake.Event) {
	if _, why := in.Standing(ev); why == "" {
		in.Say(ev, "gave up", qos.Interactive, "This couldn't be done, though it was tried for minutes. The daemon's log says why.")
	}
}
