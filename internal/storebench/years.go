package storebench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

const (
	lineBytes = 100
	batchMost = 1000 // lines of one Append
	writers   = 64   // their commits are joined
)

// Years are sessions that have ended, as a daemon has them that has run for years.
type Years struct {
	Ended int           // how many sessions
	Every time.Duration // from the end of one to that of the next; the last ends now
	Old   int           // how many of them, the first, ended 400 days earlier
	Bytes int           // of all their logs, at least a line each
}

// ID is the n-th session's, from 0.
func ID(n int) sessions.ID { return sessions.ID(fmt.Sprintf("pb_%012x", n)) }

// Fill writes the sessions into the database at a path. It blocks until they're stored.
func (y Years) Fill(ctx context.Context, path string) error {
	db, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return fmt.Errorf("fill a database: %w", err)
	}
	lines := make([]sessions.Line, max(1, y.Bytes/y.Ended/lineBytes))
	for i := range lines {
		lines[i] = sessions.Line{Kind: sessions.KindPane, Text: fmt.Sprintf("%-*d", lineBytes, i)}
	}
	var working sync.WaitGroup
	next, failed := make(chan int), make(chan error, writers)
	for range writers {
		working.Go(func() {
			var err error
			for n := range next {
				err = errors.Join(err, y.put(ctx, db, n, lines))
			}
			failed <- err
		})
	}
	for n := range y.Ended {
		next <- n
	}
	close(next)
	working.Wait()
	close(failed)
	for one := range failed {
		err = errors.Join(err, one)
	}
	return errors.Join(err, db.Close())
}

// put stores the n-th session with its log.
func (y Years) put(ctx context.Context, db *store.Store, n int, lines []sessions.Line) error {
	at := time.Now().Add(-time.Duration(y.Ended-n) * y.Every)
	if n < y.Old {
		at = at.Add(-400 * 24 * time.Hour)
	}
	s := sessions.Session{
		ID: ID(n), Name: fmt.Sprint("work-", n), State: sessions.StateEnded, Reason: "its program has ended",
		Cwd: fmt.Sprint("/home/somebody/projects/some-project-", n), CreatedAt: at.Add(-time.Hour), EndedAt: at,
	}
	if err := db.PutSession(ctx, s); err != nil {
		return fmt.Errorf("store session %d: %w", n, err)
	}
	for from := 0; from < len(lines); from += batchMost {
		b := polling.Batch{Session: s.ID, Lines: lines[from:min(len(lines), from+batchMost)]}
		if _, err := db.Append(ctx, b); err != nil {
			return fmt.Errorf("store the log of session %d: %w", n, err)
		}
	}
	return nil
}
