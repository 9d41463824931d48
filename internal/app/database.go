package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/panebridge/panebridge/adapters/all"
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
	err := d.openSound(ctx, path)
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
	if err != nil || !lost {
		return err
	}
	return d.silenceBots(ctx, log)
}

func (d *daemon) openSound(ctx context.Context, path string) (err error) {
	if err := store.Unsound(path); err != nil {
		return err
	}
	d.store, err = store.Open(ctx, path, store.Options{LogMaxLines: int64(d.opt.Config.Sessions.LogMaxLines), Logger: d.opt.Log})
	return err
}

// silenceBots has bots call nobody for a while.
func (d *daemon) silenceBots(ctx context.Context, log *slog.Logger) error {
	p := qos.Penalty{Scope: qos.Scope{AllFamilies: true}, Until: time.Now().Add(lostBudgetFor), Multiplier: 1}
	for _, bot := range all.Platforms() {
		if err := d.store.Ledger(bot.Name).Write(ctx, []qos.Entry{{Kind: qos.EntryPenalty, Penalty: p}}); err != nil {
			return err
		}
	}
	log.Warn("nobody knows any more what bots have sent in the last minute: they begin when that's over", "until", p.Until)
	return nil
}
