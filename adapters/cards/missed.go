package cards

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// missedEvery is how often it's looked whether a quiet time has ended. Their ends are
// whole minutes.
const missedEvery = time.Minute

// missed gathers what would have rung in places that are quiet, and wants it told in one
// message that rings when the quiet time ends. What's told is forgotten when the message is there.
type missed struct {
	clerk *Clerk

	mu    sync.Mutex
	heard []sessions.OutputEvent
	notes []Missed
}

func newMissed(k *Clerk) *missed { return &missed{clerk: k} }

// noteOutput takes in what a session did. It returns at once.
func (m *missed) noteOutput(ev sessions.OutputEvent) {
	if ev.Complete || ev.Exit != nil || ev.State == sessions.StateError {
		ev.Lines, ev.Gaps, ev.Live = nil, nil, nil
		m.leaveWord(func() { m.heard = append(m.heard, ev) })
	}
}

// noteQuiet takes in that something would have rung in a place that's quiet. It returns at
// once.
func (m *missed) noteQuiet(place adapters.Target, id sessions.ID, what MissedKind) {
	now := time.Now()
	if at, quiet := m.clerk.quietBy(place, id, now); quiet {
		m.leaveWord(func() {
			m.notes = append(m.notes, Missed{Place: at, Session: id, What: what, Times: 1, At: now})
		})
	}
}

func (m *missed) leaveWord(word func()) {
	m.mu.Lock()
	word()
	m.mu.Unlock()
	m.clerk.reconciler.lookSoon()
}

// want implements cardKind: it keeps what was left, and wants what's due be told.
func (m *missed) want(ctx context.Context, now time.Time) (out []Wanted, next time.Time, err error) {
	next = now.Add(missedEvery)
	if err := m.keepHeard(ctx, now); err != nil {
		return nil, next, err
	}
	all, err := m.clerk.Store.Missed(ctx)
	if err != nil {
		return nil, next, err
	}
	if len(all) == 0 {
		next = time.Time{}
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Place == all[0].Place {
			n++
		}
		due := slices.DeleteFunc(slices.Clone(all[:n]), func(x Missed) bool { return m.clerk.Quiet(x.Place, x.Session, now) })
		if len(due) > 0 {
			out = append(out, Wanted{
				Spot: Spot{Kind: KindMissed, Place: all[0].Place}, Class: qos.Final, Shows: "told", Once: true,
				Post:  func(context.Context) (adapters.Post, error) { return adapters.Post{Text: m.text(due), Ring: true}, nil },
				Stood: func(ctx context.Context) error { return m.clerk.Store.DropMissed(ctx, due) },
			})
		}
		all = all[n:]
	}
	return out, next, nil
}

// keepHeard keeps what was left. What can't be kept is tried again.
func (m *missed) keepHeard(ctx context.Context, now time.Time) error {
	m.mu.Lock()
	heard, notes := m.heard, m.notes
	m.heard, m.notes = nil, nil
	m.mu.Unlock()
	for _, ev := range heard {
		notes = append(notes, m.findQuiet(ctx, ev, now)...)
	}
	for i, n := range notes {
		if err := m.clerk.Store.AddMissed(ctx, n); err != nil {
			m.mu.Lock()
			m.notes = append(notes[i:], m.notes...)
			m.mu.Unlock()
			return err
		}
	}
	return nil
}

// findQuiet is what of an event would have rung where its session is mirrored.
func (m *missed) findQuiet(ctx context.Context, ev sessions.OutputEvent, now time.Time) []Missed {
	what := MissedTurn
	switch {
	case ev.Exit != nil:
		what = MissedEnd
	case ev.State == sessions.StateError:
		what = MissedError
	}
	var out []Missed
	seen := map[adapters.Target]bool{}
	for _, b := range m.clerk.Hub.Status(ev.Session) {
		at, quiet := m.clerk.quietBy(b.Target, ev.Session, now)
		if !b.Open || !quiet || seen[at] || what == MissedTurn && !m.wouldRing(ctx, ev, b.Target) {
			continue
		}
		seen[at] = true
		out = append(out, Missed{Place: at, Session: ev.Session, What: what, Times: 1, At: now})
	}
	return out
}

// wouldRing reports whether the end of a turn would have rung in a place.
func (m *missed) wouldRing(ctx context.Context, ev sessions.OutputEvent, place adapters.Target) bool {
	rings, err := m.clerk.Hub.Rings(ctx, ev.Session, place, ev.Turn)
	if err != nil && ctx.Err() == nil {
		m.clerk.Log.Warn("it's not known whether the end of a turn was to ring", "session", ev.Session, "err", err)
	}
	return rings || err != nil
}

// text tells what was missed in one place.
func (m *missed) text(due []Missed) string {
	place := due[0].Place
	var order []sessions.ID
	lines := map[sessions.ID][]string{}
	rank := map[MissedKind]int{MissedQuestion: 1, MissedError: 2, MissedTurn: 3, MissedEnd: 4}
	due = slices.Clone(due)
	slices.SortStableFunc(due, func(a, b Missed) int { return rank[a.What] - rank[b.What] })
	for _, x := range due {
		if lines[x.Session] == nil {
			order = append(order, x.Session)
		}
		lines[x.Session] = append(lines[x.Session], x.words())
	}
	var b strings.Builder
	b.WriteString("**While you were away:**\n\n")
	for i, id := range order {
		if i == maxListed {
			fmt.Fprintf(&b, "- and %d more sessions\n", len(order)-i)
			break
		}
		name := string(id)
		if s, err := m.clerk.Sessions.Get(name); err == nil {
			name = s.Name
		}
		name = wording.Plain(name)
		if link := m.clerk.LinkTo(place, id); link != "" {
			name = "[" + name + "](<" + link + ">)"
		}
		now := ""
		if m.clerk.HasQuestion(id) {
			now = "; it waits for an answer"
		}
		fmt.Fprintf(&b, "- %s: %s%s\n", name, strings.Join(lines[id], ", "), now)
	}
	return strings.TrimSpace(b.String())
}

// words say what was missed.
func (x Missed) words() string {
	one, many := "a turn ended", "%d turns ended"
	switch x.What {
	case MissedQuestion:
		one, many = "a question", "%d questions"
	case MissedEnd:
		one, many = "the program ended", "the program ended %d times"
	case MissedError:
		one, many = "an error", "%d errors"
	case MissedTurn:
	}
	if x.Times == 1 {
		return one
	}
	return fmt.Sprintf(many, x.Times)
}
