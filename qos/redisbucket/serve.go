package redisbucket

import (
	"context"
	"errors"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Run implements qos.Budget.
func (b *Budget) Run(ctx context.Context, hear func(qos.Penalty), freed func(qos.Chat)) error {
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

func (b *Budget) start(now time.Time, hear func(qos.Penalty), freed func(qos.Chat)) {
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
		b.step(ctx)
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

// step does what's to be done now.
func (b *Budget) step(ctx context.Context) {
	b.mu.Lock()
	state, loaded := b.link.state, b.loaded
	b.mu.Unlock()
	if !loaded {
		return // what was kept must be merged too
	}
	switch state {
	case linked:
		if b.beat(ctx) {
			return
		}
		b.join(ctx)
	case linking:
		b.join(ctx)
	default:
		// What's granted within the share while this question is out isn't merged by
		// it, so first it's found out whether Redis answers at all.
		if b.beat(ctx) {
			b.mu.Lock()
			b.enter(time.Now(), linking, b.link.err)
			b.mu.Unlock()
			b.join(ctx)
		}
	}
}

// beat tells what has gathered. It returns false if Redis gave no good answer to a
// member, or, to one that's away, no answer.
func (b *Budget) beat(ctx context.Context) bool {
	b.mu.Lock()
	now := time.Now()
	b.prune(now)
	todo, moves := b.todo, b.moves
	b.todo, b.telling = nil, todo
	p := b.memberParams(now, "beat", b.opt.Timeout)
	b.write(p, now, moves, todo)
	was := b.link.state
	b.mu.Unlock()

	a, received, err := b.member(ctx, p, b.opt.Timeout)
	b.mu.Lock()
	b.telling = nil
	if was == away {
		b.mu.Unlock()
		return err == nil
	}
	if err != nil || !b.answeredAt(now, received, a.redis) || a.kind != "ok" {
		b.doubtful(received)
		b.mu.Unlock()
		return false
	}
	b.told(moves, todo)
	b.confirmed(received, a.redis)
	b.takeIn(received, a)
	var parked []*question
	if len(b.moves) == 0 {
		parked, b.parked = b.parked, nil
	}
	b.mu.Unlock()
	b.heard(received, a.penalties)
	b.unpark(parked)
	b.saveOrWarn()
	return true
}

// join merges all that the process knows into Redis, as a member.
func (b *Budget) join(ctx context.Context) {
	b.mu.Lock()
	now := time.Now()
	p, moves, all := b.allParams(now, "join")
	moved := b.link.moved
	b.link.merging, b.todo = true, nil
	b.mu.Unlock()

	a, received, err := b.member(ctx, p, joinTimeouts*b.opt.Timeout)
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
		b.give(received, err)
		b.saveOrWarn()
		return
	}
	if !b.answeredAt(now, received, a.redis) {
		b.mu.Unlock()
		b.poke()
		return
	}
	if moved {
		b.link.moved = false
	}
	b.told(moves, all)
	b.link.epoch, b.link.ack, b.link.last = a.epoch, a.redis, received
	b.link.newest = max(b.link.newest, epochNumber(a.epoch))
	b.takeIn(received, a)
	b.note.Joined, b.note.MaxProcesses = true, b.opt.MaxProcesses
	b.mu.Unlock()
	if err := b.save(); err != nil {
		b.give(received, err)
		return
	}
	b.heard(received, a.penalties)
	b.mu.Lock()
	parked := b.enter(time.Now(), linked, nil)
	for _, g := range b.grants {
		if g.state == gone {
			b.tell(operation{kind: giveBack, grant: g})
		}
	}
	freed := b.freed
	b.mu.Unlock()
	b.unpark(parked)
	freed("")
	b.poke() // confirm the answer, so that the share isn't held back any more
}

// give takes in that Redis couldn't be joined: after a time of doubt, it's gone.
func (b *Budget) give(now time.Time, err error) {
	b.mu.Lock()
	var parked []*question
	// One that was away before stays so; one that's refused needn't wait.
	if b.link.err != nil || !errors.Is(err, errNoAnswer) || now.Sub(b.link.since) >= doubt {
		parked = b.enter(now, away, err)
	}
	b.mu.Unlock()
	b.unpark(parked)
}

// takeIn takes in what an answer says about others. b.mu is held.
func (b *Budget) takeIn(received time.Time, a membership) {
	b.link.version, b.link.members = a.version, a.members
	b.link.empty = time.Time{}
	if a.empty >= 0 && a.empty < longestOf(b.limits)+time.Minute {
		b.link.empty = received.Add(-a.empty)
	}
	b.note.saw(a.members, a.redis)
}
