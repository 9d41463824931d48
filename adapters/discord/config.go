package discord

import (
	"regexp"

	"github.com/panebridge/panebridge/config"
)

// Config is a bot on Discord, as it's configured.
type Config struct {
	Enabled   bool            `yaml:"enabled" doc:"Whether to run the bot."`
	Token     config.Secret   `yaml:"token" eg:"${DISCORD_TOKEN}" doc:"The bot's token, from discord.com/developers/applications; better in token_file, or taken from the environment, of which sessions get no secret."`
	TokenFile string          `yaml:"token_file" is:"secret_file" eg:"/etc/panebridge/discord-token" doc:"File that holds the bot's token and nothing else."`
	APIURL    string          `yaml:"api_url" is:"http_url" doc:"Where Discord's API is."`
	Proxy     string          `yaml:"proxy" is:"proxy_url" eg:"socks5://127.0.0.1:1080" doc:"http, https or socks5 proxy to reach it through; empty: what HTTPS_PROXY says."`
	Guild     string          `yaml:"guild" eg:"112233445566778899" doc:"The id of the server that the channels are on."`
	Channels  []ConfigChannel `yaml:"channels" reload:"yes" doc:"Channels the bot works in; people can add others with a pairing code."`
	QoS       config.QoS      `yaml:"qos" reload:"yes" doc:"How its calls are shared out, so that Discord never has to refuse one."`
}

// ConfigChannel is a channel that the bot works in.
type ConfigChannel struct {
	ID      string `yaml:"id" eg:"223344556677889900" doc:"The id of a text or forum channel, as Copy Channel ID gives it."`
	Threads bool   `yaml:"threads" doc:"Whether each session gets a thread of its own; in a forum channel a post. Without, the channel is for one session."`
}

// Form is the part of the configuration that's Discord's.
func Form() config.PlatformForm {
	return config.PlatformForm{Name: Name, Doc: "Channels and threads on Discord.", Default: defaultConfig}
}

// defaultConfig: 5 calls in 5 s is what a channel takes, and 1.5 s is as fast as edits are read.
func defaultConfig() config.Section {
	q := config.DefaultQoS()
	q.Mode, q.GroupMPM, q.RoundingMS = "coalesce_only", 60, 1500
	return &Config{APIURL: DefaultAPIURL, QoS: q}
}

// ConfigOf is Discord's section of a configuration, which has one.
func ConfigOf(cfg *config.Config) *Config {
	return cfg.Adapters.Section(Name).(*Config) //nolint:forcetypeassert // Form makes it
}

// IsEnabled implements config.Section.
func (d *Config) IsEnabled() bool { return d.Enabled }

// Pace implements config.Section.
func (d *Config) Pace() config.QoS { return d.QoS }

// ChatIDs implements config.Section.
func (d *Config) ChatIDs() []string {
	var ids []string
	for _, c := range d.Channels {
		ids = append(ids, c.ID)
	}
	return ids
}

// snowflake is what ids look like.
var snowflake = regexp.MustCompile(`^[0-9]{15,20}$`)

const mustBeID = "must be an id of Discord's, 15 to 20 digits, as Copy ID in its menus gives it (Settings, Advanced, Developer Mode)"

// Check implements config.Checker.
func (d *Config) Check(p config.Part) {
	token, file := d.Token.Reveal() != "", d.TokenFile != ""
	switch {
	case token && file:
		p.Problem("token_file", "must not be given beside token")
	case d.Enabled && !token && !file && p.Sound("token"):
		p.Problem("token_file", "must be given when enabled is true, or token")
	}
	switch {
	case d.Guild != "" && !snowflake.MatchString(d.Guild):
		p.Problem("guild", mustBeID)
	case d.Enabled && d.Guild == "" && p.Sound("guild"):
		p.Problem("guild", "must be given when enabled is true: the server's id, as Copy Server ID gives it")
	}
}

// Check implements config.Checker.
func (c *ConfigChannel) Check(p config.Part) {
	switch {
	case c.ID == "" && p.Sound("id"):
		p.Problem("id", "must be the channel's id, as Copy Channel ID gives it")
	case c.ID != "" && !snowflake.MatchString(c.ID):
		p.Problem("id", mustBeID)
	}
}
