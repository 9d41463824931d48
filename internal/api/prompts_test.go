package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

const secret = "ghp_x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ"

func dialog() sessions.Dialog {
	return sessions.Dialog{
		Kind: sessions.PromptChoice, Title: "May I?", Body: "curl -H 'token " + secret + "'\nnow", Text: "Type something", Print: "p",
		Options: []sessions.DialogOption{{Label: "Yes", Detail: "once"}, {Label: "Yes, with " + secret}, {Label: "No"}, {Label: "No"}},
	}
}

func choice(label string) *api.PromptChoice { return &api.PromptChoice{Label: label} }

func TestPromptsAreListedAndAnswered(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(o *api.Options) { o.Masker = masker })
	ctx := t.Context()
	id := b.daemon.Add("one", "claude")
	if list, err := b.client.Prompts(ctx); err != nil || list == nil || len(list) != 0 {
		t.Errorf("with none open: %+v, %v", list, err)
	}
	asked := b.daemon.Ask(id, dialog())
	list, err := b.client.Prompts(ctx)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	p := list[0]
	if p.ID != asked || p.Session != id || p.Title != "May I?" || len(p.Options) != 4 || p.Options[2].N != 3 || p.Options[0].Detail != "once" || p.State != sessions.PromptOpen {
		t.Errorf("the prompt is %+v", p)
	}
	if text, _ := json.Marshal(p); strings.Contains(string(text), secret) || !strings.HasSuffix(p.Body, "\nnow") {
		t.Errorf("the prompt is %s", text)
	}
	if s, err := b.client.Session(ctx, "one"); err != nil || s.Prompt != asked {
		t.Errorf("the session has prompt %q, %v", s.Prompt, err)
	}
	for want, r := range map[string]api.AnswerRequest{
		"give one of":     {},
		"no option \"x\"": {Option: choice("x")},
		"several options": {Option: choice("No")},
		"no option 9":     {Option: &api.PromptChoice{N: 9}},
	} {
		_, err := b.client.Answer(ctx, asked, r)
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusBadRequest || !strings.Contains(e.Message, want) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := b.client.Answer(ctx, "pr_x", api.AnswerRequest{Text: "x"}); !isStatus(err, http.StatusNotFound) {
		t.Errorf("of no prompt: %v", err)
	}
	done, err := b.client.Answer(ctx, asked, api.AnswerRequest{Option: choice(p.Options[1].Label)}) // as it's shown
	if err != nil || done.State != sessions.PromptAnswered || done.Answer.Author != "cli" || len(done.Answer.Options) != 1 || done.Answer.Options[0] != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	_, err = b.client.Answer(ctx, asked, api.AnswerRequest{Option: &api.PromptChoice{N: 1}})
	if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusConflict || e.Prompt == nil || e.Prompt.Answer.Author != "cli" {
		t.Errorf("answered twice: %+v", err)
	}
	if s, err := b.client.Session(ctx, "one"); err != nil || s.Prompt != "" {
		t.Errorf("the session has prompt %q, %v", s.Prompt, err)
	}
}

func isStatus(err error, status int) bool {
	e, ok := errors.AsType[*api.Error](err)
	return ok && e.Status == status
}

func TestChoicesAreNumbersOrLabels(t *testing.T) {
	for text, want := range map[string]api.AnswerRequest{
		`{"option":2}`:          {Option: &api.PromptChoice{N: 2}},
		`{"option":"2"}`:        {Option: choice("2")},
		`{"options":[1,"Yes"]}`: {Options: []api.PromptChoice{{N: 1}, {Label: "Yes"}}},
		`{"options":[]}`:        {Options: []api.PromptChoice{}},
		`{"text":"anything"}`:   {Text: "anything"},
	} {
		out, err := json.Marshal(want)
		if err != nil || string(out) != text {
			t.Errorf("%+v is written as %s, %v; want %s", want, out, err, text)
		}
	}
	for _, text := range []string{`{"option":0}`, `{"option":-1}`, `{"option":1.5}`, `{"option":[1]}`, `{"options":[null]}`} {
		var r api.AnswerRequest
		if err := json.Unmarshal([]byte(text), &r); err == nil {
			t.Errorf("%s is read as %+v", text, r)
		}
	}
}

// A stream begins with the open prompts and tells each change.
func TestPromptEvents(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "claude")
	first := b.daemon.Ask(id, dialog())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan api.Prompt, 10)
	go func() {
		_ = b.client.Events(ctx, "", "", func(e client.Event) error {
			if e.Name == api.EventPrompt {
				var p api.Prompt
				if err := json.Unmarshal(e.Data, &p); err != nil {
					return err
				}
				got <- p
			}
			return nil
		})
	}()
	want := func(id string, state sessions.PromptState) {
		t.Helper()
		if p := <-got; p.ID != id || p.State != state {
			t.Errorf("told %s %s, want %s %s", p.ID, p.State, id, state)
		}
	}
	want(first, sessions.PromptOpen)
	b.daemon.SetPrompt(first, sessions.PromptClosed, "it was answered in the pane", nil)
	want(first, sessions.PromptClosed)
	want(b.daemon.Ask(id, dialog()), sessions.PromptOpen)
}
