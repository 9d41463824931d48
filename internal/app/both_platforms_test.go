package app_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
)

// mirror has a daemon that's stopped mirror sessions by a pattern of their names, each to a topic of a
// group and to a thread of a channel, and take what's written there.
func (d *daemon) mirror(session string, telegram *telegramtest.Server, group int64, discord *discordtest.Server, guild, channel string) {
	d.Helper()
	tg, dc := telegramConfig(d.cfg), discordConfig(d.cfg)
	tg.Enabled, tg.Token, tg.APIURL = true, config.NewSecret(telegramtest.DefaultToken), onAPort(d.T, telegram)
	tg.Chats = []telegramChat{{ID: group, Topics: true}}
	dc.Enabled, dc.Token, dc.APIURL, dc.Guild = true, config.NewSecret(discord.Token()), onAPort(d.T, discord)+"/api", guild
	dc.Channels = []discordChannel{{ID: channel, Threads: true}}
	d.cfg.Mirrors = []config.Mirror{
		{Session: session, To: "telegram:" + strconv.FormatInt(group, 10), View: "stream", Input: true},
		{Session: session, To: "discord:" + channel, View: "stream", Input: true},
	}
}

// bothPlatforms are stand-ins with a person on each, whose sessions are mirrored to a topic of
// a group and to a thread of a channel.
type bothPlatforms struct {
	telegram *telegramtest.Server
	group    int64
	ann      *telegramtest.Person
	discord  *discordtest.Server
	channel  string
	bob      *discordtest.Person
}

// newBothPlatforms returns them, and a daemon that isn't started and mirrors all sessions there.
func newBothPlatforms(t *testing.T) (*bothPlatforms, *daemon) {
	t.Helper()
	b := &bothPlatforms{telegram: telegramtest.New(telegramtest.Options{}), discord: discordtest.New(discordtest.Options{})}
	b.ann = b.telegram.AddUser(telegramtest.User{FirstName: "A"})
	b.group = b.telegram.AddForum("Agents", b.ann)
	guild := b.discord.Guild("house")
	b.channel = guild.TextChannel("agents").ID
	b.bob = b.discord.Person("B")
	d := newDaemon(t)
	d.stop()
	d.mirror("*", b.telegram, b.group, b.discord, guild.ID, b.channel)
	return b, d
}

// people are the names of both persons in the configuration.
func (b *bothPlatforms) people() []string {
	return []string{"telegram:" + strconv.FormatInt(b.ann.ID, 10), "discord:" + b.bob.ID}
}

// awaitPlaces waits for the topic and the thread of the session with that in its name.
func (b *bothPlatforms) awaitPlaces(d *daemon, name string) (topic telegramtest.Place, thread string) {
	d.Helper()
	d.await("topic and thread", func() bool {
		for _, one := range b.telegram.Topics(b.group) {
			if strings.Contains(one.Name, name) {
				topic = one.Place
			}
		}
		for _, one := range b.discord.Threads(b.channel) {
			if strings.Contains(one.Name, name) {
				thread = one.ID
			}
		}
		return topic.Thread != 0 && thread != ""
	})
	return topic, thread
}
