package api

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/sessions"
)

// Each call says what becomes of it when it comes from a session's pane. A call that's
// added needs a rule; what's free or open for the caller's own session stands here too.
func TestEveryCallHasARuleForPanes(t *testing.T) {
	var free1, own1 []string
	for path, m := range (&api{}).table() {
		for method, rt := range m {
			name := method + " " + strings.TrimPrefix(path, "/api/v1")
			switch rt.inside {
			case free:
				free1 = append(free1, name)
			case own, ownKnown:
				own1 = append(own1, name)
				fallthrough
			case asked, asksWho:
				if rt.does == "" {
					t.Errorf("%s doesn't say what people would be asked", name)
				}
			case barred:
			case noRule:
				t.Errorf("%s has no rule for callers in sessions' panes", name)
			}
		}
	}
	slices.Sort(free1)
	slices.Sort(own1)
	wantFree := []string{"GET /healthz", "GET /readyz", "GET /sessions/{id}/state", "POST /hooks", "POST /hooks/decision", "POST /inbox/announce", "POST /sessions/{id}/wait"}
	wantOwn := []string{"DELETE /sessions/{id}/inquiries/{n}", "GET /events", "GET /search", "GET /sessions", "GET /sessions/{id}", "GET /sessions/{id}/diff", "GET /sessions/{id}/exhibits", "GET /sessions/{id}/exhibits/{n}", "GET /sessions/{id}/exhibits/{n}/content", "GET /sessions/{id}/inquiries/{n}", "GET /sessions/{id}/mailbox", "GET /sessions/{id}/output", "GET /sessions/{id}/progress", "GET /sessions/{id}/prompts", "GET /sessions/{id}/receipts", "GET /sessions/{id}/screen", "GET /sessions/{id}/terminal", "GET /sessions/{id}/tools/{n}", "GET /sessions/{id}/turns", "POST /sessions/{id}/exhibits", "POST /sessions/{id}/inquiries"}
	if !slices.Equal(free1, wantFree) || !slices.Equal(own1, wantOwn) {
		t.Errorf("in a session's pane %q are free, and %q of one's own session", free1, own1)
	}
}

// A call without a rule isn't made for a caller in a session's pane, nor is anybody asked.
func TestACallWithoutARuleIsRefused(t *testing.T) {
	called := false
	a := &api{author: authorCLI, opts: Options{
		Sessions: stranger{},
		Places: func(context.Context, net.Conn) CallerPlace {
			return CallerPlace{Inside: true, Session: "pb_0123456789ab"}
		},
		Confirm: func(context.Context, AskedCall) error { t.Error("somebody was asked"); return nil },
	}}
	h := a.serve(methods{"GET": {do: func(http.ResponseWriter, *http.Request) error { called = true; return nil }}})
	r := httptest.NewRequestWithContext(withConnection(t.Context(), nil), http.MethodGet, "/api/v1/new", nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if called || w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), codeInside) {
		t.Errorf("called: %v; %d %s", called, w.Code, w.Body)
	}
}

// Where stranger can tell at the moment where a connection comes from, its next call asks again; what was told
// once holds for the connection.
func TestWhereACallComesFromIsAskedUntilItCanBeTold(t *testing.T) {
	answers := []CallerPlace{{Inside: true, Why: "a process ended meanwhile"}, {Inside: true, Why: "tmux doesn't answer"}, {}, {Inside: true, Session: "pb_0123456789ab"}}
	times := 0
	a := &api{author: authorCLI, opts: Options{
		Sessions: stranger{},
		Places:   func(context.Context, net.Conn) CallerPlace { times++; return answers[times-1] },
	}}
	h := a.serve(methods{"GET": {do: func(w http.ResponseWriter, _ *http.Request) error { w.WriteHeader(http.StatusNoContent); return nil }, inside: asked}})
	ctx := withConnection(t.Context(), nil)
	for i, want := range []int{http.StatusForbidden, http.StatusForbidden, http.StatusNoContent, http.StatusNoContent} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/sessions", nil))
		if w.Code != want {
			t.Errorf("call %d is answered %d, want %d: %s", i, w.Code, want, w.Body)
		}
	}
	if times != 3 {
		t.Errorf("asked %d times, want 3: what was told holds", times)
	}
}

// Of a daemon that ends it isn't said that nobody may.
func TestACallWhileTheDaemonEndsIsUnavailable(t *testing.T) {
	a := &api{author: authorWeb, opts: Options{
		Sessions: stranger{},
		Places: func(context.Context, net.Conn) CallerPlace {
			return CallerPlace{Inside: true, Why: "canceled", Ending: true}
		},
	}}
	h := a.serve(methods{"GET": {do: func(http.ResponseWriter, *http.Request) error { t.Error("it was made"); return nil }, inside: asked, needs: "viewer"}})
	ctx := withBrowser(withConnection(t.Context(), nil), browsers.Browser{ID: "br_0", Roles: access.Roles{access.Viewer: true}})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/sessions", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("it's answered %d: %s", w.Code, w.Body)
	}
}

// stranger has no sessions.
type stranger struct{ Sessions }

func (stranger) Get(string) (sessions.Session, error) {
	return sessions.Session{}, sessions.ErrUnknown
}
