package masked

import (
	"context"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// Store is the store as commands read it: lines have no secrets.
type Store struct {
	*store.Store
	Log adapters.Log // the same lines, with their secrets masked: adapters.MaskedLog
}

// Tail returns a session's last n lines.
func (s Store) Tail(ctx context.Context, id sessions.ID, n int) ([]sessions.Line, error) {
	lines, err := s.Store.Tail(ctx, id, n)
	if err != nil || len(lines) == 0 {
		return lines, err
	}
	out, err := s.Log.Read(ctx, id, lines[0].N, len(lines))
	return out.Lines, err
}

// Search finds what can be seen: whoever looks for a part of a secret isn't told whether
// it's right.
func (s Store) Search(ctx context.Context, id sessions.ID, text string, limit int) ([]sessions.Line, error) {
	lines, err := s.Store.Search(ctx, id, text, limit)
	if err != nil {
		return nil, err
	}
	var found []sessions.Line
	for _, l := range lines {
		out, err := s.Log.Read(ctx, id, l.N, 1)
		if err != nil {
			return nil, err
		}
		if len(out.Lines) == 1 && out.Lines[0].N == l.N && strings.Contains(lower(out.Lines[0].Text), lower(text)) {
			found = append(found, out.Lines[0])
		}
	}
	return found, nil
}

// lower makes letters from A to Z small, and no others.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
