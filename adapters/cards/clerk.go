package cards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/render/screenshot"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Options are a Clerk's parts. All but Mask are required.
type Options struct {
	*access.Guard

	Platforms map[string]intake.Platform // by name
	Sessions  Sessions
	Hub       Hub
	Store     Store
	Pictures  *screenshot.Renderer
	// Handles says whether there's a handler of a name, for what a button does: Offer.Do.
	Handles func(do string) bool
	// Mask takes secrets out of what's offered while somebody writes, which goes through no
	// Outbox, and of what's cut before it goes through one. Nil: nothing is masked.
	Mask func(text string) string
	// StaleAfter is how old what somebody wrote may get until it isn't typed without asking.
	StaleAfter time.Duration
	// RemindAfter is how long a question stands unanswered until people are reminded of
	// it, once; 0: never. EscalateTo is where it's shown then, too; zero: nowhere.
	RemindAfter time.Duration
	EscalateTo  adapters.Target
	Pinned      bool // a list of a chat's sessions is kept pinned in it
	Log         *slog.Logger
}

// Sessions are what's known of sessions, and of what was written to them.
type Sessions interface {
	List() []sessions.Session
	// Get finds a session by id, or by the name of a living one.
	Get(idOrName string) (sessions.Session, error)
	Receipt(ctx context.Context, id string) (sessions.Receipt, error)
	// Cancel takes an input back; sessions.ErrConflict if it's too late.
	Cancel(ctx context.Context, id string) (sessions.Receipt, error)
	// PromptScreen is the screen on which a question stands, or what's known of it.
	PromptScreen(ctx context.Context, p sessions.Prompt) sessions.Screen
	// Prompts returns the questions that are open, the oldest first.
	Prompts() []sessions.Prompt
	// Prompt returns one that is or was; sessions.ErrUnknown if it never was, or isn't
	// kept any more.
	Prompt(ctx context.Context, id string) (sessions.Prompt, error)
}

// Hub is the outbound half.
type Hub interface {
	access.Hub
	Post(p adapters.Post) error
	// Shape says what messages at a place can hold.
	Shape(place adapters.Target) adapters.Shape
	// Rings reports whether the end of a turn rings at a place while it isn't quiet there.
	Rings(ctx context.Context, id sessions.ID, place adapters.Target, turn sessions.Turn) (bool, error)
	// Limits says how the limits stand that calls to a place fall under. It may wait
	// for the scheduler until ctx ends.
	Limits(ctx context.Context, place adapters.Target) (adapters.Limits, error)
	// ChatMoved has all bindings of a chat follow it.
	ChatMoved(ctx context.Context, adapter, from, to string) error
	// Moves returns the chats that are known to have another id, in the order in which they got it.
	Moves(ctx context.Context) ([]adapters.Move, error)
}

// Store keeps what must be known after a restart. Methods do disk I/O and may be
// called at the same time. What they wrote survives a crash of the process when they
// return nil; after an error nothing was written.
type Store interface {
	ReplyStore
	OfferStore
	WaitingStore
	OriginStore
	PreferenceStore
	PromptStore
	AttentionStore
	StandingStore
	// MoveChat has all that's kept for a chat follow it to another id, where messages have other
	// numbers.
	MoveChat(ctx context.Context, adapter, from, to string) error
	// Followed says whether everything has followed a chat to its new id, as PutFollowed keeps.
	Followed(ctx context.Context, m adapters.Move) (bool, error)
	PutFollowed(ctx context.Context, m adapters.Move) error
}

// Clerk keeps messages in chats as they're to be. Call Load first, then run its Workers, and Finish at last.
type Clerk struct {
	Options

	receipts    *receipts
	prompts     *prompts
	missed      *missed
	boards      *boards
	reconciler  *reconciler
	preferences preferences
	replies     *replies
	moves       *moves

	sessionCards *sessionCards
	untaken      *untaken
}

