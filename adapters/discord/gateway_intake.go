package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// What waits to be stored is bounded. What doesn't fit is asked for again: the
	// session is resumed from what's stored.
	maxWaiting      = 2000
	maxWaitingBytes = 16 << 20
	// maxBatch is how many events are stored at a time.
	maxBatch = 100
)

// arrivedEvent is an event that came.
type arrivedEvent struct {
	session *gatewaySession
	gatewayFrame
	stored chan struct{} // closed when it's stored; nil: nobody waits for that
}

// eventIntake puts events into the journal, one after the other, in a goroutine of its own:
// who reads the connection never waits for a disk or a call.
type eventIntake struct {
	g       *Gateway
	storing intake.Vitals
	wake    chan struct{}

	mu      sync.Mutex
	waiting []arrivedEvent
	bytes   int
	lost    *gatewayConn // of which events were left out, and nothing more is taken

	// What follows belongs to run's goroutine.
	places  *threadParents
	batch   []intake.Update
	saw     []handledMessage
	done    []chan struct{}
	session *gatewaySession
	seq     int64           // of the last event that was looked at
	missing map[string]bool // servers that are yet to be described
}

// handledMessage is a message that was taken care of.
type handledMessage struct{ channel, id string }

func newIntake(g *Gateway) *eventIntake {
	return &eventIntake{
		g: g, storing: intake.Vitals{Log: g.log, Part: "storing Discord's events"}, wake: make(chan struct{}, 1), places: newPlaces(g.adapter.client, g.adapter.sharing),
	}
}

// readEvents are the events that are looked at; of the others only the number is.
var readEvents = map[string]bool{ //nolint:gochecknoglobals // a constant table

	eventReady: true, eventGuild: true, eventGuildGone: true, eventChannel: true, eventChannelGone: true,
	eventThread: true, eventThreadChanged: true, eventThreadGone: true, eventThreads: true,
	eventMessage: true, eventEdited: true, eventInteraction: true,
	eventChannelChanged: true, eventRole: true, eventMember: true,
}

// putEvent takes an event in. It returns at once.
func (i *eventIntake) putEvent(ctx context.Context, c *gatewayConn, s *gatewaySession, f gatewayFrame, children *sync.WaitGroup) {
	it := arrivedEvent{session: s, gatewayFrame: f}
	if !readEvents[f.Type] {
		it.Data = nil
	}
	if f.Type == eventInteraction {
		it.stored = make(chan struct{})
		i.g.oweAnswer(ctx, s, it, children)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lost == c {
		return
	}
	if n := len(i.waiting); it.Data == nil && n > 0 && i.waiting[n-1].Data == nil && i.waiting[n-1].session == s {
		i.waiting[n-1] = it
		return
	}
	if len(i.waiting) >= maxWaiting || len(i.waiting) > 0 && i.bytes+len(it.Data) > maxWaitingBytes {
		i.lost = c
		return
	}
	i.waiting = append(i.waiting, it)
	i.bytes += len(it.Data)
	wakeUp(i.wake)
}

// run takes care of events until ctx ends.
func (i *eventIntake) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-i.wake:
		}
		for ctx.Err() == nil {
			list, lost := i.takeBatch()
			if len(list) == 0 {
				if lost != nil {
					lost.closeFor(errCaughtUp)
				}
				break
			}
			for _, it := range list {
				if err := i.handleEvent(ctx, it); err != nil {
					i.g.log.WarnContext(ctx, "an event can't be read, and was left out", "type", it.Type, "bytes", len(it.Data), "err", err)
				}
			}
			i.storeBatch(ctx)
		}
	}
}

// takeBatch takes out what's next, and the connection that lost events.
func (i *eventIntake) takeBatch() ([]arrivedEvent, *gatewayConn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := min(len(i.waiting), maxBatch)
	list := i.waiting[:n:n]
	if i.waiting = i.waiting[n:]; len(i.waiting) == 0 {
		i.waiting = nil // let go of the array
	}
	for _, it := range list {
		i.bytes -= len(it.Data)
	}
	return list, i.lost
}

