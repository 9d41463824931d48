package app

import (
	"cmp"
	"context"
	"sync"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/diffs"
	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

// maker makes diffs.
func (d *daemon) maker() diffs.Maker { return diffs.Maker{StateDir: d.opt.StateDir} }

// folderOf is where a session works: its program, as the kernel says; else as it was when the session began. A pane that
// was adopted may have been in another folder then.
func (d *daemon) folderOf(s sessions.Session) string { return cmp.Or(d.watchers.FolderOf(s.ID), s.Cwd) }

// diffOfEdits is what a session's call would change.
func (d *daemon) diffOfEdits(s sessions.Session, edits []sessions.FileEdit) (diff, note string) {
	return d.maker().OfEdits(d.folderOf(s), edits)
}

// diffOf is what a session has changed in its repository, with its secrets.
func (d *daemon) diffOf(ctx context.Context, s sessions.Session, since, file string, open bool) (diffs.Changes, error) {
	base, err := d.store.BaseOf(ctx, s.ID)
	if err != nil {
		return diffs.Changes{}, err
	}
	return d.maker().OfRepository(ctx, diffs.ChangeQuery{Folder: d.folderOf(s), Base: base, Since: since, File: file, Open: open})
}

// shownDiff is the same as chats see it.
func (d *daemon) shownDiff(ctx context.Context, s sessions.Session, since, file string) (commands.RepositoryChanges, error) {
	c, err := d.diffOf(ctx, s, since, file, false)
	return commands.RepositoryChanges{Root: c.Root, Commit: c.Commit, Files: c.Files, Diff: toolview.MaskDiff(d.masker, c.Diff), Notes: c.Notes}, err
}

// bases keeps how sessions' repositories are when the sessions begin.
type bases struct {
	d    *daemon
	work chan sessions.Session // that have begun

	mu   sync.Mutex
	seen map[sessions.ID]bool
}

// maxBegun is how many sessions may wait for their repository to be looked at; of more it isn't known how it was.
const maxBegun = 256

func newBases(d *daemon, known []sessions.Session) *bases {
	b := &bases{d: d, work: make(chan sessions.Session, maxBegun), seen: map[sessions.ID]bool{}}
	for _, s := range known {
		b.seen[s.ID] = true
	}
	return b
}

// Follow hears of sessions that begin.
func (b *bases) Follow(feed *sessions.Feed) {
	feed.OnSession(func(s sessions.Session) {
		b.mu.Lock()
		known := b.seen[s.ID]
		if b.seen[s.ID] = true; s.State == sessions.StateEnded {
			delete(b.seen, s.ID)
			known = true
		}
		b.mu.Unlock()
		if known {
			return
		}
		select {
		case b.work <- s:
		default:
			b.d.opt.Log.Warn("how a session's repository was isn't kept: too many begin at once", "session", s.ID)
		}
	})
}

// Run looks at their repositories until ctx ends.
func (b *bases) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-b.work:
			b.keep(ctx, s)
		}
	}
}

func (b *bases) keep(ctx context.Context, s sessions.Session) {
	base, err := b.d.maker().BaseOf(ctx, s.Cwd)
	if err == nil && base != nil {
		err = b.d.store.PutBase(ctx, s.ID, *base)
	}
	if err != nil && ctx.Err() == nil {
		b.d.opt.Log.Warn("how a session's repository was isn't known", "session", s.ID, "err", err)
	}
}