// NewClerk makes a Clerk. It starts nothing.
func NewClerk(opt Options) *Clerk {
	k := &Clerk{Options: opt}
	k.receipts, k.prompts, k.missed, k.boards = newReceipts(k), newPrompts(k), newMissed(k), newBoards(k)
	k.replies, k.moves, k.untaken = newReplies(k), newMoves(k), newUntaken()
	k.sessionCards = newSessionCards(k)
	k.reconciler = newReconciler(k, k.sessionCards, k.missed, k.boards, promptFiles{k.prompts})
	return k
}

// Load reads what the store has.
func (k *Clerk) Load(ctx context.Context) error {
	if err := k.Guard.Load(ctx); err != nil {
		return err
	}
	return k.loadPreferences(ctx)
}

// Workers are what's to be run, by name. Each runs until its ctx ends, and takes up what it left
// from the store if it's begun anew.
func (k *Clerk) Workers() map[string]func(ctx context.Context) {
	return map[string]func(ctx context.Context){
		"receipts": k.receipts.run,   // tells writers how far what they wrote has got
		"prompts":  k.prompts.run,    // shows questions
		"cards":    k.reconciler.run, // has cards stand as they're wanted
		"replies":  k.replies.run,    // tries again to answer people
		"moves":    k.moves.run,      // has what's kept for a chat follow it to its new id
		"members":  k.WatchGroups,    // looks who's still in the groups that gave them something
	}
}

// Finish takes in which answers were seen while everything ended. Call it when the workers and the Hub's have
// returned: what it doesn't know of is posted again at the next start. It returns within some 5 s.
func (k *Clerk) Finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishFor)
	defer cancel()
	k.replies.dropSeen(ctx)
}

// finishFor bounds Finish.
const finishFor = 5 * time.Second

// Follow subscribes to what happens to sessions and to what was written to them. Prompts come by
// Prompted: their secrets are masked on the way.
func (k *Clerk) Follow(feed *sessions.Feed) {
	feed.OnOutput(k.Output)
	feed.OnSession(k.Changed)
	feed.OnReceipt(k.ReceiptChanged)
}

// Output takes in what a session did. It returns at once.
func (k *Clerk) Output(ev sessions.OutputEvent) {
	k.missed.noteOutput(ev)
	if ev.State != "" || ev.Complete || ev.Exit != nil {
		k.boards.noteChange()
	}
}

// Changed takes in that a session began, ended or has another name. It returns at once.
func (k *Clerk) Changed(sessions.Session) { k.boards.noteChange() }

// Beside is the chat itself of a place in a thread, where what the thread doesn't take can be
// shown; zero: the place is no thread, or the chat takes nothing beside threads.
func (k *Clerk) Beside(place adapters.Target) adapters.Target {
	chat := place.WholeChat()
	if place.Thread == "" || k.Hub.Shape(chat).OnlyThreads {
		return adapters.Target{}
	}
	return chat
}

// Say answers an event with a text in Markdown.
func (k *Clerk) Say(ev intake.Event, key string, class qos.Class, text string, buttons ...[]adapters.Button) {
	err := k.PostReply(ev, adapters.Post{
		To: ev.Place, Elsewhere: k.Beside(ev.Place), Key: key + " " + ev.Key, Class: class, ReplyTo: ev.Message, Text: text, Buttons: buttons,
	})
	if err != nil {
		k.Log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
}

// loadAtLast loads what the last run left, again every 30 s where that fails, which it logs. It
// blocks until it's loaded; an error says that ctx ended.
func (k *Clerk) loadAtLast(ctx context.Context, what string, load func(context.Context) error) error {
	for {
		err := load(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		k.Log.Error(what, "err", err)
		if err := intake.Pause(ctx, tellAgain); err != nil {
			return err
		}
	}
}

// ShownPath is a path as people are shown it, without secrets: it may be cut.
func (k *Clerk) ShownPath(path string) string { return k.Masked(wording.HomePath(path)) }

// Masked is a text without secrets. What's cut is masked before: nobody knows what the rest of a
// secret belongs to.
func (k *Clerk) Masked(text string) string {
	if k.Mask == nil {
		return text
	}
	return k.Mask(text)
}

// DigestOf tells a text from others where the text itself isn't to be kept.
func DigestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
