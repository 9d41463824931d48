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

// Turns come in the order asked for, within the lines asked for, and without secrets.
func TestTurnsAreListed(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(o *api.Options) { o.Masker = masker })
	id := b.daemon.Add("one", "claude")
	path := "/api/v1/sessions/" + string(id) + "/turns"
	if got, body := b.send(t, http.MethodGet, path, "", b.sign); got.status != http.StatusOK || strings.TrimSpace(body) != "[]" {
		t.Errorf("without a turn: %d %s", got.status, body)
	}
	for i, why := range []string{"Overloaded", "no access with " + secret} {
		b.daemon.Turn(id, true)
		b.daemon.Append(id, sessions.KindUser, fmt.Sprint("use ", secret, i))
		b.daemon.FailTurn(id, why)
	}
	const first, second = `"turn":1,"first":1,"after":1,"asked":"use `, `"turn":2,"first":2,"after":2,"asked":"use `
	for query, want := range map[string][]string{"": {second, first}, "?order=newest": {second, first}, "?order=oldest": {first, second}, "?from=2&to=9": {second}, "?limit=1": {second}, "?limit=1&order=oldest": {first}} {
		_, all := b.send(t, http.MethodGet, path+query, "", b.sign)
		at := 0
		for _, text := range want {
			i := strings.Index(all[at:], text)
			if i < 0 {
				t.Fatalf("%q: %s", query, all)
			}
			at += i
		}
		if n := strings.Count(all, `"turn"`); n != len(want) || strings.Contains(all, secret) {
			t.Errorf("%q: %s", query, all)
		}
	}
	for _, query := range []string{"?from=x", "?to=-1", "?limit=0", "?limit=501", "?order=best"} {
		if got, body := b.send(t, http.MethodGet, path+query, "", b.sign); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, got.status, body)
		}
	}
}
