package cards

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// leadFor is how long whoever began a session waits to be told of it until its thread is
// made: making that comes first.
const leadFor = 3 * time.Second

// cards say in a session's own thread what can be done there, as soon as it's made: a program
// that says nothing until it's asked leaves it empty. Where threads can't be written to, the card
// stands in the chat itself. Then whoever began the session is told where that is. One goroutine
// does: run. The store knows which places have theirs; after a crash one may come twice. Where
// there are no threads, what answers who began the session is its card.
type cards struct {
	clerk *Clerk
	wake  chan struct{}

	mu      sync.Mutex
	replies map[sessions.ID]begunReply
	sent    []sentCard

	places map[Card]*cardState // owned by run's goroutine
}

// Card is a session's thread in which its card stands.
type Card struct {
	Session sessions.ID
	Place   adapters.Target
}

// cardState is how far a card is.
type cardState struct {
	waits  bool // it's on its way
	stands bool
	kept   bool // in the store
	tries  int  // that failed, in a row
	retry  time.Time
}

// sentCard is what came of a card's post.
type sentCard struct {
	at  Card
	err error
}

// begunReply is what somebody is told who began a session.
type begunReply struct {
	post adapters.Post
	due  time.Time // when it's told though there's no thread yet
}

func newCards(k *Clerk) *cards {
	return &cards{clerk: k, wake: make(chan struct{}, 1), replies: map[sessions.ID]begunReply{}, places: map[Card]*cardState{}}
}

// look has it looked soon whether there are new threads.
func (cs *cards) look() {
	select {
	case cs.wake <- struct{}{}:
	default:
	}
}

// TellBegun tells somebody that a session has begun, and where its thread is as soon as it's made.
func (k *Clerk) TellBegun(id sessions.ID, post adapters.Post) {
	cs := k.cards
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.replies[id] = begunReply{post, time.Now().Add(leadFor)}
	cs.look()
}

// run posts cards until ctx ends.
func (cs *cards) run(ctx context.Context) {
	if cs.clerk.loadAtLast(ctx, "load where cards stand", cs.load) != nil {
		return
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(time.Until(cs.round(ctx, time.Now())))
		select {
		case <-ctx.Done():
			return
		case <-cs.wake:
		case <-timer.C:
		}
	}
}

// load reads which threads have their cards.
func (cs *cards) load(ctx context.Context) error {
	list, err := cs.clerk.Store.Cards(ctx)
	if err != nil {
		return err
	}
	clear(cs.places) // what a run before this one knew of posts under way
	for _, at := range list {
		cs.places[at] = &cardState{stands: true, kept: true}
	}
	return nil
}

