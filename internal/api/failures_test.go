package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// The turns that failed come oldest first, within the lines asked for, and without secrets.
func TestFailedTurnsAreListed(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(o *api.Options) { o.Masker = masker })
	id := b.daemon.Add("one", "claude")
	path := "/api/v1/sessions/" + string(id) + "/failures"
	if got, body := b.send(t, http.MethodGet, path, "", b.sign); got.status != http.StatusOK || strings.TrimSpace(body) != "[]" {
		t.Errorf("without a turn: %d %s", got.status, body)
	}
	for i, why := range []string{"Overloaded", "no access with " + secret} {
		b.daemon.Turn(id, true)
		b.daemon.Append(id, sessions.KindTool, fmt.Sprint("line ", i))
		b.daemon.FailTurn(id, why)
	}
	_, all := b.send(t, http.MethodGet, path, "", b.sign)
	if first, second := strings.Index(all, `"turn":1,"after":1,"why":"Overloaded"`), strings.Index(all, `"turn":2,"after":2,"why":"no access with `); first < 0 || second < first || strings.Contains(all, secret) {
		t.Errorf("they are %s", all)
	}
	if _, some := b.send(t, http.MethodGet, path+"?from=2&to=9", "", b.sign); strings.Contains(some, "Overloaded") || !strings.Contains(some, `"turn":2`) {
		t.Errorf("from line 2 they are %s", some)
	}
	if got, body := b.send(t, http.MethodGet, path+"?from=x", "", b.sign); got.status != http.StatusBadRequest {
		t.Errorf("from no number: %d %s", got.status, body)
	}
}
