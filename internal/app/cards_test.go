package app_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
)

// Where there are no topics and threads, what answers /new is the session's card: what it is,
// what becomes of what's written there, and its buttons. What's written there is answered.
func TestNewIsACardWhereThereAreNoTopics(t *testing.T) {
	slow(t)
	telegram := telegramtest.New(telegramtest.Options{})
	operator := telegram.AddUser(telegramtest.User{FirstName: "O"})
	d := newDaemon(t)
	d.stop()
	tg := telegramConfig(d.cfg)
	tg.Enabled, tg.Token, tg.APIURL = true, config.NewSecret(telegramtest.DefaultToken), onAPort(t, telegram)
	group := telegram.AddChat(telegramtest.ChatSpec{Title: "Agents"}, operator)
	tg.Chats = []telegramChat{{ID: group}}
	d.cfg.Access.Operators = []string{"telegram:" + strconv.FormatInt(operator.ID, 10)}
	d.start()
	for name, at := range map[string]telegramtest.Place{"a group": {Chat: group}, "a private chat": operator.Private()} {
		say := func(text string) {
			if _, err := operator.Say(at, text); err != nil {
				t.Fatal(err)
			}
		}
		has := func(fits func(m telegramtest.Message) bool) func() bool {
			return func() bool { return slices.ContainsFunc(telegram.See(at), fits) }
		}
		say("/start")
		say("/new shell " + t.TempDir())
		d.await("a card in "+name, has(func(m telegramtest.Message) bool {
			return m.From.IsBot && strings.Contains(m.Text, "It's a shell.") && strings.Contains(m.Text, "Write a command here") &&
				len(m.Buttons) == 1 && len(m.Buttons[0]) == 4 && m.Buttons[0][0].Text == "Screen"
		}))
		say("echo one-$((1+1))")
		d.await("the answer in "+name, has(func(m telegramtest.Message) bool { return m.From.IsBot && strings.Contains(m.Text, "one-2") }))
	}
}

func TestNewIsACardWhereThereAreNoThreads(t *testing.T) {
	slow(t)
	world := discordtest.New(discordtest.Options{})
	guild := world.Guild("house")
	channel := guild.TextChannel("agents")
	operator := world.Person("O")
	d := newDaemon(t)
	d.stop()
	cfg := discordConfig(d.cfg)
	cfg.Enabled, cfg.Token, cfg.APIURL, cfg.Guild = true, config.NewSecret(world.Token()), onAPort(t, world)+"/api", guild.ID
	cfg.Channels = []discordChannel{{ID: channel.ID}}
	d.cfg.Access.Operators = []string{"discord:" + operator.ID}
	d.start()
	d.await("the gateway", func() bool { return world.Gateways() == 1 })
	d.await("the commands", func() bool { return len(world.Commands(guild.ID))+len(world.Commands("")) > 10 })
	if _, err := operator.Command(channel.ID, "new", map[string]any{"agent": "shell", "folder": t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	has := func(fits func(m discordtest.Message) bool) func() bool {
		return func() bool { return slices.ContainsFunc(world.Messages(channel.ID), fits) }
	}
	d.await("a card", has(func(m discordtest.Message) bool {
		return m.Author.Bot && strings.Contains(m.Content, "It's a shell.") && strings.Contains(m.Content, "Write a command here") && len(m.Rows) == 1 && len(m.Rows[0]) == 4
	}))
	if _, err := operator.Say(channel.ID, "echo one-$((1+1))"); err != nil {
		t.Fatal(err)
	}
	d.await("the answer", has(func(m discordtest.Message) bool { return m.Author.Bot && strings.Contains(m.Content, "one-2") }))
}
