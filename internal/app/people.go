package app

import (
	"context"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/platform"
)

// privateChat is the private chat with a person of a platform that's on; zero: none is known.
func (d *daemon) privateChat(ctx context.Context, id string) (adapters.Target, error) {
	name, person, _ := strings.Cut(id, ":")
	i := slices.IndexFunc(all.Platforms(), func(p platform.Descriptor) bool { return p.Name == name && p.PrivateChat != nil })
	if i < 0 || !slices.Contains(d.outlets, name) {
		return adapters.Target{}, nil
	}
	chat, err := all.Platforms()[i].PrivateChat(ctx, d.store.Notes(name), person)
	if chat == "" || err != nil {
		return adapters.Target{}, err
	}
	return adapters.Target{Adapter: name, Chat: chat}, nil
}
