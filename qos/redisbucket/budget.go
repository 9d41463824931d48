package redisbucket

import (
	"context"
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
	link      redisLink
	loaded    bool // the ledger was read
	grants    map[qos.PermitID]*grant
	penalties map[qos.Scope]qos.Penalty
	learned   map[qos.Scope]qos.Learned
	todo      []operation              // Redis hasn't been told yet
	telling   []operation              // is being told
	moves     []move                   // nor of these, whatever happens in between
	seats     map[chatFamily]time.Time // when the question was sent that took it; see hasShare
	parked    []*slotQuestion          // wait until it's known whether Redis answers
	rings     map[qos.ChatKey]*ringStatus
	hear      func(qos.Penalty)
	freed     func(qos.ChatKey)
}

var _ qos.Budget = (*Budget)(nil)

// slotQuestion is a qos.SlotQuestion on its way.
type slotQuestion struct {
	ask   qos.SlotQuestion
	reply func(qos.SlotAnswer)
	limit qos.Limit
	lane  chatFamily
	alone bool   // granted within the share, without Redis
	epoch string // in which it passed the process's own guards
}

// move is a chat's new key.
type move struct{ from, to qos.ChatKey }

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
		learned: map[qos.Scope]qos.Learned{}, seats: map[chatFamily]time.Time{}, rings: map[qos.ChatKey]*ringStatus{},
		share: qos.NewLocalBudget(nil), hear: func(qos.Penalty) {}, freed: func(qos.ChatKey) {},
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

// AskSlot implements qos.Budget.
func (b *Budget) AskSlot(now time.Time, ask qos.SlotQuestion, reply func(qos.SlotAnswer)) qos.SlotAnswer {
	b.mu.Lock()
	q := &slotQuestion{ask: ask, reply: reply}
	q.limit, q.lane = limitOf(b.limits, ask.Chat, ask.Family)
	return b.decide(now, q)
}

// decide sends a question on its way: it waits while nobody knows whether Redis
// answers, or passes the process's own guards first. b.mu is held, and is released.
func (b *Budget) decide(now time.Time, q *slotQuestion) qos.SlotAnswer {
	switch b.link.state {
	case ended:
		b.mu.Unlock()
		return qos.SlotAnswer{State: qos.NotBefore, At: now.Add(time.Second), Err: errEnded}
	case linked:
		if len(b.moves) == 0 {
			break
		}
		fallthrough // it may be about the chat that has moved
	case linking:
		b.parked = append(b.parked, q)
		b.mu.Unlock()
		return qos.SlotAnswer{State: qos.Pending}
	default:
	}
	q.alone, q.epoch = b.link.state == away, b.link.epoch
	share := b.askShare(now, q)
	b.mu.Unlock()
	if share.State != qos.Granted {
		return share
	}
	local := b.local.AskSlot(now, q.ask, func(a qos.SlotAnswer) {
		if a = b.passGuards(time.Now(), q, share.Permit, a); a.State != qos.Pending {
			q.reply(a)
		}
	})
	if local.State == qos.Pending {
		return local
	}
	return b.passGuards(now, q, share.Permit, local)
}

// askShare counts a question in the share. If the question may only use that, the share also
// decides it. b.mu is held.
func (b *Budget) askShare(now time.Time, q *slotQuestion) qos.SlotAnswer {
	no := qos.SlotAnswer{State: qos.NotBefore}
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
	return b.share.AskSlot(now, counted, nil)
}

// passGuards goes on when the process's own budget has answered.
func (b *Budget) passGuards(now time.Time, q *slotQuestion, share qos.PermitID, local qos.SlotAnswer) qos.SlotAnswer {
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
		sent := b.prepareQuestion(now, q, g)
		b.work.Go(func() { b.acquireSlot(q, g, sent) })
	case b.link.state == ended:
		b.dropGrant(now, g)
		return qos.SlotAnswer{State: qos.NotBefore, At: now.Add(time.Second), Err: errEnded}
	default: // how Redis is has changed since: decided anew
		b.dropGrant(now, g)
		b.work.Go(func() { b.askAgain(q) })
	}
	return qos.SlotAnswer{State: qos.Pending}
}

