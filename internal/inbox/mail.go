package inbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

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

// DefaultMaxTextRunes is how long the text of a preview gets, in code points.
const DefaultMaxTextRunes = 500

// Announcement is what's typed for mails that wait: two lines, whatever the text is. The
// mails are given oldest first; of several, the newest is shown.
func Announcement(mails []Mail, maxRunes int) string {
	newest := mails[len(mails)-1]
	at := newest.SentAt.Local().Format("2006-01-02 15:04:05")
	head := fmt.Sprintf("[panebridge msg %s from %s %s]", newest.ID, oneLine(newest.FromName), at)
	if n := len(mails); n > 1 {
		head = fmt.Sprintf("[panebridge %d messages, newest msg %s from %s %s; `panebridge poll` shows all]", n, newest.ID, oneLine(newest.FromName), at)
	}
	return head + "\n" + Cut(oneLine(newest.Text), maxRunes, "… [cut; `panebridge poll --full` shows all of it]")
}

// returnedRunes is how much of a mail is said again to who sent it when it comes back.
const returnedRunes = 100

// returnedText is what who sent a mail is written when it comes back.
func returnedText(m Mail) string {
	return fmt.Sprintf("Undeliverable: %s has ended, and wasn't shown your message %s: %s", m.ToName, m.ID, Cut(oneLine(m.Text), returnedRunes, "…"))
}

// Cut shortens a text to at most so many code points, never inside of what's drawn as one
// character, and puts a suffix behind a text that was cut. The suffix comes on top.
func Cut(text string, maxRunes int, suffix string) string {
	if maxRunes <= 0 {
		maxRunes = DefaultMaxTextRunes
	}
	if len(text) <= maxRunes || utf8.RuneCountInString(text) <= maxRunes {
		return text
	}
	end, n := 0, 0
	for g := graphemes.FromString(text); g.Next(); {
		n += utf8.RuneCountInString(g.Value())
		if n > maxRunes {
			break
		}
		end += len(g.Value())
	}
	return strings.TrimRight(text[:end], " ") + suffix
}

// oneLine makes one line of a text that can be typed: white space becomes blanks, control
// characters go.
func oneLine(text string) string {
	var b strings.Builder
	blank := false
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case unicode.IsControl(r):
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// PollCommand is what's typed for a ping.
const PollCommand = ownName + " poll"

// ownName is how texts here call panebridge.
const ownName = "panebridge"

// Fit has the commands in a text of panebridge's own call it as the reader can: those in
// backquotes, and PollCommand.
func Fit(text, program string) string {
	if text == PollCommand {
		return program + strings.TrimPrefix(PollCommand, ownName)
	}
	return strings.ReplaceAll(text, "`"+ownName+" ", "`"+program+" ")
}

// MaxTextBytes bounds a mail's text.
const MaxTextBytes = 1 << 20

// MaxNoticeBytes bounds a notice's text.
const MaxNoticeBytes = 64 << 10

// CheckText refuses what can't be kept and shown as it is.
func CheckText(text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%w text: it's empty", errInvalid)
	case len(text) > most:
		return fmt.Errorf("%w text: it's longer than %d KiB, which is the limit; write it into a file and send its path", errInvalid, most>>10)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w text: it isn't valid UTF-8", errInvalid)
	}
	return nil
}

// finish looks after a preview that somebody was typing who has ended, killed between its
// paste and its Enter, say: left in the input box it would be in the way of all that's
// typed later. All that are marked as being typed were one preview, as a next one isn't
// begun before. free is false if it isn't known yet what became of it.
func (p *Previews) finish(ctx context.Context, to Party) (free bool, err error) {
	left, err := p.Store.LeftPreviews(ctx, to.Address())
	if err != nil || len(left) == 0 {
		return err == nil, err
	}
	result, why := PreviewNone, hasEnded
	if to.State != sessions.StateEnded {
		text, _ := p.words(left)
		result, why = p.Typist.Finish(ctx, to, text)
	}
	switch result {
	case PreviewTyping, PreviewWaiting:
		return false, p.Store.HoldPreviews(ctx, to.Address(), "it isn't known yet what became of one before: "+why)
	case PreviewNone:
		why = "who typed it ended meanwhile, and it's unknown whether it was submitted: " + why
	case PreviewTyped:
	}
	return true, p.Store.SetPreviews(context.WithoutCancel(ctx), idsOf(left), result, why)
}
