package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// How far a text got is asked for by the line at which it begins, without its text or what leads to it.
func TestHowFarTextsGotIsAskedByTheirLines(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(o *api.Options) { o.Masker = masker })
	b.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	id := b.daemon.Add("one", "")
	r, err := b.daemon.Input(t.Context(), id, sessions.InputRequest{Text: "first of\nthree words", Submit: true, Author: "cli"})
	if err != nil {
		t.Fatal(err)
	}
	b.daemon.Append(id, sessions.KindPane, "before")
	b.daemon.Write(id, r.ID, "the command line")
	b.daemon.SetReceipt(r.ID, sessions.ReceiptHeld, "with "+secret+" on the screen")

	a, body := b.send(t, http.MethodGet, "/api/v1/sessions/one/progress?lines=1,2,3,99", "", b.sign)
	var got []api.TextProgress
	if err := json.Unmarshal([]byte(body), &got); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.status, body, err)
	}
	if len(got) != 1 || got[0].Line != 2 || got[0].State != sessions.ReceiptHeld || !got[0].Submit {
		t.Errorf("got %+v", got)
	}
	if strings.Contains(body, r.ID) || strings.Contains(body, "three words") || strings.Contains(body, secret) {
		t.Errorf("it has more than how far it got: %s", body)
	}
	if _, lines := b.send(t, http.MethodGet, "/api/v1/sessions/one/output", "", b.sign); strings.Contains(lines, r.ID) {
		t.Errorf("the lines lead to the receipt: %s", lines)
	}
	for _, lines := range []string{"", "0", "x", "1,", strings.Repeat("1,", 100) + "1"} {
		if a, body := b.send(t, http.MethodGet, "/api/v1/sessions/one/progress?lines="+lines, "", b.sign); a.status != http.StatusBadRequest {
			t.Errorf("lines=%s: %d %s", lines, a.status, body)
		}
	}
}
