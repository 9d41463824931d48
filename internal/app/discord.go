package app

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// discordSide is the bot on Discord: its adapter, and the gateway that its events come
// in by.
type discordSide struct {
	adapter  *discord.Adapter
	platform *discord.Platform
	notes    store.Notes
	queue    *intake.Queue
	gateway  *discord.Gateway
	rights   *discord.Rights
}

// newDiscord makes the adapter.
func (d *daemon) newDiscord(ctx context.Context) (*discordSide, error) {
	cfg := discord.ConfigOf(d.config)
	token, err := token(cfg.Token, cfg.TokenFile, discord.Name)
	if err != nil {
		return nil, err
	}
	opt := discordOptions(d.config, token)
	opt.Knows = func(t adapters.Target) bool { return d.inbound != nil && d.inbound.MayBind(t) }
	opt.Learn = func(s qos.Scope, l qos.Learned) { d.hub.Learn(discord.Name, s, l) }
	opt.Logger = d.opt.Log.With("component", "discord")
	a, err := discord.New(opt)
	if err != nil {
		return nil, err
	}
	notes := d.store.Notes(discord.Name)
	if err := a.LoadPrivate(ctx, notes); err != nil {
		return nil, err
	}
	if err := a.LoadSharing(ctx, notes, func(t adapters.Target) bool { return len(d.hub.At(t)) > 0 }); err != nil {
		return nil, err
	}
	return &discordSide{adapter: a, platform: a.Platform(notes), notes: notes}, nil
}

// discordOptions are the adapter's, as far as the configuration has them.
func discordOptions(cfg *config.Config, token string) discord.Options {
	c := discord.ConfigOf(cfg)
	return discord.Options{Token: discord.Token(token), APIURL: c.APIURL, Proxy: c.Proxy, Guild: c.Guild, Channels: discordChannels(c)}
}

func discordChannels(cfg *discord.Config) []discord.Channel {
	var out []discord.Channel
	for _, c := range cfg.Channels {
		out = append(out, discord.Channel{ID: c.ID, Threads: c.Threads})
	}
	return out
}

func (s *discordSide) outbound() adapters.Adapter { return s.adapter }

func (s *discordSide) inbound() intake.Platform { return s.platform }

func (s *discordSide) reload(cfg *config.Config) {
	s.adapter.SetChannels(discordChannels(discord.ConfigOf(cfg)))
}

func (s *discordSide) connect(d *daemon) error {
	s.queue = intake.NewQueue(intake.QueueOptions{
		Journal: d.store.Journal(discord.Name), Decode: discord.Decode, GaveUp: d.inbound.GaveUp,
		Handle: func(ctx context.Context, e intake.Event) error { return s.gateway.HandleOwn(d.inbound.Handle)(ctx, e) },
		Logger: d.opt.Log.With("component", "discord"),
	})
	mirrored := func() []adapters.Target { return d.mirroredOn(discord.Name) }
	s.rights = s.adapter.Rights(mirrored)
	s.gateway = s.adapter.Gateway(discord.GatewayOptions{
		Keeper: s.queue, Notes: s.notes, Admits: d.inbound.Admits, Complete: d.inbound.Complete,
		Offered: d.inbound.Offered, Concerns: d.inbound.Concerns,
		Knows:    func(t adapters.Target) bool { return d.inbound.MayBind(t) || d.hub.Uses(t.Adapter, t.Chat) },
		Mirrored: mirrored, RightsChanged: s.rights.LookAgain,
		Panicked: func() { d.metrics.CountPanic("interaction") },
	})
	return nil
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

func (s *discordSide) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.queue.Run(ctx) })
	g.Go(func() error { return s.gateway.Run(ctx) })
	g.Go(func() error { return s.rights.Run(ctx) })
	g.Go(func() error {
		retry(ctx, func() error { return s.platform.SetCommands(ctx, commands.Commands()) })
		return nil
	})
	return g.Wait()
}

func (s *discordSide) part() api.Part {
	return partOf(discord.Name, s.gateway.Health().Worse(s.rights.Health()))
}
