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

// cardFor is for how long after a session is mirrored in a thread of its own its card may be
// posted there. Later it would stand somewhere in the middle.
const cardFor = 2 * time.Minute

// leadFor is how long whoever began a session waits to be told of it until its thread is
// made: making that comes first.
const leadFor = 3 * time.Second

// cards say in a session's own thread what can be done there, as soon as it's made: a program
// that says nothing until it's asked leaves it empty. Where threads can't be written to, the card
// stands in the chat itself. Then whoever began the session is told where that is. One goroutine
// does: run. Only threads that are made while it runs get a card: after a restart nobody knows
// whether one is there already. Where there are no threads, what answers who began the session is
// its card.
type cards struct {
	in   *Inbound
	wake chan struct{}

	mu      sync.Mutex
	replies map[sessions.ID]begunReply
	failed  []cardPlace

	posted map[cardPlace]bool // owned by run's goroutine
}

// begunReply is what somebody is told who began a session.
type begunReply struct {
	post adapters.Post
	due  time.Time // when it's told though there's no thread yet
}

// cardPlace is where a session's card stands.
type cardPlace struct {
	session sessions.ID
	place   adapters.Target
}

func newCards(in *Inbound) *cards {
	return &cards{in: in, wake: make(chan struct{}, 1), replies: map[sessions.ID]begunReply{}, posted: map[cardPlace]bool{}}
}

// look has it looked soon whether there are new threads.
func (cs *cards) look() {
	select {
	case cs.wake <- struct{}{}:
	default:
	}
}

// tell tells somebody that a session has begun, and where its thread is as soon as it's made.
func (cs *cards) tell(id sessions.ID, post adapters.Post) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.replies[id] = begunReply{post, time.Now().Add(leadFor)}
	cs.look()
	time.AfterFunc(leadFor, cs.look)
}

// run posts cards until ctx ends.
func (cs *cards) run(ctx context.Context) {
	for _, st := range cs.in.opt.Hub.Status("") {
		if hasCard(st) {
			cs.posted[cardPlace{st.Binding.Session, st.Target}] = true
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-cs.wake:
		}
		cs.round(ctx, time.Now())
	}
}

// round posts what's missing.
func (cs *cards) round(ctx context.Context, now time.Time) {
	cs.mu.Lock()
	for _, place := range cs.failed {
		delete(cs.posted, place)
	}
	cs.failed = nil
	cs.mu.Unlock()
	for _, st := range cs.in.opt.Hub.Status("") {
		at := cardPlace{st.Binding.Session, st.Target}
		if now.Sub(st.Binding.CreatedAt) >= cardFor {
			delete(cs.posted, at)
			continue
		}
		s, err := cs.in.opt.Sessions.Get(string(at.session))
		if !hasCard(st) || !st.Open || err != nil || s.State == sessions.StateEnded || !s.Owned && st.Binding.Origin != adapters.ByHand {
			continue
		}
		if !cs.posted[at] {
			if err := cs.post(ctx, s, at); err != nil {
				cs.in.log.Warn("a session's card couldn't be posted", "session", s.ID, "target", at.place.String(), "err", err)
				continue
			}
			cs.posted[at] = true
		}
		cs.lead(s, at.place, st.Astray)
	}
	cs.mu.Lock()
	var due []adapters.Post
	for id, r := range cs.replies {
		if !now.Before(r.due) {
			due = append(due, r.post)
			delete(cs.replies, id)
		}
	}
	cs.mu.Unlock()
	for _, post := range due {
		cs.reply(post)
	}
}

// hasCard says whether a binding is shown in a thread that was made for it, or in the chat itself
// because none can be written to.
func hasCard(st adapters.BindingStatus) bool {
	return st.Binding.Target.Thread == "" && (st.Target.Thread != "" || st.Astray != "")
}

// reply tells somebody that a session has begun.
func (cs *cards) reply(post adapters.Post) {
	if err := cs.in.opt.Hub.Post(post); err != nil {
		cs.in.log.Warn("who began a session isn't told of it", "target", post.To.String(), "err", err)
	}
}

// buttons are those of a session's card.
func (cs *cards) buttons(ctx context.Context, s sessions.Session, at adapters.Target) ([]adapters.Button, error) {
	var row []adapters.Button
	for _, b := range []struct {
		label, command string
		role           Role
	}{{"Screen", "screen", Viewer}, {"Keys", "keys", Operator}, {"Stop", "stop", Operator}, {"Close", "close", Operator}} {
		button, err := cs.in.offer(ctx, at, b.label, offer{Do: "command", Args: b.command + " ", Session: s.ID, Role: b.role})
		if err != nil {
			return nil, err
		}
		row = append(row, button)
	}
	return row, nil
}

// post has a session's card stand in its thread.
func (cs *cards) post(ctx context.Context, s sessions.Session, at cardPlace) error {
	row, err := cs.buttons(ctx, s, at.place)
	if err != nil {
		return err
	}
	return cs.in.opt.Hub.Post(adapters.Post{
		To: at.place, Key: "card " + string(s.ID), Class: qos.Interactive, Session: s.ID,
		Text: cs.text(s), Buttons: [][]adapters.Button{row},
		Sent: func(_ string, err error) {
			if err == nil {
				return
			}
			cs.mu.Lock()
			defer cs.mu.Unlock()
			cs.failed = append(cs.failed, at)
		},
	})
}

// text is what a card says.
func (cs *cards) text(s sessions.Session) string {
	return fmt.Sprintf("%s is %s in %s.\n\n%s", bold(s.Name), plain(kindOf(s)), plain(cs.in.shown(s.Cwd)), howToWrite(s))
}

// kindOf says what a session has been begun as.
func kindOf(s sessions.Session) string {
	if s.Agent == "" {
		return "a shell"
	}
	return s.Agent
}

// howToWrite says what becomes of what's written where a session is shown.
func howToWrite(s sessions.Session) string {
	does := "Write here what it's to do."
	if s.Agent == "" {
		does = "Write a command here, and it's typed and run."
	}
	return does + " /help says what else can be done."
}

// lead tells who began a session where its thread is, or why it's shown astray.
func (cs *cards) lead(s sessions.Session, at adapters.Target, astray string) {
	cs.mu.Lock()
	r, ok := cs.replies[s.ID]
	delete(cs.replies, s.ID)
	cs.mu.Unlock()
	p := cs.in.platforms[at.Adapter]
	switch {
	case !ok:
		return
	case p == nil || r.post.To.Adapter != at.Adapter:
		cs.reply(r.post)
		return
	}
	if astray != "" {
		r.post.Text = fmt.Sprintf("%s begins in %s. %s", bold(s.Name), plain(cs.in.shown(s.Cwd)), plain(sentence(errors.New(astray))))
	} else if link := p.Link(at, ""); link != "" {
		r.post.Text = fmt.Sprintf("%s begins in %s. [Write to it there](%s).", bold(s.Name), plain(cs.in.shown(s.Cwd)), link)
	}
	cs.reply(r.post)
}
