package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// waits is a daemon's side of waits: it keeps what it's asked for.
type waits struct {
	asked chan sessions.WaitRequest
	ended chan error // why a wait that was cut off ended
}

func (w *waits) wait(ctx context.Context, s sessions.Session, r sessions.WaitRequest, note func(sessions.WaitNote)) (sessions.WaitResult, error) {
	if len(r.Patterns) == 0 {
		return sessions.WaitResult{}, fmt.Errorf("%w pattern", sessions.ErrInvalid)
	}
	note(sessions.WaitNote{Event: sessions.WaitBegun, TimeoutMS: r.Timeout.Milliseconds()})
	if w.asked != nil {
		w.asked <- r
	}
	switch r.Patterns[0] {
	case "never":
		<-ctx.Done()
		w.ended <- context.Cause(ctx)
		return sessions.WaitResult{}, context.Cause(ctx)
	case "broken":
		return sessions.WaitResult{}, fmt.Errorf("read the pane: %w", sessions.ErrUnavailable)
	}
	return sessions.WaitResult{
		Outcome: sessions.WaitMatched, Match: &sessions.WaitMatch{Kind: sessions.MatchPattern, Text: r.Patterns[0], Line: "of " + string(s.ID)},
		Lines: []string{"a"}, Tail: []string{"b"},
	}, nil
}

func setupWait(t *testing.T) (*bench, *waits, sessions.Session) {
	t.Helper()
	w := &waits{ended: make(chan error, 1)}
	b := setup(t, func(o *api.Options) { o.Wait = w.wait })
	s, err := b.client.NewSession(t.Context(), api.Create{Name: "one", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	return b, w, sessions.Session{ID: s.ID}
}

func TestWaitIsToldAndAnswered(t *testing.T) {
	b, w, s := setupWait(t)
	w.asked = make(chan sessions.WaitRequest, 1)
	var notes []sessions.WaitNote
	note := func(n sessions.WaitNote) { notes = append(notes, n) }
	r, err := b.client.Wait(t.Context(), "one", api.WaitRequest{Patterns: []string{"x"}, Stops: []string{"y"}, Regex: true, TimeoutMS: 1500, IntervalMS: 20}, note)
	if err != nil || r.Outcome != sessions.WaitMatched || r.Match.Line != "of "+string(s.ID) {
		t.Errorf("%+v, %v", r, err)
	}
	if diff := cmp.Diff(sessions.WaitRequest{
		Patterns: []string{"x"}, Stops: []string{"y"}, Regex: true, Timeout: 1500 * time.Millisecond, Interval: 20 * time.Millisecond,
	}, <-w.asked); diff != "" {
		t.Error(diff)
	}
	if len(notes) != 1 || notes[0].Event != sessions.WaitBegun || notes[0].TimeoutMS != 1500 {
		t.Errorf("it was told %+v", notes)
	}
	w.asked = nil
	for name, c := range map[string]struct {
		session string
		r       api.WaitRequest
		code    string
	}{
		"wrong pattern":     {"one", api.WaitRequest{}, "invalid"},
		"no such session":   {"two", api.WaitRequest{Patterns: []string{"x"}}, "unknown"},
		"wrong time-out":    {"one", api.WaitRequest{Patterns: []string{"x"}, TimeoutMS: -1}, "bad_request"},
		"trouble meanwhile": {"one", api.WaitRequest{Patterns: []string{"broken"}}, "unavailable"},
	} {
		_, err := b.client.Wait(t.Context(), c.session, c.r, note)
		if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Code != c.code {
			t.Errorf("%s: %v, wanted %s", name, err, c.code)
		}
	}
}

// A wait ends with its caller, and with the server.
func TestWaitEndsWithItsCaller(t *testing.T) {
	b, w, _ := setupWait(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.client.Wait(ctx, "one", api.WaitRequest{Patterns: []string{"never"}}, func(sessions.WaitNote) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	if err := <-w.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ended with %v", err)
	}
	_, err = b.client.Wait(t.Context(), "one", api.WaitRequest{Patterns: []string{"never"}}, func(sessions.WaitNote) { go b.stop() })
	if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Code != "unavailable" {
		t.Errorf("when the server ended, the caller got %v", err)
	}
	<-w.ended
}

// Through the TCP door it needs a signature.
func TestWaitNeedsASignature(t *testing.T) {
	b, _, _ := setupWait(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/api/v1/sessions/one/wait", strings.NewReader(`{"patterns":["x"]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a signature: %s", resp.Status)
	}
}
