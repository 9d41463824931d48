package cards

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// boardEvery is the least time between two calls for a chat's list, and how long the
	// daemon runs before the first.
	boardEvery = 30 * time.Second
	// boardLook is how often it's looked whether a list has changed though nobody said so:
	// sessions are bound to other places.
	boardLook = 5 * time.Minute
)

// boards keeps a list of sessions pinned in each chat that mirrors some, in it or in its
// threads: those that need somebody first. One goroutine does: run. It shows what's
// mirrored there alone: who's in a chat may see no more.
type boards struct {
	clerk *Clerk
	wake  chan struct{}

	mu    sync.Mutex
	on    bool
	sent  []sentBoard
	moves [][2]adapters.Target

	all map[adapters.Target]*board // owned by run's goroutine; nil: not loaded yet
}

// board is a chat's list.
type board struct {
	Board
	missing int  // edits in a row that found no message
	refused bool // it can't be pinned
	barred  bool // nothing can be written there, as in a forum outside of its posts
}

// sentBoard is what came of a call.
type sentBoard struct {
	place   adapters.Target
	message string
	digest  string // of its text; "": it was pinned
	err     error
}

// noSessions is the list of a chat that had some.
const noSessions = "No session is mirrored here at the moment."

func newBoards(k *Clerk) *boards {
	return &boards{clerk: k, wake: make(chan struct{}, 1), on: k.Pinned}
}

// SetPinned says whether lists of sessions are kept pinned: Options.Pinned.
func (k *Clerk) SetPinned(on bool) {
	k.boards.leave(func(bs *boards) { bs.on = on })
}

// look has the lists be looked at soon.
func (bs *boards) look() {
	select {
	case bs.wake <- struct{}{}:
	default:
	}
}

func (bs *boards) leave(word func(*boards)) {
	bs.mu.Lock()
	word(bs)
	bs.mu.Unlock()
	bs.look()
}

// moved takes in that a chat has another id.
func (bs *boards) moved(from, to adapters.Target) {
	bs.leave(func(bs *boards) { bs.moves = append(bs.moves, [2]adapters.Target{from, to}) })
}

// run keeps the lists until ctx ends.
func (bs *boards) run(ctx context.Context) {
	next := time.Now().Add(boardEvery) // when calls may be made
	due := next
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-bs.wake:
			due = next
		case <-timer.C:
		}
		now := time.Now()
		bs.takeIn(ctx)
		if !now.Before(due) {
			next, due = now.Add(boardEvery), now.Add(boardLook)
			if bs.round(ctx) {
				due = next
			}
		}
		timer.Reset(time.Until(due))
	}
}

// round makes the calls that are due, one for each chat. more says that there's more to
// do.
func (bs *boards) round(ctx context.Context) (more bool) {
	bs.mu.Lock()
	on := bs.on
	bs.mu.Unlock()
	if !on {
		return false
	}
	if bs.all == nil && !bs.load(ctx) {
		return true
	}
	for place, mirrored := range bs.wanted() {
		b := bs.all[place]
		if b == nil {
			b = &board{Board: Board{Place: place}}
			bs.all[place] = b
		}
		text := bs.text(place, mirrored)
		digest := DigestOf(text)
		switch {
		case b.barred, b.Message == "" && text == noSessions:
		case b.Digest != digest:
			bs.post(adapters.Post{To: place, Key: "board", Class: qos.Cosmetic, Message: b.Message, Text: text}, digest)
			more = true
		case !b.Pinned && !b.refused:
			bs.post(adapters.Post{To: place, Key: "board", Class: qos.Cosmetic, Pin: b.Message}, "")
			more = true
		}
	}
	return more
}

func (bs *boards) load(ctx context.Context) bool {
	kept, err := bs.clerk.Store.Boards(ctx)
	if err != nil {
		bs.clerk.Log.Warn("load the pinned lists; it's tried again", "err", err)
		return false
	}
	bs.all = map[adapters.Target]*board{}
	for _, b := range kept {
		bs.all[b.Place] = &board{Board: b}
	}
	return true
}

// wanted are the chats that have a list, or had one, and the sessions on it.
func (bs *boards) wanted() map[adapters.Target]map[sessions.ID]bool {
	out := map[adapters.Target]map[sessions.ID]bool{}
	for place := range bs.all {
		out[place] = map[sessions.ID]bool{}
	}
	for _, b := range bs.clerk.Hub.Status("") {
		if !b.Open {
			continue
		}
		place := b.Target.WholeChat()
		if out[place] == nil {
			out[place] = map[sessions.ID]bool{}
		}
		out[place][b.Binding.Session] = true
	}
	return out
}

// text is a chat's list. It has no times in it: it's edited when something has happened.
func (bs *boards) text(place adapters.Target, mirrored map[sessions.ID]bool) string {
	var all []sessions.Session
	for _, s := range bs.clerk.Sessions.List() {
		if mirrored[s.ID] {
			all = append(all, s)
		}
	}
	shape := bs.clerk.Hub.Shape(place)
	text := bs.clerk.FitList(shape.MaxLen-SpareUnits, shape.Len, all, func(s sessions.Session) string {
		name := wording.Plain(s.Name)
		if link := bs.clerk.LinkTo(place, s.ID); link != "" {
			name = "[" + name + "](<" + link + ">)"
		}
		if s.State == sessions.StateError && s.Reason != "" {
			name += " · " + wording.Plain(wording.CutEnd(bs.clerk.Masked(s.Reason), 120))
		}
		return name
	})
	if text = strings.TrimSpace(text); text == "" {
		return noSessions
	}
	return text
}

// post makes a call, if it can be made right now.
func (bs *boards) post(p adapters.Post, digest string) {
	p.Sent = func(message string, err error) {
		bs.leave(func(bs *boards) { bs.sent = append(bs.sent, sentBoard{p.To, message, digest, err}) })
	}
	_ = bs.clerk.Hub.Post(p) // it's tried again
}

// takeIn takes in what came of calls.
func (bs *boards) takeIn(ctx context.Context) {
	bs.mu.Lock()
	sent, moves := bs.sent, bs.moves
	bs.sent, bs.moves = nil, nil
	bs.mu.Unlock()
	for _, m := range moves {
		if bs.all[m[0]] != nil {
			delete(bs.all, m[0])
			bs.all[m[1]] = &board{Board: Board{Place: m[1]}} // what it was stands in the group that's gone
		}
	}
	for _, s := range sent {
		b := bs.all[s.place]
		if b == nil {
			continue
		}
		b.take(s)
		if s.err != nil {
			bs.clerk.Log.Info("the list of sessions couldn't be kept pinned", "target", s.place.String(), "err", s.err)
		}
		if err := bs.clerk.Store.PutBoard(ctx, b.Board); err != nil {
			bs.clerk.Log.Warn("keep a pinned list", "target", s.place.String(), "err", err)
		}
	}
}

// take takes in what came of one call.
func (b *board) take(s sentBoard) {
	gone := errors.Is(s.err, adapters.ErrMessageGone)
	switch {
	case s.err == nil && s.digest == "":
		b.Pinned = true
	case s.err == nil:
		b.Message, b.Digest, b.missing = s.message, s.digest, 0
	case gone && b.missing > 0: // not once alone: Discord takes few edits of what's old
		b.Message, b.Digest, b.Pinned, b.missing = "", "", false, 0
	case gone:
		b.missing++
	case s.digest == "":
		b.refused = true // it takes a right that the bot hasn't got
	default:
		b.barred = true
	}
}