// round posts what's missing, and returns when it's to look again.
func (cs *cards) round(ctx context.Context, now time.Time) time.Time {
	next := now.Add(time.Hour)
	again := func(at time.Time) {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	cs.takeSent(now)
	for _, st := range cs.clerk.Hub.Status("") {
		at := Card{st.Binding.Session, st.Target}
		s, err := cs.clerk.Sessions.Get(string(at.Session))
		if !hasCard(st) || !st.Open || err != nil || s.State == sessions.StateEnded || !s.Owned && st.Binding.Origin != adapters.ByHand {
			continue
		}
		c := cs.places[at]
		if c == nil {
			c = &cardState{}
			cs.places[at] = c
		}
		cs.advance(ctx, s, at, c, now)
		again(c.retry)
		if c.waits || c.stands {
			cs.lead(s, at.Place, st.Astray)
		}
	}
	cs.mu.Lock()
	var due []adapters.Post
	for id, r := range cs.replies {
		if again(r.due); !now.Before(r.due) {
			due = append(due, r.post)
			delete(cs.replies, id)
		}
	}
	cs.mu.Unlock()
	for _, post := range due {
		cs.reply(post)
	}
	return next
}

// takeSent takes in what came of posts.
func (cs *cards) takeSent(now time.Time) {
	cs.mu.Lock()
	sent := cs.sent
	cs.sent = nil
	cs.mu.Unlock()
	for _, x := range sent {
		c := cs.places[x.at]
		if c == nil {
			continue
		}
		c.waits, c.stands = false, x.err == nil
		if x.err != nil {
			c.failed(now)
		}
	}
}

// failed takes in that posting or keeping it failed.
func (c *cardState) failed(now time.Time) {
	c.tries++
	c.retry = now.Add(showRetry(c.tries))
}

// advance does the next step of a card.
func (cs *cards) advance(ctx context.Context, s sessions.Session, at Card, c *cardState, now time.Time) {
	switch {
	case c.waits || c.kept || now.Before(c.retry):
	case !c.stands:
		if err := cs.post(ctx, s, at); err != nil {
			cs.clerk.Log.Warn("a session's card couldn't be posted; it's tried again", "session", s.ID, "target", at.Place.String(), "err", err)
			c.failed(now)
			return
		}
		c.waits = true
	default:
		if err := cs.clerk.Store.PutCard(ctx, at); err != nil {
			cs.clerk.Log.Error("keep where a card stands", "session", s.ID, "err", err)
			c.failed(now)
			return
		}
		c.kept, c.tries, c.retry = true, 0, time.Time{}
	}
}

// hasCard says whether a binding is shown in a thread that was made for it, or in the chat itself
// because none can be written to.
func hasCard(st adapters.BindingStatus) bool {
	return st.Binding.Target.Thread == "" && (st.Target.Thread != "" || st.Astray != "")
}

// reply tells somebody that a session has begun.
func (cs *cards) reply(post adapters.Post) {
	if err := cs.clerk.Hub.Post(post); err != nil {
		cs.clerk.Log.Warn("who began a session isn't told of it", "target", post.To.String(), "err", err)
	}
}

// SessionButtons are those of a session's card.
func (k *Clerk) SessionButtons(ctx context.Context, s sessions.Session, at adapters.Target) ([]adapters.Button, error) {
	var row []adapters.Button
	for _, b := range []struct {
		label, command string
		role           access.Role
	}{{"Screen", "screen", access.Viewer}, {"Keys", "keys", access.Operator}, {"Stop", "stop", access.Operator}, {"Close", "close", access.Operator}} {
		button, err := k.MakeOffer(ctx, at, b.label, Offer{Do: "command", Args: b.command + " ", Session: s.ID, Role: b.role})
		if err != nil {
			return nil, err
		}
		row = append(row, button)
	}
	return row, nil
}

// post has a session's card stand in its thread.
func (cs *cards) post(ctx context.Context, s sessions.Session, at Card) error {
	row, err := cs.clerk.SessionButtons(ctx, s, at.Place)
	if err != nil {
		return err
	}
	return cs.clerk.Hub.Post(adapters.Post{
		To: at.Place, Key: "card " + string(s.ID), Class: qos.Interactive, Session: s.ID,
		Text: cs.text(s), Buttons: [][]adapters.Button{row},
		Sent: func(_ string, err error) {
			cs.mu.Lock()
			defer cs.mu.Unlock()
			cs.sent = append(cs.sent, sentCard{at, err})
			cs.look()
		},
	})
}

// text is what a card says.
func (cs *cards) text(s sessions.Session) string {
	return fmt.Sprintf("%s · %s in %s\n\n%s", wording.Bold(s.Name), wording.Plain(KindText(s)), wording.Plain(cs.clerk.ShownPath(s.Cwd)), HowToWrite(s))
}

// KindText says what a session is.
func KindText(s sessions.Session) string {
	switch {
	case s.Agent != "":
		return "the " + s.Agent + " agent"
	case s.Owned:
		return "a shell"
	default:
		return "a session that was there before panebridge," // whatever runs in it
	}
}

// HowToWrite says what becomes of what's written where a session is shown.
func HowToWrite(s sessions.Session) string {
	does := "What you write here is typed into it."
	switch {
	case s.Agent != "":
		does = "Write here what it should do."
	case s.Owned:
		does = "Write a command here, and it's typed and run."
	}
	return does + " /help says what else you can do."
}

// lead tells who began a session where its thread is, or why it's shown astray.
func (cs *cards) lead(s sessions.Session, at adapters.Target, astray string) {
	cs.mu.Lock()
	r, ok := cs.replies[s.ID]
	delete(cs.replies, s.ID)
	cs.mu.Unlock()
	p := cs.clerk.Platforms[at.Adapter]
	switch {
	case !ok:
		return
	case p == nil || r.post.To.Adapter != at.Adapter:
		cs.reply(r.post)
		return
	}
	if astray != "" {
		r.post.Text = fmt.Sprintf("%s begins in %s. %s", wording.Bold(s.Name), wording.Plain(cs.clerk.ShownPath(s.Cwd)), wording.Plain(wording.Sentence(astray)))
	} else if link := p.Link(at, ""); link != "" {
		r.post.Text = fmt.Sprintf("%s begins in %s. [Write to it there](%s).", wording.Bold(s.Name), wording.Plain(cs.clerk.ShownPath(s.Cwd)), link)
	}
	cs.reply(r.post)
}
