package cards

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/sessions"
)

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
	Used    Use       // of its group; zero: not used
}

// Use says who used an offer up.
type Use struct {
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
	TakeOffer(ctx context.Context, id string, u Use) (Use, error)
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

// OfferID reads a button's data. What isn't ours gives "".
func OfferID(data string) string {
	id, ok := strings.CutPrefix(data, OfferPrefix)
	if b, err := hex.DecodeString(id); !ok || err != nil || len(b) != 8 || strings.ToLower(id) != id {
		return ""
	}
	return id
}

// Offered reports whether a button is one that this daemon made, by its data. It reads the store.
func (k *Clerk) Offered(ctx context.Context, data string) bool {
	id := OfferID(data)
	if id == "" {
		return false
	}
	_, err := k.Store.Offer(ctx, id)
	return !errors.Is(err, sessions.ErrUnknown)
}
