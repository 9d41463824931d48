package inbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// maxKeptReply bounds what's kept of a reply. Of a larger one it's kept that there was one.
	maxKeptReply = 64 << 10
	// dropAgain is after how long it's tried again to drop replies that were seen.
	dropAgain = 10 * time.Second
)

// unkept takes the place of what's too large to be kept, and of what's secret.
const unkept = "panebridge stopped before you could see what you asked for. Ask again."

// Reply is an answer to a person that may not be seen yet, as a store keeps it: what answers an
// event is kept in the transaction that ends the event, and dropped when it's seen.
type Reply struct {
	ID      string
	Session sessions.ID // "": it's about none
	At      time.Time
	Post    []byte // JSON
}

// ReplyStore keeps replies: see AuditStore.EndEntry.
type ReplyStore interface {
	// Replies returns those that weren't dropped, the oldest first.
	Replies(ctx context.Context) ([]Reply, error)
	// DropReplies drops those with these ids; others are no error.
	DropReplies(ctx context.Context, ids []string) error
}

// keptPost is what of a post is kept.
type keptPost struct {
	To, Elsewhere         adapters.Target
	Key, Message, ReplyTo string
	Text, Numbered, Nonce string
	Reaction              string
	Menus                 []adapters.Menu
	Buttons               [][]adapters.Button
	Person                string // who's answered, by Person.ID
	Otherwise             string // what's said in words where Reaction isn't taken
}

// keptReply is an answer that isn't seen yet, as far as is known. replies.mu guards it.
type keptReply struct {
	Reply
	slot    replySlot
	since   time.Time // since when this run is to show it
	written bool
	seen    bool // or given up
}

// replySlot is where an answer stands: another of the same takes its place.
type replySlot struct {
	to  adapters.Target
	key string
}

// handling is an event under way, with what answers it.
type handling struct {
	again   bool // it was begun before: what answers it may be there
	replies []*keptReply
}

// beginHandling says that what's posted for an event from now on is part of what it does.
func (rs *replies) beginHandling(key string, again bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.handled[key] = &handling{again: again}
}

func (rs *replies) endHandling(key string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.handled, key)
}

// unseen returns what answers an event and isn't seen yet, to be kept.
func (rs *replies) unseen(key string) (all []*keptReply, kept []Reply) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, k := range rs.handled[key].replies {
		if !k.seen {
			all, kept = append(all, k), append(kept, k.Reply)
		}
	}
	return all, kept
}

// wrote takes in that replies are kept.
func (rs *replies) wrote(all []*keptReply) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, k := range all {
		if k.written = true; k.seen {
			rs.drop(k)
		}
	}
}

// keep has a post be kept with the event that it answers, until it's seen. otherwise is what's said in
// words where a reaction isn't taken. What answers an event that was begun before says that it may be
// there.
func (rs *replies) keep(ev intake.Event, p *adapters.Post, otherwise string) *keptReply {
	k := &keptReply{slot: replySlot{p.To, p.Key}, since: time.Now()}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.waiting[k.slot] = append(rs.waiting[k.slot], k)
	h := rs.handled[ev.Key]
	if h == nil {
		return k
	}
	p.Again = p.Again || h.again
	raw, err := json.Marshal(keptOf(*p, ev.Person.ID, otherwise))
	if err != nil {
		rs.in.log.Error("an answer to somebody can't be kept", "err", err)
		return k
	}
	k.Reply = Reply{ID: newOfferID(), Session: p.Session, At: time.Now(), Post: raw}
	h.replies = append(h.replies, k)
	if !rs.loaded {
		rs.own[k.ID] = true
	}
	return k
}

func keptOf(p adapters.Post, person, otherwise string) keptPost {
	k := keptPost{
		To: p.To, Elsewhere: p.Elsewhere, Key: p.Key, Message: p.Message, ReplyTo: p.ReplyTo, Text: p.Text, Numbered: p.Numbered, Nonce: p.Nonce,
		Reaction: p.Reaction, Menus: p.Menus, Buttons: p.Buttons, Person: person, Otherwise: otherwise,
	}
	if p.Shown || p.Picture != nil || p.File != nil || p.Size() > maxKeptReply {
		k.Text, k.Numbered, k.Menus, k.Buttons = unkept, "", nil, nil
	}
	return k
}

// settled takes in what came of a post: what stands at its place is seen, and so is what it took the
// place of, or nobody tries any more. What another took the place of is seen when that one is.
func (rs *replies) settled(k *keptReply, err error) {
	if errors.Is(err, adapters.ErrReplaced) {
		return
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.settleLocked(k)
}

// settleLocked is settled. mu is held.
func (rs *replies) settleLocked(k *keptReply) {
	waiting := rs.waiting[k.slot]
	at := slices.Index(waiting, k)
	if at < 0 {
		return // with one that took its place
	}
	for _, k := range waiting[:at+1] {
		if k.seen = true; k.written {
			rs.drop(k)
		}
	}
	if rs.waiting[k.slot] = waiting[at+1:]; at+1 == len(waiting) {
		delete(rs.waiting, k.slot)
	}
}

// move has a reply be seen when another post of its event is. mu isn't held.
func (rs *replies) move(k *keptReply, slot replySlot) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	was := rs.waiting[k.slot]
	if was = slices.DeleteFunc(was, func(x *keptReply) bool { return x == k }); len(was) == 0 {
		delete(rs.waiting, k.slot)
	} else {
		rs.waiting[k.slot] = was
	}
	k.slot = slot
	rs.waiting[slot] = append(rs.waiting[slot], k)
}

