package search

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	indexEvery = 500 * time.Millisecond // between two rounds, at least
	roundFor   = 500 * time.Millisecond // for which a round takes up more, at most
	batchLines = 2000                   // lines of one transaction
	retryAfter = 10 * time.Second       // after an error
)

// Indexer keeps an index behind the log. Its fields are needed, and don't change.
type Indexer struct {
	Index  *Index
	List   func() []sessions.Session // all there are, with how many lines each has
	Logger *slog.Logger

	mu      sync.Mutex
	dirty   map[sessions.ID]struct{} // that have lines to be indexed
	written chan struct{}            // something is dirty
	behind  atomic.Int64
}

// Follow has the indexer hear of lines. It's called before Run.
func (ix *Indexer) Follow(feed *sessions.Feed) {
	ix.dirty, ix.written = map[sessions.ID]struct{}{}, make(chan struct{}, 1)
	feed.OnOutput(func(ev sessions.OutputEvent) {
		if len(ev.Lines) > 0 {
			ix.mark(ev.Session)
		}
	})
}

func (ix *Indexer) mark(id sessions.ID) {
	ix.mu.Lock()
	ix.dirty[id] = struct{}{}
	ix.mu.Unlock()
	select {
	case ix.written <- struct{}{}:
	default:
	}
}

// Behind is how many lines aren't indexed yet, about.
func (ix *Indexer) Behind() int64 { return ix.behind.Load() }

// Run indexes lines soon after they're written, and what's missing from before, until ctx ends. It returns nil.
func (ix *Indexer) Run(ctx context.Context) error {
	if isDamaged(ix.Index.check(ctx)) {
		ix.Index.reportDamage()
	}
	ix.catchUp(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ix.written:
		case <-ix.Index.damaged:
			ix.Index.writing.Lock()
			err := ix.makeAnew(ctx)
			ix.Index.writing.Unlock()
			if err != nil {
				ix.Logger.Warn("nothing can be searched for; it's tried again", "err", err)
			}
		}
		for pause := indexEvery; pause > 0; {
			if pause = ix.round(ctx); !sleep(ctx, pause) {
				return nil
			}
		}
	}
}

// sleep reports whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// catchUp forgets the sessions that are gone, and has those indexed whose log has gone on.
func (ix *Indexer) catchUp(ctx context.Context) {
	there := map[sessions.ID]bool{}
	for _, s := range ix.List() {
		there[s.ID] = true
		ix.mark(s.ID)
	}
	for _, id := range ix.Index.Sessions() {
		if there[id] {
			continue
		}
		if err := errors.Join(ix.Index.Forget(ctx, id), ix.Index.Erase(ctx)); err != nil {
			ix.Logger.Warn("a session that's gone can be found still; it's tried again at the next start", "session", id, "err", err)
		}
	}
}

// round indexes what's dirty for a while, what's least behind first. It returns for how long to wait for the next round; 0:
// nothing is dirty.
func (ix *Indexer) round(ctx context.Context) (pause time.Duration) {
	began := time.Now()
	for _, id := range ix.queue() {
		if time.Since(began) > roundFor || ctx.Err() != nil {
			break
		}
		if err := ix.indexSome(ctx, id); err != nil {
			ix.mark(id)
			if ctx.Err() == nil {
				ix.Logger.Warn("what's written can't be searched for; it's tried again", "session", id, "err", err)
			}
			return retryAfter
		}
	}
	if len(ix.queue()) == 0 {
		return ix.merge(ctx)
	}
	return max(indexEvery, time.Since(began)) // half of a core is enough
}

// merge merges some of the index' tables, if there are many. It returns for how long to wait before there's more to do.
func (ix *Indexer) merge(ctx context.Context) (pause time.Duration) {
	began := time.Now()
	ix.Index.writing.Lock()
	defer ix.Index.writing.Unlock()
	switch hasMerged, err := ix.Index.mergeOld(ctx); {
	case err != nil && ctx.Err() == nil:
		ix.Logger.Warn("the index for searches stays in many parts; it's tried again", "err", err)
		if isDamaged(err) {
			ix.Index.reportDamage()
		}
		return 0
	case hasMerged:
		return max(indexEvery, time.Since(began))
	}
	return 0
}

// queue are the sessions that are dirty, those first that are least behind.
func (ix *Indexer) queue() (queue []sessions.ID) {
	all := ix.List()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	missing, total := map[sessions.ID]int64{}, int64(0)
	for _, s := range all {
		if _, isDirty := ix.dirty[s.ID]; isDirty {
			last, _ := ix.Index.Last(s.ID)
			missing[s.ID] = max(0, s.Lines-last)
			total += missing[s.ID]
			queue = append(queue, s.ID)
		}
	}
	for id := range ix.dirty {
		if _, isThere := missing[id]; !isThere {
			delete(ix.dirty, id)
		}
	}
	ix.behind.Store(total)
	slices.SortFunc(queue, func(a, b sessions.ID) int { return cmp.Compare(missing[a], missing[b]) })
	return queue
}

// indexSome indexes the next lines of a session. It stays dirty if there are more.
func (ix *Indexer) indexSome(ctx context.Context, id sessions.ID) error {
	x := ix.Index
	x.writing.Lock() // also while it's read: a session that's forgotten then is forgotten here after that
	defer x.writing.Unlock()
	ix.mu.Lock()
	delete(ix.dirty, id)
	ix.mu.Unlock()
	lines, err := ix.newLines(ctx, id)
	if err == nil {
		err = x.add(ctx, id, lines)
	}
	switch {
	case isDamaged(err) || x.isShut:
		err = ix.makeAnew(ctx)
	case errors.Is(err, sessions.ErrUnknown): // it was forgotten
		return nil
	case len(lines) == batchLines:
		ix.mark(id)
	}
	return err
}

// makeAnew has a damaged index made anew, and all that's in the log indexed. x.writing is held.
func (ix *Indexer) makeAnew(ctx context.Context) error {
	ix.Logger.Warn("the index for searches is damaged; it's made anew")
	ix.markAll()
	return ix.Index.makeAnew(ctx)
}

// markAll has all sessions' lines be looked at. Before Follow it does nothing: Run begins with all of them.
func (ix *Indexer) markAll() {
	if ix.written == nil {
		return
	}
	for _, s := range ix.List() {
		ix.mark(s.ID)
	}
}

// newLines are the next lines of a session that aren't indexed, at most batchLines. What isn't in the log any more is dropped
// from the index. x.writing is held.
func (ix *Indexer) newLines(ctx context.Context, id sessions.ID) ([]sessions.Line, error) {
	x := ix.Index
	last, lastAt := x.Last(id)
	out, err := x.log.Read(ctx, id, max(last, 1), batchLines+1)
	if err != nil {
		return nil, err
	}
	lines := out.Lines
	switch {
	case last == 0:
	case len(lines) > 0 && lines[0].N == last && lines[0].At.Equal(lastAt): // as it was
		lines = lines[1:]
	case out.Oldest <= last: // a log that was begun anew
		if err := x.drop(ctx, id, math.MaxInt64); err != nil {
			return nil, err
		}
		if out, err = x.log.Read(ctx, id, 1, batchLines); err != nil {
			return nil, err
		}
		lines = out.Lines
	}
	if err := x.drop(ctx, id, out.Oldest); err != nil {
		return nil, err
	}
	return lines[:min(len(lines), batchLines)], nil
}
