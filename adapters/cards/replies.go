package cards

import (
	"cmp"
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
	// replyRetryFirst is after how long a reply that was refused is tried again, twice as long each
	// time up to replyRetryMost: what a platform refuses by mistake, it takes soon.
	replyRetryFirst = 10 * time.Second
	replyRetryMost  = 5 * time.Minute
	// replyFor is for how long it's tried. Nobody waits for an answer longer.
	replyFor = time.Hour
	// maxReplies and maxReplyBytes bound those that wait to be tried again.
	maxReplies    = 200
	maxReplyBytes = 32 << 20
)

// replies have what answers people be seen. The Outbox has other forms of what a place refuses, and
// the chat of a thread; what's refused in all of those is tried again, and from the second time on
// in the private chat of who asked, too. What answers an event is kept with it until it's seen:
// what the Outbox has is in memory. It's safe for concurrent use.
type replies struct {
	rounds

	clerk *Clerk

	// Guarded by mu.
	refused []*refusedReply            // the oldest first
	handled map[string]*handling       // by Event.Key
	waiting map[replySlot][]*keptReply // that aren't seen, the oldest first
	loaded  bool                       // what an earlier run left was posted
	own     map[string]bool            // ids of this run's kept replies, until loaded
	drops   []string                   // ids of kept replies to be dropped
}

// refusedReply is a reply that's tried again.
type refusedReply struct {
	post   adapters.Post
	person string    // who asked, by Person.ID
	since  time.Time // when it was refused first; zero: it wasn't
	why    error
	tries  int       // that were refused
	next   time.Time // when it's tried; zero: a try is under way
	kept   *keptReply
}

func newReplies(k *Clerk) *replies {
	return &replies{clerk: k, rounds: newRounds(), handled: map[string]*handling{}, waiting: map[replySlot][]*keptReply{}, own: map[string]bool{}}
}

// PostReply posts an answer to the person of an event. An answer that's refused is tried again for an hour;
// one that isn't seen before the daemon ends is posted again at the next start. After an error nothing is
// tried.
func (k *Clerk) PostReply(ev intake.Event, p adapters.Post) error {
	rs := k.replies
	if p.IsSign() {
		return rs.clerk.Hub.Post(p)
	}
	rs.mu.Lock()
	rs.refused = slices.DeleteFunc(rs.refused, func(r *refusedReply) bool {
		return r.post.To == p.To && r.post.Key == p.Key // it's overtaken
	})
	rs.mu.Unlock()
	kept := rs.keepReply(ev, &p, "")
	r := &refusedReply{post: p, person: ev.Person.ID, kept: kept}
	err := rs.clerk.Hub.Post(rs.watchPost(r, p))
	if err != nil {
		rs.noteUnqueued(kept, err)
	}
	return err
}

// watchPost is a reply's post whose refusal is heard of.
func (rs *replies) watchPost(r *refusedReply, p adapters.Post) adapters.Post {
	sent := r.post.Sent
	p.Sent = func(message string, err error) {
		if rs.noteReplyTry(r, err, time.Now()) {
			return
		}
		rs.noteSeen(r.kept, err)
		if sent != nil {
			sent(message, err)
		}
	}
	return p
}

// noteReplyTry takes in what came of a try, and reports whether there'll be another.
func (rs *replies) noteReplyTry(r *refusedReply, err error, now time.Time) (again bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	at := slices.Index(rs.refused, r)
	overtaken := at < 0 && !r.since.IsZero()
	over := err == nil || errors.Is(err, adapters.ErrReplaced) || errors.Is(err, adapters.ErrDropped)
	if r.since.IsZero() {
		r.since = now
	}
	if over || overtaken || now.Sub(r.since) >= replyFor {
		if !over && !overtaken {
			rs.clerk.Log.Error("an answer to somebody is given up", "target", r.post.To.String(), "err", err)
		}
		if at >= 0 {
			rs.refused = slices.Delete(rs.refused, at, at+1)
		}
		return false
	}
	if at < 0 {
		rs.refused = append(rs.refused, r)
		rs.dropOldest()
	}
	r.post.Again = r.post.Again || errors.Is(err, adapters.ErrMaybeSent)
	r.why, r.next = err, now.Add(min(replyRetryFirst<<min(r.tries, 6), replyRetryMost))
	r.tries++
	rs.lookSoon()
	return true
}

// dropOldest gives the oldest up where too many wait. mu is held.
func (rs *replies) dropOldest() {
	bytes := 0
	for i, r := range slices.Backward(rs.refused) {
		if bytes += r.post.Size(); bytes > maxReplyBytes || len(rs.refused)-i > maxReplies {
			rs.clerk.Log.Error("answers to people are given up, since too many wait", "answers", i+1, "target", r.post.To.String(), "err", r.why)
			for _, r := range rs.refused[:i+1] {
				rs.noteSeenLocked(r.kept)
			}
			rs.refused = rs.refused[i+1:]
			return
		}
	}
}

