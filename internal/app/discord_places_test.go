package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
)

// A private chat mirrors a session and takes input, over a restart, though its id says
// nothing about whose it is.
func TestDiscordPrivateChat(t *testing.T) {
	slow(t)
	world := discordtest.New(discordtest.Options{})
	guild := world.Guild("house")
	operator := world.Person("O")
	d := newDaemon(t)
	d.stop()
	cfg := discordConfig(d.cfg)
	cfg.Enabled, cfg.Token, cfg.APIURL, cfg.Guild = true, config.NewSecret(world.Token()), onAPort(t, world)+"/api", guild.ID
	d.cfg.Access.Operators = []string{"discord:" + operator.ID}
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "cat", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	dm := operator.DM().ID
	shows := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(world.Messages(dm), func(m discordtest.Message) bool {
				return m.Author.Bot && strings.Contains(m.Content, text)
			})
		}
	}
	d.await("the commands", func() bool { return world.Gateways() == 1 && len(world.Commands("")) > 10 })
	if _, err := operator.Command(dm, "bind", map[string]any{"session": "cat"}); err != nil {
		t.Fatal(err)
	}
	d.await("the answer to /bind", shows("is mirrored here"))
	say := func(text string) {
		if _, err := operator.Say(dm, text); err != nil {
			t.Fatal(err)
		}
	}
	say("typed in private")
	d.await("the text in the pane", d.has(s.ID, "typed in private"))
	d.await("the text in the chat", shows("typed in private"))
	d.stop()
	say("typed while nobody listened")
	d.cfg.Mirrors = []config.Mirror{{Session: "others-*", To: "discord:" + dm, View: "final"}} // a rule may name it as well
	d.start()
	d.await("the text in the pane, after a restart", d.has(s.ID, "typed while nobody listened"))
	d.await("the text in the chat, after a restart", shows("typed while nobody listened"))
}

// A bot that was thrown out and is invited again goes on where it was.
func TestDiscordInvitedAgain(t *testing.T) {
	slow(t)
	world := discordtest.New(discordtest.Options{})
	guild := world.Guild("house")
	channel := guild.TextChannel("agents")
	d := newDaemon(t)
	d.stop()
	cfg := discordConfig(d.cfg)
	cfg.Enabled, cfg.Token, cfg.APIURL, cfg.Guild = true, config.NewSecret(world.Token()), onAPort(t, world)+"/api", guild.ID
	cfg.Channels = []discordChannel{{ID: channel.ID}}
	d.cfg.Mirrors = []config.Mirror{{Session: "*", To: "discord:" + channel.ID, View: "stream", Input: true}}
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "cat", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) {
		if _, err := d.api.Input(d.ctx(), "cat", text, true); err != nil {
			t.Fatal(err)
		}
		d.await("the text in the pane", d.has(s.ID, text))
	}
	shows := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(world.Messages(channel.ID), func(m discordtest.Message) bool { return strings.Contains(m.Content, text) })
		}
	}
	disabled := func() bool {
		now, err := d.api.Session(d.ctx(), string(s.ID))
		return err == nil && len(now.Bindings) == 1 && now.Bindings[0].Disabled != ""
	}
	d.await("the gateway", func() bool { return world.Gateways() == 1 })
	say("one")
	d.await("the first line", shows("one"))
	guild.Kick()
	d.await("the end of the mirror", disabled)
	say("two")
	guild.Invite()
	d.await("the second line", shows("two"))
	if disabled() {
		t.Error("the mirror doesn't go on")
	}
}

// A channel and its rule come with one reload, and both go with the next: nothing more is
// sent there.
func TestDiscordChannelsComeAndGo(t *testing.T) {
	slow(t)
	world := discordtest.New(discordtest.Options{})
	guild := world.Guild("house")
	old, fresh := guild.TextChannel("old").ID, guild.TextChannel("fresh").ID
	d := newDaemon(t)
	d.stop()
	d.file = filepath.Join(d.dir, "config.yaml")
	address := onAPort(t, world) + "/api"
	write := func(channels, rule string) {
		d.write(fmt.Sprintf(`
adapters: {web: {enabled: false}, discord: {enabled: true, token: %q, api_url: %q, guild: %q, channels: [%s]}}
polling: {output_cadence_s: 0.1}
access: {operators: ["discord:1"]}
mirrors: [{session: "*", to: "discord:%s"}]
`, world.Token(), address, guild.ID, channels, rule))
	}
	write(fmt.Sprintf(`{id: %q}`, old), old)
	var err error
	if d.cfg, err = all.Form().Load(d.file, os.LookupEnv); err != nil {
		t.Fatal(err)
	}
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "cat", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(channel, text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(world.Messages(channel), func(m discordtest.Message) bool { return strings.Contains(m.Content, text) })
		}
	}
	say := func(text string) {
		if _, err := d.api.Input(d.ctx(), "cat", text, true); err != nil {
			t.Fatal(err)
		}
		d.await("the text in the pane", d.has(s.ID, text))
	}
	say("one")
	d.await("the first line", shows(old, "one"))
	if _, err := d.api.Bind(d.ctx(), "cat", api.Bind{To: "discord:" + old, Input: true}); err != nil { // by hand, so that no rule takes it back
		t.Fatal(err)
	}
	write(fmt.Sprintf(`{id: %q}`, fresh), fresh)
	if _, err := d.api.Reload(d.ctx()); err != nil {
		t.Fatal(err)
	}
	say("two")
	d.await("the second line", shows(fresh, "two"))
	if shows(old, "two")() {
		t.Error("a channel shows it that isn't in the configuration any more")
	}
	write(fmt.Sprintf(`{id: %q}, {id: %q}`, old, fresh), fresh)
	if _, err := d.api.Reload(d.ctx()); err != nil {
		t.Fatal(err)
	}
	d.await("the second line, where it is again", shows(old, "two"))
}