// askAgain asks once more.
func (b *Budget) askAgain(q *slotQuestion) {
	now := time.Now()
	b.mu.Lock()
	if q.ask.Deadline.Sub(now) < b.opt.CallTimeout/2 {
		b.mu.Unlock()
		q.reply(qos.SlotAnswer{State: qos.NotBefore, At: now.Add(beatEvery), Err: errNoAnswer})
		return
	}
	if a := b.decide(now, q); a.State != qos.Pending {
		q.reply(a)
	}
}

// dropGrant forgets a grant that Redis doesn't hold. b.mu is held.
func (b *Budget) dropGrant(now time.Time, g *grant) {
	delete(b.grants, g.id)
	b.local.Refund(now, g.id)
	b.share.Refund(now, g.share)
}

// takeGrantBack gives a grant back that Redis holds, or may hold. b.mu is held.
func (b *Budget) takeGrantBack(now time.Time, g *grant) {
	g.state = gone
	b.local.Refund(now, g.id)
	b.share.Refund(now, g.share)
	b.queueOperation(operation{kind: giveBack, grant: g})
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
	b.queueOperation(operation{kind: stamp, grant: g})
}

// Refund implements qos.Budget.
func (b *Budget) Refund(now time.Time, id qos.PermitID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.grants[id]; g != nil && g.state == inFlight {
		b.takeGrantBack(now, g)
	}
}

// Rekey implements qos.Budget.
func (b *Budget) Rekey(now time.Time, from, to qos.ChatKey) {
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
	b.wakeServe()
}

func (b *Budget) wakeServe() {
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

// grant is one of the process's own calls, from the question until no window holds
// it any more. It's what the process can merge into a Redis that has forgotten.
type grant struct {
	id    qos.PermitID // of local; it names the permit
	share qos.PermitID // of share
	lane  chatFamily
	state grantState
	// stamp is when the call was answered; until that's known, the latest it could be.
	stamp time.Time
}

type grantState uint8

const (
	asking   grantState = iota // not granted yet, as far as is known
	inFlight                   // granted
	settled                    // answered
	gone                       // given back; kept until Redis knows
)

// prune forgets what no window holds any more. b.mu is held.
func (b *Budget) prune(now time.Time) {
	for id, g := range b.grants {
		limit, _ := limitOf(b.limits, g.lane.chat, g.lane.family)
		keep := max(longest(limit.Windows), longest(b.limits.Bot.Windows), time.Minute)
		if now.Sub(g.stamp) > keep+time.Second {
			delete(b.grants, id)
		}
	}
	for l, at := range b.seats {
		if now.Sub(at) >= seatLasts {
			delete(b.seats, l)
		}
	}
	for s, p := range b.penalties {
		if now.After(p.Until) {
			delete(b.penalties, s)
		}
	}
	for s, l := range b.learned {
		if now.After(l.Reset) {
			delete(b.learned, s)
		}
	}
}

// What the platform said, other than how it answered: to be silent, and how much is left
// of a limit.

// Penalize implements qos.Budget.
func (b *Budget) Penalize(now time.Time, p qos.Penalty) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.local.Penalize(now, p)
	if old, ok := b.penalties[p.Scope]; ok {
		p.Until = later(p.Until, old.Until)
	}
	b.penalties[p.Scope] = p
	b.queueOperation(operation{kind: penalty, scope: p.Scope})
}

// news is how much later a penalty must end than is known: each time it's told again,
// it's so by the time that the telling took.
const news = 100 * time.Millisecond

// takePenalties takes in penalties that other processes reported.
func (b *Budget) takePenalties(now time.Time, penalties []qos.Penalty) {
	for _, p := range penalties {
		b.mu.Lock()
		old, known := b.penalties[p.Scope]
		fresh := p.Until.After(now) && (!known || p.Until.Sub(old.Until) > news)
		if fresh {
			b.penalties[p.Scope] = p
			b.local.Penalize(now, p)
		}
		hear := b.hear
		b.mu.Unlock()
		if fresh {
			hear(p)
		}
	}
}