// run posts what an earlier run left, and tries again what was refused, until ctx ends.
func (rs *replies) run(ctx context.Context) {
	rs.rounds.run(ctx, rs.clerk, "load answers that nobody has seen", rs.loadReplies, func(ctx context.Context, now time.Time) time.Time {
		rest := rs.retryDue(now)
		if rs.dropSeen(ctx) {
			rest = min(rest, dropAgain)
		}
		return now.Add(rest)
	})
}

// retryDue tries what's due, and returns for how long there's nothing more to do.
func (rs *replies) retryDue(now time.Time) time.Duration {
	rs.mu.Lock()
	var due []*refusedReply
	rest := replyFor
	for _, r := range rs.refused {
		switch {
		case r.next.IsZero():
		case !r.next.After(now):
			r.next = time.Time{}
			due = append(due, r)
		default:
			rest = min(rest, r.next.Sub(now))
		}
	}
	rs.mu.Unlock()
	for _, r := range due {
		err := rs.clerk.Hub.Post(rs.watchPost(r, rs.nextTry(r)))
		if err != nil {
			rs.noteReplyTry(r, err, now)
		}
	}
	return rest
}

// nextTry is the post of a reply's next try: every second one goes to the person's private chat, if
// there's one and it isn't a secret of its place. Its buttons work where it was to stand only.
func (rs *replies) nextTry(r *refusedReply) adapters.Post {
	rs.mu.Lock()
	p, person, tries := r.post, r.person, r.tries
	rs.mu.Unlock()
	private, ok := rs.clerk.PrivateChat(person, p.To)
	if tries%2 != 0 || !ok || p.Shown {
		return p
	}
	p.To, p.Elsewhere, p.Message, p.ReplyTo, p.Menus, p.Buttons = private, adapters.Target{}, "", "", nil, nil
	p.Text = "What you asked for elsewhere, where it can't be shown:\n\n" + cmp.Or(p.Numbered, p.Text)
	return p
}

// RepliesHealth says whether answers to people can be shown. One that's refused for ten seconds wherever it's
// tried makes it Down; one that has waited so long for a call makes it Degraded.
func (k *Clerk) RepliesHealth() intake.Health {
	h, now := intake.Health{Condition: intake.Well}, time.Now()
	hidden, wait := k.replies.findHidden(now)
	if len(hidden) > 0 {
		last := hidden[len(hidden)-1]
		h.Condition = intake.Down
		h.Detail = fmt.Sprintf("%d answer(s) to people can't be shown, at %s: %s; they're tried again for an hour", len(hidden), last.post.To, last.why)
	}
	if wait.n > 0 {
		h = h.Worse(intake.Health{Condition: intake.Degraded, Detail: fmt.Sprintf("%d answer(s) to people aren't shown yet: %s", wait.n, k.whyWaits(wait, now))})
	}
	return h
}

// findHidden are the answers that have been refused for ten seconds, and those that have waited for a
// call so long.
func (rs *replies) findHidden(now time.Time) (refused []refusedReply, wait waitingCount) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	tried := map[*keptReply]bool{}
	for _, r := range rs.refused {
		tried[r.kept] = true
		if now.Sub(r.since) >= intake.DownAfter {
			refused = append(refused, *r)
		}
	}
	for slot, all := range rs.waiting {
		if k := all[0]; !slices.ContainsFunc(all, func(k *keptReply) bool { return tried[k] }) && now.Sub(k.since) >= intake.DownAfter {
			wait.addPlace(slot.to, k.since)
		}
	}
	return refused, wait
}

const (
	// maxKeptReply bounds what's kept of a reply. Of a larger one it's kept that there was one.
	maxKeptReply = 64 << 10
	// dropAgain is after how long it's tried again to drop replies that were seen.
	dropAgain = 10 * time.Second
)

// unkept takes the place of what's too large to be kept, of what's secret, and of lines of several sessions.
const unkept = "panebridge stopped before you could see what you asked for. Ask again."

// StoredReply is an answer to a person that may not be seen yet. It's kept in the transaction that ends the
// event which it answers, and dropped when it's seen.
type StoredReply struct {
	ID      string
	Session sessions.ID // "": it's about none
	At      time.Time
	Post    []byte // JSON
}

// ReplyStore keeps replies: see AuditStore.EndEntry.
type ReplyStore interface {
	// Replies returns those that weren't dropped, the oldest first.
	Replies(ctx context.Context) ([]StoredReply, error)
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
	StoredReply
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

// BeginHandling has what's posted for an event count as its answers until end is called. again says that the
// event was begun before.
func (k *Clerk) BeginHandling(key string, again bool) (end func()) {
	rs := k.replies
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.handled[key] = &handling{again: again}
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		delete(rs.handled, key)
	}
}

