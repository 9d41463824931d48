package cards

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
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

	Platforms map[string]intake.InboundAdapter // by name
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
	// Continuations knows which sessions go on by themselves; nil: none does.
	Continuations Continuations
	Exhibits      Exhibits // what sessions show; nil: nothing
	Log           *slog.Logger
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
	// RingsAt reports whether the end of a turn rings at a place while it isn't quiet there.
	RingsAt(ctx context.Context, id sessions.ID, place adapters.Target, turn sessions.Turn) (bool, error)
	// LimitStatus says how the limits stand that calls to a place fall under. It may wait
	// for the scheduler until ctx ends.
	LimitStatus(ctx context.Context, place adapters.Target) (adapters.LimitStatus, error)
	// MoveChat has all bindings of a chat follow it.
	MoveChat(ctx context.Context, adapter, from, to string) error
	// ChatMoves returns the chats that are known to have another id, in the order in which they got it.
	ChatMoves(ctx context.Context) ([]adapters.Move, error)
}

// Store keeps what must be known after a restart. Methods do disk I/O and may be
// called at the same time. What they wrote survives a crash of the process when they
// return nil; after an error nothing was written.
type Store interface {
	ReplyStore
	OfferStore
	DeferredStore
	OriginStore
	PreferenceStore
	PromptStore
	AttentionStore
	StandingCardStore
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

	receipts    *receiptCards
	prompts     *questionCards
	missed      *missed
	boards      *boards
	reconciler  *reconciler
	preferences preferences
	replies     *replies
	moves       *chatMoves

	sessionCards *sessionCards
	untaken      *untaken
}

// NewClerk makes a Clerk. It starts nothing.
func NewClerk(opt Options) *Clerk {
	k := &Clerk{Options: opt}
	k.receipts, k.prompts, k.missed, k.boards = newReceiptCards(k), newQuestionCards(k), newMissed(k), newBoards(k)
	k.replies, k.moves, k.untaken = newReplies(k), newChatMoves(k), newUntaken()
	k.sessionCards = newSessionCards(k)
	k.reconciler = newReconciler(k, k.sessionCards, k.missed, k.boards, promptFiles{k.prompts}, limitCards{k}, exhibitCards{k})
	return k
}

// Load reads what the store has.
func (k *Clerk) Load(ctx context.Context) error {
	if err := k.Guard.Load(ctx); err != nil {
		return err
	}
	return k.loadPreferences(ctx)
}

// Workers returns what's to be run, by name. Each blocks until its ctx ends. One that's begun anew takes up
// from the store what it left.
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

// Finish drops the answers that were seen while everything ended, and keeps which cards were. Call it when the workers
// and the Hub's have returned: those of which it doesn't know are posted again at the next start. It returns within 5 s.
func (k *Clerk) Finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishFor)
	defer cancel()
	k.replies.dropSeen(ctx)
	k.reconciler.confirmSent(ctx, time.Now())
}

// finishFor bounds Finish, and what a round keeps though the end has begun.
const finishFor = 5 * time.Second

// Follow subscribes to what happens to sessions and to what was written to them. Prompts come by
// HandlePrompt: their secrets are masked on the way.
func (k *Clerk) Follow(feed *sessions.Feed) {
	feed.OnOutput(k.HandleOutput)
	feed.OnSession(k.HandleSession)
	feed.OnReceipt(k.HandleReceipt)
}

// HandleOutput takes in what a session did. It returns at once.
func (k *Clerk) HandleOutput(ev sessions.OutputEvent) {
	k.missed.noteOutput(ev)
	if ev.State != "" || ev.Complete || ev.Exit != nil {
		k.boards.noteChange()
	}
}

// HandleSession takes in that a session began, ended or has another name. It returns at once.
func (k *Clerk) HandleSession(sessions.Session) { k.boards.noteChange() }

// ChatBeside returns the chat of a place in a thread, where what the thread refuses can be shown; zero: the
// place is no thread, or the chat takes nothing outside of threads.
func (k *Clerk) ChatBeside(place adapters.Target) adapters.Target {
	chat := place.WholeChat()
	if place.Thread == "" || k.Hub.Shape(chat).OnlyThreads {
		return adapters.Target{}
	}
	return chat
}

