package qos

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Snapshot returns the state now.
func (e *Engine) Snapshot(now time.Time) Snapshot {
	now = e.advance(now)
	s := Snapshot{
		At: now, Mode: e.opt.Mode, InFlight: e.bot.inFlight, Documents: len(e.docs), Totals: e.totals,
		Bot: BotStatus{
			PenaltyUntil: ahead(now, e.bot.throttle.until), Multiplier: e.bot.throttle.multiplier(), BudgetErr: e.bot.err,
		},
	}
	for _, key := range slices.Sorted(maps.Keys(e.chats)) {
		s.Chats = append(s.Chats, e.chatStatus(now, e.chats[key]))
	}
	s.Load = e.load(now)
	for _, d := range e.docs {
		if d.dirty.IsZero() {
			continue
		}
		i, _ := slices.BinarySearchFunc(s.Chats, d.chat.key, func(c ChatStatus, k Chat) int { return cmp.Compare(c.Chat, k) })
		s.Chats[i].Documents = append(s.Chats[i].Documents, docStatus(now, d))
	}
	for i := range s.Chats {
		slices.SortFunc(s.Chats[i].Documents, func(a, b DocStatus) int { return cmp.Compare(a.Doc, b.Doc) })
	}
	return s
}

// load sums up all chats.
func (e *Engine) load(now time.Time) (sum Load) {
	for _, c := range e.chats {
		sum.Tick = max(sum.Tick, e.chatTick(now, c))
		sum.ActiveSessions += c.emitters.emitting(now, e.opt.ActiveEmitterWindow)
		var s ChatStatus
		s.countAll(now, c)
		for _, w := range s.Waiting {
			sum.Oldest = max(sum.Oldest, w.Oldest)
		}
	}
	return sum
}

// chatTick is the time between two streams of a chat's messages.
func (e *Engine) chatTick(now time.Time, c *chat) time.Duration {
	if len(c.lanes) == 0 {
		return 0
	}
	return e.tick(now, c, c.lanes[0])
}

func (e *Engine) chatStatus(now time.Time, c *chat) ChatStatus {
	s := ChatStatus{
		Chat: c.key, Windows: e.budget.Use(now, c.key), InFlight: c.call != nil,
		PenaltyUntil: ahead(now, e.penalty(c)), BackoffUntil: ahead(now, c.backoff.until),
		Multiplier:     c.throttle.multiplier(),
		Tick:           e.chatTick(now, c),
		ActiveSessions: c.emitters.active(now, e.opt.ActiveEmitterWindow),
	}
	if c.waiting > 0 { // else it's looked at when it can be forgotten
		s.NextSlot = ahead(now, c.look)
	}
	if e.opt.Mode == Strict {
		s.Reserve = e.kept(now, c, e.mainWindow(c))
	}
	for _, l := range c.lanes {
		s.PenaltyUntil = later(s.PenaltyUntil, ahead(now, l.throttle.until))
	}
	s.countAll(now, c)
	return s
}

// countAll adds what waits in a chat.
func (s *ChatStatus) countAll(now time.Time, c *chat) {
	for _, l := range c.lanes {
		s.count(now, &l.interactive)
		s.count(now, &l.finals)
		s.count(now, &l.resting)
		for _, f := range l.flows {
			s.count(now, &f.waiting)
		}
	}
}

// count adds what waits in a list.
func (s *ChatStatus) count(now time.Time, l *list[*work]) {
	for w := range l.all {
		in := &s.Waiting[w.class]
		in.Count++
		in.Oldest = max(in.Oldest, now.Sub(w.since))
	}
}

func docStatus(now time.Time, d *document) DocStatus {
	class, _ := d.waits()
	return DocStatus{
		Doc: d.id, Session: d.session.name, Class: class, Delivered: d.delivered, Wanted: d.wanted,
		Pressure:  Pressure{Behind: d.wanted - d.delivered, Age: now.Sub(d.dirty)},
		Uncertain: d.uncertain,
	}
}

// ahead is t if it's in the future, and else zero.
func ahead(now, t time.Time) time.Time {
	if t.After(now) {
		return t
	}
	return time.Time{}
}
