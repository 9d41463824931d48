package masked

import (
	"context"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/callers"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// Sessions are the sessions as chats see them: screens and questions have no secrets.
type Sessions struct {
	callers.Questions
	Masker *redact.Masker
	Log    adapters.ScreenLog // with its secrets: one that began above a screen goes on there
}

// Screen returns what a session's pane shows.
func (m Sessions) Screen(ctx context.Context, id sessions.ID) (sessions.Screen, error) {
	s, err := m.Questions.Screen(ctx, id)
	s.Rows = adapters.MaskScreenOf(ctx, m.Masker, m.Log, id, s.Rows)
	return s, err
}

// PromptScreen returns the screen on which a question stands.
func (m Sessions) PromptScreen(ctx context.Context, p sessions.Prompt) sessions.Screen {
	s := m.Manager.PromptScreen(ctx, p)
	s.Rows = adapters.MaskScreenOf(ctx, m.Masker, m.Log, p.Session, s.Rows)
	return s
}
