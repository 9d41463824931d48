package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/web"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/callers"
	"github.com/panebridge/panebridge/internal/continuing"
	"github.com/panebridge/panebridge/internal/forgetting"
	"github.com/panebridge/panebridge/internal/mailroom"
	"github.com/panebridge/panebridge/internal/masked"
	"github.com/panebridge/panebridge/internal/metrics"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/qostrace"
	"github.com/panebridge/panebridge/internal/recorder"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redisbots"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/internal/showing"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/internal/ttywatch"
	"github.com/panebridge/panebridge/internal/voice"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
	"github.com/panebridge/panebridge/sessions/transcript"
	"github.com/panebridge/panebridge/sessions/typing"
	"github.com/panebridge/panebridge/sessions/viewing"
)

// daemon is a started daemon's parts.
type daemon struct {
	opt       Options
	store     *store.Store
	salvaged  salvaged
	restored  bool // a backup was restored, and what that needs isn't done yet
	clients   []*tmux.Client
	feed      sessions.Feed
	manager   *sessions.Manager
	coord     *polling.PollingCoordinator
	profiles  *agent.Set
	watchers  *agent.Watchers
	processes *agent.Processes
	broker    *api.Broker
	metrics   *metrics.Metrics
	browsers  *browsers.Doorkeeper
	reach     api.Reach // of the page
	pusher    *push.Pusher
	consent   *callers.Consent
	inquirer  *showing.Inquirer
	showcase  *showing.Showcase
	server    *api.Server
	health    *healthWatch
	watching  *watching
	folder    *statedir.Watch

	forgetter  *forgetting.Forgetter
	bases      *bases          // how repositories were as sessions began
	words      *search.Index   // nil: nothing can be searched
	indexer    *search.Indexer // nil as well
	noWords    error           // why
	hub        *adapters.Hub
	recordings map[string]*qostrace.Writer // by adapter
	platforms  []chats                     // those that are on
	shared     []*redisbots.Budget         // with other processes
	outlets    []string                    // names of the hub's adapters
	disabled   chan adapters.Binding       // to be noted in their sessions' logs
	inbound    *inbound.Inbound
	mail       *mailroom.Mailroom
	continuer  *continuing.Continuer

	masker    *redact.Masker // for what leaves the host
	logMasker *redact.Masker // for the log: only what's known to be secret
	secrets   redact.Known   // what nothing below a tmux server may have

	reloading sync.Mutex     // held by a reload
	config    *config.Config // as it was read last
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
	if err := CheckServers(cfg, d.opt.ConfigPath, d.opt.Env); err != nil {
		return err
	}
	if err := CheckPage(cfg, d.opt.ConfigPath, d.opt.Env); err != nil {
		return err
	}
	if d.reach, err = reachOf(cfg.Adapters.Web, log.With("component", "api")); err != nil {
		return err
	}
	if err := CheckPlatforms(cfg, d.opt.ConfigPath, d.opt.Env); err != nil { //nolint:contextcheck // it waits for nothing
		return err
	}
	if err := CheckSecrets(cfg, d.opt.ConfigPath, d.opt.Env); err != nil {
		return err
	}
	d.warnOfExposure()
	d.broker, d.metrics = api.NewBroker(), metrics.New(d.opt.Version)
	d.processes, d.consent = agent.NewProcesses(), callers.NewConsent(d.feed.PublishPrompt, d.masker.Hides, log.With("component", "api"))
	sources := map[string]polling.PaneSource{}
	var servers []sessions.TmuxServer
	for _, s := range cfg.Tmux.Servers {
		c := d.newClient(s)
		d.clients = append(d.clients, c)
		servers = append(servers, c)
		sources[c.Name()] = c
	}
	d.coord = polling.NewCoordinator(sources, d.store, polling.Options{
		Cadence: tuning.Cadence, FocusCadence: tuning.FocusCadence,
		CaptureTimeout: tuning.CaptureTimeout, MaxCaptureLines: tuning.MaxCaptureLines,
		Marker: tuning.Marker, Prompts: prompts, WatchWrites: watchWrites,
		Panicked: func() { d.metrics.CountPanic("poller") }, Hung: d.metrics.CountHang, Captured: d.metrics.ObserveCapture, Logger: log.With("component", "polling"),
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
		Agents: agents(cfg, d.profiles), FindAgents: d.findAgents, Shell: d.shell(), Integrate: integrate, Env: []string{"PANEBRIDGE_STATE_DIR=" + d.opt.StateDir}, Asked: d.asked, Dialogs: d.watchers, Hides: d.masker.Hides, Diff: d.diffOfEdits, HasEnded: d.processes.HasEnded,
		Hand:     typing.New(typing.Options{Phrases: generic.DialogPhrases(), Dialog: generic.Dialog, Dialogs: d.watchers, Box: d.watchers.Box, Front: d.watchers.Front, Revive: d.revive, Decide: d.watchers.Decide}),
		Panicked: d.metrics.CountPanic, Logger: log.With("component", "sessions"),
	})
	if err := d.manager.Load(ctx); err != nil {
		return err
	}
	d.bases = newBases(d, d.manager.List())
	d.continuer = continuing.New(continuing.Options{
		Sessions: d.manager, Store: d.store, Text: func() string { return d.currentConfig().Sessions.ContinueText },
		Changed: d.feed.PublishSession, Logger: log.With("component", "sessions"),
	})
	if err := d.continuer.Load(ctx); err != nil {
		return err
	}
	if err := d.buildShowing(ctx); err != nil {
		return err
	}
	if err := d.openMailroom(ctx); err != nil {
		return err
	}
	if err := d.buildPlatforms(ctx); err != nil {
		return err
	}
	d.warnOfIdleKnobs()
	if err := d.buildHub(); err != nil {
		return err
	}
	d.openWords(ctx)
	if err := d.buildInbound(); err != nil {
		return err
	}
	if err := d.inbound.Load(ctx); err != nil {
		return err
	}
	if err := d.buildPusher(ctx); err != nil {
		return err
	}
	d.subscribe()
	if err := d.hub.Load(ctx); err != nil {
		return d.locate(err)
	}
	d.metrics.CollectLoad(d.outlets, func(ctx context.Context, adapter string) (qos.SchedulerStatus, error) {
		return d.hub.Scheduler(adapter).Status(ctx)
	})
	d.metrics.CollectRedis(d.standings)
	d.metrics.CollectUsage(func(ctx context.Context) ([]sessions.UsageSum, error) { return d.store.Usage(ctx, "") }, d.manager.List)
	d.metrics.CollectSearch(d.watchSearch().behind)
	d.health = newHealthWatch(d.clients, d.store, d.salvaged, d.watchSearch(), d.coord.Cadence, d.otherParts, log.With("component", "store"))
	d.metrics.CollectLog(d.opt.LogCounts)
	d.metrics.CollectState(d.stateSources())
	d.watching.port.SetMetrics(d.metrics.Handler())
	d.forgetter = &forgetting.Forgetter{Manager: d.manager, Hub: d.hub, Store: d.store, Words: d.words, StateDir: d.opt.StateDir, KeepEnded: d.keepEnded, Logger: log}
	uploads := &inbound.Uploads{StateDir: d.opt.StateDir, MaxFile: maxFileOf(d.config.Inbound)}
	d.server, err = api.NewServer(api.Options{
		Conversations: conversations{d}.list,
		Files: func(p api.FilePart) (string, error) {
			return uploads.TakePart(p.Session, inbound.UploadPart{Key: p.Key, Name: p.Name, Size: p.Size, Offset: p.Offset, Bytes: p.Bytes})
		},
		ReadFile: d.readFile, Diff: d.diffOf,
		Sessions: registry{callers.Questions{Manager: d.manager, Consent: d.consent, Inquiries: d.inquirer}, d.forgetter}, Output: outputLog{d.store}, Broker: d.broker, Health: d.health.document, Outbound: outbound{d}, Reload: d.reload, Pair: d.pair, Access: accessOf{d}, Picture: picture, Hooks: d.hook, Decision: d.watchers.AwaitDecision, Reminder: d.mail.Reminder, Inbox: d.mail, Mail: pageMail{d.mail.Letters()}, Wait: d.wait, Programs: &recorder.Recorder{Manager: d.manager, Clients: d.clients, Watchers: d.watchers, Profiles: d.profiles, Masker: d.masker, Version: d.opt.Version}, Search: d.indexer, Follow: d.coord.Follow, Terminals: viewing.NewGallery(viewing.Options{Screen: d.manager.Screen, WatchWrites: watchWrites}), Masker: d.masker, Metrics: d.metrics.Handler(), Healthz: d.watching.board.ServeHealthz, Readyz: d.watching.board.ServeReadyz,
		Places: (&callers.Finder{Manager: d.manager, Clients: d.clients, Processes: d.processes, StateDir: d.opt.StateDir, Logger: log}).Place, Confirm: d.consent.Ask,
		Usage: d.store.Usage, Continuations: d.continuer, Inquiries: d.inquirer, Exhibits: exhibits{d.showcase, d}, Audit: pageAudit{d.store}, Page: web.Handler(), Reach: d.reach, Browsers: d.browsers, Push: d.pusher, Log: log.With("component", "api"),
	})
	return err
}

