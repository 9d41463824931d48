package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// What's said in a place while it's read waits, within bounds; beyond them it's read
	// too.
	maxHeld = 500
	// noteEvery is how often it's noted how far places have been read.
	noteEvery = 30 * time.Second
	// noteFor bounds that when all else ends.
	noteFor = 5 * time.Second
)

// unreadPlace is a place where something may have been missed.
type unreadPlace struct {
	place    adapters.Target
	last     string          // the newest message there, as far as it's known
	state    json.RawMessage // of a thread, as the server's description has it; nil: it isn't among the open ones
	mirrored bool            // it mirrors a session
	private  bool            // it's a chat with one person, on no server
}

// heldPlace is a place that's being read. What's said there now waits behind what was said
// before.
type heldPlace struct {
	unreadPlace
	session *gatewaySession
	guild   string
	round   int
	again   bool // it must be looked at once more
	changed bool // an event has said since then how the thread is: what's read of it may be older
	// unreadable is how many pages in a row were of no use. It belongs to run's goroutine.
	unreadable int
	waiting    []intake.Update
	saw        string // the newest message that came meanwhile
}

// backfill fetches what was said while we were away, in a goroutine of its own. How
// far each channel and thread has been read is noted, and nothing is stored twice: the
// journal knows what it has by its keys.
type backfill struct {
	g       *Gateway
	reading intake.Vitals
	wake    chan struct{}

	mu    sync.Mutex
	open  map[string]*heldPlace // by id of the channel or thread
	order []string
	round int               // of begin
	seen  map[string]string // newest message taken care of, by channel; "": not read from the notes yet
	newer map[string]bool   // channels whose note is to be written
	most  string            // the newest of all
	base  string            // where places begin that have no note; "": they begin now
	noted bool              // base was read

	asked time.Time // the last call; run's goroutine
}

func newBackfill(g *Gateway) *backfill {
	return &backfill{
		g: g, reading: intake.Vitals{Log: g.log, Part: "fetching what was missed on Discord"}, wake: make(chan struct{}, 1),
		open: map[string]*heldPlace{}, seen: map[string]string{}, newer: map[string]bool{},
	}
}

// beginPlaces has places looked at. From now on, until that's done, what's said there waits.
func (b *backfill) beginPlaces(s *gatewaySession, guild string, list []unreadPlace) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.round++
	for _, e := range list {
		id := channelOf(e.place)
		h := b.open[id]
		if h == nil {
			h = &heldPlace{}
			b.open[id] = h
			b.order = append(b.order, id)
		} else {
			h.again = true
		}
		h.unreadPlace, h.session, h.guild, h.round, h.changed = e, s, guild, b.round, false
	}
	wakeUp(b.wake)
}

// holdUpdate takes an update that must wait; false: its place isn't being read.
func (b *backfill) holdUpdate(channel string, u intake.Update) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.open[channel]
	if h == nil {
		return false
	}
	if len(h.waiting) >= maxHeld {
		h.waiting, h.again, h.last = nil, true, ""
	}
	h.waiting = append(h.waiting, u)
	return true
}

// noteThreadChange takes in that an event says how a thread is now, before it's stored.
func (b *backfill) noteThreadChange(thread string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.open[thread]; h != nil {
		h.changed = true
	}
}

// hasChanged reports whether an event has said how a thread is since it's known that it must be read.
func (b *backfill) hasChanged(h *heldPlace) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return h.changed
}

// noteHandled takes in that a message was taken care of; urgent: that it's noted soon.
func (b *backfill) noteHandled(s handledMessage, urgent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.open[s.channel]; h != nil {
		h.saw = laterID(h.saw, s.id)
		return
	}
	b.advancePlace(s.channel, s.id)
	if urgent {
		wakeUp(b.wake)
	}
}

// run looks at places until ctx ends.
func (b *backfill) run(ctx context.Context) {
	tick := time.NewTicker(noteEvery)
	defer tick.Stop()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteFor)
		defer cancel()
		b.writeNotes(ctx)
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-b.wake:
		}
		for fails := 0; ctx.Err() == nil; {
			h, id := b.nextPlace()
			if h == nil {
				break
			}
			err := b.readPlace(ctx, id, h)
			if err == nil {
				fails = 0
				b.reading.Works(ctx)
				continue
			}
			if ctx.Err() != nil {
				return
			}
			fails++
			b.reading.Fails(ctx, err.Error())
			rest := intake.RestAfter(fails)
			if f, ok := errors.AsType[*failure](err); ok && f.RetryAfter > 0 {
				rest = f.RetryAfter
			}
			_ = sessions.Pause(ctx, rest)
		}
		b.writeNotes(ctx)
	}
}

