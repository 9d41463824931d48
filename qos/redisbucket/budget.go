package redisbucket

import (
	"errors"
	"sync"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Budget is a qos.Budget shared by the processes of one bot; see the package
// comment.
type Budget struct {
	opt  Options
	keys keys
	// local guards first, and keeps what the process did; share counts the same,
	// and guards when the process may only use its share.
	local, share *qos.LocalBudget
	wake         chan struct{}  // serve has something to do
	every        time.Duration  // beatEvery
	work         sync.WaitGroup // questions under way

	mu        sync.Mutex
	limits    qos.Limits
	former    []qos.Family // had windows of their own, and count as messages now
	note      note
	saved     note // what of it is durable
	link      link
	loaded    bool // the ledger was read
	grants    map[qos.PermitID]*grant
	penalties map[qos.Scope]qos.Penalty
	learned   map[qos.Scope]qos.Learned
	todo      []operation        // Redis hasn't been told yet
	telling   []operation        // is being told
	moves     []move             // nor of these, whatever happens in between
	seats     map[lane]time.Time // when the question was sent that took it; see seats.go
	parked    []*question        // wait until it's known whether Redis answers
	sights    map[qos.Chat]*sight
	hear      func(qos.Penalty)
	freed     func(qos.Chat)
}

var _ qos.Budget = (*Budget)(nil)

// question is a qos.Ask on its way.
type question struct {
	ask   qos.Ask
	reply func(qos.Answer)
	limit qos.Limit
	lane  lane
	alone bool   // granted within the share, without Redis
	epoch string // in which it passed the process's own guards
}

// move is a chat's new key.
type move struct{ from, to qos.Chat }

// New returns a budget. It reads the state file; the error is about that or an
// option that can't be.
func New(opt Options) (*Budget, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	n, err := loadNote(opt.StateFile)
	if err != nil {
		return nil, err
	}
	b := &Budget{
		opt: opt, keys: keysOf(opt.Bot), note: n, saved: n, wake: make(chan struct{}, 1), every: beatEvery, loaded: opt.Ledger == nil,
		grants: map[qos.PermitID]*grant{}, penalties: map[qos.Scope]qos.Penalty{},
		learned: map[qos.Scope]qos.Learned{}, seats: map[lane]time.Time{}, sights: map[qos.Chat]*sight{},
		share: qos.NewLocalBudget(nil), hear: func(qos.Penalty) {}, freed: func(qos.Chat) {},
	}
	if opt.Ledger == nil {
		b.local = qos.NewLocalBudget(nil)
	} else {
		b.local = qos.NewLocalBudget(&tap{Ledger: opt.Ledger, budget: b})
	}
	return b, nil
}

// Configure implements qos.Budget.
func (b *Budget) Configure(limits qos.Limits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for family := range b.limits.Families {
		if _, own := limits.Families[family]; !own {
			b.former = append(b.former, family)
		}
	}
	b.limits = limits
	b.local.Configure(limits)
	b.share.Configure(shareOf(limits, b.opt.MaxProcesses))
}

// errEnded is why a budget that isn't run refuses.
var errEnded = errors.New("the shared budget has ended")

// Ask implements qos.Budget.
func (b *Budget) Ask(now time.Time, ask qos.Ask, reply func(qos.Answer)) qos.Answer {
	b.mu.Lock()
	q := &question{ask: ask, reply: reply}
	q.limit, q.lane = limitOf(b.limits, ask.Chat, ask.Family)
	return b.decide(now, q)
}

// decide sends a question on its way: it waits while nobody knows whether Redis
// answers, or passes the process's own guards first. b.mu is held, and is released.
func (b *Budget) decide(now time.Time, q *question) qos.Answer {
	switch b.link.state {
	case ended:
		b.mu.Unlock()
		return qos.Answer{State: qos.NotBefore, At: now.Add(time.Second), Err: errEnded}
	case linked:
		if len(b.moves) == 0 {
			break
		}
		fallthrough // it may be about the chat that has moved
	case linking:
		b.parked = append(b.parked, q)
		b.mu.Unlock()
		return qos.Answer{State: qos.Pending}
	default:
	}
	q.alone, q.epoch = b.link.state == away, b.link.epoch
	share := b.askShare(now, q)
	b.mu.Unlock()
	if share.State != qos.Granted {
		return share
	}
	local := b.local.Ask(now, q.ask, func(a qos.Answer) {
		if a = b.guarded(time.Now(), q, share.Permit, a); a.State != qos.Pending {
			q.reply(a)
		}
	})
	if local.State == qos.Pending {
		return local
	}
	return b.guarded(now, q, share.Permit, local)
}

// askShare has a question counted in the share, and, if it may only use that, decided by
// it. b.mu is held.
func (b *Budget) askShare(now time.Time, q *question) qos.Answer {
	no := qos.Answer{State: qos.NotBefore}
	learning := b.learning(q)
	counted := q.ask
	counted.Unguarded = q.ask.Unguarded || !q.alone && !learning.After(now)
	if !counted.Unguarded {
		if no.At, no.Err = b.shareFrom(now, q); no.At.After(now) {
			return no
		}
		if !b.hasShare(now, q) {
			no.At, no.Err = later(learning, now.Add(time.Second)), nil
			if q.alone {
				no.Err = errNoShare
			}
			return no
		}
	}
	if no.At, no.Err = b.learnedUntil(now, q), nil; no.At.After(now) {
		return no
	}
	return b.share.Ask(now, counted, nil)
}

// guarded goes on when the process's own budget has answered.
func (b *Budget) guarded(now time.Time, q *question, share qos.PermitID, local qos.Answer) qos.Answer {
	if local.State != qos.Granted {
		b.share.Refund(now, share)
		return local
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	g := &grant{id: local.Permit, share: share, lane: q.lane, stamp: q.ask.Deadline.Add(grace)}
	b.grants[g.id] = g
	switch {
	case q.alone && b.link.state == away && b.link.epoch == q.epoch:
		g.state = inFlight
		b.countLearned(q)
		return local
	case !q.alone && b.link.state == linked && b.link.epoch == q.epoch:
		sent := b.prepare(now, q, g)
		b.work.Go(func() { b.acquire(q, g, sent) })
	case b.link.state == ended:
		b.drop(now, g)
		return qos.Answer{State: qos.NotBefore, At: now.Add(time.Second), Err: errEnded}
	default: // how Redis is has changed since: decided anew
		b.drop(now, g)
		b.work.Go(func() { b.again(q) })
	}
	return qos.Answer{State: qos.Pending}
}

// again asks once more.
func (b *Budget) again(q *question) {
	now := time.Now()
	b.mu.Lock()
	if q.ask.Deadline.Sub(now) < b.opt.CallTimeout/2 {
		b.mu.Unlock()
		q.reply(qos.Answer{State: qos.NotBefore, At: now.Add(beatEvery), Err: errNoAnswer})
		return
	}
	if a := b.decide(now, q); a.State != qos.Pending {
		q.reply(a)
	}
}

// drop forgets a grant that Redis doesn't hold. b.mu is held.
func (b *Budget) drop(now time.Time, g *grant) {
	delete(b.grants, g.id)
	b.local.Refund(now, g.id)
	b.share.Refund(now, g.share)
}

// takeBack gives a grant back that Redis holds, or may hold. b.mu is held.
func (b *Budget) takeBack(now time.Time, g *grant) {
	g.state = gone
	b.local.Refund(now, g.id)
	b.share.Refund(now, g.share)
	b.tell(operation{kind: giveBack, grant: g})
}

// Settle implements qos.Budget.
func (b *Budget) Settle(now time.Time, id qos.PermitID, answered time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.local.Settle(now, id, answered)
	g := b.grants[id]
	if g == nil || g.state != inFlight {
		return
	}
	g.state, g.stamp = settled, answered
	b.share.Settle(now, g.share, answered)
	b.tell(operation{kind: stamp, grant: g})
}

// Refund implements qos.Budget.
func (b *Budget) Refund(now time.Time, id qos.PermitID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.grants[id]; g != nil && g.state == inFlight {
		b.takeBack(now, g)
	}
}

// Rekey implements qos.Budget.
func (b *Budget) Rekey(now time.Time, from, to qos.Chat) {
	if from == to {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.local.Rekey(now, from, to)
	b.share.Rekey(now, from, to)
	for _, g := range b.grants {
		if g.lane.chat == from {
			g.lane.chat = to
		}
	}
	for s, p := range b.penalties {
		if s.Chat == from {
			delete(b.penalties, s)
			p.Scope.Chat = to
			p.Until = later(p.Until, b.penalties[p.Scope].Until)
			b.penalties[p.Scope] = p
		}
	}
	for s, l := range b.learned {
		if s.Chat == from {
			delete(b.learned, s)
			s.Chat = to
			b.learned[s] = l
		}
	}
	for l := range b.seats {
		if l.chat == from {
			delete(b.seats, l)
		}
	}
	b.moves = append(b.moves, move{from, to})
	b.poke()
}

func (b *Budget) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
