package store

import (
	"context"
	"errors"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// Once the database is known to be damaged, nothing new is acknowledged, by the daemon or by the command line:
// it may be gone after the next start. What's taken back is.
func TestNothingNewIsTakenOnceDamaged(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	mail, err := OpenInbox(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mail.Close() })
	chat := adapters.Target{Adapter: "telegram", Chat: "1"}
	_ = s.reader().explain("read something", ErrDamaged)
	for what, do := range map[string]func(context.Context) error{
		"an input": func(ctx context.Context) error {
			return s.PutReceipt(ctx, sessions.Receipt{ID: "in_1", Session: "pb_1", State: sessions.ReceiptStored})
		},
		"a session": func(ctx context.Context) error {
			return s.PutSession(ctx, sessions.Session{ID: "pb_2", State: sessions.StateStarting})
		},
		"a message": func(ctx context.Context) error { return mail.AddMail(ctx, []inbox.Mail{{ID: "m", To: "pb_1"}}) },
		"a ping": func(ctx context.Context) error {
			_, err := mail.AddPing(ctx, inbox.Mail{ID: "p", Kind: inbox.KindPing, To: "pb_1"})
			return err
		},
		"a notice": func(ctx context.Context) error {
			_, err := mail.AddNotice(ctx, inbox.Notice{To: "pb_1"})
			return err
		},
		"a fleet":      func(ctx context.Context) error { return mail.AddFleet(ctx, "f", "pb_1", at) },
		"a role":       func(ctx context.Context) error { return s.PutGrant(ctx, access.Grant{Person: "telegram:1"}) },
		"a code":       func(ctx context.Context) error { return s.PutCode(ctx, access.PairingCode{Hash: "h"}, 5) },
		"a chat":       func(ctx context.Context) error { return s.PutChat(ctx, chat, "x", at) },
		"a preference": func(ctx context.Context) error { return s.PutPreference(ctx, cards.Preference{Place: chat}) },
		"a text that waits": func(ctx context.Context) error {
			return s.PutDeferred(ctx, cards.DeferredText{Key: "k"})
		},
		"the use of a code": func(ctx context.Context) error {
			_, err := s.UseCode(ctx, "h", access.CodeUse{Key: "k"})
			return err
		},
	} {
		if err := do(ctx); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s is answered with %v", what, err)
		}
	}
	if err := s.DropGrants(ctx, "telegram:1", ""); err != nil {
		t.Errorf("a role that's taken back is answered with %v", err)
	}
}
