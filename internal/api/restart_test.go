package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// A session's program is started anew; of one that has ended another session begins.
func TestRestart(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "claude")
	restart := func() api.Session {
		t.Helper()
		got, body := b.send(t, http.MethodPost, "/api/v1/sessions/"+string(id)+"/restart", "", b.sign)
		var s api.Session
		if err := json.Unmarshal([]byte(body), &s); err != nil || got.status != http.StatusOK {
			t.Fatalf("%d %s, %v", got.status, body, err)
		}
		return s
	}
	if s := restart(); s.ID != id || s.Lines != 1 {
		t.Errorf("it's %+v", s)
	}
	b.daemon.SetState(id, sessions.StateEnded, "closed")
	if s := restart(); s.ID == id || s.Name != "one" || s.Agent != "claude" {
		t.Errorf("after its end it's %+v", s)
	}
	if got, _ := b.send(t, http.MethodPost, "/api/v1/sessions/nobody/restart", "", b.sign); got.status != http.StatusNotFound {
		t.Errorf("of no session: %d", got.status)
	}
}

// A session gets another name, unless that's another's.
func TestRename(t *testing.T) {
	b := setup(t)
	b.daemon.Add("other", "")
	id := b.daemon.Add("one", "claude")
	signed := func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		b.sign(r)
	}
	for body, want := range map[string]int{`{"name":"other"}`: http.StatusConflict, `{"title":"x"}`: http.StatusBadRequest, `{"name":"two"}`: http.StatusOK} {
		if got, text := b.send(t, http.MethodPost, "/api/v1/sessions/"+string(id)+"/name", body, signed); got.status != want {
			t.Errorf("%s: %d %s", body, got.status, text)
		}
	}
	if s, err := b.daemon.Get(string(id)); err != nil || s.Name != "two" {
		t.Errorf("it's %+v, %v", s, err)
	}
}