// storeBatch stores what was collected, and says so. It's tried until it works: what comes
// meanwhile waits.
func (i *eventIntake) storeBatch(ctx context.Context) {
	if len(i.batch) > 0 {
		if !i.keepUpdates(ctx, i.batch) {
			return
		}
	}
	for _, s := range i.saw {
		i.g.backfill.noteHandled(s, len(i.batch) > 0)
	}
	if i.session != nil {
		i.session.stored.Store(i.seq)
	}
	for _, done := range i.done {
		close(done)
	}
	i.batch, i.saw, i.done = nil, nil, nil
}

// keepUpdates stores events, however long that takes; false: ctx has ended.
func (i *eventIntake) keepUpdates(ctx context.Context, updates []intake.Update) bool {
	for fails := 1; ; fails++ {
		err := i.g.opt.Keeper.Keep(ctx, updates)
		switch {
		case err == nil:
			i.storing.Works(ctx)
			return true
		case ctx.Err() != nil:
			return false
		}
		i.storing.Fails(ctx, err.Error())
		_ = sessions.Pause(ctx, intake.RestAfter(fails))
	}
}

// handleEvent takes one event in. An error says that it can't be read.
func (i *eventIntake) handleEvent(ctx context.Context, it arrivedEvent) error {
	if i.session != it.session {
		i.storeBatch(ctx)
		i.session, i.seq = it.session, it.session.stored.Load()
	}
	if it.stored != nil {
		i.done = append(i.done, it.stored)
	}
	if it.Seq <= i.seq && it.Type != eventReady { // which some servers number 0
		return nil // it came again
	}
	i.seq = it.Seq
	switch it.Type {
	case eventReady:
		return i.handleReady(ctx, it)
	case eventGuild:
		return i.handleGuild(ctx, it)
	case eventGuildGone:
		return i.handleGuildGone(ctx, it)
	case eventThreads:
		var list struct {
			Threads []channelJSON `json:"threads"`
		}
		if err := readEvent(it.Data, &list); err != nil {
			return err
		}
		for _, c := range list.Threads {
			i.places.learnChannel(c)
		}
		return nil
	case eventChannel, eventChannelChanged, eventChannelGone, eventThread, eventThreadChanged, eventThreadGone:
		return i.handleChannel(ctx, it)
	case eventRole, eventMember:
		return i.handleRights(it)
	case eventMessage, eventEdited:
		return i.handleMessage(ctx, it)
	case eventInteraction:
		return i.handleInteraction(ctx, it)
	default:
		return nil
	}
}

// isOurGuild says whether an event is of the server that's looked after, or of a private chat.
func (i *eventIntake) isOurGuild(guild string) bool {
	return guild == "" || i.g.adapter.opt.Guild == "" || guild == i.g.adapter.opt.Guild
}

// knowsPlace says whether people may talk to the bot at a place.
func (i *eventIntake) knowsPlace(t adapters.Target) bool {
	chat := adapters.Target{Adapter: Name, Chat: t.Chat}
	_, configured := i.g.adapter.channel(t.Chat)
	return configured || i.g.opt.Knows(chat) || i.g.opt.Uses(chat) || i.g.adapter.private.personOf(t.Chat) != ""
}

// placeKey names an event that has no id of its own.
func (i *eventIntake) placeKey(it arrivedEvent) string {
	return fmt.Sprintf("g%s:%d", adapters.Shorten(it.session.id, 100), it.Seq)
}

// handleChannel takes in what has become of a channel or thread.
func (i *eventIntake) handleChannel(ctx context.Context, it arrivedEvent) error {
	var c channelJSON
	if err := readEvent(it.Data, &c); err != nil {
		return err
	}
	if !i.isOurGuild(c.Guild) {
		return nil
	}
	i.places.learnChannel(c)
	t, ok := i.places.placeOf(c.ID)
	if !ok || !i.knowsPlace(t) {
		return nil
	}
	if it.Type == eventChannelChanged {
		i.g.opt.RightsChanged()
	}
	if it.Type == eventThread && c.Owner == it.session.bot {
		i.g.adapter.sharing.noteThread(ctx, t, c.Name)
	}
	if isThread(c.Type) {
		i.g.backfill.noteThreadChange(c.ID)
	}
	i.addRecord(journalRecord{Type: it.Type, Key: i.placeKey(it), Bot: it.session.bot, Data: it.Data})
	return nil
}

