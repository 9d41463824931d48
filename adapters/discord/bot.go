package discord

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
)

// Descriptor is what's known of Discord before it's on.
func Descriptor() platform.Descriptor {
	return platform.Descriptor{
		PlatformForm: Form(), Title: "Discord", Limits: Limits, New: newBot, Examine: examine, PrivateChat: privateChat,
	}
}

// running is the bot on Discord: its adapter, and the gateway that its events come in by.
type running struct {
	adapter  *Adapter
	platform *Platform
	queue    *intake.Queue
	gateway  *Gateway
	rights   *Rights
	host     platform.Host
}

var (
	_ platform.Runner       = (*running)(nil)
	_ platform.Reloader     = (*running)(nil)
	_ platform.HealthTeller = (*running)(nil)
)

// newBot makes the bot of a section.
func newBot(ctx context.Context, section config.Section, host platform.Host) (platform.Platform, error) {
	opt, err := section.(*Config).options() //nolint:forcetypeassert // Form makes it
	if err != nil {
		return nil, err
	}
	opt.Knows, opt.Learn, opt.Logger = host.Knows, host.Learn, host.Logger
	a, err := New(opt)
	if err != nil {
		return nil, err
	}
	if host.Notes != nil {
		if err := a.LoadPrivate(ctx, host.Notes); err != nil {
			return nil, err
		}
		if err := a.LoadSharing(ctx, host.Notes, host.Shows); err != nil {
			return nil, err
		}
	}
	r := &running{adapter: a, platform: a.Platform(host.Notes), rights: a.Rights(host.Mirrored), host: host}
	r.queue = intake.NewQueue(intake.QueueOptions{
		Journal: host.Journal, Decode: Decode, GaveUp: host.GaveUp, Logger: host.Logger,
		Handle: func(ctx context.Context, e intake.Event) error { return r.gateway.HandleOwn(host.Handle)(ctx, e) },
	})
	r.gateway = a.Gateway(GatewayOptions{
		Keeper: r.queue, Notes: host.Notes, Admits: host.Admits, Complete: host.Complete, Offered: host.Offered, Concerns: host.Concerns,
		Knows:    func(t adapters.Target) bool { return host.Knows(t) || host.Uses(t) },
		Mirrored: host.Mirrored, RightsChanged: r.rights.LookAgain, Panicked: host.Panicked,
	})
	return r, nil
}

// options are the adapter's, as far as the configuration has them.
func (d *Config) options() (Options, error) {
	token, err := platform.Token(d.Token, d.TokenFile, Name)
	return Options{Token: Token(token), APIURL: d.APIURL, Proxy: d.Proxy, Guild: d.Guild, Channels: d.channels()}, err
}

func (d *Config) channels() []Channel {
	var out []Channel
	for _, c := range d.Channels {
		out = append(out, Channel(c))
	}
	return out
}

// Outbound implements platform.Platform.
func (r *running) Outbound() adapters.Adapter { return r.adapter }

// Inbound implements platform.Platform.
func (r *running) Inbound() intake.Platform { return r.platform }

// Reload implements platform.Reloader.
func (r *running) Reload(section config.Section) {
	r.adapter.SetChannels(section.(*Config).channels()) //nolint:forcetypeassert // Form makes it
}

// Run implements platform.Runner.
func (r *running) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.queue.Run(ctx) })
	g.Go(func() error { return r.gateway.Run(ctx) })
	g.Go(func() error { return r.rights.Run(ctx) })
	g.Go(func() error { r.host.OfferCommands(ctx, r.platform); return nil })
	return g.Wait()
}

// Health implements platform.HealthTeller.
func (r *running) Health() intake.Health { return r.gateway.Health().Worse(r.rights.Health()) }

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
