package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
)

// Descriptor is what's known of Discord before it's on.
func Descriptor() platform.Descriptor {
	return platform.Descriptor{
		PlatformForm: Form(), Title: "Discord", Limits: Limits, New: newBot, Examine: examine, Setup: newSetup, PrivateChat: privateChat,
	}
}

// runningBot is the bot on Discord: its adapter, and the gateway that its events come in by.
type runningBot struct {
	adapter *Adapter
	queue   *intake.Queue
	gateway *Gateway
	rights  *RightsWatcher
	host    platform.Host
}

var (
	_ platform.BackgroundRunner = (*runningBot)(nil)
	_ platform.Reloader         = (*runningBot)(nil)
	_ platform.HealthTeller     = (*runningBot)(nil)
)

// newBot makes the bot of a section.
func newBot(ctx context.Context, section config.Section, host platform.Host) (platform.Platform, error) {
	opt, err := section.(*Config).options() //nolint:forcetypeassert // Form makes it
	if err != nil {
		return nil, err
	}
	opt.Knows, opt.Shows, opt.Learn, opt.Logger, opt.Notes = host.Knows, host.Shows, host.Learn, host.Logger, host.Notes
	a, err := New(opt)
	if err != nil {
		return nil, err
	}
	if host.Notes != nil {
		if err := a.Load(ctx); err != nil {
			return nil, err
		}
	}
	r := &runningBot{adapter: a, rights: a.RightsWatcher(host.Mirrored), host: host}
	r.queue = intake.NewQueue(intake.QueueOptions{
		Journal: host.Journal, Decode: Decoder{host.Commands}.Decode, Commands: host.Commands, GaveUp: host.GaveUp, Logger: host.Logger,
		Handle: func(ctx context.Context, e intake.Event) error { return r.gateway.HandleOwn(host.Handle)(ctx, e) },
	})
	r.gateway = a.Gateway(GatewayOptions{Host: host, Keeper: r.queue, RightsChanged: r.rights.LookAgain})
	return r, nil
}

// options are the adapter's, as far as the configuration has them.
func (d *Config) options() (Options, error) {
	token, err := platform.ReadToken(d.Token, d.TokenFile, Name)
	return Options{Token: exchange.Token(token), APIURL: d.APIURL, Proxy: d.Proxy, Guild: d.Guild, Channels: d.Channels}, err
}

// Outbound implements platform.Platform.
func (r *runningBot) Outbound() adapters.Adapter { return r.adapter }

// Inbound implements platform.Platform.
func (r *runningBot) Inbound() intake.InboundAdapter { return r.adapter }

// Reload implements platform.Reloader.
func (r *runningBot) Reload(section config.Section) {
	r.adapter.SetChannels(section.(*Config).Channels) //nolint:forcetypeassert // Form makes it
}

// Run implements platform.BackgroundRunner.
func (r *runningBot) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.queue.Run(ctx) })
	g.Go(func() error { return r.gateway.Run(ctx) })
	g.Go(func() error { return r.rights.Run(ctx) })
	g.Go(func() error { r.host.OfferCommands(ctx, r.adapter); return nil })
	return g.Wait()
}

// Health implements platform.HealthTeller.
func (r *runningBot) Health() intake.Health { return r.gateway.Health().Worse(r.rights.Health()) }

// privateChat is the private chat with a person, as it was noted when they wrote there; "": none is
// known.
func privateChat(ctx context.Context, notes platform.Notes, person string) (string, error) {
	text, err := notes.Note(ctx, notePrivate)
	if err != nil || text == "" {
		return "", err
	}
	people := map[string]string{}
	if err := json.Unmarshal([]byte(text), &people); err != nil {
		return "", nil //nolint:nilerr // they're learned again
	}
	for _, chat := range slices.Sorted(maps.Keys(people)) {
		if people[chat] == person {
			return chat, nil
		}
	}
	return "", nil
}

// Config is a bot on Discord, as it's configured.
type Config struct {
	Enabled   bool            `yaml:"enabled" doc:"Whether to run the bot."`
	Token     config.Secret   `yaml:"token" eg:"${DISCORD_TOKEN}" doc:"The bot's token, from discord.com/developers/applications; better in token_file, or taken from the environment, of which sessions get no secret."`
	TokenFile string          `yaml:"token_file" is:"secret_file" eg:"/etc/panebridge/discord-token" doc:"File that holds the bot's token and nothing else."`
	APIURL    string          `yaml:"api_url" is:"http_url" doc:"Where Discord's API is."`
	Proxy     string          `yaml:"proxy" is:"proxy_url" eg:"socks5://127.0.0.1:1080" doc:"http, https or socks5 proxy to reach it through; empty: what HTTPS_PROXY says."`
	Guild     string          `yaml:"guild" eg:"112233445566778899" doc:"The id of the server that the channels are on."`
	Channels  []ChannelConfig `yaml:"channels" reload:"yes" doc:"Channels the bot works in; people can add others with a pairing code."`
	QoS       config.QoS      `yaml:"qos" reload:"yes" doc:"How its calls are shared out, so that Discord never has to refuse one."`
}

