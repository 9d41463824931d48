package discord_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
)

// Each right that docs/discord.md lists has an effect where it's missing, which is the one that's told: by the
// daemon's health with what to grant, and by the doctor's probe. Granted, all is well again.
func TestEachMissingRightIsSaidAndHasItsEffect(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	type place struct{ channel, thread, locked, message string }
	call := func(op func(p place) adapters.Op) func(w *world, a *discord.Adapter, p place) adapters.Reply {
		return func(w *world, a *discord.Adapter, p place) adapters.Reply { return w.call(a, op(p)) }
	}
	post := func(of func(p place) adapters.Post) func(w *world, a *discord.Adapter, p place) adapters.Reply {
		return func(w *world, a *discord.Adapter, p place) adapters.Reply {
			after(time.Second)
			return a.Post(w.Context(), of(p), "")
		}
	}
	write := call(func(p place) adapters.Op { return send(target(p.channel, ""), "a line") })
	react := post(func(p place) adapters.Post {
		return adapters.Post{To: target(p.channel, ""), ReplyTo: p.message, Reaction: "👀"}
	})
	rights := map[string]struct {
		right  discordtest.Permission
		effect string // in the words that are told
		does   func(w *world, a *discord.Adapter, p place) adapters.Reply
	}{
		"View Channel":         {discordtest.ViewChannel, "doesn't see the channel", write},
		"Send Messages":        {discordtest.SendMessages, "may not write there", write},
		"Read Message History": {discordtest.ReadHistory, "may not read what was written while it was away, nor reply, react or pin", react},
		"Create Public Threads": {discordtest.CreateThreads, "may not make threads", call(func(p place) adapters.Op {
			return adapters.Op{Kind: adapters.KindThread, Target: target(p.channel, ""), Text: "another"}
		})},
		"Send Messages in Threads": {discordtest.SendInThreads, "may not write in threads", call(func(p place) adapters.Op {
			return send(target(p.channel, p.thread), "a line")
		})},
		"Manage Threads": {discordtest.ManageThreads, "may not open threads that somebody has locked", call(func(p place) adapters.Op {
			return adapters.Op{Kind: adapters.KindOpen, Target: target(p.channel, p.locked)}
		})},
		"Attach Files": {discordtest.AttachFiles, "may not send files and screens", post(func(p place) adapters.Post {
			return adapters.Post{To: target(p.channel, ""), Text: "a screen", Picture: picture.Bytes()}
		})},
		"Add Reactions": {discordtest.AddReactions, "may not show by reactions what became of a message", react},
		"Pin Messages": {discordtest.PinMessages, "may not keep its list of sessions pinned", post(func(p place) adapters.Post {
			return adapters.Post{To: target(p.channel, ""), Pin: p.message}
		})},
	}
	for _, name := range discord.RightNames() {
		c, ok := rights[name]
		if !ok {
			t.Errorf("what's missing without %q isn't known", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				a := w.adapter(nil)
				channel := w.house.TextChannel("agents")
				p := place{channel: w.agents}
				p.thread = w.done(a, adapters.Op{Kind: adapters.KindThread, Target: target(w.agents, ""), Text: "one"})
				p.locked = w.done(a, adapters.Op{Kind: adapters.KindThread, Target: target(w.agents, ""), Text: "two"})
				w.noErr(w.ada.Lock(p.locked))
				w.noErr(w.ada.Archive(p.locked))
				p.message = w.done(a, send(target(w.agents, ""), "begins"))

				r := a.RightsWatcher(func() []adapters.Target { return []adapters.Target{target(w.agents, p.thread), target(w.agents, "")} })
				ctx, cancel := context.WithCancel(w.Context())
				ended := make(chan error, 1)
				go func() { ended <- r.Run(ctx) }()
				defer func() { cancel(); w.noErr(<-ended) }()
				after(15 * time.Second)
				if h := r.Health(); h.Condition != intake.Well || h.Detail != "" {
					w.Errorf("with all rights: %+v", h)
				}
				channel.Deny(c.right)
				if c.right == discordtest.AttachFiles { // the others are seen without being told of
					r.LookAgain()
					after(15 * time.Second)
				} else {
					after(6 * time.Minute)
				}
				if h := r.Health(); h.Condition != intake.Degraded || !strings.Contains(h.Detail, c.effect) || name != "View Channel" && !strings.Contains(h.Detail, `"`+name+`"`) {
					w.Errorf("health is %+v", h)
				}
				if told := strings.Join(w.lacks(w.probe(nil), discord.ChannelConfig{ID: w.agents, Threads: true}), "\n"); !strings.Contains(told, c.effect) {
					w.Errorf("the doctor says %q", told)
				}
				if got := c.does(w, a, p); got.Outcome == qos.Delivered {
					w.Errorf("it can do without it what it %s", c.effect)
				}
				channel.Allow(c.right)
				after(2 * time.Minute)
				if h := r.Health(); h.Condition != intake.Well {
					w.Errorf("with all rights again: %+v", h)
				}
				if got := c.does(w, a, p); got.Outcome != qos.Delivered {
					w.Errorf("it can't do with it what it does: %+v", got)
				}
			})
		})
	}
}
