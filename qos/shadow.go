package qos

import (
	"log/slog"
	"math/rand/v2"
	"reflect"

	"golang.org/x/time/rate"
)

// A shadow is a copy of an engine with one of its chats. What happens to it happens to
// nobody, so it can be asked what the engine would do.

// shadowBudget is a budget that can be copied for a shadow.
type shadowBudget interface {
	// copyFor returns a budget that holds what's taken in the chat and by the bot, and
	// that's kept nowhere. Nil: it isn't known yet what's taken.
	copyFor(chat ChatKey) *LocalBudget
}

// shadowOf returns a shadow with chat c, and what became of c there. Where the budget can't be
// copied, the shadow's is empty, and only what the budget said last (the hints) holds back.
func (e *SlotEngine) shadowOf(c *chat) (*SlotEngine, *chat) {
	var budget *LocalBudget
	if b, ok := e.budget.(shadowBudget); ok {
		budget = b.copyFor(c.key)
	}
	if budget == nil {
		budget = NewLocalBudget(nil)
		budget.Configure(e.opt.Limits)
	}
	s := &SlotEngine{
		opt: e.opt, budget: budget, random: rand.New(rand.NewPCG(1, 1)), now: e.now,
		docs: map[DocID]*document{}, chats: map[ChatKey]*chat{}, sessions: map[SessionKey]*sessionState{},
		bot: e.bot, totals: e.totals, born: e.born, terms: e.terms, draining: e.draining, stopped: e.stopped,
		moved: func(*document) {},
	}
	s.opt.OnEvent, s.opt.Meter, s.opt.Logger = func(SchedulerEvent) {}, noMeter{}, slog.New(slog.DiscardHandler)
	s.bot.pace = e.bot.pace.copied()
	cp := &copying{from: e, to: s, flows: map[*flow]*flow{}, works: map[*slotWork]*slotWork{}}
	return s, cp.copyChat(c)
}

// copied returns a pacer that goes on by itself.
func (p *pacer) copied() pacer {
	out := *p
	if p.limiter != nil {
		// A limiter has no method that copies it, and can't be made anew with a part of a
		// token. Nobody else uses it, so its lock is open.
		l := new(rate.Limiter)
		reflect.ValueOf(l).Elem().Set(reflect.ValueOf(p.limiter).Elem())
		out.limiter = l
	}
	return out
}

// copying makes the copies that a shadow needs.
type copying struct {
	from, to *SlotEngine
	flows    map[*flow]*flow
	works    map[*slotWork]*slotWork
}

func (cp *copying) copyChat(c *chat) *chat {
	out := new(chat)
	*out = *c
	out.lanes, out.requests = nil, map[string]*pendingRequest{}
	out.call, out.asking = nil, nil
	out.touched, out.index, out.turn = false, -1, -1
	out.reserve.used = append(out.reserve.used[:0:0], c.reserve.used...)
	cp.to.chats[c.key] = out
	for _, l := range c.lanes {
		out.lanes = append(out.lanes, cp.copyLane(l))
	}
	out.emitters.recent = fifo[*flow]{}
	for f := range c.emitters.recent.all {
		out.emitters.recent.push(&cp.flows[f].emitter)
	}
	for _, d := range cp.from.docs {
		if d.chat == c {
			cp.copyDocument(d)
		}
	}
	for key, q := range c.requests {
		out.requests[key] = cp.copyRequest(q)
	}
	for i, l := range c.lanes {
		cp.copyQueues(l, out.lanes[i])
		for _, w := range l.charged {
			out.lanes[i].charged = append(out.lanes[i].charged, cp.copyWork(w))
		}
	}
	if s := c.call; s != nil {
		call := new(Started)
		*call = *s
		call.work = cp.copyWork(s.work)
		out.call = call
	}
	switch { // it's looked at when it is there: a look more can shift the paces by a nanosecond
	case c.asking != nil:
		cp.to.bot.open-- // what's asked for is asked for once more
		cp.to.bot.undoTurn()
		cp.to.touchChat(out)
	case c.turn >= 0:
		out.ready = c.ready
		cp.to.ready[c.ready].push(out)
	case c.touched || c.look.IsZero():
		cp.to.touchChat(out)
	}
	setLook(&cp.to.agenda, out)
	return out
}