// nextPlace returns the place that's looked at next: first one where somebody waits.
func (b *backfill) nextPlace() (*heldPlace, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.order {
		if h := b.open[id]; len(h.waiting) > 0 {
			return h, id
		}
	}
	if len(b.order) == 0 {
		return nil, ""
	}
	return b.open[b.order[0]], b.order[0]
}

// readPlace looks at one place, and lets go of it. After an error it's to be done again.
func (b *backfill) readPlace(ctx context.Context, id string, h *heldPlace) error {
	from, err := b.positionOf(ctx, id)
	if err != nil {
		return err
	}
	b.mu.Lock()
	e, s, guild, round := h.unreadPlace, h.session, h.guild, h.round
	h.again = false
	b.mu.Unlock()
	if e.private {
		guild = ""
	}
	if e.place.Thread != "" && e.mirrored {
		if e, err = b.readThreadState(ctx, h, s, round, e); err != nil {
			return err
		}
	}
	if from != "" && e.place != (adapters.Target{}) && (e.last == "" || laterID(e.last, from) != from) {
		if err := b.readPages(ctx, h, s, guild, e.place, from); err != nil {
			return err
		}
	}
	return b.releasePlace(ctx, id, h, e.last)
}

// releasePlace stores what has waited, and lets go of a place.
func (b *backfill) releasePlace(ctx context.Context, id string, h *heldPlace, last string) error {
	for {
		b.mu.Lock()
		waiting := h.waiting
		switch {
		case h.again:
			b.mu.Unlock()
			return nil // it's looked at once more
		case len(waiting) == 0:
			delete(b.open, id)
			b.order = slices.DeleteFunc(b.order, func(x string) bool { return x == id })
			b.advancePlace(id, laterID(h.saw, last))
			b.most = laterID(b.most, id) // so that there's something where nobody ever wrote
			b.mu.Unlock()
			return nil
		}
		h.waiting = nil
		b.mu.Unlock()
		if err := b.g.opt.Keeper.Keep(ctx, waiting); err != nil {
			b.mu.Lock()
			h.waiting = append(waiting, h.waiting...)
			b.mu.Unlock()
			return fmt.Errorf("store what has waited: %w", err)
		}
	}
}

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

// readThreadState has it handled how a thread is now. The place comes back with what's known
// then, without a place if the thread is gone.
func (b *backfill) readThreadState(ctx context.Context, h *heldPlace, s *gatewaySession, round int, e unreadPlace) (unreadPlace, error) {
	r := journalRecord{Type: eventThreadChanged, Key: fmt.Sprintf("y%s:%d:%s", adapters.Shorten(s.id, 100), round, e.place.Thread), Bot: s.bot, Data: e.state}
	if e.state == nil {
		b.awaitTurn(ctx)
		err := b.g.adapter.client.callPath(ctx, http.MethodGet, "channels/"+e.place.Thread, nil, &r.Data)
		switch {
		case isGone(err):
			r.Type = eventThreadGone
			r.Data, err = json.Marshal(map[string]any{"id": e.place.Thread, "parent_id": e.place.Chat, "type": channelPublicThread})
			e.place = adapters.Target{}
		case err == nil:
			c := askedChannel{want: e.place.Thread}
			if err := readEvent(r.Data, &c); err != nil {
				return e, err
			}
			if err := c.Check(); err != nil {
				return e, fmt.Errorf("read an event: %w", err)
			}
			e.last = laterID(c.ID, c.Last)
		}
		if err != nil {
			return e, err
		}
	}
	if _, ok, err := b.g.decoder().eventOf(r); err != nil || !ok {
		return e, nil //nolint:nilerr // it says nothing that can be read
	}
	u, _, err := r.updateOf()
	if err != nil {
		return e, err
	}
	if b.hasChanged(h) {
		return e, nil // the events that come say how it is, in their order
	}
	return e, b.g.opt.Keeper.Keep(ctx, []intake.Update{u})
}

