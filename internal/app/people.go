package app

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/telegram"
)

// privateChat is the private chat with a person of a platform that's on; zero: none is known.
func (d *daemon) privateChat(ctx context.Context, id string) (adapters.Target, error) {
	platform, person, _ := strings.Cut(id, ":")
	if !slices.Contains(d.outlets, platform) {
		return adapters.Target{}, nil
	}
	switch platform {
	case telegram.Name: // a private chat has its person's id
		return adapters.Target{Adapter: platform, Chat: person}, nil
	case discord.Name:
		chat, err := d.discordChat(ctx, person)
		if chat == "" || err != nil {
			return adapters.Target{}, err
		}
		return adapters.Target{Adapter: platform, Chat: chat}, nil
	}
	return adapters.Target{}, nil
}

// discordChat is the private chat with a person, as the adapter noted it when they wrote
// there; "": none is known.
func (d *daemon) discordChat(ctx context.Context, person string) (string, error) {
	text, err := d.store.Notes(discord.Name).Note(ctx, "private")
	if err != nil || text == "" {
		return "", err
	}
	people := map[string]string{}
	if err := json.Unmarshal([]byte(text), &people); err != nil {
		return "", nil //nolint:nilerr // they're learned again
	}
	for _, chat := range slices.Sorted(maps.Keys(people)) {
		if people[chat] == person {
			return chat, nil
		}
	}
	return "", nil
}
