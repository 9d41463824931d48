package adapters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Adapter is a chat platform's side of the outbound path. It turns planned calls
// into API requests and their answers into Replies; what to send when is decided
// before it's asked. adaptertest.Run is the conformance suite.
//
// An adapter that can post implements Poster too; one whose messages have addresses, Linker; one
// that shows things in passing, Asider; one that makes threads under limits of their own, Threader.
type Adapter interface {
	// Name is how targets name the adapter: "telegram". It never changes.
	Name() string

	// Options returns those of its scheduler: limits, mode, knobs. The Hub adds what's
	// its own (OnEvent, and Logger and Meter if there are none). It's called
	// once.
	Options() qos.Options

	// Check says why the adapter sends nothing to a target: it isn't in the
	// configuration, it can't be an id. It's asked about targets as they're bound,
	// and never about where the platform has moved them since.
	Check(t Target) error

	// Chat returns the key of limits that calls to a target fall under, and Shape
	// what messages can hold there. Both are pure functions. Shape is asked about
	// targets as they're bound, as Check is.
	Chat(t Target) qos.ChatKey
	Shape(t Target) Shape

	// Call makes exactly one API call, or none if it surely can't be made. It's
	// called from several goroutines, never twice at a time for one chat. It may
	// block until ctx ends, and returns soon after. It never retries, and never
	// makes another call in place of one that failed.
	Call(ctx context.Context, op Op) Reply
}

// Shape is what messages can hold in a chat.
type Shape struct {
	// Text is what a page shows, without formatting that goes beside it. It must not be
	// empty for a page that shows anything. Nil: PlainText.
	Text func(Page) string
	// Look tells apart what pages look like: their texts, and all formatting. Nil: Text.
	Look func(Page) string
	// Len is the length of a text in the platform's unit. Nil: UTF16Len.
	Len func(text string) int
	// Size is how much of MaxLen a page takes, with its formatting. Further text must
	// not make it less, unless it ends markup that was open. Nil: Len of Text.
	Size func(Page) int
	// MaxLen is the most that a message may hold, in Len's unit, at least 500.
	MaxLen int
	// MaxFile is the size in bytes of the largest file that can be attached; 0: none
	// can. At most 4 MiB are used; less than 4 KiB counts as 0.
	MaxFile int
	// MaxCaption is the most that a text beside a file may hold, as MaxLen. 0: it
	// holds nothing but how many lines are attached.
	MaxCaption int
	// Threads is what people call threads there: "topic". "": "thread".
	Threads string
	// Menus is how many menus fit below a post that has a row of buttons too, and
	// MenuOptions how many options each takes; 0: there are no menus.
	Menus, MenuOptions int
	// LiveRows is how many rows of the live region stand below the lines of a
	// stream, the last ones; 0: none. They cost a call more per turn, to take them
	// away again.
	LiveRows int
	// NonceFor is for how long the platform surely refuses to make a second message
	// with the same nonce, and returns the first instead, with room for the time that
	// calls take. 0: it doesn't.
	NonceFor time.Duration
	// OwnThread says that a target without a thread gets one made for it.
	// ClosesThreads says that it's closed when all of an ended session is in it.
	// OnlyThreads says that nothing can be written beside threads, as far as is known: it's
	// asked for with each call.
	OwnThread, ClosesThreads, OnlyThreads bool
	// HidesThreads says that what the platform tells of a message may leave out in which thread it
	// is, as if it were in none.
	HidesThreads bool
}

func (s Shape) withDefaults() Shape {
	if s.Text == nil {
		s.Text = PlainText
	}
	if s.Len == nil {
		s.Len = UTF16Len
	}
	if s.Look == nil {
		s.Look = s.Text
	}
	if s.Size == nil {
		text, length := s.Text, s.Len
		s.Size = func(p Page) int { return length(text(p)) }
	}
	if s.Threads == "" {
		s.Threads = "thread"
	}
	s.MaxLen = max(s.MaxLen, minLen)
	s.MaxFile = min(s.MaxFile, mostFile)
	return s
}

const (
	// minLen leaves room for a line beside all notices and marks.
	minLen = 500
	// mostFile bounds the memory that a call takes, in bytes: eight may be under way.
	mostFile = 4 << 20
)

// OpKind is what a call does.
type OpKind string

