package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/callers"
	"github.com/panebridge/panebridge/internal/masked"
	"github.com/panebridge/panebridge/qos/redisbucket"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// buildInbound makes the inbound half of the adapters.
func (d *daemon) buildInbound() error {
	var platforms []intake.Platform
	for _, p := range d.platforms {
		platforms = append(platforms, p.Inbound())
	}
	limit := int64(d.config.Inbound.MaxFileMB) << 20
	if limit == 0 {
		limit = -1 // which is none there
	}
	var err error
	d.inbound, err = inbound.New(inbound.Options{
		Platforms: platforms, Sessions: masked.Sessions{Questions: callers.Questions{Manager: d.manager, Consent: d.consent}, Masker: d.masker}, Hub: d.hub, Conversations: conversations{d}, Mail: d.mail.Letters(), Interrupt: d.interruptKeys, Paired: d.hideCode,
		Store: masked.Store{Store: d.store, Log: adapters.MaskedLog(chatLog{d.store}, d.masker)}, Access: accessConfig(d.config),
		RemindAfter: d.config.Prompts.RemindAfter.Duration(), EscalateTo: escalateTo(d.config), Pinned: d.config.Attention.Pinned,
		StaleAfter: d.config.Inbound.StaleAfter.Duration(), MaxFile: limit, StateDir: d.opt.StateDir, Folders: d.config.Inbound.Folders, Mask: d.masker.Line,
		Shared: d.sharer, Panicked: d.metrics.CountPanic, Logger: d.opt.Log.With("component", "inbound"),
	})
	return err
}

// sharer is inbound.Options.Shared.
func (d *daemon) sharer(adapter string) string {
	for _, p := range d.platforms {
		if s, ok := p.Platform.(platform.Sharer); ok && p.Name == adapter {
			return s.SharedWith()
		}
	}
	return ""
}

// sharedWith names the processes with which this one shares a bot over Redis; "": it doesn't.
func (d *daemon) sharedWith(adapter string) string { return othersOf(d.standings()[adapter]) }

// othersOf names the processes with which one shares a bot over Redis, to begin a sentence with;
// "": there's none. One that vanished counts: its sessions may be there.
func othersOf(s redisbucket.Standing) string {
	var ids []string
	for _, m := range s.Members {
		if m.ID != s.Member && !m.Left {
			ids = append(ids, m.ID)
		}
	}
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return "Process " + ids[0]
	default:
		return "Each of the processes " + strings.Join(ids, ", ")
	}
}

// interruptKeys are the keys that end what a session's program is doing: those of the agent
// that runs in it, whatever it's called in the configuration, else of the one that was
// begun there.
func (d *daemon) interruptKeys(s sessions.Session) []string {
	name := s.Source.Program
	if name == "" && s.Agent != "" {
		name = profileOf(d.currentConfig(), s.Agent)
	}
	if p := d.profiles.Get(name); p != nil {
		return p.InterruptKeys()
	}
	return nil
}

// asked has tell hear what a session's agent was asked, as its transcript and its hooks say.
func (d *daemon) asked(id sessions.ID, tell func(sessions.Asked)) (stop func()) {
	return d.watchers.Watch(id, func(n agent.News) {
		if h := n.Hook; h != nil && h.Signal == agent.PromptSent {
			tell(sessions.Asked{Text: h.Text, At: h.At, Hook: true})
		}
		for _, r := range n.Records {
			if r.Kind == transcript.User {
				tell(sessions.Asked{Text: r.Text, At: r.At})
			}
		}
	})
}

// accessConfig translates who may do what.
func accessConfig(cfg *config.Config) access.Config {
	out := access.Config{Roles: map[string]access.Roles{}, Names: map[string]string{}, PairingTTL: cfg.Access.PairingTTL.Duration()}
	for role, people := range map[access.Role][]string{
		access.Viewer: cfg.Access.Viewers, access.Operator: cfg.Access.Operators,
		access.Approver: cfg.Access.Approvers, access.Admin: cfg.Access.Admins,
	} {
		for _, id := range people {
			if out.Roles[id] == nil {
				out.Roles[id] = access.Roles{}
			}
			out.Roles[id][role] = true
		}
	}
	for name, ids := range cfg.People {
		for _, id := range ids {
			out.Names[id] = name
		}
	}
	for _, p := range cfg.Adapters.Platforms {
		for _, id := range p.Section.ChatIDs() {
			out.Chats = append(out.Chats, adapters.Target{Adapter: p.Name, Chat: id})
		}
	}
	if to := escalateTo(cfg); to != (adapters.Target{}) {
		out.Chats = append(out.Chats, adapters.Target{Adapter: to.Adapter, Chat: to.Chat})
	}
	return out
}

// pair makes a code that lets a person in.
func (d *daemon) pair(ctx context.Context, role, by string) (api.Pairing, error) {
	if len(d.outlets) == 0 {
		return api.Pairing{}, fmt.Errorf("%w: no chat platform is configured: enable one below adapters: in the configuration", sessions.ErrConflict)
	}
	r, err := access.ParseRole(role)
	if err != nil {
		return api.Pairing{}, fmt.Errorf("%w: %w", sessions.ErrInvalid, err)
	}
	code, expires, err := d.inbound.Pair(ctx, r, by)
	return api.Pairing{Code: code, Role: string(r), Expires: expires}, err
}

// escalateTo is where questions are shown that nobody has answered; zero: nowhere.
func escalateTo(cfg *config.Config) adapters.Target {
	t, err := adapters.ParseTarget(cfg.Prompts.EscalateTo)
	if err != nil {
		return adapters.Target{} // it's empty: the configuration takes no others
	}
	return t
}
