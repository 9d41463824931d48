package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// rightsTick is how often it's looked whether another channel mirrors sessions.
	rightsTick = 10 * time.Second
	// rightsEvery is how often it's looked what the bot may do in one, and rightsLackingEvery where
	// something lacks: somebody may be about to grant it. A look takes four calls, so whatever changes meanwhile,
	// none is taken more often.
	rightsEvery        = 5 * time.Minute
	rightsLackingEvery = time.Minute
	// maxLacks is how many rights are named.
	maxLacks = 3
)

// RightsWatcher looks at what the bot may do in the channels that mirror sessions. The lack of some rights
// shows in no call until it has done harm: what was written during an outage can't be read then.
// It's made by Adapter.Rights.
type RightsWatcher struct {
	probe    *Probe
	adapter  *Adapter
	mirrored func() []adapters.Target
	changed  atomic.Bool // something may have: see LookAgain

	// What follows belongs to Run's goroutine.
	bot    BotAccount           // zero: it wasn't asked for
	next   map[string]time.Time // when channels are looked at
	lookAt time.Time            // from when on a change has all looked at

	mu    sync.Mutex
	lacks map[string]string // by channel: what the bot can't do there, and what to grant
	order []string          // channels with lacks, as they were found
}

// RightsWatcher returns a watcher that has called nothing yet. mirrored returns the places that mirror sessions now.
func (a *Adapter) RightsWatcher(mirrored func() []adapters.Target) *RightsWatcher {
	return &RightsWatcher{probe: &Probe{client: a.client}, adapter: a, mirrored: mirrored, next: map[string]time.Time{}, lacks: map[string]string{}}
}

// Run looks at channels until ctx ends, and blocks until then.
func (r *RightsWatcher) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		rest := rightsTick
		if err := r.lookAtDue(ctx); err != nil && ctx.Err() == nil {
			r.adapter.log.InfoContext(ctx, "what the bot may do couldn't be seen; it's tried again", "err", err)
			rest = max(rightsLackingEvery, exchange.RetryAfter(err))
		}
		_ = sessions.Pause(ctx, rest)
	}
	return nil
}

// LookAgain makes Run look at all channels within ten seconds, once a minute at most. It's called when somebody has
// changed what somebody may do, and returns at once.
func (r *RightsWatcher) LookAgain() { r.changed.Store(true) }

// lookAtDue looks at the channels that are due.
func (r *RightsWatcher) lookAtDue(ctx context.Context) error {
	now := time.Now()
	if !r.lookAt.After(now) && r.changed.Swap(false) {
		r.lookAt = now.Add(rightsLackingEvery)
		for id := range r.next {
			r.next[id] = now
		}
	}
	there := map[string]bool{}
	for _, t := range r.mirrored() {
		if t.Adapter != Name || !isID(t.Chat) || there[t.Chat] || r.adapter.private.personOf(t.Chat) != "" {
			continue
		}
		there[t.Chat] = true
		if r.next[t.Chat].After(now) {
			continue
		}
		if r.bot == (BotAccount{}) {
			bot, err := r.probe.Bot(ctx)
			if err != nil {
				return err
			}
			r.bot = bot
		}
		text, err := r.describeLacks(ctx, t.Chat)
		if err != nil {
			return err
		}
		r.next[t.Chat] = now.Add(rightsEvery)
		if text != "" {
			r.next[t.Chat] = now.Add(rightsLackingEvery)
		}
		r.noteLacks(ctx, t.Chat, text)
	}
	for id := range r.next {
		if !there[id] {
			delete(r.next, id)
			r.noteLacks(ctx, id, "")
		}
	}
	return nil
}

// describeLacks is what the bot can't do in a channel, and what to grant; "": nothing lacks.
func (r *RightsWatcher) describeLacks(ctx context.Context, id string) (string, error) {
	seen, err := r.probe.Channel(ctx, r.bot, id)
	switch {
	case isGone(err):
		return "channel " + id + ": " + adviceChannel, nil
	case err != nil:
		return "", err
	case seen.Guild == "":
		return "", nil // a chat with a person
	}
	as, guild := ChannelConfig{ID: id}, ""
	if c, ok := r.adapter.channel(id); ok {
		as, guild = c, r.adapter.opt.Guild
	}
	all := seen.Lacks(as, guild)
	if len(all) == 0 {
		return "", nil
	}
	var parts []string
	for i, l := range all {
		if i == maxLacks {
			parts = append(parts, fmt.Sprintf("and %d more, see `panebridge doctor`", len(all)-i))
			break
		}
		parts = append(parts, l.Detail+". "+l.Fix)
	}
	return "#" + seen.Title + ": " + strings.Join(parts, " "), nil
}

// noteLacks takes in what lacks in a channel.
func (r *RightsWatcher) noteLacks(ctx context.Context, id, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lacks[id] == text {
		return
	}
	r.order = slices.DeleteFunc(r.order, func(other string) bool { return other == id })
	if text == "" {
		delete(r.lacks, id)
		r.adapter.log.InfoContext(ctx, "the bot may do all in the channel that it has to", "channel", id)
		return
	}
	r.lacks[id], r.order = text, append(r.order, id)
	r.adapter.log.WarnContext(ctx, "the bot may not do all in the channel that it has to", "channel", id, "why", text)
}

// Health is Degraded while something lacks. It may be called at any time.
func (r *RightsWatcher) Health() intake.Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.order) == 0 {
		return intake.Health{Condition: intake.Well}
	}
	h := intake.Health{Condition: intake.Degraded, Detail: r.lacks[r.order[0]]}
	if more := len(r.order) - 1; more > 0 {
		h.Detail += fmt.Sprintf(" (and in %d more channels)", more)
	}
	return h
}
