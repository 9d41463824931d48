package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
)

// telegramSide is the bot on Telegram: its adapter, and how its updates come in.
type telegramSide struct {
	adapter  *telegram.Adapter
	platform *telegram.Platform
	identity *telegram.Identity
	queue    *intake.Queue
	reader   updateReader
	bot      string // its number
	listen   string // of the webhook; "": there's none
}

// updateReader brings updates to the queue: telegram.Poller or telegram.Webhook.
type updateReader interface {
	Run(ctx context.Context) error
	Health() intake.Health
}

// newTelegram makes the adapter.
func (d *daemon) newTelegram() (*telegramSide, error) {
	cfg := telegram.ConfigOf(d.config)
	token, err := token(cfg.Token, cfg.TokenFile, telegram.Name)
	if err != nil {
		return nil, err
	}
	opt := telegramOptions(d.config, token)
	opt.Knows, opt.Logger = func(t adapters.Target) bool { return d.inbound != nil && d.inbound.MayBind(t) }, d.opt.Log.With("component", "telegram")
	a, err := telegram.New(opt)
	if err != nil {
		return nil, err
	}
	notes := d.store.Notes(telegram.Name)
	return &telegramSide{adapter: a, platform: a.Platform(notes), identity: a.Identity(notes), bot: opt.Token.Bot(), listen: cfg.Webhook.Listen}, nil
}

// telegramOptions are the adapter's, as far as the configuration has them.
func telegramOptions(cfg *config.Config, token string) telegram.Options {
	c := telegram.ConfigOf(cfg)
	return telegram.Options{Token: telegram.Token(token), APIURL: c.APIURL, Proxy: c.Proxy, Chats: telegramChats(c)}
}

func telegramChats(cfg *telegram.Config) []telegram.Chat {
	var out []telegram.Chat
	for _, c := range cfg.Chats {
		out = append(out, telegram.Chat{ID: int64(c.ID), Topics: c.Topics})
	}
	return out
}

func (t *telegramSide) outbound() adapters.Adapter { return t.adapter }

func (t *telegramSide) inbound() intake.Platform { return t.platform }

func (t *telegramSide) reload(cfg *config.Config) {
	t.adapter.SetChats(telegramChats(telegram.ConfigOf(cfg)))
}

func (t *telegramSide) connect(d *daemon) error {
	log := d.opt.Log.With("component", "telegram")
	t.queue = intake.NewQueue(intake.QueueOptions{
		Journal: d.store.Journal(telegram.Name), Handle: d.inbound.Handle, GaveUp: d.inbound.GaveUp, Logger: log,
		Bot: t.bot, Decode: t.identity.Decode,
	})
	hook := telegram.ConfigOf(d.config).Webhook
	absence := telegram.Absence{
		Notes:   d.store.Notes(telegram.Name),
		Expired: func(from, to time.Time) error { return d.inbound.Expired(telegram.Name, from, to) },
	}
	if hook.URL == "" {
		t.reader = t.adapter.Poller(telegram.PollerOptions{Keeper: t.queue, DeleteWebhook: true, Yields: d.yields(telegram.Name), Absence: absence})
		return nil
	}
	w, err := t.adapter.Webhook(telegram.WebhookOptions{Keeper: t.queue, URL: hook.URL, Absence: absence})
	t.reader = w
	return err
}

func (t *telegramSide) run(ctx context.Context) error {
	if !t.identity.Ask(ctx) {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.queue.Run(ctx) })
	g.Go(func() error { return t.reader.Run(ctx) })
	g.Go(func() error {
		retry(ctx, func() error { return t.platform.SetCommands(ctx, commands.Commands()) })
		return nil
	})
	if handler, ok := t.reader.(http.Handler); ok {
		g.Go(func() error { return t.serve(ctx, handler) })
	}
	return g.Wait()
}

// serve is the webhook's door.
func (t *telegramSide) serve(ctx context.Context, handler http.Handler) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", t.listen)
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

// retry does something until it works, at longer and longer intervals; false: ctx
// has ended.
func retry(ctx context.Context, do func() error) bool {
	for rest := time.Second; ; rest = min(2*rest, 5*time.Minute) {
		if do() == nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(rest):
		}
	}
}

func (t *telegramSide) part() api.Part {
	h := t.identity.Health()
	if t.identity.Known() {
		h = t.reader.Health()
	}
	return partOf(telegram.Name, h)
}
