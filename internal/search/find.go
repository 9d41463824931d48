package search

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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

func (x *Index) find(ctx context.Context, log Log, q WordQuery, limit int, ids []sessions.ID) (_ Found, err error) {
	x.files.RLock()
	defer x.files.RUnlock()
	if x.isShut {
		return Found{}, errShut
	}
	r, blocks, err := x.begin(ctx, ids)
	if err != nil {
		return Found{}, err
	}
	defer func() { err = errors.Join(err, x.end(ctx, r)) }()
	var waiting finderHeap
	rows := map[int64]*tableRows{}
	tails := newTailSample(q, x.tailLines)
	for _, b := range blocks {
		f := &blockFinder{block: b, indexReader: r, log: log, query: q, tails: tails, few: x.fewRows, page: limit, below: b.last + b.shift + 1, at: b.newest}
		if b.isMerged {
			if rows[b.table] == nil {
				rows[b.table] = &tableRows{}
			}
			f.rows = rows[b.table]
		}
		waiting = append(waiting, f)
	}
	heap.Init(&waiting)
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

// tableRows are the rows that a query finds in a table with several blocks, if they're few: then one look is enough for all.
type tableRows struct {
	isAsked, isAll bool
	rows           []int64 // the newest first
}

// fewRows is how many rows of a table are few.
const fewRows = 1000

// blockFinder finds lines in a block, from the newest on: first among the last lines, while that pays, then by the table.
type blockFinder struct {
	block
	*indexReader
	log   Log
	query WordQuery
	tails *tailSample
	rows  *tableRows // of its table; nil: it's alone there
	few   int
	page  int             // lines that are asked for at once
	below int64           // number of the oldest row that was looked at
	asked bool            // the table was
	lines []sessions.Line // that were read and are found
	found []int64         // numbers of lines that may be
	isEnd bool            // there are no more than those

	hit *sessions.Line // the newest that wasn't returned; nil: it's not known yet
	at  time.Time      // no line that's left is newer
}

// next finds the next hit. It's nil then if there's none.
func (f *blockFinder) next(ctx context.Context) (err error) {
	f.hit = nil
	for f.hit == nil && err == nil {
		switch {
		case len(f.lines) > 0:
			f.hit, f.at = &f.lines[0], f.lines[0].At
			f.lines = f.lines[1:]
		case len(f.found) > 0:
			err = f.check(ctx)
		case f.isEnd:
			return nil
		case !f.asked && f.tails.pays():
			err = f.readTail(ctx)
		default:
			f.asked = true
			err = f.ask(ctx)
		}
	}
	if errors.Is(err, sessions.ErrUnknown) { // it's forgotten
		f.found, f.isEnd = nil, true
		return nil
	}
	return err
}

// check reads the first line of those that may be found.
func (f *blockFinder) check(ctx context.Context) error {
	n := f.found[0]
	f.found = f.found[1:]
	out, err := f.log.Read(ctx, f.session, n, 1)
	if err != nil {
		return err
	}
	if len(out.Lines) == 1 && out.Lines[0].N == n {
		isHit := f.query.Matches(out.Lines[0].Text)
		if isHit {
			f.lines = out.Lines
		}
		f.tails.countCheck(isHit)
	}
	return nil
}

// readTail reads the last lines that weren't looked at.
func (f *blockFinder) readTail(ctx context.Context) error {
	last := f.below - f.shift - 1
	from := max(f.first, last-int64(f.tails.page)+1)
	out, err := f.log.Read(ctx, f.session, from, int(last-from+1))
	if err != nil {
		return err
	}
	for _, l := range slices.Backward(out.Lines) {
		if l.N <= last && f.tails.look(l.Text) {
			f.lines = append(f.lines, l)
		}
	}
	f.below, f.isEnd = from+f.shift, from == f.first
	return nil
}

// ask asks the index for the next numbers of lines.
func (f *blockFinder) ask(ctx context.Context) (err error) {
	from, to := f.first+f.shift, f.below-1
	if f.rows != nil && !f.rows.isAsked {
		f.rows.isAsked = true
		if f.rows.rows, err = f.lastRows(ctx, f.table, f.tails.match(), 0, math.MaxInt64, f.few); err != nil {
			return err
		}
		f.rows.isAll = len(f.rows.rows) < f.few
	}
	if f.rows != nil && f.rows.isAll {
		f.isEnd = true
		for _, row := range f.rows.rows {
			if from <= row && row <= to {
				f.found = append(f.found, row-f.shift)
			}
		}
		return nil
	}
	rows, err := f.lastRows(ctx, f.table, f.tails.match(), from, to, f.page)
	if err != nil {
		return err
	}
	for _, row := range rows {
		f.found = append(f.found, row-f.shift)
		f.below = row
	}
	f.isEnd = len(rows) < f.page
	return nil
}

// finderHeap has the one first whose next line may be the newest.
type finderHeap []*blockFinder

func (h finderHeap) Len() int           { return len(h) }
func (h finderHeap) Less(i, j int) bool { return h[i].at.After(h[j].at) }
func (h finderHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *finderHeap) Push(f any)        { *h = append(*h, f.(*blockFinder)) } //nolint:forcetypeassert // heap's way
func (h *finderHeap) Pop() any {
	last := len(*h) - 1
	f := (*h)[last]
	*h = (*h)[:last]
	return f
}
