package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

func TestPromptsAreKept(t *testing.T) {
	ctx := t.Context()
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	now := time.Unix(1_800_000_000, 0).UTC()
	p := sessions.Prompt{
		ID: "pr_1", Session: "pb_1", State: sessions.PromptOpen, OpenedAt: now,
		Dialog: sessions.Dialog{
			Kind: sessions.PromptMulti, Title: "Which? \"'\u2028", Body: "a\nb", Cut: true, Text: "other", Print: "ab", Marked: -1,
			Options: []sessions.DialogOption{{Label: "x", Detail: "y"}, {Label: "z"}},
		},
	}
	second := sessions.Prompt{ID: "pr_2", Session: "pb_2", State: sessions.PromptOpen, OpenedAt: now.Add(-time.Hour), Dialog: sessions.Dialog{Marked: -1}}
	put := func(all ...sessions.Prompt) {
		t.Helper()
		for _, one := range all {
			if err := s.PutPrompt(ctx, one); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(p, second)
	p.State, p.Answer = sessions.PromptAnswering, &sessions.Answer{Options: []int{0, 1}, Author: "telegram:1", Name: "Ann", Origin: "telegram:-1"}
	put(p)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	open, err := s.OpenPrompts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "open prompts", []sessions.Prompt{second, p}, open)
	p.State, p.ClosedAt = sessions.PromptAnswered, now.Add(time.Minute)
	put(p)
	kept, err := s.Prompt(ctx, "pr_1")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "prompt", p, kept)
	for at, want := range map[time.Time]int{now.Add(59 * time.Second): 1, now.Add(2 * time.Minute): 0} {
		for id, want := range map[sessions.ID]int{"pb_1": want, "pb_2": 0} {
			if answered, err := s.AnsweredPrompts(ctx, id, at, now.Add(time.Hour), 9); err != nil || len(answered) != want || want == 1 && answered[0].ID != "pr_1" {
				t.Errorf("since %v %s was answered %+v, %v", at, id, answered, err)
			}
		}
	}
	// What programs asked is among them, if it was answered.
	for n, state := range []sessions.PromptState{sessions.PromptAnswered, sessions.PromptClosed, sessions.PromptAnswered} {
		q := sessions.Inquiry{Prompt: sessions.Prompt{ID: fmt.Sprint("ask_", n), Session: "pb_1", State: state, OpenedAt: now, ClosedAt: now.Add(time.Duration(30+30*n) * time.Second)}}
		if err := s.PutInquiry(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range []string{"", "ask_2", "ask_2 pr_1", "ask_2 pr_1 ask_0"} {
		answered, err := s.AnsweredPrompts(ctx, "pb_1", now, now.Add(time.Hour), limit)
		var ids []string
		for _, one := range answered {
			ids = append(ids, one.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != want {
			t.Errorf("the %d answered last are %q (%v), want %q", limit, got, err, want)
		}
	}
	second.State, second.ClosedAt, second.Reason = sessions.PromptClosed, now.Add(promptsKept+time.Hour), "it's gone"
	put(second)
	if _, err := s.Prompt(ctx, "pr_1"); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("one that has been final for long: %v", err)
	}
	if open, err := s.OpenPrompts(ctx); err != nil || len(open) != 0 {
		t.Errorf("open are %+v, %v", open, err)
	}
	if got, err := s.Prompt(ctx, "pr_2"); err != nil || got.Reason != "it's gone" {
		t.Errorf("%+v, %v", got, err)
	}
}
