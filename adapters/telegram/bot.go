package telegram

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
)

// Descriptor is what's known of Telegram before it's on.
func Descriptor() platform.Descriptor {
	return platform.Descriptor{
		PlatformForm: Form(), Title: "Telegram", Limits: Limits, New: newBot, Examine: examine, Setup: newSetup,
		// A private chat has its person's id.
		PrivateChat: func(_ context.Context, _ platform.Notes, person string) (string, error) { return person, nil },
	}
}

// runningBot is the bot on Telegram: its adapter, and how its updates come in.
type runningBot struct {
	adapter  *Adapter
	identity *Identity
	queue    *intake.Queue
	reader   updateReader
	listen   string // of the webhook; "": there's none
	host     platform.Host
}

var (
	_ platform.BackgroundRunner = (*runningBot)(nil)
	_ platform.Reloader         = (*runningBot)(nil)
	_ platform.HealthTeller     = (*runningBot)(nil)
	_ platform.Sharer           = (*runningBot)(nil)
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
	opt.Knows, opt.Logger, opt.Notes = host.Knows, host.Logger, host.Notes
	a, err := New(opt)
	if err != nil {
		return nil, err
	}
	r := &runningBot{adapter: a, identity: a.Identity(), listen: cfg.Webhook.Listen, host: host}
	r.queue = intake.NewQueue(intake.QueueOptions{
		Journal: host.Journal, Handle: host.Handle, GaveUp: host.GaveUp, Logger: host.Logger, Bot: botOf(opt.Token), Decode: r.identity.Decode, Commands: host.Commands,
	})
	if cfg.Webhook.URL == "" {
		r.reader = a.Poller(PollerOptions{Keeper: r.queue, Yields: host.Yields, Expired: host.Expired})
		return r, nil
	}
	w, err := a.Webhook(WebhookOptions{Keeper: r.queue, URL: cfg.Webhook.URL, Expired: host.Expired})
	r.reader = w
	return r, err
}

// options are the adapter's, as far as the configuration has them.
func (t *Config) options() (Options, error) {
	token, err := platform.ReadToken(t.Token, t.TokenFile, Name)
	return Options{Token: exchange.Token(token), APIURL: t.APIURL, Proxy: t.Proxy, Chats: t.Chats}, err
}

// Outbound implements platform.Platform.
func (r *runningBot) Outbound() adapters.Adapter { return r.adapter }

// Inbound implements platform.Platform.
func (r *runningBot) Inbound() intake.InboundAdapter { return r.adapter }

// Reload implements platform.Reloader.
func (r *runningBot) Reload(section config.Section) {
	r.adapter.SetChats(section.(*Config).Chats) //nolint:forcetypeassert // Form makes it
}

// Run implements platform.BackgroundRunner.
func (r *runningBot) Run(ctx context.Context) error {
	if !r.identity.AskUntilKnown(ctx) {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.queue.Run(ctx) })
	g.Go(func() error { return r.reader.Run(ctx) })
	g.Go(func() error { r.host.OfferCommands(ctx, r.adapter); return nil })
	if handler, ok := r.reader.(http.Handler); ok {
		g.Go(func() error { return r.serve(ctx, handler) })
	}
	return g.Wait()
}

// serve is the webhook's door.
func (r *runningBot) serve(ctx context.Context, handler http.Handler) error {
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
func (r *runningBot) Health() intake.Health {
	if r.identity.Known() {
		return r.reader.Health()
	}
	return r.identity.Health()
}

// SharedWith implements platform.Sharer: Telegram hands each update to one reader.
func (r *runningBot) SharedWith() string {
	if others := r.host.SharedWith(); others != "" {
		return others
	}
	if poller, polls := r.reader.(*Poller); polls && poller.Shared() {
		return "Another panebridge"
	}
	return ""
}

// Config is a bot on Telegram, as it's configured.
type Config struct {
	Enabled   bool          `yaml:"enabled" doc:"Whether to run the bot."`
	Token     config.Secret `yaml:"token" secret_after:":" eg:"${TELEGRAM_TOKEN}" doc:"The bot's token, from @BotFather; better in token_file, or taken from the environment, of which sessions get no secret."`
	TokenFile string        `yaml:"token_file" is:"secret_file" secret_after:":" eg:"/etc/panebridge/telegram-token" doc:"File that holds the bot's token and nothing else."`
	APIURL    string        `yaml:"api_url" is:"http_url" doc:"Where the Bot API is; another one for a Bot API server of one's own."`
	Proxy     string        `yaml:"proxy" is:"proxy_url" eg:"socks5://127.0.0.1:1080" doc:"http, https or socks5 proxy to reach it through; empty: what HTTPS_PROXY says."`
	Chats     []ChatConfig  `yaml:"chats" reload:"yes" doc:"Chats the bot works in; people can add others with a pairing code."`
	Webhook   WebhookConfig `yaml:"webhook" doc:"Have Telegram call panebridge, rather than ask it; needs a public HTTPS address."`
	QoS       config.QoS    `yaml:"qos" reload:"yes" doc:"How its calls are shared out, so that Telegram never has to refuse one."`
}

// ChatConfig is a chat that the bot works in, and may write to.
type ChatConfig struct {
	ID     int64 `yaml:"id" min:"-9007199254740991" max:"9007199254740991" eg:"-1001234567890" doc:"The chat's number; groups have negative ones."`
	Topics bool  `yaml:"topics" doc:"Whether each session gets a topic of its own; the chat needs topics turned on."`
}

// WebhookConfig is how Telegram reaches panebridge.
type WebhookConfig struct {
	URL    string `yaml:"url" is:"http_url_or_none" eg:"https://bridge.example.org/telegram" doc:"Public address that Telegram calls; empty: panebridge asks Telegram."`
	Listen string `yaml:"listen" is:"loopback_or_none" eg:"127.0.0.1:8443" doc:"Loopback host:port to which a proxy on this machine passes these calls on."`
}

// Form is the part of the configuration that's Telegram's.
func Form() config.PlatformForm {
	return config.PlatformForm{
		Name: Name, Doc: "Chats on Telegram.",
		Default: func() config.Section { return &Config{APIURL: "https://api.telegram.org", QoS: config.DefaultQoS()} },
	}
}

// ConfigOf is Telegram's section of a configuration, which has one.
func ConfigOf(cfg *config.Config) *Config {
	return cfg.Adapters.Section(Name).(*Config) //nolint:forcetypeassert // Form makes it
}

// IsEnabled implements config.Section.
func (t *Config) IsEnabled() bool { return t.Enabled }

// Pace implements config.Section.
func (t *Config) Pace() config.QoS { return t.QoS }

// ChatIDs implements config.Section.
func (t *Config) ChatIDs() []string {
	var ids []string
	for _, c := range t.Chats {
		ids = append(ids, strconv.FormatInt(c.ID, 10))
	}
	return ids
}

// Check implements config.Checker.
func (t *Config) Check(p config.Part) {
	token, file := t.Token.Reveal() != "", t.TokenFile != ""
	switch {
	case token && file:
		p.Problem("token_file", "must not be given beside token")
	case t.Enabled && !token && !file && p.Sound("token"):
		p.Problem("token_file", "must be given when enabled is true, or token")
	}
	if t.Webhook.URL != "" && t.Webhook.Listen == "" {
		p.Problem("webhook.listen", "must be given beside webhook.url")
	}
}

// Check implements config.Checker.
func (c *ChatConfig) Check(p config.Part) {
	if c.ID == 0 {
		p.Problem("id", "must be the chat's number; groups have negative ones")
	}
}
