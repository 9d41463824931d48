package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/events"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// Options are what a daemon is started with.
type Options struct {
	Config     *config.Config
	ConfigPath string // read again on reload
	// ConfigNamed says that somebody named the file: without it, one that isn't there stands
	// for the defaults.
	ConfigNamed bool
	StateDir    string // absolute; made if it's missing
	Log         *slog.Logger
	LogLevel    *slog.LevelVar       // set on reload
	LogCounts   func() events.Counts // what became of the log's records; nil: nobody counts
	Version     string
	Executable  string                      // how this program is started, for panes whose PATH lacks it; "": by its name
	Starter     string                      // the socket of the tmux.Starter that starts tmux servers; "": the daemon does
	Reload      <-chan chan<- struct{}      // a request to read the configuration again, and who is told when that's done
	Ready       func(Info)                  // called once, when all doors are open
	Waiting     func()                      // called whenever the start was tried and is tried again; nil: nobody is told
	Sessions    []sessions.NewRequest       // made at the start, unless a living session has the name
	Env         func(string) (string, bool) // for ${NAME} in the configuration; nil: os.LookupEnv
	Adapters    []adapters.Adapter          // chat platforms, besides those of the configuration
	Push        push.Route                  // to push services; zero: the internet. Tests have another
}

// Info is where a running daemon is reached.
type Info struct {
	Page   string // where the page is; "": it's off
	Enter  string // the same with a token that lets one browser of this machine in; "": it's off, or not on the loopback interface
	Socket string // of the API, for the command line
}

// Run runs a daemon until ctx ends, and returns when everything it started has
// ended. A start that can't write the state folder at the moment waits. statedir.ErrInUse if
// another one runs on the same state folder.
func Run(ctx context.Context, opt Options) error {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Env == nil {
		opt.Env = os.LookupEnv
	}
	seen, err := openWatching(ctx, opt)
	if err != nil {
		return err
	}
	defer seen.close()
	w := &waitingStart{opt: opt, board: seen.board}
	defer w.close()
	var dir *statedir.Dir
	defer func() { dir.Close() }()
	for damaged := false; ; {
		var ready bool
		var err error
		if dir == nil {
			dir, err = statedir.Open(opt.StateDir)
		}
		if err == nil {
			ready, err = run(ctx, opt, dir, w, seen)
		}
		switch {
		case ready:
			return err
		case whatPasses(err) != nil:
			if w.await(ctx, dir, err) {
				continue
			}
			err = nil
		case errors.Is(err, store.ErrDamaged) && !damaged: // found by what's read at the start; now it's known
			damaged = true
			continue
		}
		dir.RemoveMade()
		return err
	}
}

// run runs a daemon in its state folder. Ready says that its doors were opened.
func run(ctx context.Context, opt Options, dir *statedir.Dir, w *waitingStart, seen *watching) (ready bool, err error) {
	d := &daemon{opt: opt, watching: seen, config: opt.Config, disabled: make(chan adapters.Binding, 64), folder: statedir.NewWatch(dir, opt.Log)}
	if err := d.newMasker(); err != nil {
		return false, fmt.Errorf("read redact: %w", err)
	}
	if err := d.openStore(ctx); err != nil {
		return false, err
	}
	defer func() {
		err = errors.Join(err, d.store.Keep(context.WithoutCancel(ctx)), d.store.Close())
	}()
	defer func() {
		if d.mail != nil {
			err = errors.Join(err, d.mail.Close())
		}
	}()
	defer func() {
		if d.words != nil {
			err = errors.Join(err, d.words.Close())
		}
	}()
	if err := d.build(ctx); err != nil {
		return false, err
	}
	w.over()
	doors, err := d.listen(ctx)
	if err != nil {
		return false, err
	}
	ready = true
	return true, d.run(ctx, doors)
}

