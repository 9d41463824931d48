package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// conversations are what agents can go on with, by their transcripts.
type conversations struct{ d *daemon }

// Conversations implements commands.Conversations.
func (c conversations) Conversations(ctx context.Context, name, folder string) ([]commands.Conversation, error) {
	cfg := c.d.currentConfig()
	profile := c.d.profiles.Get(profileOf(cfg, name))
	a := agents(cfg, c.d.profiles)[name]
	if profile == nil || profile.Format() == "" || len(a.Resume) == 0 {
		return nil, fmt.Errorf("%w: it isn't known what %s could go on with", sessions.ErrInvalid, name)
	}
	env := map[string]string{}
	for _, kv := range slices.Concat(c.d.paneEnvironment(), a.Env) {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	all, err := transcript.Find(ctx, transcript.Where{Format: profile.Format(), Home: env["HOME"], Env: env, Cwd: folder})
	if err != nil {
		return nil, fmt.Errorf("look for conversations of %s: %w", name, err)
	}
	var out []commands.Conversation
	for _, t := range all {
		if t.Ref.Session != "" && !t.Changed.IsZero() {
			out = append(out, commands.Conversation{ID: t.Ref.Session, Title: t.LastUser, Changed: t.Changed})
		}
	}
	return out, nil
}
