package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/sessions"
)

// What waits for a session is listed, and what only a dialog's words hold is sent when
// somebody who has looked at the screen says so.
func TestReceiptsThatWaitAreListedAndSentAnyway(t *testing.T) {
	b := setup(t)
	b.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	id := b.daemon.Add("one", "")
	ctx := t.Context()
	if list, err := b.client.Waiting(ctx, "one"); err != nil || list == nil || len(list) != 0 {
		t.Errorf("with none: %+v, %v", list, err)
	}
	first, err := b.client.Input(ctx, "one", "first", true)
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.client.Input(ctx, "one", "second", true)
	if err != nil {
		t.Fatal(err)
	}
	b.daemon.HoldQuoted(first.ID, "0123456789abcdef", "why")
	list, err := b.client.Waiting(ctx, string(id))
	if err != nil || len(list) != 2 || list[0].ID != first.ID || list[0].Quoted != "0123456789abcdef" || list[1].ID != second.ID || list[1].Quoted != "" {
		t.Errorf("%+v, %v", list, err)
	}
	for quoted, status := range map[string]int{"": http.StatusBadRequest, "another": http.StatusConflict} {
		var refused *api.Error
		if _, err := b.client.SendAnyway(ctx, first.ID, quoted); !errors.As(err, &refused) || refused.Status != status || !strings.Contains(refused.Message, "looked at") {
			t.Errorf("with %q: %v, want %d", quoted, err, status)
		}
	}
	r, err := b.client.SendAnyway(ctx, first.ID, "0123456789abcdef")
	if err != nil || r.State != sessions.ReceiptSubmitted || r.Anyway != "cli" || r.Quoted != "" {
		t.Errorf("%+v, %v", r, err)
	}
	var refused *api.Error
	if _, err := b.client.SendAnyway(ctx, "in_none", "x"); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("of none: %v", err)
	}
}