// subscribe has all parts hear what happens to sessions, in this order.
func (d *daemon) subscribe() {
	d.metrics.Follow(&d.feed)
	d.continuer.Follow(&d.feed)
	d.inquirer.Follow(&d.feed)
	d.broker.Follow(&d.feed)
	d.hub.Follow(&d.feed)
	d.inbound.Follow(&d.feed)
	d.feed.OnPrompt(func(p sessions.Prompt) { d.inbound.HandlePrompt(masked.Prompt(d.masker, p)) })
	d.mail.Follow(&d.feed)
	d.bases.Follow(&d.feed)
	if d.pusher != nil {
		d.pusher.Follow(&d.feed)
	}
	if d.indexer != nil {
		d.indexer.Follow(&d.feed)
	}
}

// openWords opens the index of all sessions' words. Without it nothing can be searched, and all else goes on.
func (d *daemon) openWords(ctx context.Context) {
	log := d.opt.Log.With("component", "search")
	words, err := search.OpenIndex(ctx, filepath.Join(d.opt.StateDir, search.File), adapters.MaskedLog(d.store, d.masker))
	if err != nil {
		log.Error("nothing can be searched until the next start", "err", err)
		d.noWords = err
		return
	}
	d.words = words
	d.indexer = &search.Indexer{Index: words, List: d.manager.List, Logger: log}
	d.setSearchMasks(ctx, d.config.Redact)
}

