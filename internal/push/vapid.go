package push

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"fmt"

	webpush "github.com/SherClockHolmes/webpush-go"
)

// Notes keep the daemon's key.
type Notes interface {
	// Note returns what was kept for a key; "" if nothing was.
	Note(ctx context.Context, key string) (value string, err error)
	// PutNote keeps a value for a key, in place of the one before.
	PutNote(ctx context.Context, key, value string) error
}

// vapidNote is what the key is kept as.
const vapidNote = "vapid"

// contact is who a push service may turn to about what's sent (RFC 8292, "sub"). Apple refuses what's
// neither an https address nor a good mail address, and one of this machine. The page's own address would
// tell the service where the page is.
const contact = "https://github.com/panebridge/panebridge"

// vapidKey is the key by which push services know the daemon, as base64url.
type vapidKey struct{ private, public string }

// loadKey reads the key, and makes it the first time.
func loadKey(ctx context.Context, notes Notes) (vapidKey, error) {
	kept, err := notes.Note(ctx, vapidNote)
	if err != nil {
		return vapidKey{}, fmt.Errorf("read the key for push services: %w", err)
	}
	if raw, err := base64.RawURLEncoding.DecodeString(kept); err == nil {
		if key, err := ecdh.P256().NewPrivateKey(raw); err == nil {
			return vapidKey{private: kept, public: base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())}, nil
		}
	}
	var k vapidKey
	if k.private, k.public, err = webpush.GenerateVAPIDKeys(); err != nil {
		return k, fmt.Errorf("make a key for push services: %w", err)
	}
	if err := notes.PutNote(ctx, vapidNote, k.private); err != nil {
		return k, fmt.Errorf("keep the key for push services: %w", err)
	}
	return k, nil
}
