package discord

import (
	"context"
	"errors"
	"net/http"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

var _ adapters.Asider = (*Adapter)(nil)

// Drafts implements adapters.Asider: Discord has none, and the live region stands below
// the lines.
func (a *Adapter) Drafts(adapters.Target) bool { return false }

// Draft implements adapters.Asider.
func (a *Adapter) Draft(context.Context, adapters.Target, adapters.BindingID, adapters.Page) adapters.Reply {
	return rejected(errors.New("there are no drafts on Discord"))
}

// Typing implements adapters.Asider. It's shown for 10 s
// (docs.discord.com/developers/resources/channel#trigger-typing-indicator).
func (a *Adapter) Typing(ctx context.Context, t adapters.Target) adapters.Reply {
	if err := checkIDs(t, ""); err != nil {
		return rejected(err)
	}
	ctx = withPurpose(ctx, purpose{scope: qos.Scope{Chat: a.Chat(t), Family: qos.FamilyTyping}, spare: true})
	return outcome(a.client.raw(ctx, http.MethodPost, "channels/"+channelOf(t)+"/typing", nil, nil), t)
}
