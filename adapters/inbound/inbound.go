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
	Conversations Conversations
	// Interrupt returns the keys that end what a session's program is doing, one after the
	// other, by the profile of the program that runs in it. None, or a nil Interrupt: it
	// isn't known.
	Interrupt func(s sessions.Session) []string
	// Mail is the agents' mail; nil: there's none.
	Mail Mail
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
	finishFor         = 5 * time.Second
)

// Sessions is the registry of sessions, and the way into them.
type Sessions interface {
	List() []sessions.Session
	// Get finds a session by id, or by the name of a living one.
	Get(idOrName string) (sessions.Session, error)
	// Agents are the names of the programs that can be started, sorted.
	Agents() []string
	// SearchAgents says which of them were found, and where. Both look at files.
	SearchAgents() sessions.AgentSearch
	New(ctx context.Context, req sessions.NewRequest) (sessions.Session, error)
	Close(ctx context.Context, id sessions.ID) error
	// Restart starts a session's program anew, with its conversation if that can be; if
	// the session has ended, in another session, which it returns.
	Restart(ctx context.Context, id sessions.ID) (sessions.Session, error)
	// Input stores a text and has it typed. The same InputRequest.Key gives the same
	// receipt, and nothing is typed again.
	Input(ctx context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error)
	Receipt(ctx context.Context, id string) (sessions.Receipt, error)
	// Waiting returns a session's inputs that aren't done, in their order.
	Waiting(id sessions.ID) []sessions.Receipt
	// Cancel takes an input back; sessions.ErrConflict if it's too late.
	Cancel(ctx context.Context, id string) (sessions.Receipt, error)
	// SendAnyway sends a text that only a dialog's phrase holds, on the screen that its
	// receipt's Quoted stood for. It returns when that's done, or surely isn't: within some
	// seconds. sessions.ErrConflict says why it isn't.
	SendAnyway(ctx context.Context, id, quoted, by string) (sessions.Receipt, error)
	// Revive begins the agent again that a held text was written to, in one of its
	// receipt's Revivals; else as SendAnyway.
	Revive(ctx context.Context, id, quoted, by string, way sessions.Revival) (sessions.Receipt, error)
	// Keys presses keys, named as tmux names them. sessions.ErrConflict says that a
	// dialog is in the way.
	Keys(ctx context.Context, id sessions.ID, p sessions.KeyPress) error
	Screen(ctx context.Context, id sessions.ID) (sessions.Screen, error)
	// PromptScreen is the screen on which a question stands, or what's known of it.
	PromptScreen(ctx context.Context, p sessions.Prompt) sessions.Screen
	// Prompts returns the questions that are open, the oldest first.
	Prompts() []sessions.Prompt
	// Prompt returns one that is or was; sessions.ErrUnknown if it never was, or isn't
	// kept any more.
	Prompt(ctx context.Context, id string) (sessions.Prompt, error)
	// Answer answers one, and returns how it stands then: within some 10 s. The error is
	// sessions.ErrConflict if another's answer counts, or the question is closed: what's
	// returned says whose and why; sessions.ErrInvalid if it can't be answered so.
	Answer(ctx context.Context, id string, a sessions.Answer) (sessions.Prompt, error)
}

// Hub is the outbound half.
type Hub interface {
	Post(p adapters.Post) error
	Focus(id sessions.ID)
	// Leave says that somebody has written at a place. It returns at once.
	Leave(place adapters.Target)
	// At returns the bindings whose target is a place now, the oldest first, those
	// that don't work included.
	At(place adapters.Target) []adapters.Binding
	// Unnamed says that what's told to be written in a chat itself may have been written in any of
	// its threads; At returns the bindings of all then.
	Unnamed(place adapters.Target) bool
	// Uses says whether any binding's target is in a chat.
	Uses(adapter, chat string) bool
	Status(id sessions.ID) []adapters.BindingStatus
	// Shape says what messages at a place can hold.
	Shape(place adapters.Target) adapters.Shape
	// Rings reports whether the end of a turn rings at a place while it isn't quiet there.
	Rings(ctx context.Context, id sessions.ID, place adapters.Target, turn sessions.Turn) (bool, error)
	// RingAfter is how long a turn takes at least whose end rings where nobody but who asked for
	// it uses the place; 0: every end rings. It returns at once.
	RingAfter() time.Duration
	// Limits says how the limits stand that calls to a place fall under. It may wait
	// for the scheduler until ctx ends.
	Limits(ctx context.Context, place adapters.Target) (adapters.Limits, error)
	Bind(ctx context.Context, id sessions.ID, t adapters.Target, view adapters.View, input bool) (adapters.Binding, error)
	Unbind(ctx context.Context, id adapters.BindingID) error
	// Rest has a binding do nothing until it's woken: Rest with false.
	Rest(ctx context.Context, id adapters.BindingID, rest bool) error
	// Reopen has a thread opened on the platform that a person closed.
	Reopen(t adapters.Target) error
	// ChatMoved has all bindings of a chat follow it; ChatLost disables them, ChatBack
	// takes that back.
	ChatMoved(ctx context.Context, adapter, from, to string) error
	// Moves returns the chats that are known to have another id, in the order in which they got it.
	Moves(ctx context.Context) ([]adapters.Move, error)
	ChatLost(ctx context.Context, adapter, chat, why string) error
	ChatBack(ctx context.Context, adapter, chat string) error
}

