package config

// Discord is a bot on Discord.
type Discord struct {
	Enabled   bool             `yaml:"enabled" doc:"Whether to run the bot."`
	Token     Secret           `yaml:"token" eg:"${DISCORD_TOKEN}" doc:"The bot's token, from discord.com/developers/applications; better in token_file, or taken from the environment, of which sessions get no secret."`
	TokenFile string           `yaml:"token_file" is:"absolute_path" eg:"/etc/panebridge/discord-token" doc:"File that holds the bot's token and nothing else."`
	APIURL    string           `yaml:"api_url" is:"http_url" doc:"Where Discord's API is."`
	Proxy     string           `yaml:"proxy" is:"proxy_url" eg:"socks5://127.0.0.1:1080" doc:"http, https or socks5 proxy to reach it through; empty: what HTTPS_PROXY says."`
	Guild     string           `yaml:"guild" is:"snowflake" eg:"112233445566778899" doc:"The id of the server that the channels are on."`
	Channels  []DiscordChannel `yaml:"channels" reload:"yes" doc:"Channels the bot works in; people can add others with a pairing code."`
	QoS       QoS              `yaml:"qos" reload:"yes" doc:"How its calls are shared out, so that Discord never has to refuse one."`
}

// DiscordChannel is a channel that the bot works in.
type DiscordChannel struct {
	ID      string `yaml:"id" is:"snowflake" eg:"223344556677889900" doc:"The id of a text or forum channel, as Copy Channel ID gives it."`
	Threads bool   `yaml:"threads" doc:"Whether each session gets a thread of its own; in a forum channel a post. Without, the channel is for one session."`
}

func defaultDiscord() Discord {
	return Discord{APIURL: "https://discord.com/api", QoS: defaultDiscordQoS()}
}

func (d *Discord) check(p part) {
	token, file := d.Token.Reveal() != "", d.TokenFile != ""
	switch {
	case token && file:
		p.problem("token_file", "must not be given beside token")
	case d.Enabled && !token && !file && p.sound("token"):
		p.problem("token_file", "must be given when enabled is true, or token")
	}
	if d.Enabled && d.Guild == "" && p.sound("guild") {
		p.problem("guild", "must be given when enabled is true: the server's id, as Copy Server ID gives it")
	}
}

func (c *DiscordChannel) check(p part) {
	if c.ID == "" && p.sound("id") {
		p.problem("id", "must be the channel's id, as Copy Channel ID gives it")
	}
}
