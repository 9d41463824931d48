package cards

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Continuations knows which sessions go on by themselves when their limits are over.
type Continuations interface {
	// ContinuationOf returns what's typed into a session then; false: nothing is. It does no I/O.
	ContinuationOf(id sessions.ID) (sessions.Continuation, bool)
}

// limitCards say where a session is shown that its agent's account may do nothing more, and until when, with
// a button that has it go on then. When that's over, they say so.
type limitCards struct{ clerk *Clerk }

// limitOver is what a card shows whose limit is over, as Wanted.Shows.
const limitOver = "over"

// wantedCards implements cardSource.
func (lc limitCards) wantedCards(_ context.Context, now time.Time) (out []Wanted, next time.Time, err error) {
	current := map[Spot]bool{}
	for _, st := range lc.clerk.Hub.Status("") {
		s, err := lc.clerk.Sessions.Get(string(st.Binding.Session))
		if err != nil || !st.Open || s.State == sessions.StateEnded {
			continue
		}
		l := s.Usage.LimitAt(now)
		if l == nil {
			continue
		}
		at := Spot{KindLimit, string(s.ID) + " " + strconv.FormatInt(l.At.UnixMilli(), 10), st.Target}
		current[at] = true
		c, goesOn := lc.continuationOf(s.ID)
		out = append(out, Wanted{
			Spot: at, Session: s.ID, Class: qos.Interactive, Shows: fmt.Sprintf("until %d, goes on %v", l.Until.Unix(), goesOn),
			Post: func(ctx context.Context) (adapters.Post, error) { return lc.post(ctx, s, *l, c, goesOn, st.Target) },
		})
		if !l.Until.IsZero() && (next.IsZero() || l.Until.Before(next)) {
			next = l.Until
		}
	}
	return append(out, lc.overCards(current)...), next, nil
}

// overCards are those of limits that are over.
func (lc limitCards) overCards(current map[Spot]bool) (out []Wanted) {
	for at, c := range lc.clerk.reconciler.cards {
		if at.Kind != KindLimit || current[at] || c.Message == "" || c.Shows == limitOver {
			continue
		}
		s, err := lc.clerk.Sessions.Get(string(c.Session))
		if err != nil || s.State == sessions.StateEnded {
			continue
		}
		out = append(out, Wanted{
			Spot: at, Session: s.ID, Class: qos.Interactive, Shows: limitOver,
			Post: func(context.Context) (adapters.Post, error) {
				return adapters.Post{Text: "The limit of " + wording.Bold(s.Name) + " is over."}, nil
			},
		})
	}
	return out
}

func (lc limitCards) continuationOf(id sessions.ID) (sessions.Continuation, bool) {
	if lc.clerk.Continuations == nil {
		return sessions.Continuation{}, false
	}
	return lc.clerk.Continuations.ContinuationOf(id)
}

// post is a card of a limit that holds.
func (lc limitCards) post(ctx context.Context, s sessions.Session, l sessions.UsageLimit, c sessions.Continuation, goesOn bool, at adapters.Target) (adapters.Post, error) {
	p := adapters.Post{Text: lc.clerk.LimitText(s, time.Now())}
	if l.Until.IsZero() || lc.clerk.Continuations == nil {
		return p, nil
	}
	button, err := lc.clerk.GoOnButton(ctx, s, goesOn, at)
	p.Buttons = [][]adapters.Button{{button}}
	return p, err
}

// GoOnButton makes the button that has a session go on when its limit is over, or not go on by itself any more.
// It does disk I/O.
func (k *Clerk) GoOnButton(ctx context.Context, s sessions.Session, goesOn bool, at adapters.Target) (adapters.Button, error) {
	o := Offer{Do: "go-on", Session: s.ID, Role: access.Operator}
	label := "Go on then"
	if goesOn {
		label, o.Do = "Don't go on", "go-on-not"
	}
	return k.MakeOffer(ctx, at, label, o)
}

// LimitText says until when a session is limited, and what's typed then; "": it isn't, as far as is known.
func (k *Clerk) LimitText(s sessions.Session, now time.Time) string {
	words := s.Usage.LimitWords(now)
	if words == "" {
		return ""
	}
	text := wording.Bold(s.Name) + " is " + words + "."
	if s.Usage.Limit.Until.IsZero() {
		text = wording.Bold(s.Name) + " is limited. Its agent didn't say until when."
	}
	if c, ok := (limitCards{k}).continuationOf(s.ID); ok {
		text += " " + k.ContinuationText(c)
	}
	return text
}

// ContinuationText says what's typed when a limit is over.
func (k *Clerk) ContinuationText(c sessions.Continuation) string {
	return fmt.Sprintf("Then “%s” is sent, unless somebody writes before (%s).", wording.Plain(k.Masked(c.Text)), wording.Plain(k.Masked(c.By())))
}

// StateText is a session's state: of one that could go on but for its limit, that.
func StateText(s sessions.Session, now time.Time) string {
	if limit := s.Usage.LimitWords(now); limit != "" && (s.State == sessions.StateIdle || s.State == sessions.StateError) {
		return limit
	}
	return string(s.State)
}

// UsageText says what a session's agents have used; "": they've said nothing.
func UsageText(s sessions.Session, now time.Time) string {
	return wording.Plain(strings.Join(s.Usage.Words(now), " · "))
}