// ReplyText answers an event with a text in Markdown.
func (k *Clerk) ReplyText(ev intake.Event, key string, class qos.Class, text string, buttons ...[]adapters.Button) {
	k.ReplyPost(ev, key, class, adapters.Post{Text: text, Buttons: buttons})
}

// ReplyPost answers an event with what a post shows: where, and of what class, is filled in.
func (k *Clerk) ReplyPost(ev intake.Event, key string, class qos.Class, p adapters.Post) {
	p.To, p.Elsewhere, p.Key, p.Class, p.ReplyTo = ev.Place, k.ChatBeside(ev.Place), key+" "+ev.Key, class, ev.Message
	if err := k.PostReply(ev, p); err != nil {
		k.Log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
}

// ShownPath returns a path as people are shown it, without secrets: it may be cut.
func (k *Clerk) ShownPath(path string) string { return k.Masked(wording.HomePath(path)) }

// Masked returns a text without secrets. Mask a text before you cut it: nobody can tell what a cut secret
// belongs to.
func (k *Clerk) Masked(text string) string {
	if k.Mask == nil {
		return text
	}
	return k.Mask(text)
}

// DigestOf returns 16 hexadecimal digits by which a text is known again where the text itself mustn't be
// kept.
func DigestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

const (
	offerFor = 7 * 24 * time.Hour
	// MaxOfferArgs is how many bytes Offer.Args may have.
	MaxOfferArgs = 4096
	// OfferPrefix begins a button's data; the offer's id is behind it.
	OfferPrefix = "o:"
)

// Offer is what a button does, as the store keeps it. The button itself carries nothing but the
// offer's random id.
type Offer struct {
	ID      string          // 16 hexadecimal digits; MakeOffer gives it
	Place   adapters.Target // where the button stands; MakeOffer is told
	Do      string          // names the handler: "keys", "folder", "run-stale"
	Session sessions.ID     // "": none
	Args    string          // the handler's own, at most 4096 bytes
	// Role is what a person needs to press it; Person, if set, the only one who may.
	Role   access.Role
	Person string
	Single bool // it works once
	// Group, with Single: of all offers with the same group one works, once. "": of its own.
	Group   string
	Expires time.Time // when it stops to work; zero: in a week
	Used    OfferUse  // of its group; zero: not used
}

// OfferUse says who used an offer up.
type OfferUse struct {
	Key string // of the event
	By  string // as people are called in chats
	At  time.Time
}

// OfferStore keeps offers.
type OfferStore interface {
	PutOffer(ctx context.Context, o Offer) error
	// Offer returns one; sessions.ErrUnknown if it isn't there (any more).
	Offer(ctx context.Context, id string) (Offer, error)
	// TakeOffer uses an offer's group up, unless it is, and returns who did it: of
	// many at a time one. The same Use.Key takes it again.
	TakeOffer(ctx context.Context, id string, u OfferUse) (OfferUse, error)
}

// MakeOffer makes a button for a place.
func (k *Clerk) MakeOffer(ctx context.Context, place adapters.Target, label string, o Offer) (adapters.Button, error) {
	if !k.Handles(o.Do) {
		return adapters.Button{}, fmt.Errorf("offer %q: nothing handles it", o.Do)
	}
	if len(o.Args) > MaxOfferArgs {
		return adapters.Button{}, fmt.Errorf("offer %q: its arguments have %d bytes, at most %d are kept", o.Do, len(o.Args), MaxOfferArgs)
	}
	if o.Expires.IsZero() {
		o.Expires = time.Now().Add(offerFor)
	}
	if o.ID, o.Place = newOfferID(), place; o.Group == "" {
		o.Group = o.ID
	}
	if err := k.Store.PutOffer(ctx, o); err != nil {
		return adapters.Button{}, fmt.Errorf("offer %q: %w", o.Do, err)
	}
	return adapters.Button{Label: label, Data: OfferPrefix + o.ID}, nil
}

func newOfferID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return hex.EncodeToString(b[:])
}

