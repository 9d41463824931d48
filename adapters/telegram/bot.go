package telegram

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
)

// Descriptor is what's known of Telegram before it's on.
func Descriptor() platform.Descriptor {
	return platform.Descriptor{
		PlatformForm: Form(), Title: "Telegram", Limits: Limits, New: newBot,
		// A private chat has its person's id.
		PrivateChat: func(_ context.Context, _ platform.Notes, person string) (string, error) { return person, nil },
	}
}

// running is the bot on Telegram: its adapter, and how its updates come in.
type running struct {
	adapter  *Adapter
	platform *Platform
	identity *Identity
	queue    *intake.Queue
	reader   updateReader
	listen   string // of the webhook; "": there's none
	host     platform.Host
}

var (
	_ platform.Runner       = (*running)(nil)
	_ platform.Reloader     = (*running)(nil)
	_ platform.HealthTeller = (*running)(nil)
	_ platform.Sharer       = (*running)(nil)
)

// updateReader brings updates to the queue: Poller or Webhook.
type updateReader interface {
	Run(ctx context.Context) error
	Health() intake.Health
}

// newBot makes the bot of a section.
func newBot(_ context.Context, section config.Section, host platform.Host) (platform.Platform, error) {
	cfg := section.(*Config) //nolint:forcetypeassert // Form makes it
	opt, err := cfg.options()
	if err != nil {
		return nil, err
	}
	opt.Knows, opt.Logger = host.Knows, host.Logger
	a, err := New(opt)
	if err != nil {
		return nil, err
	}
	r := &running{adapter: a, platform: a.Platform(host.Notes), identity: a.Identity(host.Notes), listen: cfg.Webhook.Listen, host: host}
	r.queue = intake.NewQueue(intake.QueueOptions{
		Journal: host.Journal, Handle: host.Handle, GaveUp: host.GaveUp, Logger: host.Logger, Bot: opt.Token.Bot(), Decode: r.identity.Decode,
	})
	absence := Absence{Notes: host.Notes, Expired: host.Expired}
	if cfg.Webhook.URL == "" {
		r.reader = a.Poller(PollerOptions{Keeper: r.queue, DeleteWebhook: true, Yields: host.Yields, Absence: absence})
		return r, nil
	}
	w, err := a.Webhook(WebhookOptions{Keeper: r.queue, URL: cfg.Webhook.URL, Absence: absence})
	r.reader = w
	return r, err
}

// options are the adapter's, as far as the configuration has them.
func (t *Config) options() (Options, error) {
	token, err := platform.Token(t.Token, t.TokenFile, Name)
	return Options{Token: Token(token), APIURL: t.APIURL, Proxy: t.Proxy, Chats: t.chats()}, err
}

func (t *Config) chats() []Chat {
	var out []Chat
	for _, c := range t.Chats {
		out = append(out, Chat{ID: int64(c.ID), Topics: c.Topics})
	}
	return out
}

// Outbound implements platform.Platform.
func (r *running) Outbound() adapters.Adapter { return r.adapter }

// Inbound implements platform.Platform.
func (r *running) Inbound() intake.Platform { return r.platform }

// Reload implements platform.Reloader.
func (r *running) Reload(section config.Section) {
	r.adapter.SetChats(section.(*Config).chats()) //nolint:forcetypeassert // Form makes it
}

// Run implements platform.Runner.
func (r *running) Run(ctx context.Context) error {
	if !r.identity.Ask(ctx) {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.queue.Run(ctx) })
	g.Go(func() error { return r.reader.Run(ctx) })
	g.Go(func() error { r.host.OfferCommands(ctx, r.platform); return nil })
	if handler, ok := r.reader.(http.Handler); ok {
		g.Go(func() error { return r.serve(ctx, handler) })
	}
	return g.Wait()
}

// serve is the webhook's door.
func (r *running) serve(ctx context.Context, handler http.Handler) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", r.listen)
	if err != nil {
		return fmt.Errorf("open the webhook's port: %w; choose another in adapters.telegram.webhook.listen", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the webhook: %w", err)
	}
	return nil
}

// Health implements platform.HealthTeller.
func (r *running) Health() intake.Health {
	if r.identity.Known() {
		return r.reader.Health()
	}
	return r.identity.Health()
}

// SharedWith implements platform.Sharer: Telegram hands each update to one reader.
func (r *running) SharedWith() string {
	if others := r.host.SharedWith(); others != "" {
		return others
	}
	if poller, polls := r.reader.(*Poller); polls && poller.Shared() {
		return "Another panebridge"
	}
	return ""
}
