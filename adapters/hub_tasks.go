package adapters

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// task is what Run does because of something heard. It's done again until it
// works.
type task struct {
	what   string
	do     func(ctx context.Context) error
	failed bool
	panics int
}

// later leaves something to Run. h.mu is held.
func (h *Hub) later(what string, do func(ctx context.Context) error) {
	h.tasks = append(h.tasks, &task{what: what, do: do})
	h.poke()
}

// poke wakes Run.
func (h *Hub) poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// work does what was left to it until ctx ends.
func (h *Hub) work(ctx context.Context) {
	retry := time.NewTimer(time.Hour)
	defer retry.Stop()
	for {
		if at := h.nextRetry(); !at.IsZero() && !time.Now().Before(at) {
			h.retryRefused(ctx)
		}
		wait := time.Hour
		if h.workOnce(ctx) {
			wait = retryAfter
		}
		if at := h.nextRetry(); !at.IsZero() {
			wait = min(wait, max(time.Until(at), 0))
		}
		retry.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		case <-retry.C:
		}
	}
}

// workOnce does each task once, and keeps those that fail. It returns whether
// there are any.
func (h *Hub) workOnce(ctx context.Context) bool {
	h.mu.Lock()
	tasks := h.tasks
	h.tasks = nil
	h.mu.Unlock()
	var again []*task
	for _, t := range tasks {
		err := h.tryTask(ctx, t)
		if err == nil || t.panics >= maxPanics {
			continue
		}
		if !t.failed {
			h.log.Warn("something is tried again until it works", "what", t.what, "err", err)
			t.failed = true
		}
		again = append(again, t)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tasks = append(again, h.tasks...)
	return len(again) > 0
}

// tryTask does a task once. A panic in it is logged with its stack, counted and returned
// as an error; the log gets no word of a session's.
func (h *Hub) tryTask(ctx context.Context, t *task) (err error) {
	defer func() {
		if r := recover(); r != nil {
			t.panics++
			err = sessions.PanicError(r)
			h.log.Error("a task panicked", "what", t.what, "times", t.panics, "given_up", t.panics >= maxPanics, "err", err, "stack", string(debug.Stack()))
			h.opt.Panicked()
		}
	}()
	return t.do(ctx)
}

// begin binds a new session by the rules, from where it was when it was heard of.
func (h *Hub) begin(ctx context.Context, s sessions.Session) error {
	h.life.Lock()
	defer h.life.Unlock()
	if err := h.takeUp(ctx, s, s.Lines); err != nil {
		return err
	}
	now, err := h.opt.Sessions.Get(string(s.ID))
	ended := err == nil && now.State == sessions.StateEnded // before this worked
	h.mu.Lock()
	if w := h.sessions[s.ID]; w != nil {
		w.begun, w.ended = true, w.ended || ended
	}
	h.mu.Unlock()
	if ended {
		return h.finishLocked(ctx, s.ID)
	}
	return nil
}

// takeUp binds a new session by the rules, from behind a line on, and keeps that it has. A session
// that wasn't taken up before a kill is at the next start: that its bindings are missing doesn't
// tell it from one that rules want only later, which goes on from its newest line. life is held.
func (h *Hub) takeUp(ctx context.Context, s sessions.Session, start int64) error {
	if err := h.applyRules(ctx, s, start); err != nil {
		return err
	}
	if err := h.opt.Store.TakeUp(ctx, s.ID); err != nil {
		return fmt.Errorf("keep that the rules were applied to %s: %w", s.ID, err)
	}
	return nil
}

// finish has all that's left of an ended session sent.
func (h *Hub) finish(ctx context.Context, id sessions.ID) error {
	h.life.Lock()
	defer h.life.Unlock()
	return h.finishLocked(ctx, id)
}

func (h *Hub) finishLocked(ctx context.Context, id sessions.ID) error {
	p, err := h.opt.Log.Progress(ctx, id)
	if err != nil {
		return fmt.Errorf("end the bindings of %s: %w", id, err)
	}
	for _, b := range h.bindingsOf(id) {
		if !b.open {
			if b.Active() || b.isRefusal() && !b.Unbound && !b.Resting {
				continue // its adapter may be back after the next start; what was refused is tried again
			}
			if err := h.drop(ctx, b); err != nil {
				return err
			}
			continue
		}
		wanted := p.Head
		doc, _ := b.outlet.deliverer.Document(b.ID)
		if b.outlet.adapter.Shape(b.Target).ClosesThreads || doc.showsLive() {
			wanted++ // a call after the last line's: to close the thread, or to take a live region away
		}
		b.outlet.scheduler.Want(b.ID.Doc(), wanted, false)
		b.outlet.scheduler.Close(b.ID.Doc(), qos.Flush)
	}
	h.forget(id)
	return nil
}

// forget drops what's known of an ended session without bindings.
func (h *Hub) forget(id sessions.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.sessions[id]; w != nil && w.ended && len(w.bindings) == 0 {
		delete(h.sessions, id)
	}
}
