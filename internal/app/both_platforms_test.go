package app_test

import (
	"strconv"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
)

// mirror has a daemon that's stopped mirror sessions by a pattern of their names, each to a topic of a
// group and to a thread of a channel, and take what's written there.
func (d *daemon) mirror(session string, telegram *telegramtest.Server, group int64, discord *discordtest.Server, guild, channel string) {
	d.Helper()
	tg, dc := &d.cfg.Adapters.Telegram, &d.cfg.Adapters.Discord
	tg.Enabled, tg.Token, tg.APIURL = true, config.NewSecret(telegramtest.DefaultToken), onAPort(d.T, telegram)
	tg.Chats = []config.TelegramChat{{ID: int(group), Topics: true}}
	dc.Enabled, dc.Token, dc.APIURL, dc.Guild = true, config.NewSecret(discord.Token()), onAPort(d.T, discord)+"/api", guild
	dc.Channels = []config.DiscordChannel{{ID: channel, Threads: true}}
	d.cfg.Mirrors = []config.Mirror{
		{Session: session, To: "telegram:" + strconv.FormatInt(group, 10), View: "stream", Input: true},
		{Session: session, To: "discord:" + channel, View: "stream", Input: true},
	}
}
