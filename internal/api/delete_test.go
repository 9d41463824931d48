package api_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// DELETE closes what lives and removes what has ended. Who says what it should be
// doesn't remove by mistake what has just ended.
func TestDeleteASession(t *testing.T) {
	for _, c := range []struct {
		ended  bool
		query  string
		status int
		left   string // state of the session; "": it's gone
	}{
		{false, "", 204, "ended"},
		{false, "?state=living", 204, "ended"},
		{false, "?state=ended", 409, "idle"},
		{false, "?state=asleep", 400, "idle"},
		{true, "", 204, ""},
		{true, "?state=ended", 204, ""},
		{true, "?state=living", 410, "ended"},
		{true, "?state=asleep", 400, "ended"},
	} {
		t.Run(fmt.Sprintf("ended %v, %s", c.ended, c.query), func(t *testing.T) {
			b := setup(t)
			id := b.daemon.Add("one", "")
			if c.ended {
				b.daemon.SetState(id, sessions.StateEnded, "closed")
			}
			got, text := b.send(t, "DELETE", "/api/v1/sessions/"+string(id)+c.query, "", b.sign)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, text)
			}
			s, err := b.daemon.Get(string(id))
			if gone := err != nil; gone != (c.left == "") || !gone && string(s.State) != c.left {
				t.Errorf("left is %q, %v; want %q", s.State, err, c.left)
			}
		})
	}
}

func TestReload(t *testing.T) {
	want := api.Reloaded{File: "/f", Applied: []string{"mirrors"}, NeedRestart: []string{"log.format"}}
	var refusal error
	b := setup(t, func(o *api.Options) {
		o.Reload = func(context.Context) (api.Reloaded, error) { return want, refusal }
	})
	if got, err := b.client.Reload(t.Context()); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, %v", got, err)
	}
	refusal = fmt.Errorf("%w configuration: f:1:2: bogus", sessions.ErrInvalid)
	if _, err := b.client.Reload(t.Context()); !isCode(err, "invalid") || err.Error() != refusal.Error() {
		t.Errorf("a wrong configuration: %v", err)
	}
	if _, err := setup(t).client.Reload(t.Context()); !isCode(err, "conflict") {
		t.Errorf("where it can't be read again: %v", err)
	}
}
