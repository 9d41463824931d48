package inbound_test

import (
	"context"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

// asking is the Manager with questions that tests ask.
type asking struct {
	*sessions.Manager
	q *adaptertest.Questions
}

func (a asking) Prompts() []sessions.Prompt { return a.q.Prompts() }

func (a asking) Prompt(ctx context.Context, id string) (sessions.Prompt, error) {
	return a.q.Prompt(ctx, id)
}

func (a asking) Answer(ctx context.Context, id string, ans sessions.Answer) (sessions.Prompt, error) {
	return a.q.Answer(ctx, id, ans)
}

// permission is the dialog that most tests ask.
func permission() sessions.Dialog {
	return sessions.Dialog{
		Kind: sessions.PromptPermission, Title: "Do you want to run this command?", Body: "rm -rf build\nmake",
		Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "Yes, and don't ask again"}, {Label: "No"}}, Text: "Tell it what to do",
	}
}

// question has the session ask something.
func (w *world) question(id string, d sessions.Dialog) sessions.Prompt {
	w.Helper()
	s, err := w.manager.Get("agent")
	if err != nil {
		w.Fatal(err)
	}
	p := sessions.Prompt{ID: id, Session: s.ID, Dialog: d, State: sessions.PromptOpen, OpenedAt: time.Now()}
	w.asks.Change(p)
	synctest.Wait()
	return p
}

// close closes a question in the pane.
func (w *world) close(p sessions.Prompt, why string) {
	p.State, p.Reason, p.ClosedAt = sessions.PromptClosed, why, time.Now()
	w.asks.Change(p)
	synctest.Wait()
}
