package discord

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// Adapter is Discord's side of the outbound path.
type Adapter struct {
	opt      Options
	channels atomic.Pointer[map[string]Channel] // as they were configured last
	client   *client
	forums   forums
	titles   titles // of threads, that are refused
	old      oldOnes
	private  private
	sharing  *sharing
	log      *slog.Logger

	interactions *interactions
}

var (
	_ adapters.Adapter  = (*Adapter)(nil)
	_ adapters.Poster   = (*Adapter)(nil)
	_ adapters.Linker   = (*Adapter)(nil)
	_ adapters.Threader = (*Adapter)(nil)
)

// New returns an adapter that has called nothing yet. The error joins all that's
// wrong with the options.
func New(opt Options) (*Adapter, error) {
	opt.APIURL = cmp.Or(opt.APIURL, DefaultAPIURL)
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Learn == nil {
		opt.Learn = func(qos.Scope, qos.Learned) {}
	}
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("make the discord adapter: %w", err)
	}
	a := &Adapter{opt: opt, client: newClient(opt), log: opt.Logger, sharing: newSharing()}
	a.interactions = newInteractions(a.client, a.sharing, a.log)
	a.SetChannels(opt.Channels)
	return a, nil
}

// SetChannels replaces Options.Channels.
func (a *Adapter) SetChannels(list []Channel) {
	channels := map[string]Channel{}
	for _, c := range list {
		channels[c.ID] = c
	}
	a.channels.Store(&channels)
}

// channel is a channel as it's configured; ok is false if it isn't.
func (a *Adapter) channel(id string) (c Channel, ok bool) {
	c, ok = (*a.channels.Load())[id]
	return c, ok
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() string { return Name }

// Check implements adapters.Adapter.
func (a *Adapter) Check(t adapters.Target) error {
	switch {
	case !isID(t.Chat):
		return fmt.Errorf("%q is not a channel's id: %s", t.Chat, copyID)
	case t.Thread != "" && !isID(t.Thread):
		return fmt.Errorf("%q is not a thread's id: %s", t.Thread, copyID)
	}
	if _, ok := a.channel(t.Chat); ok || a.knows(t) {
		return nil
	}
	return fmt.Errorf("channel %s is not known: add it to adapters.discord.channels, or write /pair CODE in it", t.Chat)
}