// setSearchMasks has the index for searches made anew if other secrets are masked than when it was made: by another
// configuration, or by another version's rules.
func (d *daemon) setSearchMasks(ctx context.Context, cfg config.Redact) {
	if d.indexer == nil {
		return
	}
	rules := sha256.Sum256(fmt.Appendf(nil, "%s %+v", d.opt.Version, cfg))
	if err := d.indexer.SetMasks(ctx, hex.EncodeToString(rules[:])); err != nil {
		d.opt.Log.Warn("nothing can be searched for; it's tried again", "component", "search", "err", err)
	}
}

// watchSearch returns what tells how far searches are behind.
func (d *daemon) watchSearch() *searchWatch {
	if d.indexer == nil {
		return &searchWatch{why: d.noWords}
	}
	return &searchWatch{behind: d.indexer.Behind}
}

// newClient makes the client of one tmux server. Whatever happens to the
// connection or to panes has the manager look.
func (d *daemon) newClient(s config.TmuxServer) *tmux.Client {
	var c *tmux.Client
	look := func() { d.manager.Reconcile(c.Name()) }
	c = tmux.New(tmux.Options{
		SocketName: s.SocketName, SocketPath: s.SocketPath, Logger: d.opt.Log.With("component", "tmux"),
		Environment: tmux.LoginEnvironment(os.Environ(), d.config.Tmux.Environment), Secret: d.hasSecret, Starter: d.opt.Starter,
		OnUp:    func(sessions.ServerIdentity) { look() },
		OnDown:  func(error) { look() },
		OnPanes: look,
	})
	return c
}

// buildShowing makes what puts to people what programs ask and show.
func (d *daemon) buildShowing(ctx context.Context) error {
	log := d.opt.Log.With("component", "showing")
	get := d.manager.Get
	d.inquirer = showing.NewInquirer(showing.InquirerOptions{Store: d.store, Get: get, Reaches: d.reaches, Publish: d.feed.PublishPrompt, Logger: log})
	d.showcase = showing.NewShowcase(showing.ShowcaseOptions{Store: d.store, Get: get, Changed: d.handleExhibit, Logger: log})
	return errors.Join(d.inquirer.Load(ctx), d.showcase.Load(ctx))
}

