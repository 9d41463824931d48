package masked

import (
	"context"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/search"
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

// Read returns at most limit of a session's lines from a number on.
func (s Store) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	return s.Log.Read(ctx, id, from, limit)
}

// LineIndex finds lines by their words, as chats see them: whoever looks for a part of a secret isn't told whether it's right.
type LineIndex struct {
	Indexer *search.Indexer
	Log     adapters.Log // with secrets masked: adapters.MaskedLog
}

// Find is that of [search.Index].
func (f LineIndex) Find(ctx context.Context, q search.WordQuery, limit int, ids ...sessions.ID) (search.Found, error) {
	return f.Indexer.Index.Find(ctx, f.Log, q, limit, ids...)
}

// Behind is how many lines can't be found yet, about.
func (f LineIndex) Behind() int64 { return f.Indexer.Behind() }
