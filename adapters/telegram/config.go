package telegram

import (
	"strconv"

	"github.com/panebridge/panebridge/config"
)

// Config is a bot on Telegram, as it's configured.
type Config struct {
	Enabled   bool          `yaml:"enabled" doc:"Whether to run the bot."`
	Token     config.Secret `yaml:"token" secret_after:":" eg:"${TELEGRAM_TOKEN}" doc:"The bot's token, from @BotFather; better in token_file, or taken from the environment, of which sessions get no secret."`
	TokenFile string        `yaml:"token_file" is:"secret_file" secret_after:":" eg:"/etc/panebridge/telegram-token" doc:"File that holds the bot's token and nothing else."`
	APIURL    string        `yaml:"api_url" is:"http_url" doc:"Where the Bot API is; another one for a Bot API server of one's own."`
	Proxy     string        `yaml:"proxy" is:"proxy_url" eg:"socks5://127.0.0.1:1080" doc:"http, https or socks5 proxy to reach it through; empty: what HTTPS_PROXY says."`
	Chats     []ConfigChat  `yaml:"chats" reload:"yes" doc:"Chats the bot works in; people can add others with a pairing code."`
	Webhook   ConfigWebhook `yaml:"webhook" doc:"Have Telegram call panebridge, rather than ask it; needs a public HTTPS address."`
	QoS       config.QoS    `yaml:"qos" reload:"yes" doc:"How its calls are shared out, so that Telegram never has to refuse one."`
}

// ConfigChat is a chat that the bot works in.
type ConfigChat struct {
	ID     int  `yaml:"id" min:"-9007199254740991" max:"9007199254740991" eg:"-1001234567890" doc:"The chat's number; groups have negative ones."`
	Topics bool `yaml:"topics" doc:"Whether each session gets a topic of its own; the chat needs topics turned on."`
}

// ConfigWebhook is how Telegram reaches panebridge.
type ConfigWebhook struct {
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
		ids = append(ids, strconv.Itoa(c.ID))
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
func (c *ConfigChat) Check(p config.Part) {
	if c.ID == 0 {
		p.Problem("id", "must be the chat's number; groups have negative ones")
	}
}