// runClients runs the connections to tmux, from when no command types by itself until nothing is
// typed any more. typed is closed when the manager types no more.
func (d *daemon) runClients(ctx context.Context, typed <-chan struct{}) error {
	release, err := d.mail.TakeTerminals(ctx)
	if err != nil && ctx.Err() != nil {
		return nil // it stops before it has begun
	}
	if err != nil {
		return err
	}
	defer release()
	longer := d.mail.WithTyping(ctx, typed)
	var clients errgroup.Group
	for _, c := range d.clients {
		clients.Go(func() error { return c.Run(longer) })
	}
	return clients.Wait()
}

// doors are the API's listeners.
type doors struct{ unix, tcp net.Listener }

func (d *daemon) listen(ctx context.Context) (doors, error) {
	var out doors
	var err error
	if out.unix, err = statedir.Listen(ctx, d.opt.StateDir); err != nil {
		return out, err
	}
	if !d.config.Adapters.Web.Enabled {
		return out, nil
	}
	var lc net.ListenConfig
	if out.tcp, err = lc.Listen(ctx, "tcp", d.config.Adapters.Web.Listen); err != nil {
		_ = out.unix.Close()
		return out, fmt.Errorf("open the page's port: %w; choose another in adapters.web.listen", err)
	}
	return out, nil
}

// run runs the parts. The store outlives them all.
func (d *daemon) run(ctx context.Context, doors doors) error {
	g, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, d.store.HurryUp)()
	typed := make(chan struct{}) // closed when the manager types no more
	g.Go(func() error { defer close(typed); return d.manager.Run(ctx) })
	g.Go(func() error { return d.coord.Run(ctx, d.manager) })
	g.Go(func() error { return d.watchers.Run(ctx) })
	g.Go(func() error { return d.runClients(ctx, typed) })
	g.Go(func() error { return d.runHub(ctx) })
	g.Go(func() error { return d.noteDisabled(ctx) })
	g.Go(func() error { return d.inbound.Run(ctx) })
	g.Go(func() error { return d.mail.Run(ctx, d.inbound) })
	for _, p := range d.platforms {
		if r, ok := p.Platform.(platform.BackgroundRunner); ok {
			g.Go(func() error { return r.Run(ctx) })
		}
	}
	g.Go(func() error { return d.health.run(ctx) })
	g.Go(func() error { return d.watching.board.Run(ctx, d.checks()) })
	g.Go(func() error { return d.folder.Run(ctx) })
	g.Go(func() error { return d.forgetter.Run(ctx) })
	g.Go(func() error { return d.bases.Run(ctx) })
	g.Go(func() error { return d.continuer.Run(ctx) })
	g.Go(func() error { return d.inquirer.Run(ctx) })
	if d.pusher != nil {
		g.Go(func() error { return d.pusher.Run(ctx) })
	}
	if d.indexer != nil {
		g.Go(func() error { return d.indexer.Run(ctx) })
	}
	g.Go(func() error { return d.server.Run(ctx, doors.unix, doors.tcp) })
	g.Go(func() error { return d.reloads(ctx) })
	g.Go(func() error { return d.first(ctx) })
	info := Info{Socket: statedir.SocketPath(d.opt.StateDir)}
	if doors.tcp != nil {
		origin := d.reach.Origin(doors.tcp)
		info.Page = origin + "/"
		if api.IsLocal(origin) {
			info.Enter, _ = d.browsers.NewAddress(time.Now(), origin)
		}
	}
	d.opt.Log.Info("ready", "socket", info.Socket)
	if d.opt.Ready != nil {
		d.opt.Ready(info)
	}
	err := g.Wait()
	d.inbound.Finish(ctx)
	return err
}

// first makes the sessions that are wanted at the start.
func (d *daemon) first(ctx context.Context) error {
	for _, req := range d.opt.Sessions {
		if err := d.awaitServer(ctx, req.Server); err != nil {
			return nil //nolint:nilerr // the daemon is being stopped
		}
		if d.lives(ctx, req.Name) {
			continue
		}
		if _, err := d.manager.New(ctx, req); err != nil && ctx.Err() == nil {
			return fmt.Errorf("start session %s: %w", req.Name, err)
		}
	}
	return nil
}