// The kinds of call.
const (
	KindSend   OpKind = "send"   // a new message
	KindEdit   OpKind = "edit"   // replaces the text of a message
	KindFile   OpKind = "file"   // a new message with an attached file
	KindThread OpKind = "thread" // makes a thread or topic
	KindClose  OpKind = "close"  // closes one
	KindOpen   OpKind = "open"   // opens one that's closed; never a document's
	KindRename OpKind = "rename" // gives one another title; never a document's
)

// Op is one planned API call.
type Op struct {
	Kind   OpKind
	Target Target // with the thread that was made for it
	// Message is the platform's id of the message to edit.
	Message string
	// Text is Page as Shape.Text formats it; of a file, what's written beside it; of
	// a new thread, or of one that's renamed, its title.
	Text string
	Page Page
	File *File // KindFile
	// Buttons stand below the message, where the platform has any: all that there are. An edit replaces them.
	Buttons [][]Button
	// Ring says that people are to be notified of the new message; others are silent.
	Ring bool
	// Nonce is the same when a send is made again that wasn't answered. 16
	// hexadecimal digits.
	Nonce string
	// Again says that the same call was made before and wasn't answered: what it makes
	// may be there already. KindThread
	Again bool
}

// aboutThread says that a call shows nothing.
func (k OpKind) aboutThread() bool { return k == KindThread || k == KindClose }

// File is an attachment.
type File struct {
	Name string
	Data []byte
}

// Missing says what a rejected call was about and isn't there any more.
type Missing uint8

// What may be missing.
const (
	NothingMissing Missing = iota
	// MissingMessage: the message can't be edited, because it's gone, too old, or
	// not ours.
	MissingMessage
	// MissingThread: the thread or topic is gone.
	MissingThread
)

// Reply is what came of a call. Only the fields of its outcome are read.
type Reply struct {
	// Outcome is as in qos.CallResult, and means the same; Unchanged isn't for calls. An
	// edit that the platform refuses because nothing would change is Delivered. The
	// zero value is Uncertain.
	Outcome qos.CallOutcome
	// Delivered: the new message's or thread's id; of a Rejected one whose thread is missing, the
	// message's that was made all the same, outside of the thread. Existed says that the platform
	// had a message with this nonce already, or the thread.
	ID      string
	Existed bool
	// Rejected: what isn't there any more, so that it can be repaired.
	Missing Missing
	// Rejected: it's about what was to be shown, not about where. Something else may be taken.
	Content bool
	// Uncertain: as in qos.CallResult.
	Over bool
	// Throttled: as in qos.CallResult.
	RetryAfter time.Duration
	Global     bool
	Narrow     bool
	// Migrated: the chat's new id.
	Chat string
	// Err is why, without texts of users and secrets.
	Err error
}

// result is what the scheduler is told of a reply, but for a document's numbers and a
// chat's new key.
func (r Reply) result() qos.CallResult {
	return qos.CallResult{Outcome: r.Outcome, Over: r.Over, RetryAfter: r.RetryAfter, Global: r.Global, Narrow: r.Narrow, Err: r.Err}
}

// Threader is an Adapter on whose platform making threads has limits of its own, and
// may have to wait for long while messages needn't.
type Threader interface {
	// Threads is the key of limits under which the thread for a target is made that has
	// none yet and gets one of its own. It's a pure function.
	Threads(t Target) qos.ChatKey
}

// limitKeyOf is the key of limits that a document's next call falls under.
func limitKeyOf(a Adapter, b Binding, d Document) qos.ChatKey {
	t := d.target(b)
	shape := a.Shape(b.Target)
	if th, ok := a.(Threader); ok && t.Thread == "" && shape.OwnThread && !d.isAstray(shape, time.Now()) {
		return th.Threads(t)
	}
	return a.Chat(t)
}

// Target is one place in a chat platform.
type Target struct {
	Adapter string // name of the adapter: "telegram"
	Chat    string // the platform's id of the chat or channel: "-1001234567890"
	Thread  string // the platform's id of a topic or thread; "": none, or one of the document's own (Shape.OwnThread)
}

