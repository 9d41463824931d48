package qos_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// TestExplanationsComeTrue: what Explain says is next at a time, with nothing else happening, is
// the call that's made at that time, and none is made before. Asking changes nothing, and
// whoever waits is told why.
func TestExplanationsComeTrue(t *testing.T) {
	seen := map[string]int{}
	for seed := range drawtest.Seeds(t, drawtest.Times(2000, 150, 40)) {
		h := newForetold(t, rand.New(rand.NewPCG(seed, 7)), seen)
		for range 150 {
			h.step()
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("seen: %v", seen)
	if testing.Short() {
		return // too few to have had all
	}
	for _, want := range []string{
		"came true", "at once", "others", "call", "penalty", "backoff", "slow_start", "asleep", "session_tick",
		"rest", "live", "rounding", "pace", "supply", "window", "reserve", "may_arrive",
	} {
		if seen[want] == 0 {
			t.Errorf("the histories never had: %s", want)
		}
	}
}

// foretold is an engine whose future is drawn, and told before.
type foretold struct {
	t        *testing.T
	random   *rand.Rand
	engine   *qos.SlotEngine
	opt      qos.Options
	now      time.Time
	underWay []foretoldCall
	wanted   map[qos.DocID]int64
	chats    []qos.ChatKey
	seen     map[string]int
	key      int
}

type foretoldCall struct {
	call *qos.Started
	ends time.Time
	r    qos.CallResult
}

func newForetold(t *testing.T, random *rand.Rand, seen map[string]int) *foretold {
	t.Helper()
	h := &foretold{
		t: t, random: random, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), wanted: map[qos.DocID]int64{}, seen: seen,
		chats: []qos.ChatKey{group, "-1002"}[:1+random.IntN(2)],
	}
	h.opt = qostest.WithLimits(h.options())
	h.opt.Seed = random.Uint64()
	e, err := qos.NewSlotEngine(h.opt, qos.NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	h.engine = e
	return h
}

func (h *foretold) options() qos.Options {
	o := qos.Options{Mode: []qos.Mode{qos.Strict, qos.Strict, qos.Strict, qos.CoalesceOnly, qos.Off}[h.random.IntN(5)]}
	if h.random.IntN(2) == 0 {
		o.GroupMPM = 5 + h.random.IntN(40)
	}
	o.HardReserve = h.random.IntN(4) == 0
	if o.Mode == qos.CoalesceOnly {
		o.Rounding = 1500 * time.Millisecond
	}
	if h.random.IntN(4) == 0 {
		o.ReserveMPM = qos.NoReserve
	}
	if h.random.IntN(3) == 0 {
		o.Limits.Bot = qos.Limit{Windows: []qos.Window{{Calls: 5, Per: 10 * time.Second}}, Gap: 40 * time.Millisecond}
	}
	if h.random.IntN(3) == 0 {
		o.MaxInFlight = 1
	}
	o.Limits.Families = map[qos.Family]qos.Limit{qos.FamilyTyping: {Windows: []qos.Window{{Calls: 4, Per: time.Minute}}}}
	return o
}

func (h *foretold) duration(most time.Duration) time.Duration {
	return time.Duration(h.random.Int64N(int64(most)) + 1)
}

// advance makes the calls that are due, and returns them.
func (h *foretold) advance() []*qos.Started {
	calls := h.engine.Advance(h.now)
	for _, c := range calls {
		x := foretoldCall{call: c, ends: h.now.Add(h.duration(2 * time.Second)), r: qos.CallResult{
			Outcome: qos.Delivered, Delivered: c.Call.Wanted, Final: c.Call.Final, More: h.random.IntN(20) == 0,
		}}
		switch h.random.IntN(40) {
		case 0:
			x.r = qos.CallResult{Outcome: qos.Throttled, RetryAfter: h.duration(40 * time.Second), Narrow: h.random.IntN(2) == 0}
		case 1, 2:
			x.r = qos.CallResult{Outcome: qos.Failed}
		case 3:
			x.r, x.ends = qos.CallResult{Outcome: qos.Uncertain}, c.Deadline
		case 4:
			x.r = qos.CallResult{Outcome: qos.Unchanged, Again: h.now.Add(h.duration(time.Minute))}
		case 5:
			x.r = qos.CallResult{Outcome: qos.Uncertain, Over: true}
		case 6:
			x.r = qos.CallResult{Outcome: qos.NotSent, RetryAfter: h.duration(20 * time.Second)}
		case 7:
			x.r = qos.CallResult{Outcome: qos.Unchanged}
		case 8:
			if h.random.IntN(4) == 0 {
				x.r = qos.CallResult{Outcome: qos.Throttled, RetryAfter: h.duration(40 * time.Second), Global: true}
			}
		case 9:
			if h.random.IntN(4) == 0 {
				x.r = qos.CallResult{Outcome: qos.Migrated, Chat: h.chats[h.random.IntN(len(h.chats))]}
			}
		case 10:
			if c.Call.Key != "" {
				x.r = qos.CallResult{Outcome: qos.Rejected}
			}
		case 11:
			x.r.Chat = h.chats[h.random.IntN(len(h.chats))]
		}
		h.underWay = append(h.underWay, x)
	}
	return calls
}

// step has something happen, and now and then asks for an explanation and sees it come true.
func (h *foretold) step() {
	h.happen()
	h.advance()
	if h.random.IntN(4) == 0 {
		h.explain(h.chats[h.random.IntN(len(h.chats))])
	}
	h.pass(h.now.Add(h.duration([]time.Duration{time.Second, 8 * time.Second, 40 * time.Second}[h.random.IntN(3)])))
}

// next is when something is due by itself.
func (h *foretold) next() (at time.Time, ended int) {
	at, ended = h.engine.NextLook(), -1
	for i, c := range h.underWay {
		if at.IsZero() || c.ends.Before(at) {
			at, ended = c.ends, i
		}
	}
	return at, ended
}

// pass lets time pass, and everything happen that's due.
func (h *foretold) pass(to time.Time) {
	for {
		at, ended := h.next()
		if at.IsZero() || at.After(to) {
			h.now = to
			return
		}
		h.now = later(h.now, at)
		h.finish(ended)
		h.advance()
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (h *foretold) finish(i int) {
	if i >= 0 {
		c := h.underWay[i]
		h.underWay = slices.Delete(h.underWay, i, i+1)
		h.engine.Finish(h.now, c.call, c.r, h.now)
	}
}

func (h *foretold) happen() {
	doc := qos.DocID(fmt.Sprint("doc ", h.random.IntN(7)))
	chat := h.chats[int(doc[4])%len(h.chats)]
	name := qos.SessionKey(fmt.Sprint("session ", doc[4]%5))
	_ = h.open(doc, chat, name)
	switch h.random.IntN(12) {
	case 0, 1, 2, 3:
		for i := range 1 + h.random.IntN(5) {
			d := qos.DocID(fmt.Sprint("doc ", (int(doc[4]-'0')+i)%7))
			if h.wanted[d] > 0 {
				h.wanted[d]++
				h.engine.Want(h.now, d, h.wanted[d], false)
			}
		}
	case 4, 5:
		h.wanted[doc]++
		h.engine.Want(h.now, doc, h.wanted[doc], true)
	case 6:
		h.key++
		_ = h.engine.PostRequest(h.now, qos.Request{Chat: chat, Key: fmt.Sprint(h.key), Class: qos.Class(h.random.IntN(3))})
	case 7:
		for range h.random.IntN(9) {
			h.key++
			_ = h.engine.PostRequest(h.now, qos.Request{Chat: chat, Key: fmt.Sprint(h.key), Class: qos.Interactive})
		}
	case 8:
		qos.TouchDocument(h.engine, h.now, doc)
	case 9:
		h.engine.FocusSession(h.now, name)
	case 10:
		h.engine.TryRequest(h.now, qos.Request{Chat: chat, Key: "typing", Family: qos.FamilyTyping})
	case 11:
		switch h.random.IntN(12) {
		case 2, 3, 4:
			h.key++
			_ = h.engine.PostRequest(h.now, qos.Request{Chat: chat, Key: fmt.Sprint(h.key), Class: qos.Class(h.random.IntN(3)), Session: name, Family: []qos.Family{qos.FamilyMessage, qos.FamilyTyping}[h.random.IntN(2)]})
		case 5:
			h.engine.Learn(h.now, qos.Scope{Chat: chat, AllFamilies: true}, qos.Learned{Limit: 20, Remaining: h.random.IntN(3), Reset: h.now.Add(h.duration(20 * time.Second))})
		case 6:
			h.engine.TakePenalty(h.now, qos.Penalty{Scope: qos.Scope{Chat: chat, AllFamilies: true}, Until: h.now.Add(h.duration(20 * time.Second)), Multiplier: 0.5})
		case 7:
			if h.random.IntN(4) == 0 {
				h.engine.TakePenalty(h.now, qos.Penalty{Until: h.now.Add(h.duration(20 * time.Second)), Multiplier: 0.5})
			}
		case 8:
			if h.random.IntN(20) == 0 {
				qos.BeginDraining(h.engine, h.now)
			}
		case 9:
			h.engine.Close(h.now, doc, qos.Cancel)
			h.wanted[doc] = 0
		case 10:
			h.engine.CloseSession(h.now, name, qos.CloseMode(h.random.IntN(2)))
			clear(h.wanted)
		case 0:
			o := qostest.WithLimits(h.options())
			h.opt = o
			if err := h.engine.Reconfigure(h.now, o); err != nil {
				h.t.Fatal(err)
			}
		case 1:
			h.engine.Close(h.now, doc, qos.Flush)
			h.wanted[doc] = 0
		}
	}
}

func (h *foretold) open(doc qos.DocID, chat qos.ChatKey, session qos.SessionKey) bool {
	if h.wanted[doc] > 0 {
		return false
	}
	h.wanted[doc] = 1
	h.engine.Open(h.now, qos.Doc{ID: doc, Chat: chat, Session: session, Wanted: 1})
	return true
}

// explain asks, and lets nothing happen until it has come true. What ends meanwhile is something
// that happens.
func (h *foretold) explain(chat qos.ChatKey) {
	asked := h.now
	x, known := h.engine.Explain(asked, chat)
	if !known {
		return
	}
	again, _ := h.engine.Explain(asked, chat)
	if diff := cmp.Diff(x, again); diff != "" {
		h.t.Errorf("asked twice, it says another thing: %s", diff)
	}
	h.checkHolds(x)
	if len(x.Next) == 0 || x.Call != nil {
		return
	}
	first := x.Next[0]
	for {
		at, ended := h.next()
		if ended >= 0 || at.IsZero() || at.Sub(asked) > 2*time.Hour {
			if at.IsZero() && !first.At.IsZero() {
				h.t.Errorf("at %v it said that %s%s is next at %v, and it never was: %+v", asked, first.Doc, first.Key, first.At, first)
			}
			return
		}
		h.now = later(h.now, at)
		for _, c := range h.advance() {
			if c.Call.Chat != chat {
				return // the bot's turn was another's
			}
			if c.Call.Doc != first.Doc || c.Call.Key != first.Key || !h.now.Equal(first.At) {
				h.t.Errorf("at %v it said that %s%s is next at %v, and %s%s was at %v (%v): %+v",
					asked, first.Doc, first.Key, first.At, c.Call.Doc, c.Call.Key, h.now, h.opt.Mode, first)
			}
			h.seen["came true"]++
			return
		}
	}
}

func (h *foretold) checkHolds(x qos.Explanation) {
	last := time.Time{}
	for i, turn := range x.Next {
		switch {
		case turn.At.IsZero():
			h.seen["never"]++
		case !turn.At.After(x.At):
			h.seen["at once"]++
			continue
		case turn.At.Before(last):
			h.t.Errorf("turn %d is at %v, and that before it at %v", i, turn.At, last)
		}
		last = turn.At
		if len(turn.Holds) == 0 {
			h.t.Errorf("nobody says why turn %d of %+v waits", i, x)
			continue
		}
		for _, hold := range turn.Holds {
			if !turn.At.IsZero() && hold.Until.After(turn.At) {
				h.t.Errorf("turn %d is at %v, and held back longer by %+v", i, turn.At, hold)
			}
		}
		h.seen[turn.Holds[0].Kind.String()]++
	}
}