func (cp *copying) copyLane(l *lane) *lane {
	out := new(lane)
	*out = *l
	out.waiting, out.streams, out.spent, out.charged = [Cosmetic]fifo[*slotWork]{}, fair{virtual: l.streams.virtual}, nil, nil
	out.pace, out.supply = l.pace.copied(), l.supply.copied()
	out.flows = map[SessionKey]*flow{}
	for name, f := range l.flows {
		g := new(flow)
		*g = *f
		g.waiting, g.index, g.emitter = fifo[*slotWork]{}, -1, fifoNode[*flow]{value: g}
		out.flows[name], cp.flows[f] = g, g
	}
	for _, f := range l.spent {
		if g := cp.flows[f]; g != nil {
			out.spent = append(out.spent, g)
		}
	}
	return out
}

// copyQueues fills a lane's queues in their order.
func (cp *copying) copyQueues(l, out *lane) {
	for class := range l.waiting {
		for w := range l.waiting[class].all {
			out.waiting[class].push(&cp.copyWork(w).place)
		}
	}
	for _, f := range l.streams.heap {
		g := cp.flows[f]
		for w := range f.waiting.all {
			g.waiting.push(&cp.copyWork(w).place)
		}
		g.index = len(out.streams.heap)
		out.streams.heap = append(out.streams.heap, g)
	}
}

func (cp *copying) copyWork(w *slotWork) *slotWork {
	switch {
	case cp.works[w] != nil:
		return cp.works[w]
	case w.doc != nil:
		return &cp.copyDocument(w.doc).slotWork
	default:
		return &cp.copyRequest(w.req).slotWork
	}
}

func (cp *copying) copyDocument(d *document) *document {
	if w := cp.works[&d.slotWork]; w != nil {
		return w.doc
	}
	out := new(document)
	*out = *d
	cp.file(&d.slotWork, &out.slotWork)
	out.doc = out
	out.session = cp.copySession(d.session)
	out.flush = -1
	if !d.gone {
		cp.to.docs[d.id] = out
		out.session.docs = append(out.session.docs, out)
	}
	if d.flushing {
		cp.to.flushes.push(out)
	}
	return out
}

func (cp *copying) copyRequest(q *pendingRequest) *pendingRequest {
	if w := cp.works[&q.slotWork]; w != nil {
		return w.req
	}
	out := new(pendingRequest)
	*out = *q
	cp.file(&q.slotWork, &out.slotWork)
	out.req = out
	if q.session != nil {
		out.session = cp.copySession(q.session)
		out.session.requests = append(out.session.requests, out)
	}
	return out
}

// file notes a copied work, and where it belongs.
func (cp *copying) file(w, out *slotWork) {
	cp.works[w] = out
	out.chat = cp.to.chats[w.chat.key]
	out.lane = out.chat.laneOf(w.lane.family)
	if f := cp.flows[w.flow]; f != nil {
		out.flow = f
	} else if w.flow != nil { // its session has nothing else any more
		f := new(flow)
		*f = *w.flow
		f.waiting, f.index, f.emitter = fifo[*slotWork]{}, -1, fifoNode[*flow]{value: f}
		out.flow, cp.flows[w.flow] = f, f
	}
	out.place = fifoNode[*slotWork]{value: out}
}

func (cp *copying) copySession(s *sessionState) *sessionState {
	out := cp.to.sessions[s.name]
	if out == nil {
		out = &sessionState{name: s.name, focused: s.focused}
		cp.to.sessions[s.name] = out
	}
	return out
}