// ChannelConfig is a text or forum channel that the bot works in, and may write to.
type ChannelConfig struct {
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
func (c *ChannelConfig) Check(p config.Part) {
	switch {
	case c.ID == "" && p.Sound("id"):
		p.Problem("id", "must be the channel's id, as Copy Channel ID gives it")
	case c.ID != "" && !snowflake.MatchString(c.ID):
		p.Problem("id", mustBeID)
	}
}

// examineFor bounds each check, so that a network that swallows everything doesn't hold up the others.
const examineFor = 15 * time.Second

// unreadFinding says that the message content intent is off.
func unreadFinding() findings.Finding {
	return findings.Finding{
		Check: Name, Severity: findings.Broken, Detail: "the bot isn't shown what people write", Fix: "Switch on Message Content Intent at " + portal + " (the application, Bot).",
	}
}

// examine looks at the bot as it's configured, and at all channels that the section names.
func examine(ctx context.Context, section config.Section, _ bool) []findings.Finding {
	dc := section.(*Config) //nolint:forcetypeassert // Form makes it
	all := findings.ExamineTokenFile(Name, dc.TokenFile)
	text, err := platform.ReadToken(dc.Token, dc.TokenFile, Name)
	if err != nil {
		return all // which was said
	}
	p, err := NewProbe(Options{Token: exchange.Token(text), APIURL: dc.APIURL, Proxy: dc.Proxy, Guild: dc.Guild})
	if err != nil {
		return append(all, findings.Finding{Check: Name, Severity: findings.Broken, Detail: err.Error(), Fix: "Take the token from " + portal + " (the application, Bot, Reset Token)."})
	}
	defer p.Close()
	call, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	bot, err := p.Bot(call)
	switch {
	case exchange.IsUnauthorized(err):
		return append(all, findings.Finding{Check: Name, Severity: findings.Broken, Detail: "Discord doesn't know the token", Fix: "Take a new one from " + portal + " (the application, Bot, Reset Token)."})
	case err != nil:
		return append(all, findings.Finding{Check: Name, Severity: findings.Broken, Detail: err.Error(), Fix: "Look whether this machine reaches " + dc.APIURL + ", and whether adapters.discord.proxy and HTTPS_PROXY are right."})
	}
	all = append(all, findings.Finding{Check: Name, Detail: fmt.Sprintf("the token is that of %s (%s)", bot.Name, bot.ID)})
	if !bot.Content {
		all = append(all, unreadFinding())
	}
	all = append(all, examineGuild(ctx, p, bot, dc.Guild)...)
	for _, c := range dc.Channels {
		call, cancel := context.WithTimeout(ctx, examineFor)
		found, _ := examineChannel(call, p, bot, dc.Guild, c)
		all = append(all, found...)
		cancel()
	}
	return all
}

// examineGuild looks whether the bot is on the server. Without it, not even what's
// written in private chats is of use: Discord lets nobody write to a bot that's on no
// server of theirs.
func examineGuild(ctx context.Context, p *Probe, bot BotAccount, guild string) []findings.Finding {
	ctx, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	on, err := p.IsOn(ctx, guild)
	switch {
	case err != nil:
		return []findings.Finding{{Check: Name, Severity: findings.Broken, Detail: "whether the bot is on the server can't be seen: " + err.Error(), Fix: "Try it again."}}
	case on:
		return nil
	}
	return []findings.Finding{{Check: Name, Severity: findings.Broken, Detail: "the bot isn't on the server " + guild, Fix: "Correct adapters.discord.guild, or let the bot in: " + bot.Invite()}}
}

// examineChannel looks at a channel, and returns what stands in the way and how the channel is.
func examineChannel(ctx context.Context, p *Probe, bot BotAccount, guild string, c ChannelConfig) (all []findings.Finding, seen ProbedChannel) {
	name := "discord channel " + c.ID
	seen, err := p.Channel(ctx, bot, c.ID)
	if err != nil {
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: "Check the id, and let the bot in: " + bot.Invite()}}, seen
	}
	for _, l := range seen.Lacks(c, guild) {
		severity := findings.Broken
		if l.Slight {
			severity = findings.Doubtful
		}
		all = append(all, findings.Finding{Check: name, Severity: severity, Detail: l.Detail, Fix: l.Fix})
	}
	if len(all) == 0 {
		all = []findings.Finding{{Check: name, Detail: "#" + seen.Title + ": the bot may do there what it has to"}}
	}
	return all, seen
}
