// Package all lists the chat platforms. A new one is a folder, and a line here.
package all

import (
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/folder"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
)

// Platforms are all that panebridge can be on.
func Platforms() []platform.Descriptor {
	return []platform.Descriptor{
		telegram.Descriptor(),
		discord.Descriptor(),
		folder.Descriptor(),
	}
}

// Form is the form of configurations with all of them in it.
func Form() config.Form {
	var f config.Form
	for _, p := range Platforms() {
		f.Platforms = append(f.Platforms, p.PlatformForm)
	}
	return f
}
