package inbound

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
)

// A text that an agent has queued while it was at work is answered by the end of the
// turn that took it up: the one that ran then, if the agent has put it in there, or one
// that begins behind it. The agent's transcript tells when it was taken up. Else only
// that's known what turns have ended.
const (
	// takeUpWithin is how long behind the end of a turn an agent may take to begin the
	// next with what was queued: half a second is usual, hooks of the person's own may
	// run before.
	takeUpWithin = 10 * time.Second
	// startWithin is the same where no turn ran when the text was queued: programs that
	// start keep what's written until they have connected to their servers.
	startWithin = 2 * time.Minute
	// justNow is how far apart what a transcript says and the end of the turn before may
	// be told.
	justNow = 3 * time.Second
	// submitSlack is how long before a text is known to be submitted its own turn may have
	// begun.
	submitSlack = 500 * time.Millisecond
)

// turnNews is something that was told of a session, in the order in which it was.
type turnNews struct {
	session sessions.ID
	at      time.Time
	what    turnWhat
	turn    int64  // its number
	text    string // of turnAsked
}

type turnWhat int

const (
	turnEnded turnWhat = iota
	turnBegan          // or was seen to run
	turnAsked          // the agent's transcript says that it was asked a text
)

// queuedText is what's known of a text that its agent has queued.
type queuedText struct {
	behind int64     // the number of the turn that it waits behind
	until  time.Time // when another must have begun behind that, which has ended; zero: it runs
	taken  time.Time // when the text was seen to be taken up; zero: it wasn't
	turn   int64     // the turn that has it; 0: it isn't known
}

// isQueued reports whether a text was submitted, and queued by its agent.
func (t *tracked) isQueued() bool {
	return t.receipt.State == sessions.ReceiptSubmitted && strings.HasPrefix(t.receipt.Reason, "queued")
}

// queue begins to follow a text that was queued. What came before, in the last run of the
// daemon say, nobody has seen.
func (rs *receipts) queue(t *tracked) {
	if t.queued != nil || !t.isQueued() {
		return
	}
	t.queued = &queuedText{}
	s, err := rs.in.opt.Sessions.Get(string(t.Session))
	switch began := s.Turn.StartedAt.After(t.receipt.UpdatedAt.Add(-submitSlack)); {
	case err != nil:
		t.queued.until = time.Now()
	case began && !s.Turn.Open:
		t.answered = true
	case began:
		t.queued.behind, t.queued.turn = s.Turn.Number-1, s.Turn.Number
	case s.Turn.Open:
		t.queued.behind = s.Turn.Number
	default:
		t.queued.behind, t.queued.until = s.Turn.Number, time.Now().Add(startWithin)
	}
	rs.follow(t.Session)
}

// follow has all turns of a session told, and what its transcript says it was asked.
func (rs *receipts) follow(id sessions.ID) {
	rs.mu.Lock()
	_, done := rs.followed[id]
	if !done {
		rs.followed[id] = 0
	}
	rs.mu.Unlock()
	if done || rs.in.opt.Asked == nil {
		return
	}
	rs.stops[id] = rs.in.opt.Asked(id, func(text string) {
		rs.leave(func(rs *receipts) {
			rs.turns = append(rs.turns, turnNews{session: id, at: time.Now(), what: turnAsked, text: text})
		})
	})
}

// unfollow ends that for sessions of which nothing is queued any more.
func (rs *receipts) unfollow() {
	rs.mu.Lock()
	var over []sessions.ID
	for id := range rs.followed {
		queued := func(t *tracked) bool { return t.Session == id && t.queued != nil && !t.Done }
		if !slices.ContainsFunc(rs.inOrder(), queued) {
			over = append(over, id)
			delete(rs.followed, id)
		}
	}
	rs.mu.Unlock()
	for _, id := range over {
		if stop := rs.stops[id]; stop != nil {
			stop()
		}
		delete(rs.stops, id)
	}
}

// unfollowAll ends it for all sessions.
func (rs *receipts) unfollowAll() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	clear(rs.followed)
	for id, stop := range rs.stops {
		stop()
		delete(rs.stops, id)
	}
}

// inOrder are the open texts, in the order in which they were submitted.
func (rs *receipts) inOrder() []*tracked {
	all := make([]*tracked, 0, len(rs.open))
	for _, t := range rs.open {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *tracked) int {
		return cmp.Or(a.receipt.UpdatedAt.Compare(b.receipt.UpdatedAt), cmp.Compare(a.Key, b.Key))
	})
	return all
}

// hear takes in what was told of a session's turns.
func (rs *receipts) hear(n turnNews) {
	asked := lettersOf(n.text)
	begun := false // the turn has taken one text up
	for _, t := range rs.inOrder() {
		q := t.queued
		switch {
		case t.Session != n.session || t.answered || t.passed:
		case q == nil:
			if n.what == turnEnded {
				t.answer(n.at)
			}
		case n.what == turnEnded:
			t.turnEnds(n)
		case n.what == turnAsked:
			if q.taken.IsZero() {
				asked = t.askedIn(asked, n.at)
			}
		case n.turn <= q.behind || q.turn > q.behind:
		case begun && q.taken.IsZero():
			q.behind, q.until = n.turn, time.Time{} // it waits behind this one, then
		default:
			q.turn, begun = n.turn, true
		}
	}
}

// turnEnds takes in the end of a turn for a queued text.
func (t *tracked) turnEnds(n turnNews) {
	q := t.queued
	switch {
	case q.turn > q.behind && n.turn >= q.turn, !q.taken.IsZero() && n.turn >= q.behind && n.at.Sub(q.taken) > justNow:
		t.answered = true
	case n.turn >= q.behind && q.turn <= q.behind:
		q.until = n.at.Add(takeUpWithin)
	}
}

// waitsOver ends the wait behind a turn for another to begin. It returns when that's due;
// zero: it isn't.
func (t *tracked) waitsOver(now time.Time) time.Time {
	q := t.queued
	if q == nil || q.until.IsZero() || q.turn > q.behind || t.answered || t.passed {
		return time.Time{}
	}
	if now.Before(q.until) {
		return q.until
	}
	t.answered, t.passed = !q.taken.IsZero(), q.taken.IsZero()
	return time.Time{}
}

// askedIn takes in that an agent was asked something, by its letters, if the text is in
// it, and returns the rest: programs wrap, cut and join texts.
func (t *tracked) askedIn(asked string, at time.Time) (rest string) {
	const (
		most  = 400 // bytes of a text: more may be cut
		first = 8   // a text of so many is hardly the beginning of another by chance,
		part  = 20  // and of so many hardly a part
	)
	want := lettersOf(t.receipt.Text)
	want = want[:min(len(want), most)]
	i := strings.Index(asked, want)
	if want == "" || i < 0 || asked != want && (i > 0 || len(want) < first) && len(want) < part {
		return asked
	}
	t.queued.taken = at
	return asked[:i] + asked[i+len(want):]
}

func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
