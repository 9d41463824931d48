package redisbucket

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Run implements qos.Budget.
func (b *Budget) Run(ctx context.Context, hear func(qos.Penalty), freed func(qos.ChatKey)) error {
	b.start(time.Now(), hear, freed)
	localCtx, stopLocal := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLocal()
	localEnded := make(chan error, 1)
	go func() {
		localEnded <- b.local.Run(localCtx, func(p qos.Penalty) {
			b.mu.Lock()
			b.penalties[p.Scope] = p
			b.mu.Unlock()
			hear(p)
		}, freed)
	}()
	listenCtx, stopListening := context.WithCancel(ctx)
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		b.listen(listenCtx)
	}()
	err := b.serve(ctx)
	stopListening()
	<-listened
	stopLocal()
	return errors.Join(err, <-localEnded)
}

func (b *Budget) start(now time.Time, hear func(qos.Penalty), freed func(qos.ChatKey)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hear, b.freed = hear, freed
	b.link.since = now
	// A crash: Redis holds the share back, from before now.
	if b.note.Joined && b.note.MaxProcesses == b.opt.MaxProcesses {
		b.link.last = now
	}
}

// serve tells Redis that the process is there and what it did, until ctx ends; then
// it signs off.
func (b *Budget) serve(ctx context.Context) error {
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return b.signOff(context.WithoutCancel(ctx))
		case <-b.wake:
		case <-again.C:
		}
		b.serveOnce(ctx)
		again.Reset(b.pause())
	}
}

// pause is how long nothing need be told.
func (b *Budget) pause() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link.state == linking {
		return beatEvery / 4
	}
	return b.every
}

// serveOnce does what's to be done now.
func (b *Budget) serveOnce(ctx context.Context) {
	b.mu.Lock()
	state, loaded := b.link.state, b.loaded
	b.mu.Unlock()
	if !loaded {
		return // what was kept must be merged too
	}
	switch state {
	case linked:
		if b.sendBeat(ctx) {
			return
		}
		b.joinBucket(ctx)
	case linking:
		b.joinBucket(ctx)
	default:
		// What's granted within the share while this question is out isn't merged by
		// it, so first it's found out whether Redis answers at all.
		if b.sendBeat(ctx) {
			b.mu.Lock()
			b.enterState(time.Now(), linking, b.link.err)
			b.mu.Unlock()
			b.joinBucket(ctx)
		}
	}
}

// sendBeat tells what has gathered. It returns false if Redis gave no good answer to a
// member, or, to one that's away, no answer.
func (b *Budget) sendBeat(ctx context.Context) bool {
	b.mu.Lock()
	now := time.Now()
	b.prune(now)
	todo, moves := b.todo, b.moves
	b.todo, b.telling = nil, todo
	p := b.memberParams(now, "beat", b.opt.Timeout)
	b.writeOperations(p, now, moves, todo)
	was := b.link.state
	b.mu.Unlock()

	a, received, err := b.askMember(ctx, p, b.opt.Timeout)
	b.mu.Lock()
	b.telling = nil
	if was == away {
		b.mu.Unlock()
		return err == nil
	}
	if err != nil || !b.answeredAt(now, received, a.redis) || a.kind != "ok" {
		b.rejoin(received)
		b.mu.Unlock()
		return false
	}
	b.forgetTold(moves, todo)
	b.confirmAnswer(received, a.redis)
	b.takeMembership(received, a)
	var parked []*slotQuestion
	if len(b.moves) == 0 {
		parked, b.parked = b.parked, nil
	}
	b.mu.Unlock()
	b.takePenalties(received, a.penalties)
	b.unpark(parked)
	b.saveOrWarn()
	return true
}

// joinBucket merges all that the process knows into Redis, as a member.
func (b *Budget) joinBucket(ctx context.Context) {
	b.mu.Lock()
	now := time.Now()
	p, moves, all := b.allParams(now, "join")
	moved := b.link.moved
	b.link.merging, b.todo = true, nil
	b.mu.Unlock()

	a, received, err := b.askMember(ctx, p, joinTimeouts*b.opt.Timeout)
	if err == nil {
		err = b.refusal(a)
	}
	b.mu.Lock()
	b.link.merging = false
	if err != nil {
		if !errors.Is(err, errNoAnswer) { // nothing is held back for who is refused
			b.link.last, b.link.epoch, b.note.Joined = time.Time{}, "", false
		}
		b.mu.Unlock()
		b.giveUpJoin(received, err)
		b.saveOrWarn()
		return
	}
	if !b.answeredAt(now, received, a.redis) {
		b.mu.Unlock()
		b.wakeServe()
		return
	}
	if moved {
		b.link.moved = false
	}
	b.forgetTold(moves, all)
	b.link.epoch, b.link.ack, b.link.last = a.epoch, a.redis, received
	b.link.newest = max(b.link.newest, epochNumber(a.epoch))
	b.takeMembership(received, a)
	b.note.Joined, b.note.MaxProcesses = true, b.opt.MaxProcesses
	b.mu.Unlock()
	if err := b.save(); err != nil {
		b.giveUpJoin(received, err)
		return
	}
	b.takePenalties(received, a.penalties)
	b.mu.Lock()
	parked := b.enterState(time.Now(), linked, nil)
	for _, g := range b.grants {
		if g.state == gone {
			b.queueOperation(operation{kind: giveBack, grant: g})
		}
	}
	freed := b.freed
	b.mu.Unlock()
	b.unpark(parked)
	freed("")
	b.wakeServe() // confirm the answer, so that the share isn't held back any more
}

