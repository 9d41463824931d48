package inbound

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// needs rings where a session is mirrored when a question stands on its screen, once
// for each question, and once more after a restart of the daemon. The question itself
// is on the screen and in the mirror.
type needs struct {
	in   *Inbound
	wake chan struct{}

	mu    sync.Mutex
	open  map[sessions.ID]bool // a question stands there
	asked []sessions.ID        // where nobody was called yet
}

func newNeeds(in *Inbound) *needs {
	return &needs{in: in, wake: make(chan struct{}, 1), open: map[sessions.ID]bool{}}
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
	if n.open[ev.Session] {
		return
	}
	n.open[ev.Session] = true
	n.asked = append(n.asked, ev.Session)
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// run calls people until ctx ends.
func (n *needs) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		n.mu.Lock()
		asked := n.asked
		n.asked = nil
		n.mu.Unlock()
		for _, id := range asked {
			if err := n.call(ctx, id); err != nil && ctx.Err() == nil {
				n.in.log.Warn("nobody could be told that a question is open", "session", id, "err", err)
			}
		}
	}
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
		err = n.in.opt.Hub.Post(adapters.Post{
			To: b.Target, Key: "needs " + newOfferID(), Class: qos.Final, Session: id,
			Text: fmt.Sprintf("**%s needs you**: a question is on its screen.", plain(s.Name)), Buttons: [][]adapters.Button{row},
			Ring: !n.in.Quiet(b.Target, id, time.Now()),
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
