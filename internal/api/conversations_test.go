package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// What an agent can go on with in a folder is listed without secrets, and a session begins with one of it.
func TestConversationsAreListedAndGoneOnWith(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(o *api.Options) {
		o.Masker = masker
		o.Conversations = func(_ context.Context, agent, folder string) ([]api.PastConversation, error) {
			if agent != "claude" {
				return nil, fmt.Errorf("%w: it isn't known what %s could go on with", sessions.ErrInvalid, agent)
			}
			return []api.PastConversation{{ID: "c-1", Title: "use\n" + secret + " in " + folder}}, nil
		}
	})
	_, all := b.send(t, http.MethodGet, "/api/v1/agents/claude/conversations?folder=%2Fwork", "", b.sign)
	if !strings.Contains(all, `"id":"c-1","title":"use ghp_…[masked: `) || !strings.Contains(all, ` in /work"`) || strings.Contains(all, secret) {
		t.Errorf("they are %s", all)
	}
	if got, none := b.send(t, http.MethodGet, "/api/v1/agents/other/conversations", "", b.sign); got.status != http.StatusOK || strings.TrimSpace(none) != "[]" {
		t.Errorf("of one that can't: %d %s", got.status, none)
	}
	if got, text := b.send(t, http.MethodPost, "/api/v1/sessions", `{"name":"on","agent":"claude","resume":"c-1"}`, func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		b.sign(r)
	}); got.status != http.StatusCreated {
		t.Errorf("%d %s", got.status, text)
	}
	if asked := b.daemon.Requests(); len(asked) != 1 || asked[0].Resume != "c-1" {
		t.Errorf("begun are %+v", asked)
	}
}
