package store

import (
	"context"
	"database/sql"
	"errors"
)

const (
	sqlNote    = `SELECT value FROM notes WHERE adapter = ? AND key = ?`
	sqlPutNote = `INSERT INTO notes (adapter, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`
)

// Notes are what one adapter remembers over restarts, a word or two for each key.
type Notes struct {
	store   *Store
	adapter string
}

// Notes returns the notes of an adapter. Several of the same name are the same.
func (s *Store) Notes(adapter string) Notes { return Notes{store: s, adapter: clean(adapter)} }

// Note returns what was kept for a key; "" if nothing was.
func (n Notes) Note(ctx context.Context, key string) (value string, err error) {
	r := n.store.reader()
	err = r.note.QueryRowContext(ctx, n.adapter, clean(key)).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, r.explain("read a note of "+n.adapter, err)
}

// PutNote keeps a value for a key, in place of the one before.
func (n Notes) PutNote(ctx context.Context, key, value string) error {
	w := n.store.write
	return n.store.explain("store a note of "+n.adapter, w.exec(ctx, &w.putNote, n.adapter, clean(key), clean(value)))
}
