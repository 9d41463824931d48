package app

import (
	"context"
	"slices"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/api"
)

// accessOf is who may do what in chats, as the API lists and changes it.
type accessOf struct{ d *daemon }

func (a accessOf) List() []api.AccessEntry {
	var out []api.AccessEntry
	for _, l := range a.d.inbound.AccessList() {
		e := api.AccessEntry{Person: l.Person, Name: l.Name, Role: string(l.Role), By: l.By, At: l.At, LastUsed: l.Used, Checked: l.Checked, Void: l.Void}
		if l.Config {
			e.By = "configuration"
		}
		if l.Chat.Chat != "" {
			e.Chat = l.Chat.String()
		}
		out = append(out, e)
	}
	return out
}

func (a accessOf) Grant(ctx context.Context, person, role, by string) error {
	return a.d.inbound.Give(ctx, person, access.Role(role), by)
}

func (a accessOf) Revoke(ctx context.Context, person, role, by string) (api.AccessRevoked, error) {
	rest, err := a.d.inbound.Revoke(ctx, person, access.Role(role), by)
	if err != nil {
		return api.AccessRevoked{}, err
	}
	out := api.AccessRevoked{Rest: []string{}, Message: commands.RevokedText(person, rest)}
	for r := range rest {
		out.Rest = append(out.Rest, string(r))
	}
	slices.Sort(out.Rest)
	return out, nil
}