// Inbound carries what people do in chats to the sessions. Call Load first, Run once, and
// Finish at last. Handle may be called from several goroutines, for one place from one at a
// time.
type Inbound struct {
	*access.Guard

	opt       Options
	log       *slog.Logger
	platforms map[string]intake.Platform
	commands  map[string]command
	buttons   map[string]button

	receipts    *receipts
	prompts     *prompts
	missed      *missed
	boards      *boards
	cards       *cards
	preferences *preferences
	untaken     *untaken
	replies     *replies
	moves       *moves
	roleHints   *intake.Seldom
	pictures    *screenshot.Renderer
	early       early
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
	in := &Inbound{
		opt: opt, log: opt.Logger, platforms: map[string]intake.Platform{}, commands: map[string]command{}, buttons: buttons(),
		preferences: &preferences{}, untaken: newUntaken(), roleHints: intake.NewSeldom(roleHintEvery),
	}
	in.receipts, in.prompts = newReceipts(in), newPrompts(in)
	in.missed, in.boards, in.cards = newMissed(in), newBoards(in), newCards(in)
	in.replies, in.moves = newReplies(in), newMoves(in)
	var err error
	if in.pictures, err = screenshot.New(); err != nil {
		errs = append(errs, err)
	}
	for _, p := range opt.Platforms {
		if in.platforms[p.Name()] != nil {
			errs = append(errs, fmt.Errorf("platform %s is there twice", p.Name()))
		}
		in.platforms[p.Name()] = p
	}
	in.Guard = access.NewGuard(access.Options{
		Config: opt.Access, Store: opt.Store, Hub: opt.Hub, Sessions: opt.Sessions.List, Platforms: in.platforms, Paired: opt.Paired, Logger: opt.Logger,
	})
	for _, c := range commands() {
		in.commands[c.Name] = c
	}
	// What Telegram writes for people who begin to talk to a bot
	// (core.telegram.org/bots/features#global-commands).
	in.commands["start"] = in.commands["help"]
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("make inbound: %w", err)
	}
	return in, nil
}

// Load reads what the store has. Call it before Handle.
func (in *Inbound) Load(ctx context.Context) error {
	if err := in.Guard.Load(ctx); err != nil {
		return err
	}
	return in.loadPreferences(ctx)
}

// Run tells people how far what they wrote has got, and when a question is open,
// until ctx ends.
func (in *Inbound) Run(ctx context.Context) error {
	var children sync.WaitGroup
	for worker, run := range map[string]func(ctx context.Context){
		workerReceipts: in.receipts.run, workerPrompts: in.prompts.run, workerMissed: in.missed.run,
		workerBoards: in.boards.run, workerForget: in.forgetExpired, workerMembers: in.WatchGroups,
		workerCards: in.cards.run, workerReplies: in.replies.run,
		workerMoves: in.moves.run,
	} {
		children.Go(func() { in.keepRunning(ctx, worker, run) })
	}
	children.Wait()
	return nil
}

// Finish takes in which answers were seen while everything ended. Call it when Run and the Hub's have
// returned: what it doesn't know of is posted again at the next start. It returns within some 5 s.
func (in *Inbound) Finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishFor)
	defer cancel()
	in.replies.dropSeen(ctx)
}

// forgetExpired drops what nobody needs any more, every hour until ctx ends.
func (in *Inbound) forgetExpired(ctx context.Context) {
	for {
		if err := in.opt.Store.ForgetInbound(ctx, time.Now()); err != nil && ctx.Err() == nil {
			in.log.Warn("forgetting what has expired failed; it's tried again in an hour", "err", err)
		}
		in.ForgetVisits(time.Now())
		if intake.Pause(ctx, forgetEvery) != nil {
			return
		}
	}
}

