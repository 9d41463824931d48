package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/store"
)

// telegramSide is the bot on Telegram: its adapter, and how its updates come in.
type telegramSide struct {
	adapter  *telegram.Adapter
	platform *telegram.Platform
	notes    store.Notes
	queue    *inbound.Queue
	reader   updateReader
	listen   string                          // of the webhook; "": there's none
	starting func(ctx context.Context) error // asks who the bot is; again after an error
}

// updateReader brings updates to the queue: telegram.Poller or telegram.Webhook.
type updateReader interface {
	Run(ctx context.Context) error
	Health() telegram.Health
}

// newTelegram makes the adapter; nil if it's off.
func (d *daemon) newTelegram() (*telegramSide, error) {
	cfg := d.config.Adapters.Telegram
	if !cfg.Enabled {
		return nil, nil //nolint:nilnil // "off" is no error
	}
	token, err := telegramToken(cfg)
	if err != nil {
		return nil, err
	}
	a, err := telegram.New(telegram.Options{
		Token: token, APIURL: cfg.APIURL, Proxy: cfg.Proxy, Chats: telegramChats(cfg),
		Knows: func(t adapters.Target) bool { return d.inbound.MayBind(t) }, Logger: d.opt.Log.With("component", "telegram"),
	})
	if err != nil {
		return nil, err
	}
	notes := d.store.Notes(telegram.Name)
	return &telegramSide{adapter: a, platform: a.Platform(notes), notes: notes, listen: cfg.Webhook.Listen}, nil
}

// telegramToken is the token, wherever it stands.
func telegramToken(cfg config.Telegram) (telegram.Token, error) {
	if cfg.TokenFile == "" {
		return telegram.Token(strings.TrimSpace(cfg.Token.Reveal())), nil
	}
	text, err := os.ReadFile(cfg.TokenFile)
	if err != nil {
		return "", fmt.Errorf("read adapters.telegram.token_file: %w", err)
	}
	return telegram.Token(strings.TrimSpace(string(text))), nil
}

func telegramChats(cfg config.Telegram) []telegram.Chat {
	var out []telegram.Chat
	for _, c := range cfg.Chats {
		out = append(out, telegram.Chat{ID: int64(c.ID), Topics: c.Topics})
	}
	return out
}

// connect has updates handled by the inbound half.
func (t *telegramSide) connect(d *daemon) error {
	var decoder telegram.Decoder
	log := d.opt.Log.With("component", "telegram")
	t.queue = inbound.NewQueue(inbound.QueueOptions{
		Journal: d.store.Journal(telegram.Name), Handle: d.inbound.Handle, Logger: log,
		Decode: func(raw []byte) (inbound.Event, bool, error) { return decoder.Decode(raw) },
	})
	t.starting = func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		decoder, err = t.adapter.Decoder(ctx, t.notes)
		return err
	}
	hook := d.config.Adapters.Telegram.Webhook
	if hook.URL == "" {
		t.reader = t.adapter.Poller(telegram.PollerOptions{Keeper: t.queue, DeleteWebhook: true})
		return nil
	}
	w, err := t.adapter.Webhook(telegram.WebhookOptions{Keeper: t.queue, URL: hook.URL})
	t.reader = w
	return err
}

// run takes updates in until ctx ends.
func (t *telegramSide) run(ctx context.Context) error {
	if !retry(ctx, func() error { return t.starting(ctx) }) {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.queue.Run(ctx) })
	g.Go(func() error { return t.reader.Run(ctx) })
	g.Go(func() error {
		retry(ctx, func() error { return t.platform.SetCommands(ctx, inbound.Commands()) })
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

// part is how the bot is.
func (t *telegramSide) part() api.Part {
	h := t.reader.Health()
	states := map[telegram.Condition]api.HealthState{telegram.Well: api.HealthOK, telegram.Degraded: api.HealthDegraded, telegram.Down: api.HealthDown}
	return api.Part{Name: telegram.Name, State: states[h.Condition], Detail: h.Detail, LastSuccess: h.LastOK}
}

// chatParts are the chat platforms' parts of the health.
func (d *daemon) chatParts() []api.Part {
	if d.telegram == nil {
		return nil
	}
	return []api.Part{d.telegram.part()}
}