// handleExhibit has chats and pages hear that a session shows something, or that it's shown.
func (d *daemon) handleExhibit(id sessions.ID) {
	if s, err := d.manager.Get(string(id)); err == nil {
		d.feed.PublishSession(s)
	}
	d.inbound.HandleExhibit(id)
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

// buildWatchers makes what finds out which agent programs run in the sessions.
func (d *daemon) buildWatchers(prompts []*regexp.Regexp) (err error) {
	if d.profiles, err = LoadProfiles(d.opt.Config, d.opt.ConfigPath); err != nil {
		return fmt.Errorf("read the agents' profiles: %w", err)
	}
	d.watchers = agent.NewWatchers(agent.Options{
		Profiles: d.profiles, Processes: d.processes, LookNow: d.coord.LookNow,
		Choose:  func(id sessions.ID, src sessions.Source) error { return d.manager.Choose(id, src) },
		Made:    func(id sessions.ID, call string) { d.manager.CallMade(id, call) },
		Reads:   d.reads,
		Prompts: prompts, Logger: d.opt.Log.With("component", "agents"),
	})
	return nil
}

// reads tells of the terminal of a pane that was just looked at.
func (d *daemon) reads(s *sessions.Snapshot) agent.Reading {
	t, err := (*tmux.Client)(nil).Terminal(s.TTY)
	if err != nil || !t.Canonical {
		return agent.Reading{}
	}
	r := agent.Reading{Canonical: true, Hidden: !t.Echo}
	for _, p := range d.processes.Foreground(s.PID, true) {
		if t.Unread == 0 && d.processes.ReadsTerminal(p.PID, s.TTY) {
			r.Reads, r.By, r.Waits = true, p, d.processes.Waits(p.PID)
			break
		}
	}
	return r
}

// observe makes the observer of a session.
func (d *daemon) observe(s sessions.Session, kept []byte) (polling.Observer, error) {
	profile := profileOf(d.currentConfig(), s.Agent)
	return d.watchers.Observe(s, profile, kept)
}

// hook hears of the call of an agent's hook.
func (d *daemon) hook(h agent.Hook) { d.watchers.Hook(h) }

// chats is a chat platform that's on.
type chats struct {
	platform.Descriptor
	platform.Platform
}

// buildPlatforms makes the platforms that are on.
func (d *daemon) buildPlatforms(ctx context.Context) error {
	for _, p := range all.Enabled(d.config) {
		made, err := p.New(ctx, d.config.Adapters.Section(p.Name), d.hostOf(p.Name))
		if err != nil {
			return err
		}
		d.platforms = append(d.platforms, chats{p, made})
	}
	return nil
}

// hostOf is what a platform has of the daemon. It's made before the hub and the inbound half, which are there once
// it runs.
func (d *daemon) hostOf(name string) platform.Host {
	return platform.Host{
		Notes: d.store.Notes(name), Journal: d.store.Journal(name), Logger: d.opt.Log.With("component", name),
		Commands: commands.Commands(),
		Handle:   func(ctx context.Context, e intake.Event) error { return d.inbound.Handle(ctx, e) },
		GaveUp:   func(e intake.Event) { d.inbound.HandleGivenUp(e) },
		Expired:  func(from, to time.Time) error { return d.inbound.TellExpired(name, from, to) },
		Learn:    func(s qos.Scope, l qos.Learned) { d.hub.LearnLimit(name, s, l) },
		Panicked: func() { d.metrics.CountPanic("interaction") },
		Knows:    func(t adapters.Target) bool { return d.inbound != nil && d.inbound.MayBind(t) },
		Uses:     func(t adapters.Target) bool { return d.hub.UsesChat(t.Adapter, t.Chat) },
		Shows:    func(t adapters.Target) bool { return len(d.hub.BindingsAt(t)) > 0 },
		Mirrored: func() []adapters.Target { return d.mirroredOn(name) },
		Yields:   func() string { return d.yields(name) }, SharedWith: func() string { return d.sharedWith(name) },
		Admits: func(e intake.Event) bool { return d.inbound.Admits(e) },
		Complete: func(e intake.Event, command, param, begun string) []intake.Completion {
			return d.inbound.Complete(e, command, param, begun)
		},
		Offered:  func(ctx context.Context, data string) bool { return d.inbound.IsOffered(ctx, data) },
		Concerns: func(e intake.Event) bool { return d.inbound.NamesSession(e) },
	}
}

// mirroredOn are the places on a platform that show living sessions, or would if nobody
// had closed them.
func (d *daemon) mirroredOn(platform string) []adapters.Target {
	var out []adapters.Target
	for _, b := range d.hub.Status("") {
		s, err := d.manager.Get(string(b.Binding.Session))
		if b.Target.Adapter == platform && !b.Binding.Unbound && err == nil && s.State != sessions.StateEnded {
			out = append(out, b.Target)
		}
	}
	return out
}

// buildHub makes the Hub over the chat platforms.
func (d *daemon) buildHub() error {
	settings, err := hubSettings(d.config)
	if err != nil {
		return err
	}
	log := d.opt.Log.With("component", "adapters")
	var outlets []adapters.Outlet
	all := d.opt.Adapters
	for _, p := range d.platforms {
		all = append(slices.Clip(all), p.Outbound())
	}
	for _, a := range all {
		d.outlets = append(d.outlets, a.Name())
		budget, err := d.budget(a.Name())
		if err != nil {
			return err
		}
		outlets = append(outlets, adapters.Outlet{Adapter: a, Budget: budget, Meter: d.metrics.Observe(a.Name()), Trace: d.recording(a.Name())})
	}
	var restored func(ctx context.Context) error
	if d.restored {
		restored = d.store.HandledRestore
	}
	d.hub, err = adapters.NewHub(adapters.HubOptions{
		Restored: restored,
		Outlets:  outlets, Store: d.store, Log: d.store, Sessions: d.manager, Screens: d.broker,
		Masker: d.masker, Settings: settings, Disabled: d.bindingDisabled, Panicked: func() { d.metrics.CountPanic("delivery") }, Logger: log,
		EndsTurn: func(line string) bool { return d.coord.Marker().IsAlone(line) },
	})
	return d.locate(err)
}

// maxFileOf is the size in bytes of the largest file that's taken; less than 0: none is.
func maxFileOf(c config.Inbound) int64 {
	if c.MaxFileMB == 0 {
		return -1
	}
	return int64(c.MaxFileMB) << 20
}

// buildInbound makes the inbound half of the adapters.
func (d *daemon) buildInbound() error {
	var platforms []intake.InboundAdapter
	for _, p := range d.platforms {
		platforms = append(platforms, p.Inbound())
	}
	speech, err := transcription(d.config.Voice)
	if err != nil {
		return err
	}
	d.inbound, err = inbound.New(inbound.Options{
		Voice:     speech,
		Platforms: platforms, Sessions: d.maskedSessions(), Hub: d.hub, Conversations: conversations{d}, Mail: d.mail.Letters(), Devices: d.devices(), Interrupt: d.interruptKeys, Continuations: d.continuer, Exhibits: d.showcase, Paired: d.hideCode,
		Store: masked.Store{Store: d.store, Log: adapters.MaskedLog(d.store, d.masker)}, Finder: d.finder(), Access: accessConfig(d.config),
		RemindAfter: d.config.Prompts.RemindAfter.Duration(), EscalateTo: escalateTo(d.config), Pinned: d.config.Attention.Pinned,
		StaleAfter: d.config.Inbound.StaleAfter.Duration(), MaxFile: maxFileOf(d.config.Inbound), StateDir: d.opt.StateDir, Folders: d.config.Inbound.Folders, Diff: d.shownDiff, Mask: d.masker.Line,
		Shared: d.sharer, Panicked: d.metrics.CountPanic, Logger: d.opt.Log.With("component", "inbound"),
	})
	if err == nil {
		d.hub.SetInbound(d.inbound)
	}
	return err
}

// transcription is how voice notes become text.
func transcription(c config.Voice) (inbound.Transcription, error) {
	if !c.IsOn() {
		return inbound.Transcription{}, nil
	}
	t, err := voice.New(voice.Options{Command: c.Command, URL: c.URL, KeyFile: c.KeyFile, Model: c.Model, Language: c.Language, Within: c.Within.Duration()})
	if err != nil {
		return inbound.Transcription{}, err
	}
	return inbound.Transcription{Transcribe: t.Transcribe, Confirm: c.Confirm}, nil
}

// maskedSessions are the sessions as chats and notifications see them.
func (d *daemon) maskedSessions() masked.Sessions {
	return masked.Sessions{Questions: callers.Questions{Manager: d.manager, Consent: d.consent, Inquiries: d.inquirer}, Masker: d.masker, Log: outputLog{d.store}}
}

// finder finds lines for chats; nil: nothing can be searched.
func (d *daemon) finder() commands.LineFinder {
	if d.indexer == nil {
		return nil
	}
	return masked.LineIndex{Indexer: d.indexer, Log: adapters.MaskedLog(d.store, d.masker)}
}

// interruptKeys are the keys that end what a session's program is doing: those of the agent
// that runs in it, whatever it's called in the configuration, else of the one that was
// begun there.
func (d *daemon) interruptKeys(s sessions.Session) []string {
	name := s.Source.Program
	if name == "" && s.Agent != "" {
		name = profileOf(d.currentConfig(), s.Agent)
	}
	if p := d.profiles.Get(name); p != nil {
		return p.InterruptKeys()
	}
	return nil
}

// asked has tell hear what a session's agent was asked, as its transcript and its hooks say.
func (d *daemon) asked(id sessions.ID, tell func(sessions.Asked)) (stop func()) {
	return d.watchers.Watch(id, func(n agent.News) {
		if h := n.Hook; h != nil && h.Signal == agent.PromptSent {
			tell(sessions.Asked{Text: h.Text, At: h.At, Hook: true})
		}
		for _, r := range n.Records {
			if r.Kind == transcript.User {
				tell(sessions.Asked{Text: r.Text, At: r.At})
			}
		}
	})
}

// pollers is the coordinator as the manager sees it.
type pollers struct{ *daemon }

func (p pollers) Stop(ctx context.Context, id sessions.ID) error { return p.coord.Stop(ctx, id) }
func (p pollers) NoteTyped(id sessions.ID, text string)          { p.coord.NoteTyped(id, text) }
func (p pollers) ServerGone(server string)                       { p.coord.ServerGone(server) }

func (p pollers) Start(s sessions.Session) error {
	return p.coord.Start(polling.PolledPane{
		Session: s.ID, Server: s.Pane.Server, Pane: s.Pane.ID, Identity: s.Pane.Identity, Drained: s.Owned,
		Observe: func(kept []byte) (polling.Observer, error) { return p.observe(s, kept) },
	})
}

// outputLog is the store as the API reads it.
type outputLog struct{ *store.Store }

func (l outputLog) ReadSince(ctx context.Context, id sessions.ID, line, gap int64, limit int) (sessions.Output, int64, int64, error) {
	out, next, err := l.Store.ReadSince(ctx, id, store.Cursor{Line: line, Gap: gap}, limit)
	return out, next.Line, next.Gap, err
}

func (l outputLog) Head(ctx context.Context, id sessions.ID) (line, gap int64, err error) {
	c, err := l.End(ctx, id)
	return c.Line, c.Gap, err
}

// notes writes into the output log what doesn't come from a poller.
type notes struct{ *store.Store }

func (n notes) AppendLines(ctx context.Context, id sessions.ID, lines []sessions.Line, gap *sessions.Gap) ([]sessions.Line, []sessions.Gap, error) {
	b := polling.Batch{Session: id, Lines: lines}
	if gap != nil {
		b.Gaps = []sessions.Gap{{AtLeast: gap.AtLeast, Reason: gap.Reason}}
	}
	done, err := n.Append(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return done.Lines, done.Gaps, nil
}

// shell is what a session without a command runs.
func (d *daemon) shell() string {
	if s, _ := d.lookUpPane("SHELL"); s != "" {
		return s
	}
	return "/bin/sh"
}

// lives reports whether a session of that name lives, as soon as that's sure:
// one of an earlier run of its tmux server, or whose pane is gone, is about to
// be ended.
func (d *daemon) lives(ctx context.Context, name string) bool {
	for ctx.Err() == nil {
		s, err := d.manager.Get(name)
		if err != nil {
			return false
		}
		if _, err := d.manager.Screen(ctx, s.ID); err == nil && s.State != sessions.StateStarting {
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// awaitServer waits until the tmux server's client is connected, or knows that
// there's no server yet.
func (d *daemon) awaitServer(ctx context.Context, name string) error {
	for {
		for _, c := range d.clients {
			if s := c.Status(); (name == "" || c.Name() == name) && (s.Connected || s.Absent) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// registry is the manager as the API calls it: who forgets a session has all parts
// forget it.
type registry struct {
	callers.Questions
	*forgetting.Forgetter
}

// keepEnded is for how long ended sessions are kept.
func (d *daemon) keepEnded() time.Duration { return d.currentConfig().Sessions.KeepEnded.Duration() }

// watchWrites watches a terminal.
func watchWrites(tty string) (polling.WriteWatch, error) { return ttywatch.Open(tty) }
