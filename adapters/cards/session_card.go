package cards

import (
	"context"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// leadFor is how long whoever began a session waits to be told of it until its thread is
// made: making that comes first.
const leadFor = 3 * time.Second

// sessionCards say in a session's own thread what can be done there, as soon as it's made: a program
// that says nothing until it's asked leaves it empty. Where threads can't be written to, the card
// stands in the chat itself. Then whoever began the session is told where that is. Where
// there are no threads, what answers who began the session is its card.
type sessionCards struct {
	clerk *Clerk

	// Guarded by the reconciler's mu.
	replies map[sessions.ID]begunReply
}

// begunReply is what somebody is told who began a session.
type begunReply struct {
	post   adapters.Post
	person string     // Person.ID
	kept   *keptReply // so that it's told after a restart, too
	due    time.Time  // when it's told though there's no thread yet
}

func newSessionCards(k *Clerk) *sessionCards {
	return &sessionCards{clerk: k, replies: map[sessions.ID]begunReply{}}
}

// ReplyBegun tells the person of an event that a session has begun, and where its thread is as soon as
// there's one. It returns at once.
func (k *Clerk) ReplyBegun(ev intake.Event, id sessions.ID, post adapters.Post) {
	kept := k.replies.keepReply(ev, &post, "")
	cs := k.sessionCards
	k.reconciler.leaveWord(func() { cs.replies[id] = begunReply{post, ev.Person.ID, kept, time.Now().Add(leadFor)} })
}

// wantedCards implements cardSource.
func (cs *sessionCards) wantedCards(_ context.Context, now time.Time) (out []Wanted, next time.Time, err error) {
	for _, st := range cs.clerk.Hub.Status("") {
		s, err := cs.clerk.Sessions.Get(string(st.Binding.Session))
		if !hasCard(st) || !st.Open || err != nil || s.State == sessions.StateEnded || !s.Owned && st.Binding.Origin != adapters.ByHand {
			continue
		}
		out = append(out, Wanted{
			Spot: Spot{KindSession, string(s.ID), st.Target}, Session: s.ID, Class: qos.Interactive, Shows: "stands",
			Post:     func(ctx context.Context) (adapters.Post, error) { return cs.clerk.sessionCard(ctx, s, st.Target) },
			UnderWay: func() { cs.replyWhere(s, st.Target, st.Astray) },
		})
	}
	return out, cs.replyDue(now), nil
}

// replyDue tells those who began a session that has no thread yet, and returns when the next is due;
// zero: none is.
func (cs *sessionCards) replyDue(now time.Time) (next time.Time) {
	cs.clerk.reconciler.mu.Lock()
	var due []begunReply
	for id, r := range cs.replies {
		switch {
		case !now.Before(r.due):
			due = append(due, r)
			delete(cs.replies, id)
		case next.IsZero() || r.due.Before(next):
			next = r.due
		}
	}
	cs.clerk.reconciler.mu.Unlock()
	for _, r := range due {
		cs.clerk.replies.postWatched(r.kept, r.post, r.person)
	}
	return next
}

// hasCard says whether a binding is shown in a thread that was made for it, or in the chat itself
// because none can be written to.
func hasCard(st adapters.BindingStatus) bool {
	return st.Binding.Target.Thread == "" && (st.Target.Thread != "" || st.Astray != "")
}

// SessionButtons makes the buttons below a session's card. It does disk I/O.
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

// sessionCard is a session's card.
func (k *Clerk) sessionCard(ctx context.Context, s sessions.Session, at adapters.Target) (adapters.Post, error) {
	row, err := k.SessionButtons(ctx, s, at)
	return adapters.Post{Text: sessionCardText(s, k.ShownPath(s.Cwd)), Buttons: [][]adapters.Button{row}}, err
}

// sessionCardText is what a session's card says. folder is where it works, as people are shown it.
func sessionCardText(s sessions.Session, folder string) string {
	return fmt.Sprintf("%s · %s in %s\n\n%s", wording.Bold(s.Name), wording.Plain(KindText(s)), wording.Plain(folder), HowToWrite(s))
}

// KindText returns what a session is, in words.
func KindText(s sessions.Session) string {
	switch {
	case s.Agent != "":
		return "the " + s.Agent + " agent"
	case s.Owned && s.Program != "":
		return s.Program
	case s.Owned:
		return "a shell"
	default:
		return "a session that was there before panebridge," // whatever runs in it
	}
}

// HowToWrite returns what becomes of what's written where a session is shown, in words.
func HowToWrite(s sessions.Session) string {
	does := "What you write here is typed into it."
	switch {
	case s.Agent != "":
		does = "Write here what it should do."
	case s.Owned && s.Program == "":
		does = "Write a command here, and it's typed and run."
	}
	return does + " /help says what else you can do."
}

// replyWhere tells who began a session where its thread is, or why it's shown astray.
func (cs *sessionCards) replyWhere(s sessions.Session, at adapters.Target, astray string) {
	cs.clerk.reconciler.mu.Lock()
	r, ok := cs.replies[s.ID]
	delete(cs.replies, s.ID)
	cs.clerk.reconciler.mu.Unlock()
	if !ok {
		return
	}
	p := cs.clerk.Platforms[at.Adapter]
	switch {
	case p == nil || r.post.To.Adapter != at.Adapter:
	case astray != "":
		r.post.Text = fmt.Sprintf("%s begins in %s. %s", wording.Bold(s.Name), wording.Plain(cs.clerk.ShownPath(s.Cwd)), wording.Plain(wording.Sentence(astray)))
	default:
		if link := p.Link(at, ""); link != "" {
			r.post.Text = fmt.Sprintf("%s begins in %s. [Write to it there](%s).", wording.Bold(s.Name), wording.Plain(cs.clerk.ShownPath(s.Cwd)), link)
		}
	}
	cs.clerk.replies.postWatched(r.kept, r.post, r.person)
}
