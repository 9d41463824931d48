package forgetting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// forgetEvery is how often sessions are looked for that ended too long ago.
const forgetEvery = time.Hour

// eraseEvery is how often it's tried again to have nothing left in the files of what was
// forgotten.
const eraseEvery = 20 * time.Second

// underWayFor is for how long something may be on its way to a session that's forgotten, and be stored behind that:
// an update of a chat, with the files that are fetched for it, is handled for 5 minutes at most, and tried again
// a minute later, when nobody knows the session any more.
const underWayFor = 7 * time.Minute

// latecomers are sessions that were forgotten, to which something may still be on its way. The zero value is ready.
type latecomers struct {
	mu    sync.Mutex
	until map[sessions.ID]time.Time
	erase time.Time // until when the database's files are erased again, whatever was forgotten
}

// expect says that something may come for sessions that are forgotten now.
func (l *latecomers) expect(now time.Time, forgotten ...sessions.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = map[sessions.ID]time.Time{}
	}
	l.erase = now.Add(underWayFor)
	for _, id := range forgotten {
		l.until[id] = l.erase
	}
}

// expected returns the sessions for which something may have come, each once more behind its time, and whether
// anything may have.
func (l *latecomers) expected(now time.Time) (forgotten []sessions.ID, erase bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, until := range l.until {
		forgotten = append(forgotten, id)
		if now.After(until) {
			delete(l.until, id)
		}
	}
	erase = !l.erase.IsZero()
	if now.After(l.erase) {
		l.erase = time.Time{}
	}
	return forgotten, erase
}

// Forgetter forgets sessions that have ended: those that somebody names, and those that ended long
// ago. All of its fields but Words are needed.
type Forgetter struct {
	Manager   *sessions.Manager
	Hub       *adapters.Hub
	Store     *store.Store
	Words     *search.Index // nil: nothing can be searched
	StateDir  string
	KeepEnded func() time.Duration // for how long ended sessions are kept
	Logger    *slog.Logger

	late latecomers
}

// Forget has all parts forget a session that has ended, and nothing of it be left in the state folder. It
// waits for the database. If its error is the database's alone, the session is forgotten, and copies
// are erased later.
func (f *Forgetter) Forget(ctx context.Context, id sessions.ID) error {
	if err := f.forget(ctx, id); err != nil {
		return err
	}
	f.late.expect(time.Now(), id)
	err := f.erase(ctx)
	if err == nil {
		return nil
	}
	return fmt.Errorf("it's forgotten, and copies may be in the database's files for a while; that's tried again every %s: %w", eraseEvery, err)
}

// forget removes a session's files before the session itself: what a kill cuts off is seen, and done
// again. It removes them again behind it, since some may have arrived meanwhile.
func (f *Forgetter) forget(ctx context.Context, id sessions.ID) error {
	files := f.filesOf(id)
	if s, err := f.Manager.Get(string(id)); err == nil && s.State == sessions.StateEnded {
		_ = os.RemoveAll(files) // an error comes again below
	}
	if err := f.Manager.Forget(ctx, id); err != nil {
		return err
	}
	return errors.Join(f.forgetWords(ctx, id), f.Hub.ForgetSession(ctx, id), os.RemoveAll(files))
}

func (f *Forgetter) forgetWords(ctx context.Context, id sessions.ID) error {
	if f.Words == nil {
		return nil
	}
	return f.Words.Forget(ctx, id)
}

// erase has nothing be left in the databases' files of what was forgotten.
func (f *Forgetter) erase(ctx context.Context) error {
	err := f.Store.Erase(ctx)
	if f.Words != nil {
		err = errors.Join(err, f.Words.Erase(ctx))
	}
	return err
}

// filesOf is the folder for files of a session whose own folder takes none.
func (f *Forgetter) filesOf(id sessions.ID) string {
	return filepath.Join(f.StateDir, inbound.FilesFolder, string(id))
}

// Run forgets sessions that ended longer ago than sessions.keep_ended says, and what was put aside beside the
// database longer ago, at the start and every hour, until ctx ends. It returns nil.
func (f *Forgetter) Run(ctx context.Context) error {
	tick, again := time.NewTicker(forgetEvery), time.NewTicker(eraseEvery)
	defer tick.Stop()
	defer again.Stop()
	f.late.expect(time.Now()) // who ran before may have left something
	for {
		now := time.Now()
		if n := f.forgetEnded(ctx, now); n > 0 {
			f.Logger.Info("sessions that ended long ago are forgotten", "sessions", n)
		}
		f.dropAsides(now)
		if err := f.Store.ForgetCounted(ctx, now); err != nil && ctx.Err() == nil {
			f.Logger.Warn("which answers were counted long ago isn't forgotten; it's tried again", "err", err)
		}
		for waits := true; waits; {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				waits = false
			case <-again.C:
				f.eraseLeft(ctx)
			}
		}
	}
}

// eraseLeft has nothing be left in the files of what was forgotten while somebody read them, and of what came
// for a session behind that.
func (f *Forgetter) eraseLeft(ctx context.Context) {
	forgotten, erase := f.late.expected(time.Now())
	if !erase {
		return
	}
	var err error
	for _, id := range forgotten {
		err = errors.Join(err, f.Store.DropSession(ctx, id), f.forgetWords(ctx, id), os.RemoveAll(f.filesOf(id)))
	}
	if err = errors.Join(err, f.erase(ctx)); err == nil || ctx.Err() != nil {
		return
	}
	f.late.expect(time.Now(), forgotten...)
	f.Logger.Warn("what was forgotten may be in the state folder's files still; it's tried again", "err", err)
}

func (f *Forgetter) forgetEnded(ctx context.Context, now time.Time) (n int) {
	before := now.Add(-f.KeepEnded())
	for _, s := range f.Manager.List() {
		if s.State != sessions.StateEnded || !s.EndedAt.Before(before) {
			continue
		}
		if err := f.forget(ctx, s.ID); err != nil {
			if ctx.Err() == nil {
				f.Logger.Error("a session that ended long ago isn't forgotten", "session", s.ID, "err", err)
			}
			break
		}
		n++
	}
	if n == 0 || ctx.Err() != nil {
		return n
	}
	f.late.expect(now)
	f.eraseLeft(ctx)
	return n
}

// dropAsides deletes what was put aside beside the database as long ago as ended sessions are kept: what's forgotten
// may be in it.
func (f *Forgetter) dropAsides(now time.Time) {
	dropped, err := f.Store.DropAsides(now.Add(-f.KeepEnded()))
	for _, a := range dropped {
		f.Logger.Info("what was put aside long ago is deleted", "path", a.Path, "put aside", a.At)
	}
	if err != nil {
		f.Logger.Warn("what was put aside long ago is there still; it's tried again", "err", err)
	}
}
