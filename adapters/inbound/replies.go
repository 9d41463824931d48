package inbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
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
// in the private chat of who asked, too. What answers an event is kept with it until it's seen
// (replies_kept.go): what the Outbox has is in memory. It's safe for concurrent use.
type replies struct {
	in   *Inbound
	wake chan struct{}

	mu      sync.Mutex
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

func newReplies(in *Inbound) *replies {
	return &replies{in: in, wake: make(chan struct{}, 1), handled: map[string]*handling{}, waiting: map[replySlot][]*keptReply{}, own: map[string]bool{}}
}

// postReply posts an answer to who did something. It's tried again if it's refused, and posted again at
// the next start if it isn't seen before. An error says that it wasn't queued, and won't be tried.
func (rs *replies) postReply(ev intake.Event, p adapters.Post) error {
	if p.Reaction != "" || p.Pin != "" {
		return rs.in.opt.Hub.Post(p)
	}
	rs.mu.Lock()
	rs.refused = slices.DeleteFunc(rs.refused, func(r *refusedReply) bool {
		return r.post.To == p.To && r.post.Key == p.Key // it's overtaken
	})
	rs.mu.Unlock()
	kept := rs.keep(ev, &p, "")
	r := &refusedReply{post: p, person: ev.Person.ID, kept: kept}
	err := rs.in.opt.Hub.Post(rs.watched(r, p))
	if err != nil {
		rs.neverQueued(kept, err)
	}
	return err
}

// watched is a reply's post whose refusal is heard of.
func (rs *replies) watched(r *refusedReply, p adapters.Post) adapters.Post {
	sent := r.post.Sent
	p.Sent = func(message string, err error) {
		if rs.settle(r, err, time.Now()) {
			return
		}
		rs.settled(r.kept, err)
		if sent != nil {
			sent(message, err)
		}
	}
	return p
}

// settle takes in what came of a try, and reports whether there'll be another.
func (rs *replies) settle(r *refusedReply, err error, now time.Time) (again bool) {
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
			rs.in.log.Error("an answer to somebody is given up", "target", r.post.To.String(), "err", err)
		}
		if at >= 0 {
			rs.refused = slices.Delete(rs.refused, at, at+1)
		}
		return false
	}
	if at < 0 {
		rs.refused = append(rs.refused, r)
		rs.makeRoom()
	}
	r.post.Again = r.post.Again || errors.Is(err, adapters.ErrMaybeSent)
	r.why, r.next = err, now.Add(min(replyRetryFirst<<min(r.tries, 6), replyRetryMost))
	r.tries++
	rs.poke()
	return true
}

// makeRoom gives the oldest up where too many wait. mu is held.
func (rs *replies) makeRoom() {
	bytes := 0
	for i, r := range slices.Backward(rs.refused) {
		if bytes += r.post.Size(); bytes > maxReplyBytes || len(rs.refused)-i > maxReplies {
			rs.in.log.Error("answers to people are given up, since too many wait", "answers", i+1, "target", r.post.To.String(), "err", r.why)
			for _, r := range rs.refused[:i+1] {
				rs.settleLocked(r.kept)
			}
			rs.refused = rs.refused[i+1:]
			return
		}
	}
}

// run posts what an earlier run left, and tries again what was refused, until ctx ends.
func (rs *replies) run(ctx context.Context) {
	if rs.in.loadAtLast(ctx, "answers that nobody has seen can't be posted again", rs.load) != nil {
		return
	}
	for {
		rest := rs.retry(time.Now())
		if rs.dropSeen(ctx) {
			rest = min(rest, dropAgain)
		}
		timer := time.NewTimer(rest)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-rs.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// retry tries what's due, and returns for how long there's nothing more to do.
func (rs *replies) retry(now time.Time) time.Duration {
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
		err := rs.in.opt.Hub.Post(rs.watched(r, rs.another(r)))
		if err != nil {
			rs.settle(r, err, now)
		}
	}
	return rest
}

// another is the post of a reply's next try: every second one goes to the person's private chat, if
// there's one and it isn't a secret of its place. Its buttons work where it was to stand only.
func (rs *replies) another(r *refusedReply) adapters.Post {
	rs.mu.Lock()
	p, person, tries := r.post, r.person, r.tries
	rs.mu.Unlock()
	private, ok := rs.in.PrivateChat(person, p.To)
	if tries%2 != 0 || !ok || p.Shown {
		return p
	}
	p.To, p.Elsewhere, p.Message, p.ReplyTo, p.Menus, p.Buttons = private, adapters.Target{}, "", "", nil, nil
	p.Text = "What you asked for elsewhere, where it can't be shown:\n\n" + cmp.Or(p.Numbered, p.Text)
	return p
}

// Replies says whether what answers people can be shown. What's refused wherever it's tried for ten
// seconds is Down, and what has waited for a call so long is Degraded.
func (in *Inbound) Replies() intake.Health {
	h, now := intake.Health{Condition: intake.Well}, time.Now()
	hidden, wait := in.replies.hidden(now)
	if len(hidden) > 0 {
		last := hidden[len(hidden)-1]
		h.Condition = intake.Down
		h.Detail = fmt.Sprintf("%d answer(s) to people can't be shown, at %s: %s; they're tried again for an hour", len(hidden), last.post.To, last.why)
	}
	if wait.n > 0 {
		h = h.Worse(intake.Health{Condition: intake.Degraded, Detail: fmt.Sprintf("%d answer(s) to people aren't shown yet: %s", wait.n, in.whyWaits(wait, now))})
	}
	return h
}

// hidden are the answers that have been refused for ten seconds, and those that have waited for a
// call so long.
func (rs *replies) hidden(now time.Time) (refused []refusedReply, wait waiting) {
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
			wait.add(slot.to, k.since)
		}
	}
	return refused, wait
}
