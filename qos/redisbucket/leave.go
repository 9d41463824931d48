package redisbucket

import (
	"context"
	"time"
)

// signOff tells Redis that the process goes; what it still tells is its last.
func (b *Budget) signOff(ctx context.Context) error {
	b.mu.Lock()
	was := b.link.state
	parked := b.enter(time.Now(), ended, errEnded)
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
	a, err := b.tellAll(ctx, "leave")
	if err != nil || a.kind == "ok" {
		return err
	}
	b.mu.Lock()
	b.link.clock = clock{} // it may have moved
	b.mu.Unlock()
	if a, err = b.tellAll(ctx, "join"); err == nil {
		err = b.refusal(a)
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.link.epoch, b.link.ack = a.epoch, a.redis
	b.mu.Unlock()
	if a, err = b.tellAll(ctx, "leave"); err == nil {
		err = b.refusal(a)
	}
	return err
}

func (b *Budget) tellAll(ctx context.Context, mode string) (membership, error) {
	b.mu.Lock()
	p, _, _ := b.allParams(time.Now(), mode)
	b.mu.Unlock()
	a, _, err := b.member(ctx, p, joinTimeouts*b.opt.Timeout)
	return a, err
}
