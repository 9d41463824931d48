package push

import (
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/sessions"
)

// maxMuted is how many sessions a device may have muted, as the page's mute.js has it.
const maxMuted = 500

// maxID is longer than ids of sessions are, in bytes.
const maxID = 64

// Subscription is what a browser has to say to be notified.
type Subscription struct {
	Browser  string `json:"-"` // its id among those that may use the page
	Endpoint string `json:"endpoint"`
	// Key is the browser's public key (p256dh), a point of P-256, uncompressed, and Auth the secret that
	// it shares with who may write to it, 16 bytes: both as base64url.
	Key  string `json:"p256dh"`
	Auth string `json:"auth"`

	Wishes

	Created   time.Time `json:"-"`
	NotBefore time.Time `json:"-"` // until when its push service asked to be left alone
}

// Wishes are of what a device wants to be notified.
type Wishes struct {
	Questions bool          `json:"questions"` // a session waits for somebody
	Ends      bool          `json:"ends"`      // a turn is done, or a program has ended
	Errors    bool          `json:"errors"`    // a turn failed, or a session can't be read
	Quiet     QuietHours    `json:"quiet,omitzero"`
	Muted     []sessions.ID `json:"muted,omitempty"` // of these nothing is told
}

// QuietHours are when a device isn't notified: as in chats. What holds when they end is told then.
type QuietHours struct {
	From string `json:"from"` // "22:00"
	To   string `json:"to"`   // "07:00"; the same as From: there are none
	Zone string `json:"zone"` // "Europe/Berlin"; "": the daemon's own
}

// preference is the same as a place of a chat has it.
func (q QuietHours) preference() (p cards.Preference, err error) {
	if q.From == q.To {
		return p, nil
	}
	from, err1 := time.Parse("15:04", q.From)
	to, err2 := time.Parse("15:04", q.To)
	if err1 != nil || err2 != nil {
		return p, fmt.Errorf("%w quiet hours: write them as times of day, 22:00 to 07:00", sessions.ErrInvalid)
	}
	midnight := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) // of the day on which a time without one is
	p.From, p.To, p.Zone = from.Sub(midnight), to.Sub(midnight), q.Zone
	return p, p.Check()
}

// IsQuiet reports whether the device isn't notified now.
func (w Wishes) IsQuiet(now time.Time) bool {
	p, err := w.Quiet.preference()
	return err == nil && p.IsQuiet(now)
}

// takes reports whether a device is told of alerts of a session and kind.
func (w Wishes) takes(id sessions.ID, kind Kind) bool {
	if slices.Contains(w.Muted, id) {
		return false
	}
	return kind == Question && w.Questions || kind == End && w.Ends || kind == Failure && w.Errors
}

// check returns an error that wraps sessions.ErrInvalid and says what would be right.
func (w Wishes) check() error {
	if _, err := w.Quiet.preference(); err != nil {
		return err
	}
	if slices.ContainsFunc(w.Muted, func(id sessions.ID) bool { return len(id) > maxID }) {
		return fmt.Errorf("%w subscription: muted has what isn't a session's id, such as pb_0123456789ab", sessions.ErrInvalid)
	}
	if len(w.Muted) > maxMuted {
		return fmt.Errorf("%w subscription: at most %d sessions may be muted", sessions.ErrInvalid, maxMuted)
	}
	return nil
}

// checkKeys does the same of a subscription's keys.
func (s Subscription) checkKeys() error {
	key, err := base64.RawURLEncoding.DecodeString(s.Key)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		return fmt.Errorf("%w p256dh: it must be a point of P-256, uncompressed, as base64url without padding (PushSubscription.getKey)", sessions.ErrInvalid)
	}
	if auth, err := base64.RawURLEncoding.DecodeString(s.Auth); err != nil || len(auth) != 16 {
		return fmt.Errorf("%w auth: it must be 16 bytes as base64url without padding (PushSubscription.getKey)", sessions.ErrInvalid)
	}
	return nil
}
