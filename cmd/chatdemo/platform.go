package main

import (
	"net/http"
	"strconv"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// platform is a stand-in with a chat and somebody in it.
type platform struct {
	named, where string // for people
	api          http.Handler
	view         func(token string) http.Handler
	target, me   string // as in the configuration
	// adapter is its part of the configuration, below "adapters".
	adapter func(api string) map[string]any
}

// platforms begin the stand-ins.
var platforms = map[string]func() platform{"telegram": onTelegram, "discord": onDiscord} //nolint:gochecknoglobals // a constant table

func onTelegram() platform {
	s := telegramtest.New(telegramtest.Options{})
	me := s.AddUser(telegramtest.User{FirstName: "You"})
	group := s.AddForum("Agents", me)
	return platform{
		named: "Telegram", where: `In the group "Agents" there's a topic`, api: s,
		view:   func(token string) http.Handler { return telegramtest.NewView(s, token) },
		target: "telegram:" + strconv.FormatInt(group, 10), me: "telegram:" + strconv.FormatInt(me.ID, 10),
		adapter: func(api string) map[string]any {
			return map[string]any{"telegram": map[string]any{
				"enabled": true, "api_url": api, "token": telegramtest.DefaultToken, "chats": []any{map[string]any{"id": group, "topics": true}},
			}}
		},
	}
}

func onDiscord() platform {
	s := discordtest.New(discordtest.Options{})
	me, house := s.Person("You"), s.Guild("Workshop")
	channel := house.TextChannel("agents").ID
	return platform{
		named: "Discord", where: "In the channel #agents there's a thread", api: s,
		view:   func(token string) http.Handler { return discordtest.NewView(s, token) },
		target: "discord:" + channel, me: "discord:" + me.ID,
		adapter: func(api string) map[string]any {
			return map[string]any{"discord": map[string]any{
				"enabled": true, "api_url": api + "/api", "token": discordtest.DefaultToken, "guild": house.ID,
				"channels": []any{map[string]any{"id": channel, "threads": true}},
			}}
		},
	}
}
