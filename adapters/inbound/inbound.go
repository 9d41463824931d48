package inbound

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/render/screenshot"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Options are an Inbound's parts.
type Options struct {
	Platforms []intake.InboundAdapter
	Sessions  Sessions
	Hub       Hub
	Store     Store
	// These are as in commands.Options.
	Finder        commands.LineFinder
	Conversations commands.Conversations
	Interrupt     func(s sessions.Session) []string
	Mail          commands.Mailbox
	Devices       commands.Devices
	Continuations commands.Continuations
	Folders       string
	Diff          commands.DiffOf
	// Paired hears of each pairing code that's made, before anybody else; nil: nobody does.
	Paired func(code string)
	Access access.Config // by configuration; people and chats that were paired come on top
	// StaleAfter is how old what somebody wrote may get until it isn't typed without
	// asking. 0: 10 minutes.
	StaleAfter time.Duration
	// These are as in cards.Options.
	RemindAfter time.Duration
	EscalateTo  adapters.Target
	Pinned      bool
	Exhibits    cards.Exhibits
	Mask        func(text string) string
	// Shared says who else reads a platform's updates with the same bot, as far as is known, to
	// begin a sentence with: "Another panebridge"; "": nobody does. It returns at once. Nil: nobody
	// does.
	Shared func(adapter string) string
	// StateDir is where files go that a session's own folder doesn't take.
	StateDir string
	// MaxFile is the size in bytes of the largest file that's taken; less than 0: none
	// is. 0: 20 MiB, which is what Telegram's getFile gives.
	MaxFile int64
	// Voice makes text of voice notes; zero: they're files as others are.
	Voice Transcription
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
	// EndTailAt says that somebody has written at a place. It returns at once.
	EndTailAt(place adapters.Target)
	// IsUnnamed says that what's told to be written in a chat itself may have been written in any of
	// its threads; BindingsAt returns the bindings of all then.
	IsUnnamed(place adapters.Target) bool
}

// Store keeps what must be known after a restart: see cards.Store.
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

// Inbound carries what people do in chats to the sessions. Call Clerk.Load first, Run once, and
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
	platforms := map[string]intake.InboundAdapter{}
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
		RemindAfter: opt.RemindAfter, EscalateTo: opt.EscalateTo, Pinned: opt.Pinned, Exhibits: opt.Exhibits, Log: opt.Logger,
	}, commands.Options{
		Sessions: opt.Sessions, Hub: opt.Hub, Store: opt.Store, Finder: opt.Finder, Conversations: opt.Conversations, Interrupt: opt.Interrupt, Mail: opt.Mail, Devices: opt.Devices,
		Continuations: opt.Continuations, Diff: opt.Diff, StateDir: opt.StateDir, Folders: opt.Folders,
	})
	in.HandleButton("input", true, in.inputChosen)
	in.HandleButton("type-spoken", true, in.typeSpoken)
	in.HandleButton("drop-spoken", true, in.dropSpoken)
	in.HandleButton("send-edited", true, in.sendEdited)
	in.HandleButton("run-stale", true, in.runStale)
	in.HandleButton("skip-stale", true, in.skipStale)
	return in, nil
}

// Run runs the workers that keep messages in chats up to date, and forgets what has expired. It blocks until
// ctx ends, and returns nil when they've ended.
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
		if sessions.Pause(ctx, forgetEvery) != nil {
			return
		}
	}
}

