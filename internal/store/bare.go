package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"time"
)

// Bare writes mail into a database with nothing around it: what an Inbox is measured
// against. Nothing else uses it.
type Bare struct{ db *sql.DB }

// OpenBare opens a database that there is.
func OpenBare(path string) (*Bare, error) {
	name, err := dsn(path, "journal_mode(WAL)", "synchronous(NORMAL)")
	if err != nil {
		return nil, explain("open store "+path, path, err)
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, explain("open store "+path, path, err)
	}
	db.SetMaxOpenConns(1)
	return &Bare{db}, nil
}

// Insert inserts one row.
func (b *Bare) Insert(ctx context.Context, text string) error {
	_, err := b.db.ExecContext(ctx, sqlAddMail, rand.Text(), "mail", "pb_from", "from", "pb_to", "to", "", text, "input_required", nanos(time.Now()), 0, "none", "", 0)
	return err
}

// Close closes the database.
func (b *Bare) Close() error { return b.db.Close() }