// addRecord collects an event if there's something to do because of it.
func (i *eventIntake) addRecord(r journalRecord) {
	if _, ok, err := i.g.decoder().eventOf(r); err != nil || !ok {
		return
	}
	if u, ok, _ := r.updateOf(); ok {
		i.batch = append(i.batch, u)
	}
}

// handleInteraction takes in a slash command or a pressed button. They name their place
// themselves, but on servers that leave out what their channel is.
func (i *eventIntake) handleInteraction(ctx context.Context, it arrivedEvent) error {
	parent := ""
	if channel := bareChannel(it.gatewayFrame); channel != "" && i.isOurGuild(guildOf(it.Data)) {
		var ok bool
		if parent, ok = i.parentOf(ctx, channel); !ok {
			return ctx.Err()
		}
	}
	r, e, err := i.g.readOwed(it.session, it.gatewayFrame, parent)
	if err != nil || e.Action == nil || !i.isOurGuild(guildOf(it.Data)) {
		return err
	}
	i.notePrivateChat(ctx, e)
	if !i.g.adapter.sharing.isOthers(ctx, e.Place, it.session.bot) {
		i.addRecord(r)
	}
	i.saw = append(i.saw, handledMessage{channelOf(e.Place), strings.TrimPrefix(r.Key, replyMark)})
	return nil
}

// notePrivateChat takes note of with whom a private chat is, if that's somebody who has access: it
// may be bound before the daemon starts anew.
func (i *eventIntake) notePrivateChat(ctx context.Context, e intake.Event) {
	if e.Action = (intake.Said{}); !e.Private || !i.g.opt.Admits(e) { // whatever was said
		return
	}
	if err := i.g.adapter.private.learnPerson(ctx, i.g.adapter.opt.Notes, e.Place.Chat, strings.TrimPrefix(e.Person.ID, Name+":")); err != nil {
		i.g.log.WarnContext(ctx, "noting with whom a private chat is failed", "target", e.Place.String(), "err", err)
	}
}

// handleMessage takes in a message that's new, or was changed.
func (i *eventIntake) handleMessage(ctx context.Context, it arrivedEvent) error {
	var m messageJSON
	if err := readEvent(it.Data, &m); err != nil {
		return err
	}
	if !isID(m.ID) || !isID(m.Channel) {
		return errors.New("read an event: id or channel_id is missing")
	}
	if !i.isOurGuild(m.Guild) {
		return nil
	}
	if t, ok := i.places.placeOf(m.Channel); ok && t.Thread != "" && it.Type == eventMessage && m.Author != nil && m.Author.ID == it.session.bot {
		i.g.adapter.sharing.noteSpokenIn(ctx, t)
	}
	u, ok, err := i.updateOf(ctx, it.session.bot, it.Type, m, it.Data)
	if err != nil {
		return err
	}
	if ok && m.Guild == "" && m.isPersons() {
		i.notePrivateChat(ctx, intake.Event{Place: adapters.Target{Adapter: Name, Chat: m.Channel}, Private: true, Person: person(*m.Author, "")})
	}
	if ok && !i.g.backfill.holdUpdate(m.Channel, u) {
		i.batch = append(i.batch, u)
	}
	if t, ok := i.places.placeOf(m.Channel); ok && it.Type == eventMessage && i.knowsPlace(t) {
		i.saw = append(i.saw, handledMessage{m.Channel, m.ID})
	}
	return nil
}