// awaitTurn lets time pass since the call before.
func (b *backfill) awaitTurn(ctx context.Context) {
	if wait := askEvery - time.Since(b.asked); wait > 0 {
		_ = sessions.Pause(ctx, wait)
	}
	b.asked = time.Now()
}

// readPages stores what was said in a place after a message.
func (b *backfill) readPages(ctx context.Context, h *heldPlace, s *gatewaySession, guild string, place adapters.Target, after string) error {
	for {
		b.awaitTurn(ctx)
		var list historyPage
		err := b.g.adapter.client.callPath(ctx, http.MethodGet, fmt.Sprintf("channels/%s/messages?after=%s&limit=%d", channelOf(place), after, perPage), nil, &list)
		if isGone(err) {
			b.g.log.WarnContext(ctx, "what was written while panebridge was away can't be read: let the bot read the message history", "target", place.String(), "err", err)
			return nil
		}
		if err != nil {
			return err
		}
		updates, newest, bad := b.readPage(ctx, s, guild, place, list)
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
		if newest == "" || laterID(after, newest) == after {
			return nil
		}
		after = newest
		b.mu.Lock()
		b.advancePlace(channelOf(place), newest)
		b.mu.Unlock()
		if len(list) < perPage {
			return nil
		}
	}
}

// readPage makes updates of a page, the oldest first, and says which message is the newest and how
// many can't be read but for their ids.
func (b *backfill) readPage(ctx context.Context, s *gatewaySession, guild string, place adapters.Target, list historyPage) (updates []intake.Update, newest string, bad int) {
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
		if !m.isWanted(s.bot) {
			continue
		}
		raw, err := located(m.raw, guild)
		if err != nil {
			continue
		}
		m.Guild = guild
		if u, ok, err := b.g.updateOf(ctx, s.bot, eventMessage, parent, m.messageJSON, raw); err == nil && ok {
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

// noteSeen is the newest message that was taken care of: overall, or with an id behind it
// in one channel or thread.
const noteSeen = "seen"

// advancePlace takes in how far a place has been read. mu is held.
func (b *backfill) advancePlace(channel, id string) {
	if id == "" {
		return
	}
	b.most = laterID(b.most, id)
	if was := b.seen[channel]; was == "" || laterID(was, id) != was {
		b.seen[channel] = id
		b.newer[channel] = true
	}
}

// laterID returns the greater one of two ids; "" is less than all.
func laterID(a, b string) string {
	if c := cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)); c < 0 {
		return b
	}
	return a
}

// positionOf returns the message after which a place is read; "": nothing there is old.
func (b *backfill) positionOf(ctx context.Context, id string) (string, error) {
	b.mu.Lock()
	seen, base, noted := b.seen[id], b.base, b.noted
	b.mu.Unlock()
	if seen != "" {
		return seen, nil
	}
	var err error
	if !noted {
		if base, err = b.g.adapter.opt.Notes.Note(ctx, noteSeen); err != nil {
			return "", fmt.Errorf("read how far Discord was read: %w", err)
		}
	}
	seen, err = b.g.adapter.opt.Notes.Note(ctx, noteSeen+" "+id)
	if err != nil {
		return "", fmt.Errorf("read how far Discord was read: %w", err)
	}
	if !isID(base) {
		base = ""
	}
	if !isID(seen) {
		seen = base
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.base, b.noted = base, true
	b.most = laterID(b.most, base)
	return seen, nil
}

// writeNotes writes down how far places have been read. Where places begin that have no note
// is only moved on when nothing is missing anywhere.
func (b *backfill) writeNotes(ctx context.Context) {
	b.mu.Lock()
	todo := map[string]string{}
	for id := range b.newer {
		todo[noteSeen+" "+id] = b.seen[id]
	}
	base := ""
	if len(b.order) == 0 && b.noted && b.most != b.base {
		base = b.most
		todo[noteSeen] = base
	}
	b.newer = map[string]bool{}
	b.mu.Unlock()
	for key, value := range todo {
		if err := b.g.adapter.opt.Notes.PutNote(ctx, key, value); err != nil {
			if ctx.Err() == nil {
				b.g.log.WarnContext(ctx, "noting how far Discord was read failed", "err", err)
			}
			return // it's read from the older note on
		}
	}
	if base != "" {
		b.mu.Lock()
		b.base = base
		b.mu.Unlock()
	}
}