// ParseTarget reads "adapter:chat" or "adapter:chat/thread".
func ParseTarget(s string) (Target, error) {
	adapter, place, ok := strings.Cut(s, ":")
	chat, thread, threaded := strings.Cut(place, "/")
	if !ok || adapter == "" || chat == "" || threaded && thread == "" || strings.Contains(thread, "/") || strings.ContainsAny(s, " \t\n") {
		return Target{}, fmt.Errorf("read target %q: write adapter:chat or adapter:chat/thread, as in telegram:-1001234567890/7", s)
	}
	return Target{Adapter: adapter, Chat: chat, Thread: thread}, nil
}

func (t Target) String() string {
	s := t.Adapter + ":" + t.Chat
	if t.Thread != "" {
		s += "/" + t.Thread
	}
	return s
}

// WholeChat is the chat that a place is in, without thread.
func (t Target) WholeChat() Target { return Target{Adapter: t.Adapter, Chat: t.Chat} }

// View says what of a session a target shows.
type View string

// The views.
const (
	// ViewStream shows lines as they come; the end of a turn rings.
	ViewStream View = "stream"
	// ViewFinal shows the lines of a turn when it has ended.
	ViewFinal View = "final"
	// ViewScreen shows the live region only, in one message that's edited.
	ViewScreen View = "screen"
)

// ParseView reads a view's name; "" is ViewStream.
func ParseView(s string) (View, error) {
	switch v := View(s); v {
	case "":
		return ViewStream, nil
	case ViewStream, ViewFinal, ViewScreen:
		return v, nil
	default:
		return "", fmt.Errorf("read view %q: there are stream, final and screen", s)
	}
}

// BindingID names a binding, and its document: "bd_" and 12 hexadecimal digits.
type BindingID string

// NewBindingID returns a fresh random one.
func NewBindingID() BindingID { return BindingID("bd_" + randomHex(6)) }

// Doc is the binding's document, as the scheduler names it.
func (id BindingID) Doc() qos.DocID { return qos.DocID(id) }

// BindingOrigin says who made a binding.
type BindingOrigin string

// The origins.
const (
	ByRule BindingOrigin = "rule" // a `mirrors:` rule: it goes when no rule says so any more
	ByHand BindingOrigin = "hand" // a person: it stays until a person takes it back
)

// Binding says that a target mirrors a session. There's at most one for a session
// and a target.
type Binding struct {
	ID      BindingID
	Session sessions.ID
	Target  Target // as asked for; where the platform has moved it to is in the document
	View    View
	Work    WorkShown
	Input   bool // what's written there is typed into the session
	Quotes  bool // where it answers a message, that's typed above it: for agents
	Origin  BindingOrigin
	// Disabled is why the binding does nothing, as a sentence; "": it works.
	Disabled string
	// Unbound says that a person took it back. A rule doesn't bring it again.
	Unbound bool
	// Resting says that a person closed the thread: nothing is shown or typed until
	// it's opened again. Then the mirror goes on where it was.
	Resting   bool
	CreatedAt time.Time
}

// Active says whether the binding mirrors.
func (b Binding) Active() bool { return b.Disabled == "" && !b.Unbound && !b.Resting }

// compare orders bindings, the oldest first.
func (b Binding) compare(o Binding) int {
	return cmp.Or(b.CreatedAt.Compare(o.CreatedAt), cmp.Compare(b.ID, o.ID))
}

// MirrorRule is an entry of `mirrors:`: it binds each session whose name matches.
type MirrorRule struct {
	Session string // pattern of session names (path.Match)
	To      Target
	View    View // "": ViewStream
	Work    WorkShown
	Input   bool
	Quotes  bool
}

// check returns all that's wrong with a rule itself, joined.
func (r MirrorRule) check() error {
	var pattern error
	if _, err := path.Match(r.Session, ""); err != nil || r.Session == "" {
		pattern = errors.New("the pattern is not valid; as in agent-*")
	}
	_, view := ParseView(string(r.View))
	return errors.Join(pattern, view, r.Work.check())
}

func (r MirrorRule) matches(s sessions.Session) bool {
	ok, err := path.Match(r.Session, s.Name)
	return err == nil && ok
}

// binding is what the rule wants for a session.
func (r MirrorRule) binding(s sessions.ID) Binding {
	view, _ := ParseView(string(r.View)) // checked
	return Binding{Session: s, Target: r.To, View: view, Work: r.Work, Input: r.Input, Quotes: r.Quotes, Origin: ByRule}
}

