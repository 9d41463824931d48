package discord

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/panebridge/panebridge/adapters"
)

// ready begins a session.
func (i *eventIntake) ready(ctx context.Context, it item) error {
	var r readyJSON
	if err := json.Unmarshal(it.Data, &r); err != nil {
		return unreadable(err)
	}
	i.missing = map[string]bool{}
	for _, g := range r.Guilds {
		i.missing[g.ID] = true
	}
	if want := i.g.adapter.opt.Guild; want != "" && !i.missing[want] {
		i.g.server.Fails(ctx, fmt.Sprintf("the bot isn't on the server %s: invite it, or correct adapters.discord.guild", want))
	}
	var list []errand
	for channel := range i.g.adapter.private.all() {
		t := adapters.Target{Adapter: Name, Chat: channel}
		if i.g.adapter.knows(t) {
			i.places.learn(channelJSON{ID: channel})
			list = append(list, errand{place: t, private: true})
		}
	}
	i.flush(ctx)
	i.g.backfill.begin(it.session, "", list)
	return nil
}

// guildJSON is what's read of the description of a server.
type guildJSON struct {
	ID          string            `json:"id"`
	Unavailable bool              `json:"unavailable"`
	Channels    []channelJSON     `json:"channels"`
	Threads     []json.RawMessage `json:"threads"` // those that aren't archived
}

// guild takes in how a server is: after a login, after an outage of it, and when the
// bot has come to it. What was missed is fetched.
func (i *eventIntake) guild(ctx context.Context, it item) error {
	var g guildJSON
	if err := json.Unmarshal(it.Data, &g); err != nil {
		return unreadable(err)
	}
	delete(i.missing, g.ID)
	if !i.ours(g.ID) || g.Unavailable {
		return nil
	}
	i.g.server.Works(ctx)
	known := map[string]channelJSON{}
	for _, c := range g.Channels {
		c.Guild = g.ID
		i.places.learn(c)
		known[c.ID] = c
	}
	states := map[string]json.RawMessage{}
	for _, raw := range g.Threads {
		var c channelJSON
		if err := json.Unmarshal(raw, &c); err != nil || !isThread(c.Type) {
			continue
		}
		i.places.learn(c)
		known[c.ID], states[c.ID] = c, raw
	}
	i.eachMirrored(it, g.ID)
	i.flush(ctx)
	i.g.backfill.begin(it.session, g.ID, i.errands(g.ID, known, states))
	return nil
}

// rights takes in that what somebody may do on a server has changed.
func (i *eventIntake) rights(it item) error {
	var r struct {
		Guild string   `json:"guild_id"`
		User  userJSON `json:"user"`
	}
	if err := json.Unmarshal(it.Data, &r); err != nil {
		return unreadable(err)
	}
	if i.ours(r.Guild) && r.Guild != "" && (it.Type == eventRole || r.User.ID == it.session.bot) {
		i.eachMirrored(it, r.Guild)
		i.tellRightsChanged()
	}
	return nil
}

func (i *eventIntake) tellRightsChanged() {
	if tell := i.g.opt.RightsChanged; tell != nil {
		tell()
	}
}

// eachMirrored has an event of a server handled for each of its channels that mirrors a
// session.
func (i *eventIntake) eachMirrored(it item, guild string) {
	done := map[string]bool{}
	for _, t := range i.g.opt.Mirrored() {
		if t.Adapter == Name && i.places.guilds[t.Chat] == guild && !done[t.Chat] {
			done[t.Chat] = true
			i.add(record{Type: it.Type, Key: fmt.Sprintf("%s:%s", i.placeKey(it), t.Chat), Chat: t.Chat, Data: json.RawMessage("{}")})
		}
	}
}

// errands are the places of a server where something may have been missed.
func (i *eventIntake) errands(guild string, known map[string]channelJSON, states map[string]json.RawMessage) []errand {
	var list []errand
	taken := map[string]bool{}
	add := func(t adapters.Target, c channelJSON, mirrored, private bool) {
		if id := channelOf(t); !taken[id] && hasMessages(c.Type) {
			taken[id] = true
			list = append(list, errand{place: t, last: later(c.ID, c.Last), state: states[id], mirrored: mirrored, private: private})
		}
	}
	for _, t := range i.g.opt.Mirrored() {
		c, described := known[channelOf(t)]
		_, here := known[t.Chat]
		switch {
		case t.Adapter != Name || !isID(channelOf(t)) || !isID(t.Chat):
		case described, here: // a thread that's not described is archived, or gone
			add(t, c, true, false)
			if t.Thread != "" {
				i.places.learn(channelJSON{ID: t.Thread, Type: channelPublicThread, Parent: t.Chat})
			}
		case i.g.adapter.private.person(t.Chat) != "" && i.g.adapter.knows(t): // it's read already
		case len(i.missing) == 0 && i.places.guilds[t.Chat] == "": // on no server: a private chat
			add(t, channelJSON{}, true, true)
		}
	}
	for id, c := range known {
		if t, ok := i.places.of(id); ok && i.knows(t) {
			add(t, c, false, false)
		}
	}
	return list
}

// guildGone takes in that a server can't be reached, or that the bot was removed.
func (i *eventIntake) guildGone(ctx context.Context, it item) error {
	var g guildJSON
	if err := json.Unmarshal(it.Data, &g); err != nil {
		return unreadable(err)
	}
	if !i.ours(g.ID) || g.ID == "" {
		return nil
	}
	if g.Unavailable {
		i.g.server.Fails(ctx, "Discord can't reach the server "+g.ID+" at the moment: its own outage")
		return nil
	}
	i.g.server.Fails(ctx, "the bot was removed from the server "+g.ID+": invite it again")
	i.eachMirrored(it, g.ID)
	return nil
}

func guildOf(raw json.RawMessage) string {
	var head struct {
		Guild string `json:"guild_id"`
	}
	_ = json.Unmarshal(raw, &head) // it was read before
	return head.Guild
}
