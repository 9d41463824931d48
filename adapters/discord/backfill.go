package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
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

// errand is a place where something may have been missed.
type errand struct {
	place    adapters.Target
	last     string          // the newest message there, as far as it's known
	state    json.RawMessage // of a thread, as the server's description has it; nil: it isn't among the open ones
	mirrored bool            // it mirrors a session
	private  bool            // it's a chat with one person, on no server
}

// hold is a place that's being read. What's said there now waits behind what was said
// before.
type hold struct {
	errand
	session *session
	guild   string
	round   int
	again   bool // it must be looked at once more
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
	open  map[string]*hold // by id of the channel or thread
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
		open: map[string]*hold{}, seen: map[string]string{}, newer: map[string]bool{},
	}
}

// begin has places looked at. From now on, until that's done, what's said there waits.
func (b *backfill) begin(s *session, guild string, list []errand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.round++
	for _, e := range list {
		id := channelOf(e.place)
		h := b.open[id]
		if h == nil {
			h = &hold{}
			b.open[id] = h
			b.order = append(b.order, id)
		} else {
			h.again = true
		}
		h.errand, h.session, h.guild, h.round = e, s, guild, b.round
	}
	poke(b.wake)
}

// holds takes an update that must wait; false: its place isn't being read.
func (b *backfill) holds(channel string, u intake.Update) bool {
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

// sees takes in that a message was taken care of; urgent: that it's noted soon.
func (b *backfill) sees(s sight, urgent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.open[s.channel]; h != nil {
		h.saw = later(h.saw, s.id)
		return
	}
	b.advance(s.channel, s.id)
	if urgent {
		poke(b.wake)
	}
}

// run looks at places until ctx ends.
func (b *backfill) run(ctx context.Context) {
	tick := time.NewTicker(noteEvery)
	defer tick.Stop()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteFor)
		defer cancel()
		b.note(ctx)
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-b.wake:
		}
		for fails := 0; ctx.Err() == nil; {
			h, id := b.next()
			if h == nil {
				break
			}
			err := b.work(ctx, id, h)
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
			_ = intake.Pause(ctx, rest)
		}
		b.note(ctx)
	}
}

// next returns the place that's looked at next: first one where somebody waits.
func (b *backfill) next() (*hold, string) {
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

// work looks at one place, and lets go of it. After an error it's to be done again.
func (b *backfill) work(ctx context.Context, id string, h *hold) error {
	from, err := b.from(ctx, id)
	if err != nil {
		return err
	}
	b.mu.Lock()
	e, s, guild, round := h.errand, h.session, h.guild, h.round
	h.again = false
	b.mu.Unlock()
	if e.private {
		guild = ""
	}
	if e.place.Thread != "" && e.mirrored {
		if e, err = b.state(ctx, s, round, e); err != nil {
			return err
		}
	}
	if from != "" && e.place != (adapters.Target{}) && (e.last == "" || later(e.last, from) != from) {
		if err := b.pages(ctx, h, s, guild, e.place, from); err != nil {
			return err
		}
	}
	return b.release(ctx, id, h, e.last)
}

// release stores what has waited, and lets go of a place.
func (b *backfill) release(ctx context.Context, id string, h *hold, last string) error {
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
			b.advance(id, later(h.saw, last))
			b.most = later(b.most, id) // so that there's something where nobody ever wrote
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
