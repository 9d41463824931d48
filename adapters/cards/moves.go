package cards

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
	clerk *Clerk
	wake  chan struct{}
	turn  sync.Mutex // held while a chat is followed, with its I/O

	mu sync.Mutex
	to map[adapters.Target]string // the ids that chats have now
}

func newMoves(k *Clerk) *moves {
	return &moves{clerk: k, wake: make(chan struct{}, 1), to: map[adapters.Target]string{}}
}

// placeNow is where a place is whose chat may have another id.
func (ms *moves) placeNow(place adapters.Target) adapters.Target {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if to := ms.to[place.WholeChat()]; to != "" {
		place.Chat = to
	}
	return place
}

// PlaceNow is where a place is whose chat may have another id.
func (k *Clerk) PlaceNow(place adapters.Target) adapters.Target { return k.moves.placeNow(place) }

// Moved takes in that Hub.Moves has another. It returns at once.
func (k *Clerk) Moved() {
	select {
	case k.moves.wake <- struct{}{}:
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
			ms.clerk.Log.Warn("what's kept for a chat couldn't follow it; it's tried again", "err", err)
			timer.Reset(tellAgain)
		}
	}
}

func (ms *moves) followAll(ctx context.Context) error {
	all, err := ms.clerk.Hub.Moves(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := ms.followChat(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// followChat has all that belongs to a chat follow it, unless it has. A chat that was known stays known.
func (ms *moves) followChat(ctx context.Context, m adapters.Move) error {
	if m.From == "" || m.To == "" || m.From == m.To {
		return nil
	}
	ms.turn.Lock()
	defer ms.turn.Unlock()
	k, from, to := ms.clerk, adapters.Target{Adapter: m.Adapter, Chat: m.From}, adapters.Target{Adapter: m.Adapter, Chat: m.To}
	ms.mu.Lock()
	ms.to[from] = to.Chat
	ms.mu.Unlock()
	followed, err := k.Store.Followed(ctx, m)
	if err != nil || followed {
		return err
	}
	if err := k.Store.MoveChat(ctx, m.Adapter, m.From, m.To); err != nil {
		return fmt.Errorf("have chat %s follow to %s: %w", from, m.To, err)
	}
	if k.Knows(from) {
		if err := k.Adopt(ctx, to, "moved from "+m.From); err != nil {
			return err
		}
	}
	k.MoveChat(from, to)
	if err := k.loadPreferences(ctx); err != nil {
		return err
	}
	k.prompts.moveChat(from, to)
	k.receipts.leaveWord(func(rs *receipts) { rs.moves = append(rs.moves, m) })
	k.reconciler.moveChat(m)
	if err := k.Hub.ChatMoved(ctx, m.Adapter, m.From, m.To); err != nil {
		return err
	}
	return k.Store.PutFollowed(ctx, m)
}

// FollowChat has all that belongs to a chat follow it to its new id.
func (k *Clerk) FollowChat(ctx context.Context, m adapters.Move) error {
	return k.moves.followChat(ctx, m)
}