// giveUpJoin takes in that Redis couldn't be joined: after a time of doubt, it's gone.
func (b *Budget) giveUpJoin(now time.Time, err error) {
	b.mu.Lock()
	var parked []*slotQuestion
	// One that was away before stays so; one that's refused needn't wait.
	if b.link.err != nil || !errors.Is(err, errNoAnswer) || now.Sub(b.link.since) >= doubt {
		parked = b.enterState(now, away, err)
	}
	b.mu.Unlock()
	b.unpark(parked)
}

// takeMembership takes in what an answer says about others. b.mu is held.
func (b *Budget) takeMembership(received time.Time, a membership) {
	b.link.version, b.link.members = a.version, a.members
	b.link.empty = time.Time{}
	if a.empty >= 0 && a.empty < longestOf(b.limits)+time.Minute {
		b.link.empty = received.Add(-a.empty)
	}
	b.note.setMembers(a.members, a.redis)
}

// linkState is how the process stands with Redis.
type linkState uint8

const (
	linking linkState = iota // not known: questions wait, for doubt at most
	linked                   // merged into the epoch
	away                     // no answer
	ended
)

// redisLink is what's known about Redis and the process's membership. b.mu guards it.
type redisLink struct {
	state linkState
	since time.Time // in this state
	epoch string
	// newest is the number of the newest epoch ever seen: a server with a lower one
	// lacks what happened since.
	newest int64
	// ack is Redis' time in the last answer it gave to a member; last is when that
	// came. Zero: it isn't one.
	ack     int64
	last    time.Time
	clock   redisClock
	merging bool      // what the process knows is on its way
	moved   bool      // the clock has moved, and Redis must be told
	empty   time.Time // when the server was found empty; zero: not for long
	version string    // of the penalties
	members []BucketMember
	err     error // why it's away
}

var (
	errNoAnswer = errors.New("redis doesn't answer")
	errNoShare  = errors.New("redis doesn't answer, and this process has no share here (a window has fewer calls than redis.max_processes, and this process made none here in the last day, or others did before it): nothing is sent until it's back")
)

// longestWindow is the longest window that a question counts in.
func (b *Budget) longestWindow(q *slotQuestion) time.Duration {
	return max(longest(q.limit.Windows), longest(b.limits.Bot.Windows))
}

// settleTime is how long what a member did can matter for a question.
func (b *Budget) settleTime(w time.Duration) time.Duration { return w + b.opt.CallTimeout + grace }

// shareFrom is from when a question may be granted within the share, without Redis,
// and why not earlier.
func (b *Budget) shareFrom(now time.Time, q *slotQuestion) (time.Time, error) {
	if b.link.state != away {
		return now, nil
	}
	if b.link.last.IsZero() {
		return now.Add(time.Second), fmt.Errorf("not admitted to the shared budget: %w", b.link.err)
	}
	at := b.link.last.Add(b.settleTime(b.longestWindow(q)) + vanishes + late)
	return at, fmt.Errorf("silent until %s: %w", at.Format(time.TimeOnly), b.link.err)
}

// learning is until when a question may be granted within the share only, because
// the server was found empty; zero: it isn't so.
func (b *Budget) learning(q *slotQuestion) time.Time {
	if b.link.empty.IsZero() {
		return time.Time{}
	}
	return b.link.empty.Add(b.longestWindow(q) + margin)
}

// enterState changes the state. It returns the questions that waited for it. b.mu is held.
func (b *Budget) enterState(now time.Time, s linkState, err error) []*slotQuestion {
	l := &b.link
	if s == away && l.err == nil {
		if l.last.IsZero() {
			b.opt.Logger.Warn("not admitted to the shared budget: nothing is sent", "err", err)
		} else {
			b.opt.Logger.Warn("redis is gone: silent for a window, then within the safe share", "err", err)
		}
	}
	if s == linked && l.err != nil {
		b.opt.Logger.Info("redis is back: the budget is shared again")
	}
	if s != l.state {
		l.since = now
	}
	l.state, l.err = s, err
	if s != linked {
		b.todo = nil // joining tells everything
	}
	if s == linking {
		return nil
	}
	parked := b.parked
	b.parked = nil
	return parked
}

// rejoin makes the process join again before anything else is granted. b.mu is
// held.
func (b *Budget) rejoin(now time.Time) {
	if b.link.state == linked {
		b.enterState(now, linking, b.link.err)
		b.wakeServe()
	}
}

// unpark sends questions on that waited.
func (b *Budget) unpark(questions []*slotQuestion) {
	for _, q := range questions {
		b.askAgain(q)
	}
}