// UnseenReplies returns the answers to an event that aren't seen yet. Call wrote when they're kept.
func (k *Clerk) UnseenReplies(key string) (kept []StoredReply, wrote func()) {
	rs := k.replies
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var all []*keptReply
	for _, x := range rs.handled[key].replies {
		if !x.seen {
			all, kept = append(all, x), append(kept, x.StoredReply)
		}
	}
	return kept, func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		for _, x := range all {
			if x.written = true; x.seen {
				rs.dropReply(x)
			}
		}
	}
}

// keepReply has a post be kept with the event that it answers, until it's seen. otherwise is what's said in
// words where a reaction isn't taken. What answers an event that was begun before says that it may be
// there.
func (rs *replies) keepReply(ev intake.Event, p *adapters.Post, otherwise string) *keptReply {
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
		rs.clerk.Log.Error("an answer to somebody can't be kept", "err", err)
		return k
	}
	k.StoredReply = StoredReply{ID: newOfferID(), Session: p.Session, At: time.Now(), Post: raw}
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
	if p.Shown || p.Passing || p.Picture != nil || p.File != nil || p.Size() > maxKeptReply {
		k.Text, k.Numbered, k.Menus, k.Buttons = unkept, "", nil, nil
	}
	return k
}

// noteSeen takes in what came of a post: what stands at its place is seen, and so is what it took the
// place of, or nobody tries any more. What another took the place of is seen when that one is.
func (rs *replies) noteSeen(k *keptReply, err error) {
	if errors.Is(err, adapters.ErrReplaced) {
		return
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.noteSeenLocked(k)
}

// noteSeenLocked is noteSeen. mu is held.
func (rs *replies) noteSeenLocked(k *keptReply) {
	waiting := rs.waiting[k.slot]
	at := slices.Index(waiting, k)
	if at < 0 {
		return // with one that took its place
	}
	for _, k := range waiting[:at+1] {
		if k.seen = true; k.written {
			rs.dropReply(k)
		}
	}
	if rs.waiting[k.slot] = waiting[at+1:]; at+1 == len(waiting) {
		delete(rs.waiting, k.slot)
	}
}

// moveReply has a reply be seen when another post of its event is. mu isn't held.
func (rs *replies) moveReply(k *keptReply, slot replySlot) {
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

// dropReply leaves to run that a kept reply is dropped. mu is held.
func (rs *replies) dropReply(k *keptReply) {
	rs.drops = append(rs.drops, k.ID)
	rs.lookSoon()
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
	err := rs.clerk.Store.DropReplies(ctx, ids)
	if err == nil {
		return false
	}
	rs.clerk.Log.Warn("answers that were seen couldn't be dropped; it's tried again", "err", err)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.drops = append(ids, rs.drops...)
	return true
}

// noteUnqueued is what it means for a kept reply that its post wasn't queued: the next start posts it, if
// that's because this one ends.
func (rs *replies) noteUnqueued(k *keptReply, err error) {
	if !errors.Is(err, qos.ErrDraining) && !errors.Is(err, qos.ErrStopped) {
		rs.noteSeen(k, err)
	}
}

// loadReplies posts what an earlier run left: each says that it may be there already. Of those that stand at
// one place the newest counts.
func (rs *replies) loadReplies(ctx context.Context) error {
	if rs.loaded { // run was begun anew
		return nil
	}
	all, err := rs.clerk.Store.Replies(ctx)
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
		k := &keptReply{StoredReply: r, since: time.Now(), written: true}
		if err := json.Unmarshal(r.Post, &p); err != nil {
			rs.clerk.Log.Error("an answer that was kept can't be read", "err", err)
			rs.dropReply(k)
			continue
		}
		if now := rs.clerk.CurrentPlace(p.To); now != p.To { // messages have other numbers there
			p.To, p.Elsewhere, p.Message, p.ReplyTo = now, rs.clerk.CurrentPlace(p.Elsewhere), "", ""
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
			rs.repostReply(k, p)
		}
	}
	return nil
}

// repostReply posts what was kept.
func (rs *replies) repostReply(k *keptReply, p keptPost) {
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
		rs.noteSeen(k, nil)
	}
	if err := rs.clerk.Hub.Post(sign); err != nil {
		rs.noteUnqueued(k, err)
	}
}

// postWatched posts a kept reply, which is tried again if it's refused.
func (rs *replies) postWatched(k *keptReply, p adapters.Post, person string) {
	r := &refusedReply{post: p, person: person, kept: k}
	if err := rs.clerk.Hub.Post(rs.watchPost(r, p)); err != nil {
		rs.clerk.Log.Warn("somebody couldn't be answered", "target", p.To.String(), "err", err)
		rs.noteUnqueued(k, err)
	}
}
