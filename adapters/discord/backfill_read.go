package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

const (
	// perPage: "1-100" (docs.discord.com/developers/resources/message#get-channel-messages).
	perPage = 100
	// askEvery is the least time between two calls: what was missed comes after what's
	// said now, and takes less than a tenth of the bot's 50 calls per second.
	askEvery = 250 * time.Millisecond
	// maxUnreadable is how often a page of which no message can be read is asked for again: it may
	// be what a proxy has made of it. What's really so is left out then.
	maxUnreadable = 4
)

// historyPage are messages as they were fetched.
type historyPage []json.RawMessage

func (p *historyPage) Check() error {
	for _, raw := range *p {
		var m struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(raw, &m) != nil || !isID(m.ID) {
			return errors.New("it's no list of messages")
		}
	}
	return nil
}

// state has it handled how a thread is now. The errand comes back with what's known
// then, without a place if the thread is gone.
func (b *backfill) state(ctx context.Context, s *session, round int, e errand) (errand, error) {
	r := record{Type: eventThreadChanged, Key: fmt.Sprintf("y%s:%d:%s", cut(s.id, 100), round, e.place.Thread), Bot: s.bot, Data: e.state}
	if e.state == nil {
		b.slowly(ctx)
		err := b.g.adapter.client.raw(ctx, http.MethodGet, "channels/"+e.place.Thread, nil, &r.Data)
		switch {
		case isGone(err):
			r.Type = eventThreadGone
			r.Data, err = json.Marshal(map[string]any{"id": e.place.Thread, "parent_id": e.place.Chat, "type": channelPublicThread})
			e.place = adapters.Target{}
		case err == nil:
			c := askedChannel{want: e.place.Thread}
			if err := cmp.Or(json.Unmarshal(r.Data, &c), c.Check()); err != nil {
				return e, unreadable(err)
			}
			e.last = later(c.ID, c.Last)
		}
		if err != nil {
			return e, err
		}
	}
	if _, ok, err := r.event(); err != nil || !ok {
		return e, nil //nolint:nilerr // it says nothing that can be read
	}
	u, _, err := r.update()
	if err != nil {
		return e, err
	}
	return e, b.g.opt.Keeper.Keep(ctx, []intake.Update{u})
}

// slowly lets time pass since the call before.
func (b *backfill) slowly(ctx context.Context) {
	if wait := askEvery - time.Since(b.asked); wait > 0 {
		_ = intake.Pause(ctx, wait)
	}
	b.asked = time.Now()
}

// pages stores what was said in a place after a message.
func (b *backfill) pages(ctx context.Context, h *hold, s *session, guild string, place adapters.Target, after string) error {
	for {
		b.slowly(ctx)
		var list historyPage
		err := b.g.adapter.client.raw(ctx, http.MethodGet, fmt.Sprintf("channels/%s/messages?after=%s&limit=%d", channelOf(place), after, perPage), nil, &list)
		if isGone(err) {
			b.g.log.WarnContext(ctx, "what was written while panebridge was away can't be read: let the bot read the message history", "target", place.String(), "err", err)
			return nil
		}
		if err != nil {
			return err
		}
		updates, newest, bad := b.read(ctx, s, guild, place, list)
		if bad > 0 && bad == len(list) && h.unreadable < maxUnreadable {
			h.unreadable++
			return errors.New("fetch what was missed: no message can be read; it's tried again")
		}
		h.unreadable = 0
		if bad > 0 {
			b.g.log.WarnContext(ctx, "messages that can't be read were left out", "target", place.String(), "messages", bad)
		}
		if len(updates) > 0 {
			if err := b.g.opt.Keeper.Keep(ctx, updates); err != nil {
				return fmt.Errorf("store what was missed: %w", err)
			}
		}
		if newest == "" || later(after, newest) == after {
			return nil
		}
		after = newest
		b.mu.Lock()
		b.advance(channelOf(place), newest)
		b.mu.Unlock()
		if len(list) < perPage {
			return nil
		}
	}
}

// read makes updates of a page, the oldest first, and says which message is the newest and how
// many can't be read but for their ids.
func (b *backfill) read(ctx context.Context, s *session, guild string, place adapters.Target, list historyPage) (updates []intake.Update, newest string, bad int) {
	type message struct {
		messageJSON
		raw json.RawMessage
	}
	var page []message
	for _, raw := range list {
		m := message{raw: raw}
		if json.Unmarshal(raw, &m.messageJSON) != nil {
			bad++
			m.Author = nil
		}
		page = append(page, m)
	}
	slices.SortFunc(page, func(x, y message) int { return cmp.Or(cmp.Compare(len(x.ID), len(y.ID)), cmp.Compare(x.ID, y.ID)) })
	parent := ""
	if place.Thread != "" {
		parent = place.Chat
	}
	for _, m := range page {
		newest = m.ID
		m.Channel = channelOf(place)
		if !m.isPersons() || m.Author.Bot {
			continue
		}
		raw, err := located(m.raw, guild)
		if err != nil {
			continue
		}
		m.Guild = guild
		if u, ok, err := b.g.update(ctx, s.bot, eventMessage, parent, m.messageJSON, raw); err == nil && ok {
			updates = append(updates, u)
		}
	}
	return updates, newest, bad
}

// located is a message as the gateway would have sent it: what's fetched doesn't say
// on which server it is.
func located(raw json.RawMessage, guild string) (json.RawMessage, error) {
	if guild == "" {
		return raw, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	var err error
	if fields["guild_id"], err = json.Marshal(guild); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}