// Learn implements qos.Budget.
func (b *Budget) Learn(now time.Time, scope qos.Scope, learned qos.Learned) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// Not local's: what it counts of that isn't given back with a slot.
	b.learned[scope] = learned
	b.queueOperation(operation{kind: learn, scope: scope})
}

// learnedUntil is until when nothing is left of a limit that the platform told. b.mu
// is held.
func (b *Budget) learnedUntil(now time.Time, q *slotQuestion) time.Time {
	at := now
	for _, s := range qos.ScopesOf(q.lane.chat, q.lane.family) {
		if l, ok := b.learned[s]; ok && l.Remaining <= 0 && !q.ask.Unguarded {
			at = later(at, l.Reset)
		}
	}
	return at
}

// countLearned counts a grant in what was learned. b.mu is held.
func (b *Budget) countLearned(q *slotQuestion) {
	for _, s := range qos.ScopesOf(q.lane.chat, q.lane.family) {
		if l, ok := b.learned[s]; ok {
			l.Remaining--
			b.learned[s] = l
		}
	}
}

// Seats: a window of N calls with N below MaxProcesses can't be divided: the share would be 0.
// In a chat that has one, at most N-1 members hold a seat (one call is left for those
// that aren't away). A seat comes with a grant of Redis, and is worth one call in each
// such window once its holder is cut off; who has none sends nothing there then. Redis
// holds back one call for each holder that vanished.
//
// Nothing here compares clocks or takes a seat away, so what's late or lost does no
// harm. Redis counts as a holder who was given a seat within the last 25 h by its
// clock, and whoever hasn't merged into the epoch. The process believes in its seat for
// 24 h by its own clock, from when it sent the question. So who believes, counts; and
// a seat is given only if with it at most N-1 count.

// seatLasts is for how long a process believes in a seat that it doesn't use. Redis'
// is SEAT in prelude.lua; an hour between them is more than clocks differ in a day.
const seatLasts = 24 * time.Hour

// hasSmallWindow says whether the chat of a question has a window that can't be divided.
func (b *Budget) hasSmallWindow(q *slotQuestion) bool {
	for _, w := range q.limit.Windows {
		if w.Calls < b.opt.MaxProcesses {
			return true
		}
	}
	return false
}

// hasShare says whether the process may send at all without knowing of the others:
// every window has at least one slot for it alone. b.mu is held.
func (b *Budget) hasShare(now time.Time, q *slotQuestion) bool {
	for _, w := range b.limits.Bot.Windows {
		if w.Calls < b.opt.MaxProcesses {
			return false
		}
	}
	if !b.hasSmallWindow(q) {
		return true
	}
	at, given := b.seats[q.lane]
	return given && now.Sub(at) < seatLasts
}

// tap is the process's ledger. What's read from it can be merged into Redis.
type tap struct {
	qos.Ledger
	budget *Budget
}

func (t *tap) Load(ctx context.Context, since time.Time) (qos.KeptBudget, error) {
	kept, err := t.Ledger.Load(ctx, since)
	if err == nil {
		t.budget.restore(time.Now(), kept)
	}
	return kept, err
}

// restore takes in what was kept before a restart.
func (b *Budget) restore(now time.Time, kept qos.KeptBudget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range kept.Slots {
		_, l := limitOf(b.limits, s.Chat, s.Family)
		at := now.Add(s.Stamp.Sub(now)) // with a monotonic reading
		if latest := now.Add(b.opt.CallTimeout + grace); at.After(latest) {
			at = latest
		}
		b.grants[s.Permit] = &grant{id: s.Permit, lane: l, state: settled, stamp: at}
	}
	for _, p := range kept.Penalties {
		p.Until = now.Add(p.Until.Sub(now))
		if p.Until.After(now) {
			b.penalties[p.Scope] = p
		}
	}
	b.loaded = true
	b.wakeServe()
}
