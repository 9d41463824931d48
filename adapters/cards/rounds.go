package cards

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// rounds are what a worker does again and again. Others leave word of what has changed; the worker
// takes that in at the beginning of its next round.
type rounds struct {
	mu   sync.Mutex // guards what others leave; never held during I/O
	wake chan struct{}
}

func newRounds() rounds { return rounds{wake: make(chan struct{}, 1)} }

// leaveWord calls word, which leaves something for the worker, and has a round begin soon.
func (r *rounds) leaveWord(word func()) {
	r.mu.Lock()
	word()
	r.mu.Unlock()
	r.lookSoon()
}

// lookSoon has a round begin soon. It returns at once.
func (r *rounds) lookSoon() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run loads what an earlier run left, every 30 s until that works, and then calls round until ctx
// ends: at once, whenever it's woken, and at the time that the last round returned; zero: in an hour.
// what says in the log what couldn't be loaded. A nil load is none.
func (r *rounds) run(ctx context.Context, k *Clerk, what string, load func(context.Context) error, round func(ctx context.Context, now time.Time) time.Time) {
	for load != nil {
		err := load(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return
		}
		k.Log.Error("what an earlier run left can't be read; it's tried again", "what", what, "err", err)
		if sessions.Pause(ctx, tellAgain) != nil {
			return
		}
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now()
		next := round(ctx, now)
		if next.IsZero() {
			next = now.Add(time.Hour)
		}
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
		}
	}
}

const (
	// tellAgain is how long after a failure it's tried again to tell or keep something.
	tellAgain = 30 * time.Second
	// retrySoon is how often one of the messages that a chat refuses for the same reason is tried again for
	// all, and retriesSoon for how many tries: some 12 minutes, as bindings are.
	retrySoon   = 30 * time.Second
	retriesSoon = 25
)

// retries are the tries of a message that its chat refuses.
type retries struct {
	tries int       // that were refused, in a row
	why   string    // the last of them was
	retry time.Time // when it's tried again
}

// noteRefusal has a message be tried again: after 30 s, and twice as long each time until it's ten
// minutes. Of those that a chat refuses for the same reason one is tried for all, every 30 s. chat are
// the refused ones of the chat.
func (t *retries) noteRefusal(why error, now time.Time, chat iter.Seq[*retries]) {
	t.tries++
	t.why = fmt.Sprint(why)
	rest := min(30*time.Second<<min(t.tries-1, 10), 10*time.Minute)
	if t.tries <= retriesSoon && !t.triesOther(now.Add(retrySoon), chat) {
		rest = retrySoon
	}
	t.retry = now.Add(rest)
}

// triesOther says that another message is tried before a time that the chat has refused for the same reason.
func (t *retries) triesOther(before time.Time, chat iter.Seq[*retries]) bool {
	for other := range chat {
		if other != t && other.why == t.why && !other.retry.After(before) {
			return true
		}
	}
	return false
}