// OfferID returns the id of the offer in a button's data; "": the button isn't ours.
func OfferID(data string) string {
	id, ok := strings.CutPrefix(data, OfferPrefix)
	if b, err := hex.DecodeString(id); !ok || err != nil || len(b) != 8 || strings.ToLower(id) != id {
		return ""
	}
	return id
}

// IsOffered reports whether a button is one that this daemon made, by its data. It reads the store.
func (k *Clerk) IsOffered(ctx context.Context, data string) bool {
	if u, ok := adapters.ReadUnfolding(data); ok {
		return slices.ContainsFunc(k.Hub.Status(""), func(st adapters.BindingStatus) bool { return st.Binding.ID == u.Binding })
	}
	id := OfferID(data)
	if id == "" {
		return false
	}
	_, err := k.Store.Offer(ctx, id)
	return !errors.Is(err, sessions.ErrUnknown)
}

// chatMoves has what's kept for chats follow them to another id, once for each, whoever says that they
// have one: an update, or the platform instead of taking a call, where updates were lost.
type chatMoves struct {
	rounds

	clerk *Clerk
	turn  sync.Mutex // held while a chat is followed, with its I/O

	// Guarded by mu.
	to map[adapters.Target]string // the ids that chats have now
}

func newChatMoves(k *Clerk) *chatMoves {
	return &chatMoves{clerk: k, rounds: newRounds(), to: map[adapters.Target]string{}}
}

// CurrentPlace returns a place with the id that its chat has now.
func (k *Clerk) CurrentPlace(place adapters.Target) adapters.Target {
	ms := k.moves
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if to := ms.to[place.WholeChat()]; to != "" {
		place.Chat = to
	}
	return place
}

// FollowMoves has what's kept for chats follow the moves that Hub.ChatMoves returns. It returns at once.
func (k *Clerk) FollowMoves() { k.moves.lookSoon() }

// run follows the chats of which the Hub knows, until ctx ends.
func (ms *chatMoves) run(ctx context.Context) {
	ms.rounds.run(ctx, ms.clerk, "", nil, func(ctx context.Context, now time.Time) time.Time {
		if err := ms.followAll(ctx); err != nil && ctx.Err() == nil {
			ms.clerk.Log.Warn("what's kept for a chat couldn't follow it; it's tried again", "err", err)
			return now.Add(tellAgain)
		}
		return time.Time{}
	})
}

func (ms *chatMoves) followAll(ctx context.Context) error {
	all, err := ms.clerk.Hub.ChatMoves(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := ms.clerk.FollowChat(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// FollowChat has all that's kept for a chat follow it to its new id, unless it has. A chat that was known
// stays known. It does disk I/O.
func (k *Clerk) FollowChat(ctx context.Context, m adapters.Move) error {
	ms := k.moves
	if m.From == "" || m.To == "" || m.From == m.To {
		return nil
	}
	ms.turn.Lock()
	defer ms.turn.Unlock()
	from, to := adapters.Target{Adapter: m.Adapter, Chat: m.From}, adapters.Target{Adapter: m.Adapter, Chat: m.To}
	ms.mu.Lock()
	ms.to[from] = to.Chat
	ms.mu.Unlock()
	followed, err := k.Store.Followed(ctx, m)
	if err != nil || followed {
		return err
	}
	if err := k.Store.MoveChat(ctx, m.Adapter, m.From, m.To); err != nil {
		return fmt.Errorf("have chat %s follow to %s: %w", from, m.To, err)
	}
	if k.KnowsChat(from) {
		if err := k.AdoptChat(ctx, to, "moved from "+m.From); err != nil {
			return err
		}
	}
	k.MoveChat(from, to)
	if err := k.loadPreferences(ctx); err != nil {
		return err
	}
	k.prompts.moveChat(from, to)
	k.receipts.leaveWord(func() { k.receipts.moves = append(k.receipts.moves, m) })
	k.reconciler.moveChat(m)
	if err := k.Hub.MoveChat(ctx, m.Adapter, m.From, m.To); err != nil {
		return err
	}
	return k.Store.PutFollowed(ctx, m)
}
