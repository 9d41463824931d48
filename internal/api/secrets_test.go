package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// What programs and people say of a session, its name among it, comes to a browser without secrets, and to the
// command line as it is.
func TestSessionsAreShownWithoutSecrets(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(o *api.Options) { o.Masker = masker })
	id := b.daemon.Add(secret, "claude")
	b.daemon.SetState(id, sessions.StateError, "no access with "+secret)
	b.daemon.Turn(id, true)
	b.daemon.FailTurn(id, "no access with "+secret)

	told := map[string]string{}
	for _, path := range []string{"/api/v1/sessions", "/api/v1/sessions/" + string(id)} {
		_, told[path] = b.send(t, http.MethodGet, path, "", b.sign)
	}
	ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	_, events := b.stream(ctx, t, b.signer)
	b.daemon.Turn(id, true)
	b.daemon.FailTurn(id, "no access with "+secret)
	b.daemon.SetState(id, sessions.StateError, "no access again with "+secret)
	var all strings.Builder
	for part := make([]byte, 4096); !strings.Contains(all.String(), "again with") || !strings.Contains(all.String(), "event: turn"); {
		n, err := events.Read(part)
		all.Write(part[:n])
		if err != nil {
			t.Fatalf("the events end with %v: %s", err, all.String())
		}
	}
	told["the events"] = all.String()
	for what, text := range told {
		if strings.Contains(text, secret) || !strings.Contains(text, "[masked") {
			t.Errorf("%s: %s", what, text)
		}
	}
	if s, err := b.client.Session(t.Context(), string(id)); err != nil || s.Name != secret || !strings.HasSuffix(s.Turn.Failed, secret) || !strings.HasSuffix(s.Reason, secret) {
		t.Errorf("the command line gets %+v, %v", s, err)
	}
}
