package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// Answered questions are listed within the times asked for, the newest first, without secrets.
func TestAnsweredQuestionsAreListed(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(o *api.Options) { o.Masker = masker })
	id, other := b.daemon.Add("one", "claude"), b.daemon.Add("two", "claude")
	path := "/api/v1/sessions/" + string(id) + "/prompts"
	answer := func(id sessions.ID, title string, state sessions.PromptState) time.Time {
		dialog := sessions.Dialog{Kind: sessions.PromptChoice, Title: title, Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "use " + secret}}}
		b.daemon.SetPrompt(b.daemon.Ask(id, dialog), state, "", &sessions.Answer{Options: []int{1}, Author: "telegram:1", Name: "Ann"})
		return time.Now()
	}
	first := answer(id, "first?", sessions.PromptAnswered)
	time.Sleep(time.Millisecond)
	answer(id, "second? "+secret, sessions.PromptAnswered)
	answer(id, "closed?", sessions.PromptClosed)
	answer(other, "another's?", sessions.PromptAnswered)
	_, all := b.send(t, http.MethodGet, path, "", b.sign)
	if one, two := strings.Index(all, "first?"), strings.Index(all, "second?"); two < 0 || one < two || strings.Count(all, `"id"`) != 2 || strings.Contains(all, secret) || !strings.Contains(all, `"name":"Ann"`) {
		t.Errorf("they are %s", all)
	}
	until := url.QueryEscape(first.UTC().Format(time.RFC3339Nano))
	if _, some := b.send(t, http.MethodGet, path+"?to="+until, "", b.sign); !strings.Contains(some, "first?") || strings.Contains(some, "second?") {
		t.Errorf("until the first they are %s", some)
	}
	if _, some := b.send(t, http.MethodGet, path+"?from="+until, "", b.sign); strings.Contains(some, "first?") || !strings.Contains(some, "second?") {
		t.Errorf("behind the first they are %s", some)
	}
	if got, body := b.send(t, http.MethodGet, path+"?from=yesterday", "", b.sign); got.status != http.StatusBadRequest {
		t.Errorf("from no time: %d %s", got.status, body)
	}
}
