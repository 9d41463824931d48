package inbox

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// MailState is how far a mail is.
type MailState string

// The states. All but the first are final.
const (
	InputRequired MailState = "input_required" // the recipient hasn't settled it
	Completed     MailState = "completed"      // the recipient has
	Canceled      MailState = "canceled"       // the sender has taken it back
	Undeliverable MailState = "undeliverable"  // the recipient had ended before it was shown it
)

// States are all there are.
func States() []MailState { return []MailState{InputRequired, Completed, Canceled, Undeliverable} }

// MailKind says what a mail is.
type MailKind string

// The kinds.
const (
	KindMail MailKind = "mail"
	// KindSummary tells of a broadcast as a whole; nobody receives it.
	KindSummary MailKind = "broadcast_summary"
	// KindPing is a ping: no mail, but a preview that's kept until it can be typed, as a
	// mail's is. Nobody settles it.
	KindPing MailKind = "ping"
)

// Mail is a message from one to another.
type Mail struct {
	ID        string       `json:"id"`
	Kind      MailKind     `json:"kind"`
	From      Address      `json:"from"`
	FromName  string       `json:"from_name"`
	To        Address      `json:"to"` // "" of a summary
	ToName    string       `json:"to_name"`
	Fleet     string       `json:"fleet,omitempty"` // of a broadcast
	Text      string       `json:"text"`
	Status    MailState    `json:"status"`
	SentAt    time.Time    `json:"sent_at"`
	SettledAt time.Time    `json:"settled_at,omitzero"`
	SeenAt    time.Time    `json:"seen_at,omitzero"` // when it was shown to its recipient first
	Preview   PreviewState `json:"preview"`
	// Why says why the preview isn't typed, or what has kept it from being submitted.
	Why string `json:"preview_reason,omitempty"`
}

// PreviewState says how far a mail's preview is.
type PreviewState string

// What became of a preview. Only a waiting one is ever typed; one that's being typed when
// its process ends may be on the screen, and isn't typed again.
const (
	PreviewNone    PreviewState = "none"    // it isn't to be typed
	PreviewWaiting PreviewState = "waiting" // it couldn't be typed yet; the daemon tries again
	PreviewTyping  PreviewState = "typing"
	PreviewTyped   PreviewState = "typed"
)

// NewID returns the id of a new mail: short, for it's written by hand.
func NewID() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return "m_" + hex.EncodeToString(b[:])
}

// Settle takes a mail to a final state. Only its recipient completes it, only its sender
// cancels it, and only while it's open.
func (m *Mail) Settle(by Address, to MailState, now time.Time) error {
	switch {
	case m.Kind != KindMail:
		return fmt.Errorf("settle %s: %w: it's a %s, which is nobody's to settle", m.ID, sessions.ErrConflict, m.Kind)
	case to == Completed && by != m.To:
		return fmt.Errorf("acknowledge %s: %w: it was sent to %s, and only the recipient acknowledges (it's %s)", m.ID, ErrNotYours, m.ToName, m.Status)
	case to == Canceled && by != m.From:
		return fmt.Errorf("cancel %s: %w: it was sent by %s, and only the sender cancels (it's %s)", m.ID, ErrNotYours, m.FromName, m.Status)
	case to != Completed && to != Canceled:
		return fmt.Errorf("settle %s: %w state %q (it's %s)", m.ID, sessions.ErrInvalid, to, m.Status)
	case m.Status != InputRequired:
		return fmt.Errorf("settle %s as %s: %w: it's %s already", m.ID, to, ErrState, m.Status)
	}
	m.Status, m.SettledAt = to, now
	if m.Preview == PreviewWaiting {
		m.Preview, m.Why = PreviewNone, "it was settled before"
	}
	return nil
}

// Return takes back a mail whose recipient has ended. returned is false if it's settled, or was
// shown before: then only its preview isn't typed any more.
func (m *Mail) Return(now time.Time) (returned bool) {
	m.Preview, m.Why = PreviewNone, hasEnded
	if m.Kind != KindMail || m.Status != InputRequired || !m.SeenAt.IsZero() {
		return false
	}
	m.Status, m.SettledAt = Undeliverable, now
	return true
}

// hasEnded is why nothing is typed for a session that has.
const hasEnded = "the session has ended"

// See says that a mail was polled by its recipient. changed is false if that's known.
func (m *Mail) See(now time.Time) (changed bool) {
	if m.Preview == PreviewWaiting {
		m.Preview, m.Why, changed = PreviewNone, "it was polled before", true
	}
	if m.SeenAt.IsZero() && m.Kind != KindPing {
		m.SeenAt, changed = now, true
	}
	return changed
}

// Query says which mail is wanted.
type Query struct {
	ID     string    // "": any
	To     Address   // "": of anybody
	From   Address   // "": by anybody
	Status MailState // "": any
	Since  time.Time
	Limit  int // 0: no limit
	Kind   MailKind
}
