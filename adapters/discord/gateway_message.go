package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

// interaction takes in a slash command or a pressed button. They name their place
// themselves, but on servers that leave out what their channel is.
func (i *eventIntake) interaction(ctx context.Context, it item) error {
	parent := ""
	if channel := bareChannel(it.frame); channel != "" && i.ours(guildOf(it.Data)) {
		var ok bool
		if parent, ok = i.parent(ctx, channel); !ok {
			return ctx.Err()
		}
	}
	r, e, err := readOwed(it.session, it.frame, parent)
	if err != nil || e.Action == nil || !i.ours(guildOf(it.Data)) {
		return err
	}
	i.meets(ctx, e)
	if !i.g.adapter.sharing.isOthers(ctx, e.Place, it.session.bot) {
		i.add(r)
	}
	i.saw = append(i.saw, sight{channelOf(e.Place), strings.TrimPrefix(r.Key, replyMark)})
	return nil
}

// meets takes note of with whom a private chat is, if that's somebody who has access: it
// may be bound before the daemon starts anew.
func (i *eventIntake) meets(ctx context.Context, e intake.Event) {
	if e.Action = (intake.Said{}); !e.Private || !i.g.opt.Admits(e) { // whatever was said
		return
	}
	if err := i.g.adapter.private.learn(ctx, i.g.opt.Notes, e.Place.Chat, strings.TrimPrefix(e.Person.ID, Name+":")); err != nil {
		i.g.log.WarnContext(ctx, "noting with whom a private chat is failed", "target", e.Place.String(), "err", err)
	}
}

// message takes in a message that's new, or was changed.
func (i *eventIntake) message(ctx context.Context, it item) error {
	var m messageJSON
	if err := json.Unmarshal(it.Data, &m); err != nil {
		return unreadable(err)
	}
	if !isID(m.ID) || !isID(m.Channel) {
		return errors.New("read an event: id or channel_id is missing")
	}
	if !i.ours(m.Guild) {
		return nil
	}
	if t, ok := i.places.of(m.Channel); ok && t.Thread != "" && it.Type == eventMessage && m.Author != nil && m.Author.ID == it.session.bot {
		i.g.adapter.sharing.hears(ctx, t)
	}
	u, ok, err := i.wanted(ctx, it.session.bot, it.Type, m, it.Data)
	if err != nil {
		return err
	}
	if ok && m.Guild == "" {
		i.meets(ctx, intake.Event{Place: adapters.Target{Adapter: Name, Chat: m.Channel}, Private: true, Person: person(*m.Author, "")})
	}
	if ok && !i.g.backfill.holds(m.Channel, u) {
		i.batch = append(i.batch, u)
	}
	if t, ok := i.places.of(m.Channel); ok && it.Type == eventMessage && i.knows(t) {
		i.saw = append(i.saw, sight{m.Channel, m.ID})
	}
	return nil
}

// wanted makes an update of a message, if it's one that somebody wrote to us.
func (i *eventIntake) wanted(ctx context.Context, bot, kind string, m messageJSON, raw json.RawMessage) (intake.Update, bool, error) {
	if !m.isPersons() || m.Author.Bot {
		return intake.Update{}, false, nil
	}
	parent := ""
	if m.Guild != "" {
		var ok bool
		if parent, ok = i.parent(ctx, m.Channel); !ok {
			return intake.Update{}, false, ctx.Err()
		}
	} else if _, ok := i.places.of(m.Channel); !ok {
		i.places.learn(channelJSON{ID: m.Channel})
	}
	return i.g.update(ctx, bot, kind, parent, m, raw)
}

// parent finds the channel of a thread, however long that takes; false: ctx has ended.
func (i *eventIntake) parent(ctx context.Context, channel string) (string, bool) {
	for fails := 1; ; fails++ {
		parent, err := i.places.parent(ctx, channel)
		switch {
		case err == nil:
			return parent, true
		case ctx.Err() != nil:
			return "", false
		}
		i.storing.Fails(ctx, "asking in which channel a thread is: "+err.Error())
		_ = intake.Pause(ctx, intake.RestAfter(fails))
	}
}

// update makes an update of a message that somebody wrote; false: it's none that
// concerns us. Where nobody may talk to the bot, only what looks like a command does:
// it may be what lets somebody in. What's written in the thread of another program that uses the
// bot is that one's.
func (g *Gateway) update(ctx context.Context, bot, kind, parent string, m messageJSON, raw json.RawMessage) (intake.Update, bool, error) {
	r := record{Type: kind, Key: "m" + m.ID, Bot: bot, Parent: parent, Data: raw}
	if kind == eventEdited {
		at, _ := time.Parse(time.RFC3339, m.EditedAt) // one that isn't a time is no edit
		r.Key = fmt.Sprintf("e%s:%d", m.ID, at.UnixMilli())
	}
	e, ok, err := r.event()
	if err != nil || !ok {
		return intake.Update{}, false, err
	}
	said, fresh := e.Action.(intake.Said)
	if !e.Private && !g.intake.knows(e.Place) && (!fresh || !strings.HasPrefix(said.Text, "/")) {
		return intake.Update{}, false, nil
	}
	if g.adapter.sharing.isOthers(ctx, e.Place, bot) {
		return intake.Update{}, false, nil
	}
	return r.update()
}

// update is a record as the journal takes it.
func (r record) update() (intake.Update, bool, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return intake.Update{}, false, errors.New("read an event: it isn't JSON")
	}
	return intake.Update{Key: r.Key, Raw: raw}, true, nil
}
