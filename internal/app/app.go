package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/web"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/callers"
	"github.com/panebridge/panebridge/internal/forgetting"
	"github.com/panebridge/panebridge/internal/mailroom"
	"github.com/panebridge/panebridge/internal/masked"
	"github.com/panebridge/panebridge/internal/metrics"
	"github.com/panebridge/panebridge/internal/recorder"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
	"github.com/panebridge/panebridge/sessions/typing"
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
	LogLevel    *slog.LevelVar // set on reload
	Version     string
	Executable  string                      // how this program is started, for panes whose PATH lacks it; "": by its name
	Reload      <-chan chan<- struct{}      // a request to read the configuration again, and who is told when that's done
	Ready       func(Info)                  // called once, when all doors are open
	Waiting     func()                      // called whenever the start was tried and is tried again; nil: nobody is told
	Sessions    []sessions.NewRequest       // made at the start, unless a living session has the name
	Env         func(string) (string, bool) // for ${NAME} in the configuration; nil: os.LookupEnv
	Adapters    []adapters.Adapter          // chat platforms, besides those of the configuration
}

// Info is where a running daemon is reached.
type Info struct {
	Page   string // where the page is; "": it's off
	Enter  string // the same with a token that lets one browser in; "": it's off
	Socket string // of the API, for the command line
}