// updateOf makes an update of a message, if it's one that somebody wrote to us.
func (i *eventIntake) updateOf(ctx context.Context, bot, kind string, m messageJSON, raw json.RawMessage) (intake.Update, bool, error) {
	if !m.isWanted(bot) {
		return intake.Update{}, false, nil
	}
	parent := ""
	if m.Guild != "" {
		var ok bool
		if parent, ok = i.parentOf(ctx, m.Channel); !ok {
			return intake.Update{}, false, ctx.Err()
		}
	} else if _, ok := i.places.placeOf(m.Channel); !ok {
		i.places.learnChannel(channelJSON{ID: m.Channel})
	}
	return i.g.updateOf(ctx, bot, kind, parent, m, raw)
}

// parentOf finds the channel of a thread, however long that takes; false: ctx has ended.
func (i *eventIntake) parentOf(ctx context.Context, channel string) (string, bool) {
	for fails := 1; ; fails++ {
		parent, err := i.places.parentOf(ctx, channel)
		switch {
		case err == nil:
			return parent, true
		case ctx.Err() != nil:
			return "", false
		}
		i.storing.Fails(ctx, "asking in which channel a thread is: "+err.Error())
		_ = sessions.Pause(ctx, intake.RestAfter(fails))
	}
}

// updateOf makes an update of a message that somebody wrote; false: it's none that
// concerns us. Where nobody may talk to the bot, only what looks like a command does:
// it may be what lets somebody in. What's written in the thread of another program that uses the
// bot is that one's.
func (g *Gateway) updateOf(ctx context.Context, bot, kind, parent string, m messageJSON, raw json.RawMessage) (intake.Update, bool, error) {
	r := journalRecord{Type: kind, Key: "m" + m.ID, Bot: bot, Parent: parent, Data: raw}
	if kind == eventEdited {
		at, _ := time.Parse(time.RFC3339, m.EditedAt) // one that isn't a time is no edit
		r.Key = fmt.Sprintf("e%s:%d", m.ID, at.UnixMilli())
	}
	e, ok, err := g.decoder().eventOf(r)
	if err != nil || !ok {
		return intake.Update{}, false, err
	}
	said, fresh := e.Action.(intake.Said)
	if !e.Private && !g.intake.knowsPlace(e.Place) && (!fresh || !strings.HasPrefix(said.Text, "/")) {
		return intake.Update{}, false, nil
	}
	if g.adapter.sharing.isOthers(ctx, e.Place, bot) {
		return intake.Update{}, false, nil
	}
	return r.updateOf()
}

// updateOf is a record as the journal takes it.
func (r journalRecord) updateOf() (intake.Update, bool, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return intake.Update{}, false, errors.New("read an event: it isn't JSON")
	}
	return intake.Update{Key: r.Key, Raw: raw}, true, nil
}

// handleReady begins a session.
func (i *eventIntake) handleReady(ctx context.Context, it arrivedEvent) error {
	var r readyJSON
	if err := readEvent(it.Data, &r); err != nil {
		return err
	}
	i.missing = map[string]bool{}
	for _, g := range r.Guilds {
		i.missing[g.ID] = true
	}
	if want := i.g.adapter.opt.Guild; want != "" && !i.missing[want] {
		i.g.server.Fails(ctx, fmt.Sprintf("the bot isn't on the server %s: invite it, or correct adapters.discord.guild", want))
	}
	var list []unreadPlace
	for channel := range i.g.adapter.private.allChats() {
		t := adapters.Target{Adapter: Name, Chat: channel}
		if i.g.adapter.knows(t) {
			i.places.learnChannel(channelJSON{ID: channel})
			list = append(list, unreadPlace{place: t, private: true})
		}
	}
	i.storeBatch(ctx)
	i.g.backfill.beginPlaces(it.session, "", list)
	return nil
}

// guildJSON is what's read of the description of a server.
type guildJSON struct {
	ID          string            `json:"id"`
	Unavailable bool              `json:"unavailable"`
	Channels    []channelJSON     `json:"channels"`
	Threads     []json.RawMessage `json:"threads"` // those that aren't archived
}

