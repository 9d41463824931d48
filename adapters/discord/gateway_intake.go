package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

const (
	// What waits to be stored is bounded. What doesn't fit is asked for again: the
	// session is resumed from what's stored.
	maxWaiting      = 2000
	maxWaitingBytes = 16 << 20
	// maxBatch is how many events are stored at a time.
	maxBatch = 100
)

// item is an event that came.
type item struct {
	session *session
	frame
	stored chan struct{} // closed when it's stored; nil: nobody waits for that
}

// eventIntake puts events into the journal, one after the other, in a goroutine of its own:
// who reads the connection never waits for a disk or a call.
type eventIntake struct {
	g       *Gateway
	storing intake.Vitals
	wake    chan struct{}

	mu      sync.Mutex
	waiting []item
	bytes   int
	lost    *conn // of which events were left out, and nothing more is taken

	// What follows belongs to run's goroutine.
	places  *places
	batch   []intake.Update
	saw     []sight
	done    []chan struct{}
	session *session
	seq     int64           // of the last event that was looked at
	missing map[string]bool // servers that are yet to be described
}

// sight is a message that was taken care of.
type sight struct{ channel, id string }

func newIntake(g *Gateway) *eventIntake {
	return &eventIntake{
		g: g, storing: intake.Vitals{Log: g.log, Part: "storing Discord's events"}, wake: make(chan struct{}, 1), places: newPlaces(g.adapter.client, g.adapter.sharing),
	}
}

// read are the events that are looked at; of the others only the number is.
var read = map[string]bool{ //nolint:gochecknoglobals // a constant table

	eventReady: true, eventGuild: true, eventGuildGone: true, eventChannel: true, eventChannelGone: true,
	eventThread: true, eventThreadChanged: true, eventThreadGone: true, eventThreads: true,
	eventMessage: true, eventEdited: true, eventInteraction: true,
	eventChannelChanged: true, eventRole: true, eventMember: true,
}

// put takes an event in. It returns at once.
func (i *eventIntake) put(ctx context.Context, c *conn, s *session, f frame, children *sync.WaitGroup) {
	it := item{session: s, frame: f}
	if !read[f.Type] {
		it.Data = nil
	}
	if f.Type == eventInteraction {
		it.stored = make(chan struct{})
		i.g.owe(ctx, s, it, children)
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
	poke(i.wake)
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
			list, lost := i.next()
			if len(list) == 0 {
				if lost != nil {
					lost.end(errCaughtUp)
				}
				break
			}
			for _, it := range list {
				if err := i.look(ctx, it); err != nil {
					i.g.log.WarnContext(ctx, "an event can't be read, and was left out", "type", it.Type, "bytes", len(it.Data), "err", err)
				}
			}
			i.flush(ctx)
		}
	}
}

// next takes out what's next, and the connection that lost events.
func (i *eventIntake) next() ([]item, *conn) {
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

// flush stores what was collected, and says so. It's tried until it works: what comes
// meanwhile waits.
func (i *eventIntake) flush(ctx context.Context) {
	if len(i.batch) > 0 {
		if !i.keep(ctx, i.batch) {
			return
		}
	}
	for _, s := range i.saw {
		i.g.backfill.sees(s, len(i.batch) > 0)
	}
	if i.session != nil {
		i.session.stored.Store(i.seq)
	}
	for _, done := range i.done {
		close(done)
	}
	i.batch, i.saw, i.done = nil, nil, nil
}

// keep stores events, however long that takes; false: ctx has ended.
func (i *eventIntake) keep(ctx context.Context, updates []intake.Update) bool {
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
		_ = intake.Pause(ctx, intake.RestAfter(fails))
	}
}

// look takes one event in. An error says that it can't be read.
func (i *eventIntake) look(ctx context.Context, it item) error {
	if i.session != it.session {
		i.flush(ctx)
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
		return i.ready(ctx, it)
	case eventGuild:
		return i.guild(ctx, it)
	case eventGuildGone:
		return i.guildGone(ctx, it)
	case eventThreads:
		var list struct {
			Threads []channelJSON `json:"threads"`
		}
		if err := json.Unmarshal(it.Data, &list); err != nil {
			return unreadable(err)
		}
		for _, c := range list.Threads {
			i.places.learn(c)
		}
		return nil
	case eventChannel, eventChannelChanged, eventChannelGone, eventThread, eventThreadChanged, eventThreadGone:
		return i.channel(ctx, it)
	case eventRole, eventMember:
		return i.rights(it)
	case eventMessage, eventEdited:
		return i.message(ctx, it)
	case eventInteraction:
		return i.interaction(ctx, it)
	default:
		return nil
	}
}

// ours says whether an event is of the server that's looked after, or of a private chat.
func (i *eventIntake) ours(guild string) bool {
	return guild == "" || i.g.adapter.opt.Guild == "" || guild == i.g.adapter.opt.Guild
}

// knows says whether people may talk to the bot at a place.
func (i *eventIntake) knows(t adapters.Target) bool {
	chat := adapters.Target{Adapter: Name, Chat: t.Chat}
	_, configured := i.g.adapter.channel(t.Chat)
	return configured || i.g.opt.Knows(chat) || i.g.adapter.private.person(t.Chat) != ""
}

// placeKey names an event that has no id of its own.
func (i *eventIntake) placeKey(it item) string {
	return fmt.Sprintf("g%s:%d", cut(it.session.id, 100), it.Seq)
}

// channel takes in what has become of a channel or thread.
func (i *eventIntake) channel(ctx context.Context, it item) error {
	var c channelJSON
	if err := json.Unmarshal(it.Data, &c); err != nil {
		return unreadable(err)
	}
	if !i.ours(c.Guild) {
		return nil
	}
	i.places.learn(c)
	t, ok := i.places.of(c.ID)
	if !ok || !i.knows(t) {
		return nil
	}
	if it.Type == eventChannelChanged {
		i.tellRightsChanged()
	}
	if it.Type == eventThread && c.Owner == it.session.bot {
		i.g.adapter.sharing.sees(ctx, t, c.Name)
	}
	i.add(record{Type: it.Type, Key: i.placeKey(it), Bot: it.session.bot, Data: it.Data})
	return nil
}

// add collects an event if there's something to do because of it.
func (i *eventIntake) add(r record) {
	if _, ok, err := r.event(); err != nil || !ok {
		return
	}
	if u, ok, _ := r.update(); ok {
		i.batch = append(i.batch, u)
	}
}
