package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
)

// What's written in a thread is typed into a real pane, and what the pane prints is in
// the thread, over a restart of the daemon. A stranger on the same server gets nothing.
// Commands come as slash commands. A right that's taken from the bot is said.
func TestDiscordToAPaneAndBack(t *testing.T) {
	slow(t)
	world := discordtest.New(discordtest.Options{})
	guild := world.Guild("house")
	channel := guild.TextChannel("agents")
	operator, stranger := world.Person("O"), world.Person("S")

	d := newDaemon(t)
	d.stop()
	cfg := discordConfig(d.cfg)
	cfg.Enabled, cfg.Token, cfg.APIURL, cfg.Guild = true, config.NewSecret(world.Token()), onAPort(t, world)+"/api", guild.ID
	cfg.Channels = []discordChannel{{ID: channel.ID, Threads: true}}
	d.cfg.Access.Operators = []string{"discord:" + operator.ID}
	d.cfg.Mirrors = []config.Mirror{{Session: "*", To: "discord:" + channel.ID, View: "stream", Input: true}}
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "cat", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.api.Input(d.ctx(), "cat", "first line", true); err != nil {
		t.Fatal(err)
	}
	var thread string
	d.await("the session's thread", func() bool {
		for _, one := range world.Threads(channel.ID) {
			if one.Name == "cat" {
				thread = one.ID
			}
		}
		return thread != ""
	})
	shows := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(world.Messages(thread), func(m discordtest.Message) bool {
				return m.Author.Bot && strings.Contains(m.Content, text)
			})
		}
	}
	d.await("the first line in the thread", shows("first line"))
	d.await("the gateway", func() bool { return world.Gateways() == 1 })

	say := func(p *discordtest.Person, text string) string {
		id, err := p.Say(thread, text)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	say(stranger, "typed by a stranger")
	say(operator, "typed from a phone")
	d.await("the text in the pane", d.has(s.ID, "typed from a phone"))
	d.await("the text in the thread", shows("typed from a phone"))
	d.await("the commands", func() bool { return len(world.Commands(guild.ID))+len(world.Commands("")) > 10 })
	if _, err := operator.Command(thread, "status", nil); err != nil {
		t.Fatal(err)
	}
	d.await("the answer to /status", shows("Mirrored here"))

	d.stop()
	say(operator, "typed while nobody listened")
	d.start()
	d.await("the text in the pane, after a restart", d.has(s.ID, "typed while nobody listened"))
	d.await("the text in the thread, after a restart", shows("typed while nobody listened"))
	channel.Deny(discordtest.AttachFiles) // which no call has needed, and all rights were looked at before
	d.await("that a right lacks", func() bool {
		doc, err := d.api.Health(d.ctx())
		return err == nil && slices.ContainsFunc(doc.Parts, func(p api.HealthPart) bool {
			return p.Name == "discord" && p.State == api.HealthDegraded && strings.Contains(p.Detail, "Attach Files")
		})
	})
	for _, line := range d.lines(s.ID) {
		if strings.Contains(line, "stranger") {
			t.Errorf("the session has %q", line)
		}
	}
	if refused := world.Refusals(); len(refused) != 0 {
		t.Errorf("Discord refused %+v", refused)
	}
}
