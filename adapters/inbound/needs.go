package inbound

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// unreadAfter is how long a question stands until it counts as one that can't be read:
// one that can is found within a tick of being drawn, and has a message of its own.
const unreadAfter = 3 * time.Second

// needs rings where a session is mirrored when a question stands on its screen that
// can't be read, once for each question, and once more after a restart of the daemon.
// The question itself is on the screen and in the mirror. Those that can be read are
// shown by prompts.
type needs struct {
	in   *Inbound
	wake chan struct{}

	mu   sync.Mutex
	open map[sessions.ID]*need // a question stands there
}

// need is a question that stands on a session's screen.
type need struct {
	due  time.Time // when people are called; zero: they were, or needn't be
	rang bool
}

func newNeeds(in *Inbound) *needs {
	return &needs{in: in, wake: make(chan struct{}, 1), open: map[sessions.ID]*need{}}
}

// output takes in how a session is. It returns at once.
func (n *needs) output(ev sessions.OutputEvent) {
	if ev.State == "" && ev.Exit == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if ev.State != sessions.StateWaiting || ev.Exit != nil {
		delete(n.open, ev.Session)
		return
	}
	if n.open[ev.Session] == nil {
		n.open[ev.Session] = &need{due: time.Now().Add(unreadAfter)}
		n.look()
	}
}

// answered takes in that a question that could be read is closed: another may stand there
// that can't be. It returns at once.
func (n *needs) answered(id sessions.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if o := n.open[id]; o != nil && !o.rang {
		o.due = time.Now().Add(unreadAfter)
		n.look()
	}
}

// look wakes run.
func (n *needs) look() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// run calls people until ctx ends.
func (n *needs) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		ready, next := n.due(time.Now())
		for _, id := range ready {
			if !n.tryCall(ctx, id) {
				next = time.Now()
			}
		}
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-timer.C:
		}
	}
}

// due are the sessions whose people are to be called now, and when it's to be looked at
// again.
func (n *needs) due(now time.Time) (ready []sessions.ID, next time.Time) {
	readable := map[sessions.ID]bool{}
	for _, p := range n.in.opt.Sessions.Prompts() {
		readable[p.Session] = true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	next = now.Add(time.Hour)
	for id, o := range n.open {
		switch {
		case o.due.IsZero():
		case now.Before(o.due):
			if o.due.Before(next) {
				next = o.due
			}
		case readable[id]:
			o.due = time.Time{}
		default:
			o.due, o.rang = time.Time{}, true
			ready = append(ready, id)
		}
	}
	return ready, next
}

// tryCall tells of a question once. Where that fails, or panics, it's due again in
// unreadAfter, as long as the question stands.
func (n *needs) tryCall(ctx context.Context, id sessions.ID) (told bool) {
	n.in.containPanic(workerNeeds, func() {
		err := n.call(ctx, id)
		if told = err == nil || errors.Is(err, sessions.ErrUnknown); !told && ctx.Err() == nil {
			n.in.log.Warn("nobody could be told that a question is open; it's tried again", "session", id, "err", err)
		}
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	if o := n.open[id]; !told && o != nil {
		o.due, o.rang = time.Now().Add(unreadAfter), false
	}
	return told
}

// call tells of a question wherever its session is mirrored.
func (n *needs) call(ctx context.Context, id sessions.ID) error {
	s, err := n.in.opt.Sessions.Get(string(id))
	if err != nil {
		return err
	}
	for _, b := range n.in.opt.Hub.Status(id) {
		if !b.Open {
			continue
		}
		row, err := n.buttons(ctx, b.Target, id)
		if err != nil {
			return err
		}
		ring := !n.in.Quiet(b.Target, id, time.Now())
		if !ring {
			n.in.missed.note(b.Target, id, MissedQuestion)
		}
		err = n.in.opt.Hub.Post(adapters.Post{
			To: b.Target, Key: "needs " + newOfferID(), Class: qos.Final, Session: id,
			Text: fmt.Sprintf("**%s needs you**: a question is on its screen.", plain(s.Name)), Buttons: [][]adapters.Button{row}, Ring: ring,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// buttons are the ways to see the question and to answer it.
func (n *needs) buttons(ctx context.Context, place adapters.Target, id sessions.ID) ([]adapters.Button, error) {
	screen, err := n.in.offer(ctx, place, "Screen", offer{Do: "screen", Session: id, Role: Viewer})
	if err != nil {
		return nil, err
	}
	keys, err := n.in.offer(ctx, place, "Keys", offer{Do: "command", Args: "keys ", Session: id, Role: Operator})
	return []adapters.Button{screen, keys}, err
}
