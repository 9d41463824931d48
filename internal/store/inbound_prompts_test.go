package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/sessions"
)

func TestMessagesOfQuestions(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	ctx := t.Context()
	at := day
	place := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "7"}
	m := cards.PromptMessage{Prompt: "pr_1", Session: "pb_1", Place: place, Kind: cards.PromptAsked, Message: "5", At: at}
	reminder := m
	reminder.Kind, reminder.Message = cards.PromptReminded, "6"
	changed := m
	changed.Checked, changed.Shows = []int{1, 3}, "open [1 3]"
	for _, x := range []cards.PromptMessage{m, reminder, changed} {
		if err := s.PutPromptMessage(ctx, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.MoveChat(ctx, "chat", "-1", "-2"); err != nil {
		t.Fatal(err)
	}
	changed.Place.Chat, reminder.Place.Chat = "-2", "-2"
	changed.Message, changed.Shows, reminder.Message = "", "", "" // those were numbers of the chat that's gone
	got, err := s.PromptMessages(ctx)
	if diff := cmp.Diff([]cards.PromptMessage{changed, reminder}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	changed.Closed, changed.Message = true, "5" // posted there anew
	if err := s.PutPromptMessage(ctx, changed); err != nil {
		t.Fatal(err)
	}
	if got, err = s.PromptMessages(ctx); err != nil || len(got) != 1 {
		t.Errorf("%v, %+v", err, got)
	}
	one, err := s.PromptMessage(ctx, "chat", "-2", "5")
	if diff := cmp.Diff(changed, one); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := s.PromptMessage(ctx, "chat", "-1", "5"); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("of the chat's old id: %v", err)
	}
	if err := s.ForgetInbound(ctx, at.Add(keepPromptMessages+time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PromptMessage(ctx, "chat", "-2", "5"); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("long after it was closed: %v", err)
	}
	if got, err = s.PromptMessages(ctx); err != nil || len(got) != 1 {
		t.Errorf("%v, %+v", err, got)
	}
}

// Where an open question is shown is known for as long as it's open.
func TestMessagesOfOpenQuestionsAreKept(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	ctx := t.Context()
	p := sessions.Prompt{ID: "pr_1", Session: "pb_1", State: sessions.PromptOpen, OpenedAt: day}
	place := adapters.Target{Adapter: "chat", Chat: "-1"}
	if err := errors.Join(s.PutPrompt(ctx, p), s.PutPromptMessage(ctx, cards.PromptMessage{Prompt: "pr_1", Session: "pb_1", Place: place, Kind: cards.PromptAsked, Message: "5", At: day})); err != nil {
		t.Fatal(err)
	}
	for _, open := range []bool{true, false} {
		if !open {
			p.State, p.ClosedAt = sessions.PromptClosed, day
			if err := s.PutPrompt(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.ForgetInbound(ctx, day.Add(loseOrigins+time.Hour)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.PromptMessages(ctx); err != nil || (len(got) == 1) != open {
			t.Errorf("open: %v; kept %+v, %v", open, got, err)
		}
	}
}

func TestWritersMissedAndBoards(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	ctx := t.Context()
	at := day
	place := adapters.Target{Adapter: "chat", Chat: "-1"}
	w := cards.AnswerWriter{Place: place, Person: "chat:1", Prompt: "pr_1", Expires: at}
	if _, err := s.AnswerWriter(ctx, place, "chat:1"); !errors.Is(err, sessions.ErrUnknown) {
		t.Error(err)
	}
	if err := s.PutAnswerWriter(ctx, w); err != nil {
		t.Fatal(err)
	}
	if got, err := s.AnswerWriter(ctx, place, "chat:1"); err != nil || got != w {
		t.Errorf("%v, %+v", err, got)
	}
	if err := s.DropAnswerWriter(ctx, place, "chat:1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AnswerWriter(ctx, place, "chat:1"); !errors.Is(err, sessions.ErrUnknown) {
		t.Error(err)
	}

	m := cards.Missed{Place: place, Session: "pb_1", What: cards.MissedTurn, Times: 2, At: at}
	for range 2 {
		if err := s.AddMissed(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	m.Times = 4
	if got, err := s.Missed(ctx); err != nil || len(got) != 1 || got[0] != m {
		t.Errorf("%v, %+v", err, got)
	}
	told := m
	told.Times = 3 // one came while those were told
	if err := s.DropMissed(ctx, []cards.Missed{told}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Missed(ctx); err != nil || len(got) != 1 || got[0].Times != 1 {
		t.Errorf("%v, %+v", err, got)
	}
	if err := s.DropMissed(ctx, []cards.Missed{told}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Missed(ctx); err != nil || len(got) != 0 {
		t.Errorf("%v, %+v", err, got)
	}

	b := cards.StandingCard{Spot: cards.Spot{Kind: cards.KindBoard, Place: place}, Message: "5", Shows: "digest"}
	for range 2 {
		if err := s.PutStandingCard(ctx, b); err != nil {
			t.Fatal(err)
		}
		b.Shows = "another"
	}
	b.Shows = "another"
	if got, err := s.StandingCards(ctx); err != nil || len(got) != 1 || got[0] != b {
		t.Errorf("%v, %+v", err, got)
	}
	if err := s.DropStandingCard(ctx, b.Spot); err != nil {
		t.Fatal(err)
	}
	if got, err := s.StandingCards(ctx); err != nil || len(got) != 0 {
		t.Errorf("%v, %+v", err, got)
	}
}
