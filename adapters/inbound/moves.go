package inbound

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// moves has what's kept for chats follow them to another id, once for each, whoever says that they
// have one: an update, or the platform instead of taking a call, where updates were lost.
type moves struct {
	in   *Inbound
	wake chan struct{}
	turn sync.Mutex // held while a chat is followed, with its I/O

	mu sync.Mutex
	to map[adapters.Target]string // the ids that chats have now
}

func newMoves(in *Inbound) *moves {
	return &moves{in: in, wake: make(chan struct{}, 1), to: map[adapters.Target]string{}}
}

// now is where a place is whose chat may have another id.
func (ms *moves) now(place adapters.Target) adapters.Target {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if to := ms.to[place.WholeChat()]; to != "" {
		place.Chat = to
	}
	return place
}

// Moved takes in that Hub.Moves has another. It returns at once.
func (in *Inbound) Moved() {
	select {
	case in.moves.wake <- struct{}{}:
	default:
	}
}

// run follows the chats of which the Hub knows, until ctx ends.
func (ms *moves) run(ctx context.Context) {
	timer := time.NewTimer(0) // of what a kill left
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ms.wake:
		case <-timer.C:
		}
		timer.Stop()
		if err := ms.followAll(ctx); err != nil && ctx.Err() == nil {
			ms.in.log.Warn("what's kept for a chat couldn't follow it; it's tried again", "err", err)
			timer.Reset(tellAgain)
		}
	}
}

func (ms *moves) followAll(ctx context.Context) error {
	all, err := ms.in.opt.Hub.Moves(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := ms.follow(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// follow has all that belongs to a chat follow it, unless it has. A chat that was known stays known.
func (ms *moves) follow(ctx context.Context, m adapters.Move) error {
	if m.From == "" || m.To == "" || m.From == m.To {
		return nil
	}
	ms.turn.Lock()
	defer ms.turn.Unlock()
	in, from, to := ms.in, adapters.Target{Adapter: m.Adapter, Chat: m.From}, adapters.Target{Adapter: m.Adapter, Chat: m.To}
	ms.mu.Lock()
	ms.to[from] = to.Chat
	ms.mu.Unlock()
	followed, err := in.opt.Store.Followed(ctx, m)
	if err != nil || followed {
		return err
	}
	if err := in.opt.Store.MoveChat(ctx, m.Adapter, m.From, m.To); err != nil {
		return fmt.Errorf("have chat %s follow to %s: %w", from, m.To, err)
	}
	if in.Knows(from) {
		if err := in.Adopt(ctx, to, "moved from "+m.From); err != nil {
			return err
		}
	}
	in.MoveChat(from, to)
	if err := in.loadPreferences(ctx); err != nil {
		return err
	}
	in.prompts.moved(from, to)
	in.boards.moved(from, to)
	if err := in.opt.Hub.ChatMoved(ctx, m.Adapter, m.From, m.To); err != nil {
		return err
	}
	return in.opt.Store.PutFollowed(ctx, m)
}