// bindingsWanted returns what the rules want for a session, one per target, wherever it is now: of several
// rules for the same target the first counts.
func bindingsWanted(rules []MirrorRule, s sessions.Session, now func(Target) Target) []Binding {
	var out []Binding
	taken := map[Target]bool{}
	for _, r := range rules {
		if r.matches(s) && !taken[now(r.To)] {
			taken[now(r.To)] = true
			out = append(out, r.binding(s.ID))
		}
	}
	return out
}

// Store keeps bindings and documents over restarts. Methods do disk I/O, and may
// be called at the same time. What they wrote survives a crash of the process when
// they return nil; after an error nothing was written. adaptertest.Store is the
// conformance suite.
type Store interface {
	// Bindings returns all bindings with their documents, oldest first.
	Bindings(ctx context.Context) ([]KeptBinding, error)
	// PutBinding inserts or replaces a binding by ID. A document, if given, replaces
	// its own; a new binding needs one. Another binding of the same session and
	// target is an error that wraps sessions.ErrConflict.
	PutBinding(ctx context.Context, b Binding, d *Document) error
	// DropBinding deletes a binding with its document; one that isn't there is no
	// error.
	DropBinding(ctx context.Context, id BindingID) error
	// PutDocument replaces a binding's document, and remembers a message that was
	// sent, if there's one. Without such a binding nothing happens. With an Intent
	// it survives a crash of the machine, too, when it returns: the call goes out
	// next.
	PutDocument(ctx context.Context, id BindingID, d Document, sent *Message) error
	// MessageAt returns the platform's id of the first message, of those that are
	// remembered, that shows a line or what comes behind it; "" if it's not known
	// whether it's the first.
	MessageAt(ctx context.Context, id BindingID, line int64) (string, error)
	// NewSessions returns the sessions that were stored and not taken up since. Those that were
	// stored before that was kept aren't among them.
	NewSessions(ctx context.Context) ([]sessions.ID, error)
	// TakeUp keeps that a session has the bindings that the rules wanted when it began, for good;
	// again, or of one that isn't there, it's no error.
	TakeUp(ctx context.Context, id sessions.ID) error
	// Moves returns all chats that have another id, in the order in which they got it.
	Moves(ctx context.Context) ([]Move, error)
	// PutMove keeps that a chat has another id, for good; again, it's no error.
	PutMove(ctx context.Context, m Move) error
}

// Move says that a chat of an adapter has another id: a group has become a supergroup.
type Move struct{ Adapter, From, To string }

// KeptBinding is a binding as a Store keeps it.
type KeptBinding struct {
	Binding  Binding
	Document Document
}

// Log is the output log as documents are rendered from it. Methods do disk I/O,
// and may be called at the same time. Errors wrap sessions.ErrUnknown for a
// session that isn't there.
type Log interface {
	// Read returns at most limit lines with number ≥ from, oldest first, and the gaps
	// that stand before or between them. Where lines from `from` on have been dropped
	// the first line's number is larger, and a gap that says so may come first.
	Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error)
	// Progress returns how far a session is. All of one moment.
	Progress(ctx context.Context, id sessions.ID) (LogProgress, error)
	// Turns returns at most limit turns with number ≥ from that have ended, the oldest first.
	// Turns whose lines have been dropped may be missing.
	Turns(ctx context.Context, id sessions.ID, from int64, limit int) ([]sessions.Turn, error)
}

// LogProgress is how far a session is.
type LogProgress struct {
	Head    int64 // number of the newest line; 0: none yet
	Turn    int64 // number of the newest turn that has ended; 0: none has
	TurnEnd int64 // the line at which it ended; 0: it had none
	// TurnFirst is its first line; 0: it had none. TurnBegan and TurnEnded are when it
	// began and ended.
	TurnFirst            int64
	TurnBegan, TurnEnded time.Time
	Status               *int   // exit status of the command that it was; nil: unknown, or it was none
	Failed               string // why the turn failed; "": it went well, or nobody knows
}

// Sessions is the registry of sessions. Its methods return at once.
type Sessions interface {
	List() []sessions.Session
	// Get finds a session by its id. The error wraps sessions.ErrUnknown.
	Get(id string) (sessions.Session, error)
}

// Screens knows live regions. Live returns at once; nil: nothing is known of the
// session's. The value isn't changed afterwards.
type Screens interface {
	Live(id sessions.ID) *sessions.Live
}
