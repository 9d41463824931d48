package api_test

import (
	"net/http"
	"testing"

	"github.com/panebridge/panebridge/adapters/access"
)

// Who may answer dialogs sends a held text anyway: it may answer one.
func TestAHeldTextIsSentByWhoMayAnswer(t *testing.T) {
	b := setup(t, reaching(proxied))
	for role, want := range map[access.Role]int{access.Viewer: http.StatusForbidden, access.Operator: http.StatusForbidden, access.Approver: http.StatusNotFound} {
		sign := at(b.device(t, publicHost, string(role), role), publicHost, "100.64.0.7")
		for _, body := range []string{`{"quoted":"0123456789abcdef"}`, `{"quoted":"0123456789abcdef","revival":"new"}`} {
			got, text := b.send(t, http.MethodPost, "/api/v1/receipts/in_0123456789ab/anyway", body, func(r *http.Request) {
				r.Header.Set("Content-Type", "application/json")
				sign(r)
			})
			if got.status != want {
				t.Errorf("%s, %s: %d %s, want %d", role, body, got.status, text, want)
			}
		}
	}
}