// answeredAt takes in the time in an answer. It returns false, and has the process
// join again, if Redis' clock has moved. b.mu is held.
func (b *Budget) answeredAt(sent, received time.Time, redis int64) bool {
	if b.link.clock.takeAnswer(sent, received, redis) {
		return true
	}
	b.link.moved = true
	b.rejoin(received)
	return false
}

// confirmAnswer takes in an answer that Redis gave to a member. b.mu is held.
func (b *Budget) confirmAnswer(received time.Time, redis int64) {
	b.link.ack, b.link.last = max(b.link.ack, redis), later(b.link.last, received)
}

// redisClock is what a process knows about Redis' clock, in comparison with its own
// monotonic one: each answer says that the difference is between two numbers, and the
// fastest answers say it best. If answers contradict each other, Redis' clock has moved,
// which no grant may survive.
type redisClock struct {
	base   time.Time // the zero of the monotonic clock
	low    time.Duration
	high   time.Duration
	at     time.Time // when low and high were last narrowed or widened
	synced bool
}

const (
	// drift is what two sound clocks may differ by per second: twice what NTP slews.
	drift = time.Second / 1000
	// slop is what a contradiction must exceed.
	slop = 10 * time.Millisecond
)

// takeAnswer takes in an answer with Redis' time in it. It returns false if the clock has
// moved; then it begins anew.
func (c *redisClock) takeAnswer(sent, received time.Time, redis int64) bool {
	if c.base.IsZero() {
		c.base = sent
	}
	r := time.Duration(redis) * time.Microsecond
	low, high := r-received.Sub(c.base), r-sent.Sub(c.base)
	if !c.synced {
		*c = redisClock{base: c.base, low: low, high: high, at: received, synced: true}
		return true
	}
	wide := time.Duration(float64(drift) * received.Sub(c.at).Seconds())
	low, high = max(low, c.low-wide), min(high, c.high+wide)
	if low > high+slop {
		*c = redisClock{base: c.base}
		return false
	}
	if low > high {
		low, high = high, low
	}
	c.low, c.high, c.at = low, high, received
	return true
}

// span is the earliest and latest time on Redis' clock at which a question that's sent
// now and given up after timeout may be executed; zeros if that isn't known.
func (c *redisClock) span(now time.Time, timeout time.Duration) (earliest, latest int64) {
	if !c.synced {
		return 0, 0
	}
	since := now.Sub(c.base)
	return (c.low + since - 2*slop).Microseconds(), (c.high + since + timeout + 2*slop).Microseconds()
}

// listen hears what other processes did until ctx ends. What's said there is only a
// reason to look: a message that's lost costs time, and nothing else.
func (b *Budget) listen(ctx context.Context) {
	events := b.opt.Client.Subscribe(ctx, b.keys.channel())
	defer events.Close()
	messages := events.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-messages:
			if !open {
				return
			}
			b.handleEvent(m.Payload)
		}
	}
}

// handleEvent takes in a message: e, an epoch began or somebody has merged; p, there's a
// new penalty; f and perhaps a chat, slots are free earlier than was said.
func (b *Budget) handleEvent(text string) {
	b.mu.Lock()
	freed := b.freed
	b.mu.Unlock()
	switch chat, isFree := strings.CutPrefix(text, "f"); {
	case isFree:
		freed(qos.ChatKey(chat))
	case text == "e":
		b.wakeServe()
		freed("")
	case text == "p":
		b.wakeServe()
	}
}

// signOff tells Redis that the process goes; what it still tells is its last.
func (b *Budget) signOff(ctx context.Context) error {
	b.mu.Lock()
	was := b.link.state
	parked := b.enterState(time.Now(), ended, errEnded)
	b.mu.Unlock()
	b.unpark(parked)
	b.work.Wait() // nothing begins any more
	b.mu.Lock()
	joined := b.note.Joined
	b.note.Joined = b.note.Joined && was == away
	b.mu.Unlock()
	if was == away || !joined {
		return nil // the share stays held back, and what is kept says so
	}
	if err := b.save(); err != nil {
		return err
	}
	if err := b.farewell(ctx); err != nil {
		b.opt.Logger.Warn("sign off from redis: the share of this process stays held back until it's back or forgotten", "err", err)
	}
	return nil
}

// farewell tells Redis everything, and that the process goes. A server that doesn't know
// what it did is told that first.
func (b *Budget) farewell(ctx context.Context) error {
	a, err := b.tellEverything(ctx, "leave")
	if err != nil || a.kind == "ok" {
		return err
	}
	b.mu.Lock()
	b.link.clock = redisClock{} // it may have moved
	b.mu.Unlock()
	if a, err = b.tellEverything(ctx, "join"); err == nil {
		err = b.refusal(a)
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.link.epoch, b.link.ack = a.epoch, a.redis
	b.mu.Unlock()
	if a, err = b.tellEverything(ctx, "leave"); err == nil {
		err = b.refusal(a)
	}
	return err
}

func (b *Budget) tellEverything(ctx context.Context, mode string) (membership, error) {
	b.mu.Lock()
	p, _, _ := b.allParams(time.Now(), mode)
	b.mu.Unlock()
	a, _, err := b.askMember(ctx, p, joinTimeouts*b.opt.Timeout)
	return a, err
}
