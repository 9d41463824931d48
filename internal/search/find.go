package search

import (
	"container/heap"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Log is where the lines stand: the store, or one that masks secrets. Read is that of store.Store.
type Log interface {
	Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error)
}

// Hit is a line that was found.
type Hit struct {
	Session sessions.ID
	Line    sessions.Line // as the log has it, so without secrets if that masks them
}

// Found is what a search found.
type Found struct {
	Hits []Hit // the newest first
	More bool  // there may be older ones
}

// Find returns the newest lines that a query finds in log, limit at most: those of some sessions, or of all if none is named.
// A line that isn't indexed yet, or isn't in the log any more, isn't found. Find blocks while it reads; the error is ctx' or
// the database's.
func (x *Index) Find(ctx context.Context, log Log, q WordQuery, limit int, ids ...sessions.ID) (Found, error) {
	if q.match == "" {
		return Found{}, ErrNoWords
	}
	found, err := x.find(ctx, log, q, limit, ids)
	switch {
	case isDamaged(err):
		x.reportDamage()
		return Found{}, fmt.Errorf("%w: the index for searches is damaged; it's made anew: %w", sessions.ErrUnavailable, err)
	case err != nil:
		return Found{}, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// reportDamage has the index made anew.
func (x *Index) reportDamage() {
	select {
	case x.damaged <- struct{}{}:
	default:
	}
}

func (x *Index) find(ctx context.Context, log Log, q WordQuery, limit int, ids []sessions.ID) (Found, error) {
	x.files.RLock()
	defer x.files.RUnlock()
	conn, err := x.read.Conn(ctx)
	if err != nil {
		return Found{}, err
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	var waiting finderHeap
	for _, p := range x.newestFirst(ids) {
		waiting = append(waiting, &tableFinder{wordTable: p, conn: conn, log: log, query: q, page: limit, below: math.MaxInt64, at: p.newest})
	}
	// They're a heap: the newest comes first.
	var out Found
	for len(waiting) > 0 && len(out.Hits) < limit {
		f := waiting[0]
		if f.hit != nil {
			out.Hits = append(out.Hits, Hit{f.session, *f.hit})
		}
		if err := f.next(ctx); err != nil {
			return Found{}, err
		}
		if f.hit == nil {
			heap.Pop(&waiting)
		} else {
			heap.Fix(&waiting, 0)
		}
	}
	out.More = len(waiting) > 0
	return out, nil
}

// tableFinder finds lines in a table, from the newest on.
type tableFinder struct {
	wordTable
	conn  *sql.Conn
	log   Log
	query WordQuery
	page  int   // lines that are asked for at once
	below int64 // number of the oldest line that was asked for
	found []int64
	isEnd bool // there are no more than found

	hit *sessions.Line // the newest that wasn't returned; nil: it's not known yet
	at  time.Time      // no line that's left is newer
}

// next finds the next hit. It's nil then if there's none.
func (f *tableFinder) next(ctx context.Context) error {
	f.hit = nil
	for {
		if len(f.found) == 0 {
			if f.isEnd {
				return nil
			}
			if err := f.ask(ctx); err != nil {
				return err
			}
			continue
		}
		n := f.found[0]
		f.found = f.found[1:]
		out, err := f.log.Read(ctx, f.session, n, 1)
		switch {
		case errors.Is(err, sessions.ErrUnknown): // it's forgotten
			f.found, f.isEnd = nil, true
			return nil
		case err != nil:
			return err
		}
		if len(out.Lines) == 1 && out.Lines[0].N == n && f.query.Matches(out.Lines[0].Text) {
			f.hit, f.at = &out.Lines[0], out.Lines[0].At
			return nil
		}
	}
}

// ask asks the index for the next numbers of lines.
func (f *tableFinder) ask(ctx context.Context) (err error) {
	rows, err := f.conn.QueryContext(ctx, "SELECT rowid FROM "+f.name()+" WHERE "+f.name()+" MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?", f.query.match, f.below, f.page) //nolint:gosec // a number is in the name
	if err != nil {
		if ctx.Err() == nil && isGone(err) {
			f.isEnd = true
			return nil
		}
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
		f.found = append(f.found, n)
	}
	f.isEnd = len(f.found) < f.page
	if len(f.found) > 0 {
		f.below = f.found[len(f.found)-1]
	}
	return rows.Err()
}

// finderHeap has the one first whose next line may be the newest.
type finderHeap []*tableFinder

func (h finderHeap) Len() int           { return len(h) }
func (h finderHeap) Less(i, j int) bool { return h[i].at.After(h[j].at) }
func (h finderHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *finderHeap) Push(f any)        { *h = append(*h, f.(*tableFinder)) } //nolint:forcetypeassert // heap's way
func (h *finderHeap) Pop() any {
	last := len(*h) - 1
	f := (*h)[last]
	*h = (*h)[:last]
	return f
}

// isGone reports whether an error says that a table was forgotten meanwhile.
func isGone(err error) bool { return strings.Contains(err.Error(), "no such table") }
