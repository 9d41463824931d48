package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/internal/callers"
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

// registry is the manager as the API calls it: who forgets a session has all parts
// forget it.
type registry struct {
	callers.Questions
	d *daemon
}

// Forget has all parts forget a session that has ended, and nothing of it be left in the state folder.
func (r registry) Forget(ctx context.Context, id sessions.ID) error {
	if err := r.d.forget(ctx, id); err != nil {
		return err
	}
	r.d.late.expect(time.Now(), id)
	err := r.d.store.Erase(ctx)
	if err == nil {
		return nil
	}
	return fmt.Errorf("it's forgotten, and copies may be in the database's files for a while; that's tried again every %s: %w", eraseEvery, err)
}

// forget removes a session's files before the session itself: what a kill cuts off is seen, and done
// again. It removes them again behind it, since some may have arrived meanwhile.
func (d *daemon) forget(ctx context.Context, id sessions.ID) error {
	files := d.filesOf(id)
	if s, err := d.manager.Get(string(id)); err == nil && s.State == sessions.StateEnded {
		_ = os.RemoveAll(files) // an error comes again below
	}
	if err := d.manager.Forget(ctx, id); err != nil {
		return err
	}
	return errors.Join(d.hub.Forget(ctx, id), os.RemoveAll(files))
}

// filesOf is the folder for files of a session whose own folder takes none.
func (d *daemon) filesOf(id sessions.ID) string {
	return filepath.Join(d.opt.StateDir, inbound.FilesFolder, string(id))
}

// forgetEnded forgets sessions that ended longer ago than sessions.keep_ended says, and what was put aside beside the
// database longer ago, at the start and every hour, until ctx ends.
func (d *daemon) forgetEnded(ctx context.Context) error {
	tick, again := time.NewTicker(forgetEvery), time.NewTicker(eraseEvery)
	defer tick.Stop()
	defer again.Stop()
	d.late.expect(time.Now()) // who ran before may have left something
	for {
		now := time.Now()
		if n := d.forgetEndedNow(ctx, now); n > 0 {
			d.opt.Log.Info("sessions that ended long ago are forgotten", "sessions", n)
		}
		d.dropAsides(now)
		for waits := true; waits; {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				waits = false
			case <-again.C:
				d.eraseLeft(ctx)
			}
		}
	}
}

// eraseLeft has nothing be left in the files of what was forgotten while somebody read them, and of what came
// for a session behind that.
func (d *daemon) eraseLeft(ctx context.Context) {
	forgotten, erase := d.late.expected(time.Now())
	if !erase {
		return
	}
	var err error
	for _, id := range forgotten {
		err = errors.Join(err, d.store.DropSession(ctx, id), os.RemoveAll(d.filesOf(id)))
	}
	if err = errors.Join(err, d.store.Erase(ctx)); err == nil || ctx.Err() != nil {
		return
	}
	d.late.expect(time.Now(), forgotten...)
	d.opt.Log.Warn("what was forgotten may be in the state folder's files still; it's tried again", "err", err)
}

func (d *daemon) forgetEndedNow(ctx context.Context, now time.Time) (n int) {
	before := now.Add(-d.keepEnded())
	for _, s := range d.manager.List() {
		if s.State != sessions.StateEnded || !s.EndedAt.Before(before) {
			continue
		}
		if err := d.forget(ctx, s.ID); err != nil {
			if ctx.Err() == nil {
				d.opt.Log.Error("a session that ended long ago isn't forgotten", "session", s.ID, "err", err)
			}
			break
		}
		n++
	}
	if n == 0 || ctx.Err() != nil {
		return n
	}
	d.late.expect(now)
	d.eraseLeft(ctx)
	return n
}

// dropAsides deletes what was put aside beside the database as long ago as ended sessions are kept: what's forgotten
// may be in it.
func (d *daemon) dropAsides(now time.Time) {
	dropped, err := d.store.DropAsides(now.Add(-d.keepEnded()))
	for _, a := range dropped {
		d.opt.Log.Info("what was put aside long ago is deleted", "path", a.Path, "put aside", a.At)
	}
	if err != nil {
		d.opt.Log.Warn("what was put aside long ago is there still; it's tried again", "err", err)
	}
}

func (d *daemon) keepEnded() time.Duration {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	return d.config.Sessions.KeepEnded.Duration()
}
