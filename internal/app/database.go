package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/probes"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/qos"
)

// lostBudgetFor is how long bots are silent where nobody knows any more what they have sent: most
// limits are per minute. A platform says so itself where a longer one is reached.
const lostBudgetFor = time.Minute

// salvaged is what became of a database that was damaged or gone at the start; zero: it wasn't.
type salvaged struct {
	said string // in words
	kept string // where the damaged one was put; "": it was gone
}

// openStore opens the database. In the place of a damaged one it puts another with all that can be
// read of it, and says what's lost; that one is gone which was there, too.
func (d *daemon) openStore(ctx context.Context) error {
	path := statedir.DatabasePath(d.opt.StateDir)
	log := d.opt.Log.With("component", "store")
	if err := store.FinishRewrite(path); err != nil {
		return err
	}
	restored, err := statedir.FinishRestore(ctx, d.opt.StateDir, log)
	if err != nil {
		return err
	}
	if restored.Placed {
		log.Warn("a backup was restored", "kept", restored.Kept)
	}
	if err := store.ForgetGoneAsides(path); err != nil {
		log.Warn("what's known of damaged databases that are gone stays", "err", err)
	}
	if aside, err := store.SetLogAside(path); err != nil {
		return err
	} else if aside != "" {
		log.Warn("a write-ahead log is there without its database: it's kept under another name, for whoever mends the database. Delete it otherwise", "path", aside)
	}
	lost := store.IsLost(path)
	if lost {
		d.salvaged.said = "it was gone at the start: what it held is lost, and what's in tmux is read again"
		log.Error("the database is gone; a new one begins", "path", path)
	}
	err = d.openSound(ctx, path)
	if errors.Is(err, store.ErrDamaged) {
		log.Error("the database is damaged; what can be read of it is saved", "err", err)
		saved, cannot := store.Salvage(ctx, path, log)
		if cannot != nil {
			return errors.Join(err, cannot)
		}
		log.Error("the database was written anew from a damaged one", "lost", saved.String(), "kept", saved.Kept)
		said := fmt.Sprintf("it was damaged, and is written anew; %s. The damaged one is %s: delete it if you don't need it", saved, saved.Kept)
		d.salvaged = salvaged{said, saved.Kept}
		lost, err = saved.Lacks("slots", "penalties"), d.openSound(ctx, path)
	}
	if err != nil {
		return err
	}
	var blind bool
	if d.restored, blind, err = d.store.IsRestored(ctx); err != nil || !lost && !blind {
		return err
	}
	return d.silenceBots(ctx, log)
}

func (d *daemon) openSound(ctx context.Context, path string) (err error) {
	if err := store.Unsound(path); err != nil {
		return err
	}
	d.store, err = store.Open(ctx, path, store.Options{LogMaxLines: int64(d.opt.Config.Sessions.LogMaxLines), Logger: d.opt.Log, Version: d.opt.Version})
	return err
}

// silenceBots has bots call nobody for a while.
func (d *daemon) silenceBots(ctx context.Context, log *slog.Logger) error {
	p := qos.Penalty{Scope: qos.Scope{AllFamilies: true}, Until: time.Now().Add(lostBudgetFor), Multiplier: 1}
	for _, bot := range all.Platforms() {
		if err := d.store.Ledger(bot.Name).Write(ctx, []qos.LedgerEntry{{Kind: qos.EntryPenalty, Penalty: p}}); err != nil {
			return err
		}
	}
	log.Warn("nobody knows any more what bots have sent in the last minute: they begin when that's over", "until", p.Until)
	return nil
}

// How long a start waits before it's tried again: the first time, and at most. Where a damaged
// database is saved, each try may write as much as that has.
const (
	startAgainAfter  = time.Second
	startAgainAtMost = 15 * time.Second
)

// waitingStart is a daemon's start that waits for what passes: a full disk, a database that another
// process holds, one that may only be read. Whatever panebridge tells has been stored before, so it
// couldn't mirror anything meanwhile. It says on the socket what it waits for.
type waitingStart struct {
	opt   Options
	board *probes.Board
	pause time.Duration // before the next try

	mu  sync.Mutex
	err error // why the last try failed; nil: none has
	end func()
}

// whatPasses is the reason why a start failed, if that can be over without the daemon being started
// anew; nil: it can't.
func whatPasses(err error) error {
	for _, reason := range []error{store.ErrFull, store.ErrLocked, store.ErrReadOnly, store.ErrUnwritable, unix.ENOSPC, unix.EDQUOT, unix.EROFS} {
		if errors.Is(err, reason) {
			return reason
		}
	}
	return nil
}

// await says that a try has failed, and blocks until it's time for the next one; false: ctx has ended.
// The state folder is nil if it couldn't be opened.
func (w *waitingStart) await(ctx context.Context, dir *statedir.Dir, err error) bool {
	w.mu.Lock()
	news := w.err == nil || !errors.Is(err, whatPasses(w.err))
	w.err = err
	w.mu.Unlock()
	w.board.SetWaiting(storeReason(err))
	if news {
		w.log().Error("the start waits, and goes on by itself; output stays in tmux meanwhile, and nothing is taken", "err", err)
	}
	if w.opt.Waiting != nil {
		w.opt.Waiting()
	}
	if dir != nil && w.end == nil {
		w.serve(ctx)
	}
	w.pause = min(max(2*w.pause, startAgainAfter), startAgainAtMost)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(w.pause):
		return true
	}
}

// serve opens the socket, if that's possible, and serves until close is called.
func (w *waitingStart) serve(ctx context.Context) {
	l, err := statedir.Listen(ctx, w.opt.StateDir)
	if err != nil {
		w.log().Debug("open the socket while the start waits", "err", err) // it's tried again
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := api.ServeStarting(ctx, l, w.part, w.board.ServeHealthz, w.board.ServeReadyz); err != nil {
			w.log().Warn("serve while the start waits", "err", err)
		}
	}()
	w.end = func() { cancel(); <-served }
}

// part says what the start waits for.
func (w *waitingStart) part() api.HealthPart {
	w.mu.Lock()
	defer w.mu.Unlock()
	return api.HealthPart{Name: "store", State: api.HealthDown, Detail: w.err.Error()}
}

// close ends the waiting; nothing of it runs any more.
func (w *waitingStart) close() {
	if w.end != nil {
		w.end()
		w.end = nil
	}
}

// over says that the start goes on.
func (w *waitingStart) over() {
	if w.err != nil {
		w.log().Info("what the start waited for is there")
	}
	w.close()
}

func (w *waitingStart) log() *slog.Logger { return w.opt.Log.With("component", "store") }
