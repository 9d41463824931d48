// Package all lists the chat platforms. A new one is a folder, and a line here.
package all

import (
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/folder"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
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

// TokenOf reads a platform's token, from its file if it's in one; "": it has none.
func TokenOf(cfg *config.Config, platform string) (text string, err error) {
	for _, key := range cfg.Keys() {
		rest, its := strings.CutPrefix(key.Path, "adapters."+platform+".token")
		if _, inline := key.Value.(config.Secret); !its || rest != "" && rest != "_file" {
			continue
		} else if inline {
			text = strings.TrimSpace(key.Value.(config.Secret).Reveal()) //nolint:forcetypeassert // looked at just now
			continue
		}
		if file, _ := key.Value.(string); file != "" {
			read, err := regular.Read(file, findings.MaxSecretFile)
			return strings.TrimSpace(string(read)), err
		}
	}
	return text, nil
}

// Enabled are the platforms that a configuration has on.
func Enabled(cfg *config.Config) []platform.Descriptor {
	return slices.DeleteFunc(Platforms(), func(p platform.Descriptor) bool { return !cfg.Adapters.Section(p.Name).IsEnabled() })
}
