package adapters

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Adapter is a chat platform's side of the outbound path. It turns planned calls
// into API requests and their answers into Replies; what to send when is decided
// before it's asked. adaptertest.Run is the conformance suite.
//
// An adapter that also posts single requests (command replies, prompts) with the
// scheduler implements Requester too; one whose messages have addresses, Linker; one
// that shows things in passing, Asider.
type Adapter interface {
	// Name is how targets name the adapter: "telegram". It never changes.
	Name() string

	// Options are those of its scheduler: limits, mode, knobs. The Hub adds what's
	// its own (OnEvent, and Logger and Observer if there are none). It's called
	// once.
	Options() qos.Options

	// Check says why the adapter sends nothing to a target: it isn't in the
	// configuration, it can't be an id. It's asked about targets as they're bound,
	// and never about where the platform has moved them since.
	Check(t Target) error

	// Chat returns the key of limits that calls to a target fall under, and Shape
	// what messages can hold there. Both are pure functions. Shape is asked about
	// targets as they're bound, as Check is.
	Chat(t Target) qos.Chat
	Shape(t Target) Shape

	// Call makes exactly one API call, or none if it surely can't be made. It's
	// called from several goroutines, never twice at a time for one chat. It may
	// block until ctx ends, and returns soon after. It never retries, and never
	// makes another call in place of one that failed.
	Call(ctx context.Context, op Op) Reply
}

// Requester makes the calls of requests that an adapter has posted to its
// scheduler; see qos.Request. The contract is that of qos.Deliverer.
type Requester interface {
	Request(ctx context.Context, call qos.Call) qos.Result
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
	// can. More than 4 MiB isn't used, and less than 4 KiB is none.
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

// Kind is what a call does.
type Kind string

// The kinds of call.
const (
	KindSend   Kind = "send"   // a new message
	KindEdit   Kind = "edit"   // replaces the text of a message
	KindFile   Kind = "file"   // a new message with an attached file
	KindThread Kind = "thread" // makes a thread or topic
	KindClose  Kind = "close"  // closes one
	KindOpen   Kind = "open"   // opens one that's closed; never a document's
	KindRename Kind = "rename" // gives one another title; never a document's
)

// Op is one planned API call.
type Op struct {
	Kind   Kind
	Target Target // with the thread that was made for it
	// Message is the platform's id of the message to edit.
	Message string
	// Text is Page as Shape.Text formats it; of a file, what's written beside it; of
	// a new thread, or of one that's renamed, its title.
	Text string
	Page Page
	File *File // KindFile
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
func (k Kind) aboutThread() bool { return k == KindThread || k == KindClose }

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
	// Outcome is as in qos.Result, and means the same; Unchanged isn't for calls. An
	// edit that the platform refuses because nothing would change is Delivered. The
	// zero value is Uncertain.
	Outcome qos.Outcome
	// Delivered: the new message's or thread's id; of a Rejected one whose thread is missing, the
	// message's that was made all the same, outside of the thread. Existed says that the platform
	// had a message with this nonce already, or the thread.
	ID      string
	Existed bool
	// Rejected: what isn't there any more, so that it can be repaired.
	Missing Missing
	// Rejected: it's about what was to be shown, not about where. Something else may be taken.
	Content bool
	// Uncertain: as in qos.Result.
	Over bool
	// Throttled: as in qos.Result.
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
func (r Reply) result() qos.Result {
	return qos.Result{Outcome: r.Outcome, Over: r.Over, RetryAfter: r.RetryAfter, Global: r.Global, Narrow: r.Narrow, Err: r.Err}
}
