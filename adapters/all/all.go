// Package all lists the chat platforms. A new one is a folder, and a line here.
package all

import (
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
)

// Form is the form of configurations with all platforms in it.
func Form() config.Form {
	return config.Form{Platforms: []config.PlatformForm{
		telegram.Form(),
		discord.Form(),
	}}
}