// Follow subscribes to what happens to sessions and to what was written to them. Prompts come by
// Prompted: their secrets are masked on the way.
func (in *Inbound) Follow(feed *sessions.Feed) {
	feed.OnOutput(in.Output)
	feed.OnSession(in.Changed)
	feed.OnReceipt(in.ReceiptChanged)
}

// Output takes in what a session did. It returns at once.
func (in *Inbound) Output(ev sessions.OutputEvent) {
	in.missed.output(ev)
	if ev.State != "" || ev.Complete || ev.Exit != nil {
		in.boards.look()
	}
}

// Changed takes in that a session began, ended or has another name. It returns at once.
func (in *Inbound) Changed(sessions.Session) { in.boards.look() }

// Handle does what an event asks for. When it returns nil the event has had its
// effect, or was refused. After an error, a panic or a crash the same event comes
// again; what it types is typed at most once all the same, and a command that
// wouldn't be the same twice isn't done again.
func (in *Inbound) Handle(ctx context.Context, ev intake.Event) error {
	switch ev.Action.(type) {
	case intake.Said, intake.Edited, intake.Pressed:
	default:
		return in.placeChanged(ctx, ev)
	}
	who, err := in.Admit(ctx, ev)
	switch {
	case err != nil:
		return err
	case who.Paired:
		return in.record(ctx, ev, Entry{Kind: "pair", What: string(who.Role), Outcome: "done"}, func() {
			in.say(ev, "paired", qos.Interactive, who.Welcome)
		})
	case !who.Admitted:
		return nil
	}
	if _, said := ev.Action.(intake.Said); said {
		in.opt.Hub.Leave(ev.Place)
	}
	ev = in.early.latest(ev)
	entry := entryOf(ev)
	before, err := in.opt.Store.BeginEntry(ctx, entry)
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	if before != nil && before.Outcome != "" {
		return nil
	}
	in.replies.beginHandling(ev.Key, before != nil)
	defer in.replies.endHandling(ev.Key)
	d, err := in.act(ctx, ev, who.Roles, before != nil)
	if err != nil && (d.outcome == "" || ctx.Err() != nil) {
		return fmt.Errorf("handle %s: %w", ev.Key, err)
	}
	if err != nil {
		in.log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
	if d.what != "" {
		entry.What = d.what
	}
	entry.Session, entry.Outcome = d.session, d.outcome
	return in.endEntry(ctx, entry)
}

// act does what a person asks for who was let in. again says that it was begun
// before.
func (in *Inbound) act(ctx context.Context, ev intake.Event, roles access.Roles, again bool) (done, error) {
	switch a := ev.Action.(type) {
	case intake.Said:
		return in.said(ctx, ev, a, roles, again, false)
	case intake.Edited:
		return in.edited(ctx, ev, a)
	case intake.Pressed:
		return in.press(ctx, ev, a, roles, again)
	default:
		return done{}, fmt.Errorf("%w action %T", sessions.ErrUnknown, a)
	}
}

// GaveUp tells who did something that it couldn't be handled, after many tries. It
// returns at once; see QueueOptions.GaveUp.
func (in *Inbound) GaveUp(ev intake.Event) {
	if _, why := in.Standing(ev); why == "" {
		in.say(ev, "gave up", qos.Interactive, "This couldn't be done, though it was tried for minutes. The daemon's log says why.")
	}
}

// beside is the chat itself of a place in a thread, where what the thread doesn't take can be
// shown; zero: the place is no thread, or the chat takes nothing beside threads.
func (in *Inbound) beside(place adapters.Target) adapters.Target {
	chat := place.WholeChat()
	if place.Thread == "" || in.opt.Hub.Shape(chat).OnlyThreads {
		return adapters.Target{}
	}
	return chat
}

// say answers an event with a text in Markdown.
func (in *Inbound) say(ev intake.Event, key string, class qos.Class, text string, buttons ...[]adapters.Button) {
	err := in.replies.postReply(ev, adapters.Post{
		To: ev.Place, Elsewhere: in.beside(ev.Place), Key: key + " " + ev.Key, Class: class, ReplyTo: ev.Message, Text: text, Buttons: buttons,
	})
	if err != nil {
		in.log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
}

// loadAtLast loads what the last run left, again every 30 s where that fails, which it logs. It
// blocks until it's loaded; an error says that ctx ended.
func (in *Inbound) loadAtLast(ctx context.Context, what string, load func(context.Context) error) error {
	for {
		err := load(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		in.log.Error(what, "err", err)
		if err := intake.Pause(ctx, tellAgain); err != nil {
			return err
		}
	}
}
