package polling

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// WriteWatch tells when programs write to one terminal. Its methods are those of ttywatch.TTYWatch.
type WriteWatch interface {
	// Wait blocks until something has been written since it returned last, or ctx ends. After another error than ctx'
	// it's of no use any more.
	Wait(ctx context.Context) error
	Close() error
}

// looksAfterWrite are the pauses before the looks that follow a write, for tmux may not have read it at the first, nor, if it
// had much to do, at the next. The second comes blindFor behind the first. When rows that a look has found will be stable,
// there's another (stableLook), and none before.
var looksAfterWrite = []time.Duration{0, 0, 10 * time.Millisecond, 35 * time.Millisecond} //nolint:gochecknoglobals // a constant table

const (
	// blindFor is how long no write is noted behind one: a program that writes all the time costs little.
	blindFor    = 5 * time.Millisecond
	followShare = 4 // see LookBudget
	followBurst = 100 * time.Millisecond
	followCheck = time.Second // after which it's asked whether anybody follows still
)

// Follow has a session's output be read as soon as it's written, until the function that it returns is called. It doesn't
// block. Where nothing tells of writes, the session is looked at at the focus cadence.
func (c *PollingCoordinator) Follow(id sessions.ID) (unfollow func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.countFollower(id, 1)
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.countFollower(id, -1)
	})
}

// countFollower counts who follows a session, which may have no poller. c.mu is held.
func (c *PollingCoordinator) countFollower(id sessions.ID, n int) {
	if c.followers[id] += n; c.followers[id] == 0 {
		delete(c.followers, id)
	}
	if p := c.pollers[id]; p != nil {
		p.setFollowers(c.followers[id])
		c.followWrites(p)
	}
}

// setFollowers takes in how many follow the session.
func (p *OutputPoller) setFollowers(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.followers {
		p.wakeUp()
	}
	p.followers = n
}

// followWrites has a poller follow its program's writes if somebody talks to its session or looks at it. c.mu is held.
func (c *PollingCoordinator) followWrites(p *OutputPoller) {
	if c.ctx != nil && c.ctx.Err() == nil && c.pollers[p.target.Session] == p && p.beginFollowing() {
		c.running.Go(func() { p.followWrites(c.ctx) })
	}
}

// beginFollowing reports whether the poller is to follow its program's writes and doesn't yet.
func (p *OutputPoller) beginFollowing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.following || !p.wantsWrites(time.Now()) {
		return false
	}
	p.following = true
	return true
}

// goesOnFollowing reports whether somebody wants to know of writes still, and to which terminal. If not, the following has
// ended.
func (p *OutputPoller) goesOnFollowing() (tty string, goesOn bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.following = p.wantsWrites(time.Now())
	return p.tty, p.following
}

// wantsWrites is called with p.mu held. Sessions that somebody talks to are looked at at the focus cadence anyway.
func (p *OutputPoller) wantsWrites(now time.Time) bool {
	return p.followers > 0 || p.opt.get().WatchWrites != nil && now.Before(p.focus)
}

// followWrites wakes the poller when its program has written, while somebody wants that.
func (p *OutputPoller) followWrites(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	for ctx.Err() == nil {
		tty, goesOn := p.goesOnFollowing()
		if !goesOn {
			return
		}
		watch, err := p.watchWrites(tty)
		if err != nil {
			if sessions.Pause(ctx, p.opt.get().FocusCadence) != nil {
				return
			}
			p.wakeUp()
			continue
		}
		p.wakeAtWrites(ctx, watch, tty)
		_ = watch.Close()
	}
}

// watchWrites watches a terminal, where that's possible.
func (p *OutputPoller) watchWrites(tty string) (WriteWatch, error) {
	watch := p.opt.get().WatchWrites
	if watch == nil || tty == "" {
		return nil, errors.ErrUnsupported
	}
	return watch(tty)
}

// wakeAtWrites wakes the poller at writes to a terminal, until nobody wants that, or it's the poller's no more.
func (p *OutputPoller) wakeAtWrites(ctx context.Context, watch WriteWatch, tty string) {
	for looks := 0; ; looks++ { // at first for what was written before
		if now, goesOn := p.goesOnFollowing(); !goesOn || now != tty {
			return
		}
		patience := followCheck
		if looks < len(looksAfterWrite) {
			patience = max(looksAfterWrite[looks], time.Until(p.nextLook()))
		}
		wrote, err := p.waitForWrite(ctx, watch, patience)
		if err != nil {
			_ = sessions.Pause(ctx, p.opt.get().FocusCadence) // the terminal is gone, and the pane with it
			return
		}
		if wrote {
			looks = 0
			if sessions.Pause(ctx, time.Until(p.nextLook())) != nil {
				return
			}
		}
		if looks < len(looksAfterWrite) && !p.waitsForStable() {
			p.wakeUp()
		}
		if wrote && sessions.Pause(ctx, blindFor) != nil {
			return
		}
	}
}

// waitForWrite waits for a write for so long at most, and notes it. The error is ctx', or the terminal is gone.
func (p *OutputPoller) waitForWrite(ctx context.Context, watch WriteWatch, patience time.Duration) (wrote bool, err error) {
	if patience <= 0 {
		return false, ctx.Err()
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = watch.Wait(bounded)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	if err == nil {
		p.mu.Lock()
		p.wroteAt = time.Now()
		p.mu.Unlock()
	}
	return err == nil, err
}

// stoodSince is since when rows that a look finds first have stood as they are, at the latest; zero: nothing but the look
// tells. Behind the write that was noted last there may have been others while none was, and a look that had to wait for
// its turn says nothing of how long that was.
func (p *OutputPoller) stoodSince() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.following || !p.wroteAt.After(p.lookedAt) || p.beganAt.Sub(p.wroteAt) > blindFor {
		return time.Time{}
	}
	return p.wroteAt.Add(blindFor)
}

// stableLook is when a poller that follows its program's writes looks again because rows will be stable by then; zero: it
// doesn't follow, or no rows wait.
func (p *OutputPoller) stableLook(stableAt time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stableAt = time.Time{}
	if !stableAt.IsZero() && p.following {
		p.stableAt = latest(stableAt, p.looks.NextAt())
	}
	return p.stableAt
}

// waitsForStable reports whether there'll be another look because rows will be stable then.
func (p *OutputPoller) waitsForStable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.stableAt)
}

// nextLook is when the next look for writes may begin.
func (p *OutputPoller) nextLook() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.looks.NextAt()
}
