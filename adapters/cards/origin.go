package cards

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// Progress is how far a text has got, as its writer was told.
type Progress string

// What a writer is told. Reactions stand on the message itself; held and failed are
// said in words, because something is to be done.
const (
	ToldNothing   Progress = ""
	ToldStored    Progress = "stored"
	ToldTyped     Progress = "typed"
	ToldHeld      Progress = "held"
	ToldSubmitted Progress = "submitted"
	ToldQueued    Progress = "queued" // by its agent, which is at work
	ToldAnswered  Progress = "answered"
	ToldPassed    Progress = "passed" // its agent's turn has ended, and it's not known whether it was taken up
	ToldFailed    Progress = "failed"
	ToldAsked     Progress = "asked" // whether it's still to be typed
	ToldTakenBack Progress = "taken back"
)

// reactions are among those that Telegram lets bots use
// (core.telegram.org/bots/api#reactiontypeemoji).
func reaction(p Progress, unverified bool) string {
	switch {
	case p == ToldSubmitted && unverified:
		return "🤔"
	case p == ToldSubmitted:
		return "👍"
	case p == ToldStored:
		return "👀"
	case p == ToldTyped:
		return "✍"
	case p == ToldAnswered:
		return "👌"
	default:
		return ""
	}
}

// Origin is the message that an input came from.
type Origin struct {
	Key     string // of the input
	Place   adapters.Target
	Message string // the platform's id
	Person  string
	Session sessions.ID
	At      time.Time // when it was written
	Receipt string    // its id; "": not known yet
	Told    Progress
	Reply   string // the platform's id of the message that said it's held; "": none
	Done    bool   // nothing more will be told
}

// OriginStore keeps origins.
type OriginStore interface {
	// AddOrigin keeps one, unless there's one of its key.
	AddOrigin(ctx context.Context, o Origin) error
	// PutOrigin replaces Receipt, Told, Reply and Done of the one of the same key.
	PutOrigin(ctx context.Context, o Origin) error
	DropOrigin(ctx context.Context, key string) error
	// Origin returns one; sessions.ErrUnknown if there's none of this key.
	Origin(ctx context.Context, key string) (Origin, error)
	// OpenOrigins returns those that aren't done, the oldest first.
	OpenOrigins(ctx context.Context) ([]Origin, error)
	// TellEdited says whether a message is some origin's and its writer wasn't told yet
	// about edits, and takes them as told.
	TellEdited(ctx context.Context, place adapters.Target, message string) (bool, error)
}