// daemon is a started daemon's parts.
type daemon struct {
	opt       Options
	store     *store.Store
	salvaged  salvaged
	clients   []*tmux.Client
	feed      sessions.Feed
	manager   *sessions.Manager
	coord     *polling.PollingCoordinator
	profiles  *agent.Set
	watchers  *agent.Watchers
	processes *agent.Processes
	broker    *api.Broker
	metrics   *metrics.Metrics
	browsers  *browsers.Keeper
	consent   *callers.Consent
	server    *api.Server
	health    *healthWatch
	folder    *statedir.Watch

	forgetter *forgetting.Forgetter
	hub       *adapters.Hub
	platforms []chats               // those that are on
	shared    []*sharedBudget       // with other processes
	outlets   []string              // names of the hub's adapters
	disabled  chan adapters.Binding // to be noted in their sessions' logs
	inbound   *inbound.Inbound
	mail      *mailroom.Mailroom

	masker    *redact.Masker // for what leaves the host
	logMasker *redact.Masker // for the log: only what's known to be secret
	secrets   redact.Known   // what nothing below a tmux server may have

	reloading sync.Mutex     // held by a reload
	config    *config.Config // as it was read last
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
	w := &waitingStart{opt: opt}
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
			ready, err = run(ctx, opt, dir, w)
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
func run(ctx context.Context, opt Options, dir *statedir.Dir, w *waitingStart) (ready bool, err error) {
	d := &daemon{opt: opt, config: opt.Config, disabled: make(chan adapters.Binding, 64), folder: statedir.NewWatch(dir, opt.Log)}
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

// build makes the parts; none of them runs yet.
func (d *daemon) build(ctx context.Context) error {
	cfg, log := d.config, d.opt.Log
	tuning, err := pollingTuning(cfg)
	if err != nil {
		return err
	}
	prompts, err := polling.NewPrompts(cfg.Sessions.Prompts)
	if err != nil {
		return fmt.Errorf("read sessions.prompts: %w", err)
	}
	d.browsers = browsers.New(time.Now(), d.store)
	if err := d.browsers.Load(ctx, time.Now()); err != nil {
		return err
	}
	d.hidePage(d.browsers.Secret())
	if err := CheckPlatforms(cfg, d.opt.ConfigPath, d.opt.Env); err != nil { //nolint:contextcheck // it waits for nothing
		return err
	}
	if err := CheckSecrets(cfg, d.opt.ConfigPath, d.opt.Env); err != nil {
		return err
	}
	d.warnOfExposure()
	d.broker, d.metrics = api.NewBroker(), metrics.New(d.opt.Version)
	d.processes, d.consent = agent.NewProcesses(), callers.NewConsent(d.feed.PublishPrompt, d.masker.Hides, log.With("component", "api"))
	sources := map[string]polling.Source{}
	var servers []sessions.Server
	for _, s := range cfg.Tmux.Servers {
		c := d.newClient(s)
		d.clients = append(d.clients, c)
		servers = append(servers, c)
		sources[c.Name()] = c
	}
	d.coord = polling.NewCoordinator(sources, d.store, polling.Options{
		Cadence: tuning.Cadence, FocusCadence: tuning.FocusCadence,
		CaptureTimeout: tuning.CaptureTimeout, MaxCaptureLines: tuning.MaxCaptureLines,
		Marker: tuning.Marker, Prompts: prompts,
		Panicked: func() { d.metrics.CountPanic("poller") }, Hung: d.metrics.CountHang, Logger: log.With("component", "polling"),
	})
	if err := d.buildWatchers(prompts); err != nil { //nolint:contextcheck // what it makes outlives this call
		return err
	}
	if err := checkAgents(cfg, d.profiles, d.opt.ConfigPath, d.opt.Env); err != nil {
		return err
	}
	integrate, err := d.shellIntegration()
	if err != nil {
		return err
	}
	generic := d.profiles.Generic()
	d.manager = sessions.NewManager(sessions.Options{
		Servers: servers, Store: d.store, Pollers: pollers{d}, Notes: notes{d.store}, Feed: &d.feed,
		Adopt: cfg.Sessions.Adopt, Recover: d.salvaged.said != "", Prefix: cfg.Sessions.TmuxPrefix, HistoryLimit: cfg.Sessions.HistoryLimit,
		Agents: agents(cfg, d.profiles), FindAgents: d.findAgents, Shell: d.shell(), Integrate: integrate, Env: []string{"PANEBRIDGE_STATE_DIR=" + d.opt.StateDir}, Asked: d.asked, Dialogs: d.watchers, Hides: d.masker.Hides,
		Hand:     typing.New(typing.Options{Phrases: generic.DialogPhrases(), Dialog: generic.Dialog, Dialogs: d.watchers, Box: d.watchers.Box, Front: d.watchers.Front, Revive: d.revive, Decide: d.watchers.Decide}),
		Panicked: d.metrics.CountPanic, Logger: log.With("component", "sessions"),
	})
	if err := d.manager.Load(ctx); err != nil {
		return err
	}
	if err := d.openMailroom(ctx); err != nil {
		return err
	}
	if err := d.buildPlatforms(ctx); err != nil {
		return err
	}
	if err := d.buildHub(); err != nil {
		return err
	}
	if err := d.buildInbound(); err != nil {
		return err
	}
	if err := d.inbound.Load(ctx); err != nil {
		return err
	}
	d.subscribe()
	if err := d.hub.Load(ctx); err != nil {
		return d.locate(err)
	}
	d.metrics.CollectLoad(d.outlets, func(ctx context.Context, adapter string) (qos.Snapshot, error) {
		return d.hub.Scheduler(adapter).Snapshot(ctx)
	})
	d.metrics.CollectRedis(d.standings)
	d.health = newHealthWatch(d.clients, d.store, d.salvaged, d.coord.Cadence, d.otherParts, log.With("component", "store"))
	d.forgetter = &forgetting.Forgetter{Manager: d.manager, Hub: d.hub, Store: d.store, StateDir: d.opt.StateDir, KeepEnded: d.keepEnded, Logger: log}
	d.server, err = api.NewServer(api.Options{
		Sessions: registry{callers.Questions{Manager: d.manager, Consent: d.consent}, d.forgetter}, Output: outputLog{d.store}, Broker: d.broker, Health: d.health.document, Outbound: outbound{d}, Reload: d.reload, Pair: d.pair, Access: accessOf{d}, Picture: picture, Hooks: d.hook, Decision: d.watchers.AwaitDecision, Reminder: d.mail.Reminder, Inbox: d.mail, Wait: d.wait, Programs: &recorder.Recorder{Manager: d.manager, Clients: d.clients, Watchers: d.watchers, Profiles: d.profiles, Masker: d.masker, Version: d.opt.Version}, Masker: d.masker, Metrics: d.metrics.Handler(),
		Places: (&callers.Finder{Manager: d.manager, Clients: d.clients, Processes: d.processes, StateDir: d.opt.StateDir, Logger: log}).Place, Confirm: d.consent.Ask,
		Page: web.Handler(), Browsers: d.browsers, Log: log.With("component", "api"),
	})
	return err
}

// subscribe has all parts hear what happens to sessions, in this order.
func (d *daemon) subscribe() {
	d.metrics.Follow(&d.feed)
	d.broker.Follow(&d.feed)
	d.hub.Follow(&d.feed)
	d.inbound.Follow(&d.feed)
	d.feed.OnPrompt(func(p sessions.Prompt) { d.inbound.Prompted(masked.Prompt(d.masker, p)) })
	d.mail.Follow(&d.feed)
}

// newClient makes the client of one tmux server. Whatever happens to the
// connection or to panes has the manager look.
func (d *daemon) newClient(s config.TmuxServer) *tmux.Client {
	var c *tmux.Client
	look := func() { d.manager.Reconcile(c.Name()) }
	c = tmux.New(tmux.Options{
		SocketName: s.SocketName, SocketPath: s.SocketPath, Logger: d.opt.Log.With("component", "tmux"),
		Environment: tmux.LoginEnvironment(os.Environ(), d.config.Tmux.Environment), Secret: d.hasSecret,
		OnUp:    func(sessions.ServerIdentity) { look() },
		OnDown:  func(error) { look() },
		OnPanes: look,
	})
	return c
}

// openMailroom opens the room of the agents' mail.
func (d *daemon) openMailroom(ctx context.Context) (err error) {
	d.mail, err = mailroom.Open(ctx, mailroom.Options{
		StateDir: d.opt.StateDir, Manager: d.manager, Watchers: d.watchers, Profiles: d.profiles, Executable: d.opt.Executable,
		MaxRunes: d.config.Mail.MaxTextLen, Auto: d.config.Notices.Auto, People: d.people, PrivateChat: d.privateChat,
		Panicked: d.metrics.CountPanic, Logger: d.opt.Log,
	})
	return err
}

// people are those whom the configuration names.
func (d *daemon) people() map[string][]string { return d.currentConfig().People }

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
	g.Go(func() error { return d.hub.Run(ctx) })
	g.Go(func() error { return d.noteDisabled(ctx) })
	g.Go(func() error { return d.inbound.Run(ctx) })
	g.Go(func() error { return d.mail.Run(ctx, d.inbound) })
	for _, p := range d.platforms {
		if r, ok := p.Platform.(platform.Runner); ok {
			g.Go(func() error { return r.Run(ctx) })
		}
	}
	g.Go(func() error { return d.health.run(ctx) })
	g.Go(func() error { return d.folder.Run(ctx) })
	g.Go(func() error { return d.forgetter.Run(ctx) })
	g.Go(func() error { return d.server.Run(ctx, doors.unix, doors.tcp) })
	g.Go(func() error { return d.reloads(ctx) })
	g.Go(func() error { return d.first(ctx) })
	info := Info{Socket: statedir.SocketPath(d.opt.StateDir)}
	if doors.tcp != nil {
		host := doors.tcp.Addr().String()
		info.Page = "http://" + host + "/"
		info.Enter, _ = d.browsers.NewAddress(time.Now(), host)
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