// handleGuild takes in how a server is: after a login, after an outage of it, and when the
// bot has come to it. What was missed is fetched.
func (i *eventIntake) handleGuild(ctx context.Context, it arrivedEvent) error {
	var g guildJSON
	if err := readEvent(it.Data, &g); err != nil {
		return err
	}
	delete(i.missing, g.ID)
	if !i.isOurGuild(g.ID) || g.Unavailable {
		return nil
	}
	i.g.server.Works(ctx)
	known := map[string]channelJSON{}
	for _, c := range g.Channels {
		c.Guild = g.ID
		i.places.learnChannel(c)
		known[c.ID] = c
	}
	states := map[string]json.RawMessage{}
	for _, raw := range g.Threads {
		var c channelJSON
		if err := json.Unmarshal(raw, &c); err != nil || !isThread(c.Type) {
			continue
		}
		i.places.learnChannel(c)
		known[c.ID], states[c.ID] = c, raw
	}
	i.addForMirrored(it, g.ID)
	i.storeBatch(ctx)
	i.g.backfill.beginPlaces(it.session, g.ID, i.unreadPlaces(g.ID, known, states))
	return nil
}

// handleRights takes in that what somebody may do on a server has changed.
func (i *eventIntake) handleRights(it arrivedEvent) error {
	var r struct {
		Guild string   `json:"guild_id"`
		User  userJSON `json:"user"`
	}
	if err := readEvent(it.Data, &r); err != nil {
		return err
	}
	if i.isOurGuild(r.Guild) && r.Guild != "" && (it.Type == eventRole || r.User.ID == it.session.bot) {
		i.addForMirrored(it, r.Guild)
		i.g.opt.RightsChanged()
	}
	return nil
}

// addForMirrored has an event of a server handled for each of its channels that mirrors a
// session.
func (i *eventIntake) addForMirrored(it arrivedEvent, guild string) {
	done := map[string]bool{}
	for _, t := range i.g.opt.Mirrored() {
		if t.Adapter == Name && i.places.guilds[t.Chat] == guild && !done[t.Chat] {
			done[t.Chat] = true
			i.addRecord(journalRecord{Type: it.Type, Key: fmt.Sprintf("%s:%s", i.placeKey(it), t.Chat), Chat: t.Chat, Data: json.RawMessage("{}")})
		}
	}
}

// unreadPlaces are the places of a server where something may have been missed.
func (i *eventIntake) unreadPlaces(guild string, known map[string]channelJSON, states map[string]json.RawMessage) []unreadPlace {
	var list []unreadPlace
	taken := map[string]bool{}
	add := func(t adapters.Target, c channelJSON, mirrored, private bool) {
		if id := channelOf(t); !taken[id] && hasMessages(c.Type) {
			taken[id] = true
			list = append(list, unreadPlace{place: t, last: laterID(c.ID, c.Last), state: states[id], mirrored: mirrored, private: private})
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
				i.places.learnChannel(channelJSON{ID: t.Thread, Type: channelPublicThread, Parent: t.Chat})
			}
		case i.g.adapter.private.personOf(t.Chat) != "" && i.g.adapter.knows(t): // it's read already
		case len(i.missing) == 0 && i.places.guilds[t.Chat] == "": // on no server: a private chat
			add(t, channelJSON{}, true, true)
		}
	}
	for id, c := range known {
		if t, ok := i.places.placeOf(id); ok && i.knowsPlace(t) {
			add(t, c, false, false)
		}
	}
	return list
}

// handleGuildGone takes in that a server can't be reached, or that the bot was removed.
func (i *eventIntake) handleGuildGone(ctx context.Context, it arrivedEvent) error {
	var g guildJSON
	if err := readEvent(it.Data, &g); err != nil {
		return err
	}
	if !i.isOurGuild(g.ID) || g.ID == "" {
		return nil
	}
	if g.Unavailable {
		i.g.server.Fails(ctx, "Discord can't reach the server "+g.ID+" at the moment: its own outage")
		return nil
	}
	i.g.server.Fails(ctx, "the bot was removed from the server "+g.ID+": invite it again")
	i.addForMirrored(it, g.ID)
	return nil
}

func guildOf(raw json.RawMessage) string {
	var head struct {
		Guild string `json:"guild_id"`
	}
	_ = json.Unmarshal(raw, &head) // it was read before
	return head.Guild
}