// drop leaves to run that a kept reply is dropped. mu is held.
func (rs *replies) drop(k *keptReply) {
	rs.drops = append(rs.drops, k.ID)
	rs.poke()
}

// poke wakes run.
func (rs *replies) poke() {
	select {
	case rs.wake <- struct{}{}:
	default:
	}
}

// dropSeen drops what was seen, and returns whether some is left.
func (rs *replies) dropSeen(ctx context.Context) (left bool) {
	rs.mu.Lock()
	ids := rs.drops
	rs.drops = nil
	rs.mu.Unlock()
	if len(ids) == 0 {
		return false
	}
	err := rs.in.opt.Store.DropReplies(ctx, ids)
	if err == nil {
		return false
	}
	rs.in.log.Warn("answers that were seen couldn't be dropped; it's tried again", "err", err)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.drops = append(ids, rs.drops...)
	return true
}

// neverQueued is what it means for a kept reply that its post wasn't queued: the next start posts it, if
// that's because this one ends.
func (rs *replies) neverQueued(k *keptReply, err error) {
	if !errors.Is(err, qos.ErrDraining) && !errors.Is(err, qos.ErrStopped) {
		rs.settled(k, err)
	}
}

// load posts what an earlier run left: each says that it may be there already. Of those that stand at
// one place the newest counts.
func (rs *replies) load(ctx context.Context) error {
	if rs.loaded { // run was begun anew
		return nil
	}
	all, err := rs.in.opt.Store.Replies(ctx)
	if err != nil {
		return fmt.Errorf("load the answers that nobody has seen: %w", err)
	}
	var kept []*keptReply // the oldest first
	newest := map[*keptReply]keptPost{}
	rs.mu.Lock()
	for _, r := range all {
		if rs.own[r.ID] { // of an event that was handled before this
			continue
		}
		var p keptPost
		k := &keptReply{Reply: r, since: time.Now(), written: true}
		if err := json.Unmarshal(r.Post, &p); err != nil {
			rs.in.log.Error("an answer that was kept can't be read", "err", err)
			rs.drop(k)
			continue
		}
		if now := rs.in.moves.now(p.To); now != p.To { // messages have other numbers there
			p.To, p.Elsewhere, p.Message, p.ReplyTo = now, rs.in.moves.now(p.Elsewhere), "", ""
		}
		k.slot = replySlot{p.To, p.Key}
		for _, old := range rs.waiting[k.slot] {
			delete(newest, old)
		}
		rs.waiting[k.slot] = append(rs.waiting[k.slot], k)
		newest[k], kept = p, append(kept, k)
	}
	rs.loaded, rs.own = true, nil
	rs.mu.Unlock()
	for _, k := range kept {
		if p, ok := newest[k]; ok {
			rs.again(k, p)
		}
	}
	return nil
}

// again posts what was kept.
func (rs *replies) again(k *keptReply, p keptPost) {
	post := adapters.Post{
		To: p.To, Elsewhere: p.Elsewhere, Key: p.Key, Class: qos.Interactive, Session: k.Session, Message: p.Message, ReplyTo: p.ReplyTo,
		Text: p.Text, Numbered: p.Numbered, Nonce: p.Nonce, Menus: p.Menus, Buttons: p.Buttons, Again: true,
	}
	if p.Reaction == "" {
		rs.postWatched(k, post, p.Person)
		return
	}
	inWords := func() {
		post.Text = p.Otherwise
		rs.postWatched(k, post, p.Person)
	}
	if p.ReplyTo == "" {
		inWords()
		return
	}
	sign := post
	sign.Reaction, sign.Again, sign.Elsewhere = p.Reaction, false, adapters.Target{}
	sign.Sent = func(_ string, err error) {
		if err != nil {
			inWords()
			return
		}
		rs.settled(k, nil)
	}
	if err := rs.in.opt.Hub.Post(sign); err != nil {
		rs.neverQueued(k, err)
	}
}

// postWatched posts a kept reply, which is tried again if it's refused.
func (rs *replies) postWatched(k *keptReply, p adapters.Post, person string) {
	r := &refusedReply{post: p, person: person, kept: k}
	if err := rs.in.opt.Hub.Post(rs.watched(r, p)); err != nil {
		rs.in.log.Warn("somebody couldn't be answered", "target", p.To.String(), "err", err)
		rs.neverQueued(k, err)
	}
}
