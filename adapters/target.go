package adapters

import (
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

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

// Origin says who made a binding.
type Origin string

// The origins.
const (
	ByRule Origin = "rule" // a `mirrors:` rule: it goes when no rule says so any more
	ByHand Origin = "hand" // a person: it stays until a person takes it back
)

// Binding says that a target mirrors a session. There's at most one for a session
// and a target.
type Binding struct {
	ID      BindingID
	Session sessions.ID
	Target  Target // as asked for; where the platform has moved it to is in the document
	View    View
	Input   bool // what's written there is typed into the session
	Origin  Origin
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
