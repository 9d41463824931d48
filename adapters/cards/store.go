package cards

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// PromptKind is why a message about a question is in a chat.
type PromptKind string

// The kinds of messages about questions.
const (
	PromptAsked     PromptKind = "asked"     // it shows the question, where the session is mirrored
	PromptReminded  PromptKind = "reminded"  // it says that nobody has answered
	PromptEscalated PromptKind = "escalated" // it shows the question elsewhere, because nobody has answered
)

// PromptMessage is a message in a chat about a question that an agent asks.
type PromptMessage struct {
	Prompt  string // sessions.Prompt.ID
	Session sessions.ID
	Place   adapters.Target
	Kind    PromptKind
	Message string // the platform's id; "": it's being posted
	Checked []int  // the options that are chosen here, of a sessions.PromptMulti; kept before they're shown
	Shows   string // what it says, as the maker of these messages calls it; "": it isn't known
	Closed  bool   // it says what came of the question
	At      time.Time
}

// Writer is a person whose next message in a place is the answer to a question.
type Writer struct {
	Place   adapters.Target
	Person  string // Person.ID
	Prompt  string
	Expires time.Time
}

// PromptStore keeps where questions are shown.
type PromptStore interface {
	// PromptMessages returns those that aren't closed, the oldest first.
	PromptMessages(ctx context.Context) ([]PromptMessage, error)
	// PutPromptMessage inserts one, or replaces the one of the same prompt, place and kind.
	PutPromptMessage(ctx context.Context, m PromptMessage) error
	// PromptMessage returns the one of that id in a chat; sessions.ErrUnknown if it's none.
	PromptMessage(ctx context.Context, adapter, chat, message string) (PromptMessage, error)
	// Writer returns that of a place and person; sessions.ErrUnknown if there's none.
	Writer(ctx context.Context, place adapters.Target, person string) (Writer, error)
	PutWriter(ctx context.Context, w Writer) error
	DropWriter(ctx context.Context, place adapters.Target, person string) error
}

// Missed is what would have rung in a place, had it not been quiet.
type Missed struct {
	Place   adapters.Target // whose preference it was
	Session sessions.ID
	What    MissedKind
	Times   int
	At      time.Time // the last
}

// MissedKind is what would have rung.
type MissedKind string

// The kinds of what's missed.
const (
	MissedTurn     MissedKind = "turn"
	MissedQuestion MissedKind = "question"
	MissedEnd      MissedKind = "end"
	MissedError    MissedKind = "error"
)

// AttentionStore keeps what calls for people's attention.
type AttentionStore interface {
	// AddMissed adds Missed.Times to what's kept of the same place, session and kind.
	AddMissed(ctx context.Context, m Missed) error
	Missed(ctx context.Context) ([]Missed, error)
	// DropMissed takes what was told off what's kept: what was added since stays.
	DropMissed(ctx context.Context, told []Missed) error
}