// Handle does what an event asks for. When it returns nil the event has had its effect, or was refused. After
// an error, a panic or a crash the same event comes again: what it types is typed at most once all the same,
// and a command that has another effect when it's repeated isn't done again.
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
		return in.recordWhole(ctx, ev, AuditEntry{Kind: "pair", What: string(who.Role), Outcome: "done"}, func() {
			in.ReplyText(ev, "paired", qos.Interactive, who.Welcome)
		})
	case !who.Admitted:
		return nil
	}
	if _, said := ev.Action.(intake.Said); said {
		in.opt.Hub.EndTailAt(ev.Place)
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
	d, err := in.dispatchEvent(ctx, ev, who.Roles, before != nil)
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

// dispatchEvent does what a person asks for who was let in. again says that it was begun
// before.
func (in *Inbound) dispatchEvent(ctx context.Context, ev intake.Event, roles access.Roles, again bool) (commands.EventResult, error) {
	switch a := ev.Action.(type) {
	case intake.Said:
		return in.handleText(ctx, ev, a, roles, again, false)
	case intake.Edited:
		return in.handleEdit(ctx, ev, a)
	case intake.Pressed:
		return in.PressButton(ctx, ev, a, roles, again)
	default:
		return commands.EventResult{}, fmt.Errorf("%w action %T", sessions.ErrUnknown, a)
	}
}

// HandleGivenUp tells the person of an event that it couldn't be handled, after many tries. It returns at
// once; see QueueOptions.GaveUp.
func (in *Inbound) HandleGivenUp(ev intake.Event) {
	if _, why := in.RolesAt(ev); why == "" {
		in.ReplyText(ev, "gave up", qos.Interactive, "This couldn't be done, though it was tried for minutes. The daemon's log says why.")
	}
}

// A worker that panicked is begun anew after panicPause, and after twice as long each
// time it panics again within the last pause and panicPauseMax.
const (
	panicPause    = time.Second
	panicPauseMax = time.Minute
)

// keepRunning runs a worker until it returns or ctx ends, and begins it anew when it
// panics. It blocks. A worker takes up what it left from the store, as after a restart.
func (in *Inbound) keepRunning(ctx context.Context, worker string, run func(ctx context.Context)) {
	for pause := panicPause; ; pause = min(2*pause, panicPauseMax) {
		began := time.Now()
		if in.containPanic(worker, func() { run(ctx) }) {
			return
		}
		if time.Since(began) > panicPauseMax {
			pause = panicPause
		}
		if sessions.Pause(ctx, pause) != nil {
			return
		}
	}
}

// containPanic runs work and reports whether it returned. A panic is logged with its
// stack and counted.
func (in *Inbound) containPanic(worker string, work func()) (returned bool) {
	defer func() {
		if r := recover(); r != nil {
			in.Log.Error("a worker panicked; it's begun anew", "worker", worker, "err", sessions.PanicError(r), "stack", string(debug.Stack()))
			in.opt.Panicked(worker)
		}
	}()
	work()
	return true
}

// handlePlaceChange takes in what happened to a place as a whole. Who did it doesn't
// matter: it's how the place is now, and nothing is shown or typed because of it that
// wasn't before.
func (in *Inbound) handlePlaceChange(ctx context.Context, ev intake.Event) error {
	place := ev.Place
	switch a := ev.Action.(type) {
	case intake.Remarked:
		return in.dropRemark(ev)
	case intake.ThreadClosed:
		return in.restThread(ctx, ev, true)
	case intake.ThreadOpened:
		return in.restThread(ctx, ev, false)
	case intake.ThreadDeleted:
		in.Log.Info("a thread was deleted; it's made anew when there's something to show", "target", place.String())
		return nil
	case intake.ChatMoved:
		return in.FollowChat(ctx, a.Move(place))
	case intake.Left:
		in.EndMembership(ctx, a.Person, place.WholeChat())
		return nil
	case intake.ChatBack:
		return in.opt.Hub.ReviveChat(ctx, place.Adapter, place.Chat)
	case intake.ChatLost:
		in.Log.Warn("a chat can't be written to any more", "target", place.String(), "why", a.Why)
		return in.opt.Hub.DisableChat(ctx, place.Adapter, place.Chat, a.Why)
	default:
		return fmt.Errorf("handle %s: action %T isn't known", ev.Key, a)
	}
}

// remarkAge is until when a platform's own line is deleted: Telegram deletes none after two days, and Discord counts the
// calls for those of two weeks apart.
const remarkAge = 24 * time.Hour

// dropRemark has a platform's own line deleted about what the bot did: that's to be seen without it. It takes a call of the
// least class that's queued; if it's refused, the line stays.
func (in *Inbound) dropRemark(ev intake.Event) error {
	if time.Since(ev.At) > remarkAge || !in.KnowsChat(ev.Place) && !in.opt.Hub.UsesChat(ev.Place.Adapter, ev.Place.Chat) {
		return nil
	}
	err := in.opt.Hub.Post(adapters.Post{
		To: ev.Place, Key: "remark " + ev.Message, Class: qos.Stream, Drop: ev.Message,
		Sent: func(_ string, err error) {
			if err != nil && !errors.Is(err, adapters.ErrReplaced) {
				in.Log.Info("a line of the platform's own stays", "target", ev.Place.String(), "err", err)
			}
		},
	})
	if err != nil {
		in.Log.Info("a line of the platform's own stays", "target", ev.Place.String(), "err", err)
	}
	return nil
}

// restThread has the bindings of a thread rest, or go on.
func (in *Inbound) restThread(ctx context.Context, ev intake.Event, rest bool) error {
	if ev.Place.Thread == "" {
		return nil
	}
	var errs []error
	for _, b := range in.opt.Hub.BindingsAt(ev.Place) {
		s, err := in.opt.Sessions.Get(string(b.Session))
		if err != nil || s.State == sessions.StateEnded {
			continue // its thread is closed with it
		}
		if b.Resting != rest {
			errs = append(errs, in.opt.Hub.SetResting(ctx, b.ID, rest))
		}
	}
	return errors.Join(errs...)
}

// TellExpired says in each chat of a platform whose texts go to sessions that what was written there between
// two times is lost: nobody read it for longer than the platform keeps it.
func (in *Inbound) TellExpired(adapter string, from, to time.Time) error {
	told := map[adapters.Target]bool{}
	var errs []error
	for _, st := range in.opt.Hub.Status("") {
		chat := st.Binding.Target.WholeChat()
		if st.Open {
			chat = st.Target.WholeChat()
		}
		if chat.Adapter != adapter || st.Binding.Unbound || !st.Binding.Input || told[chat] {
			continue
		}
		told[chat] = true
		errs = append(errs, in.opt.Hub.Post(adapters.Post{
			To: chat, Key: "expired " + to.Format(time.RFC3339), Class: qos.Final, Ring: true,
			Text: fmt.Sprintf(
				"panebridge couldn't read here for %s, and what's written is kept for %s only: what was written between %s and %s may not have arrived. What still matters of it has to be written again.",
				wording.Age(time.Since(from).Round(time.Hour)), wording.Age(time.Since(to).Round(time.Hour)), from.Local().Format("Mon 15:04"), to.Local().Format("Mon 15:04"),
			),
		}))
	}
	return errors.Join(errs...)
}

// AuditEntry is one input in the audit log: who did what, where and when, and what
// became of it. It holds no text: what's typed is in its receipt, which goes when
// receipts do. The hash tells whether a text that somebody shows is the one, until the session is forgotten: a short
// text can be guessed from it.
type AuditEntry struct {
	Key    string // Event.Key
	At     time.Time
	Place  adapters.Target
	Person string // Person.ID
	Name   string // as the platform showed it then
	// Kind is text, edit, file, command, button, pair or KindPage.
	Kind string
	// What is the command's name, the button's Do, the role that a code gave, the call of the
	// API; "" for texts.
	What    string
	Session sessions.ID // "": none
	Bytes   int         // of the text; of arguments for a command
	Hash    string      // the first 16 hexadecimal digits of the text's SHA-256; "": no text, or one that was forgotten
	// Outcome is what became of it, in a word or two, or the id of its receipt. "": it
	// was begun, and not finished.
	Outcome string
}

// KindPage is the kind of what was done by the page, whose Place has no chat.
const KindPage = "page"

// AuditStore keeps the audit log: the newest 100,000 entries.
type AuditStore interface {
	// BeginEntry adds an entry, unless there's one of its key, and returns the one
	// that was there before; nil: none.
	BeginEntry(ctx context.Context, e AuditEntry) (*AuditEntry, error)
	// EndEntry fills in what became of an input: What, Session, Outcome. With that it keeps what
	// answers it, both or none: see ReplyStore.
	EndEntry(ctx context.Context, e AuditEntry, replies []cards.StoredReply) error
	// AuditEntries returns the newest, the newest first.
	AuditEntries(ctx context.Context, limit int) ([]AuditEntry, error)
}

// entryOf is an event as the audit log begins it.
func entryOf(ev intake.Event) AuditEntry {
	e := AuditEntry{Key: ev.Key, At: time.Now(), Place: ev.Place, Person: ev.Person.ID, Name: ev.Person.Name}
	text := ""
	switch a := ev.Action.(type) {
	case intake.Said:
		text, e.Kind = a.Text, "text"
		if name, _, ok := intake.ReadCommand(a.Text); ok {
			e.Kind, e.What = "command", name
		}
		if len(a.Files) > 0 {
			e.Kind = "file"
		}
		if name, _, ok := intake.ReadCommand(a.Text); ok && name == "pair" {
			text = "" // a hash of a code would give it away
		}
	case intake.Edited:
		text, e.Kind = a.Text, "edit"
	case intake.Pressed:
		e.Kind = "button"
	}
	e.Bytes = len(text)
	if text != "" {
		e.Hash = cards.DigestOf(text)
	}
	return e
}

// recordWhole writes a whole entry of what has happened, with what answers it. An error says that the event
// is to come again.
func (in *Inbound) recordWhole(ctx context.Context, ev intake.Event, as AuditEntry, answer func()) error {
	e := entryOf(ev)
	e.Kind, e.What = as.Kind, as.What
	before, err := in.opt.Store.BeginEntry(ctx, e)
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	defer in.BeginHandling(ev.Key, before != nil)()
	answer()
	e.Outcome = as.Outcome
	return in.endEntry(ctx, e)
}

// endEntry writes what became of an event, with what answers it.
func (in *Inbound) endEntry(ctx context.Context, e AuditEntry) error {
	replies, wrote := in.UnseenReplies(e.Key)
	if err := in.opt.Store.EndEntry(ctx, e, replies); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	wrote()
	return nil
}
