package qos_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// TestStagedChatsAreExplained: in each chat a session's text isn't there yet, for another
// reason. What's said first is the reason, with the knobs that would change it, and which way.
func TestStagedChatsAreExplained(t *testing.T) {
	const session = "doc00" // whose text is waited for
	stages := map[string]struct {
		opt   qos.Options
		stage func(a *arena)
		hold  qos.HoldKind
		knobs []string
	}{
		"the platform ordered silence": {
			stage: func(a *arena) {
				a.outcome = func(qos.Call) *qos.CallResult { return throttled(30 * time.Second) }
				a.open(session, group)
				a.want(session, 1, false)
			},
			hold: qos.HoldPenalty,
		},
		"the platform ordered silence, and others are before it": {
			stage: func(a *arena) {
				for _, id := range []qos.DocID{"doc01", "doc02", session} {
					a.open(id, group)
					a.want(id, 1, false)
					a.pass(10 * time.Second)
				}
				a.answers(func(qos.Call) *qos.CallResult { return throttled(40 * time.Second) })
				for _, id := range []qos.DocID{"doc01", "doc02", session} {
					a.want(id, 2, false)
					a.pass(500 * time.Millisecond)
				}
			},
			hold: qos.HoldPenalty,
		},
		"the last call was just now, and nothing else is under way": {
			opt: qos.Options{Mode: qos.CoalesceOnly, Rounding: 100 * time.Millisecond},
			stage: func(a *arena) {
				a.post(group, "reply", qos.Interactive)
				a.open(session, group)
				a.want(session, 1, false)
			},
			hold: qos.HoldWindow, knobs: []string{"mode off"},
		},
		"replies have used all but the slot that streams leave": {
			opt: qos.Options{GroupMPM: 5},
			stage: func(a *arena) {
				for i := range 4 {
					a.post(group, docIDString(i), qos.Interactive)
				}
				a.pass(20 * time.Second)
				a.open(session, group)
				a.want(session, 1, false)
			},
			hold: qos.HoldReserve, knobs: []string{"group_mpm higher", "reserve_mpm 0", "mode coalesce_only"},
		},
		"it ends more turns than its share allows": {
			stage: func(a *arena) {
				for i := range 6 {
					a.feed(docID(i+1), group)
				}
				a.open(session, group)
				for i := range 40 {
					a.want(session, int64(i+1), true)
					a.pass(3 * time.Second)
				}
				for a.made(nil)[len(a.made(nil))-1].Doc != session {
					a.pass(time.Second)
				}
				a.pass(500 * time.Millisecond)
				a.want(session, 100, true)
			},
			hold: qos.HoldAhead, knobs: []string{"group_mpm higher", "output_budget_ratio higher", "mode coalesce_only"},
		},
		"its calls fail": {
			stage: func(a *arena) {
				a.outcome = func(qos.Call) *qos.CallResult { return &qos.CallResult{Outcome: qos.Failed} }
				a.open(session, group)
				a.want(session, 1, false)
				for time.Until(a.snapshot().Chats[0].BackoffUntil) < 5*time.Second {
					a.pass(time.Second)
				}
			},
			hold: qos.HoldBackoff,
		},
		"replies have used the window": {
			opt: qos.Options{GroupMPM: 5, Mode: qos.CoalesceOnly},
			stage: func(a *arena) {
				for i := range 5 {
					a.post(group, docIDString(i), qos.Interactive)
				}
				a.pass(10 * time.Second)
				a.open(session, group)
				a.want(session, 1, false)
			},
			hold: qos.HoldWindow, knobs: []string{"group_mpm higher", "mode off"},
		},
		"many sessions share the chat": {
			stage: func(a *arena) {
				for i := range 12 {
					a.feed(docID(i), group)
				}
				a.pass(2 * time.Minute)
				for a.made(nil)[len(a.made(nil))-1].Doc != session {
					a.pass(time.Second)
				}
			},
			hold: qos.HoldOthers, knobs: []string{"group_mpm higher", "mode coalesce_only"},
		},
		"its own tick, and a reply is under way": {
			opt: qos.Options{MinSessionTick: 20 * time.Second},
			stage: func(a *arena) {
				a.feed(session, group)
				a.pass(5 * time.Second)
				a.latency = func() time.Duration { return time.Second }
				a.post(group, "reply", qos.Interactive)
			},
			hold: qos.HoldSessionTick, knobs: []string{"min_session_tick_s lower"},
		},
		"half of the calls are kept from text": {
			opt: qos.Options{ReserveMPM: 10, HardReserve: true},
			stage: func(a *arena) {
				for i := range 3 {
					a.feed(docID(i), group)
				}
				a.pass(2 * time.Minute)
				for a.made(nil)[len(a.made(nil))-1].Doc != session {
					a.pass(time.Second)
				}
			},
			hold: qos.HoldOthers, knobs: []string{"group_mpm higher", "reserve_mpm lower", "mode coalesce_only"},
		},
		"its own tick": {
			opt: qos.Options{MinSessionTick: 20 * time.Second},
			stage: func(a *arena) {
				a.feed(session, group)
			},
			hold: qos.HoldSessionTick, knobs: []string{"min_session_tick_s lower"},
		},
	}
	for name, s := range stages {
		t.Run(name, func(t *testing.T) {
			inArena(t, s.opt, nil, func(a *arena) {
				s.stage(a)
				a.pass(500 * time.Millisecond)
				x, known, err := a.sched.Explain(context.Background(), group)
				i := slices.IndexFunc(x.Next, func(n qos.NextCall) bool { return n.Doc == session })
				if err != nil || !known || i < 0 || len(x.Next[i].Holds) == 0 {
					t.Fatalf("it isn't explained: %+v, %v, %v", x, known, err)
				}
				next := x.Next[i]
				var knobs []string
				for _, k := range next.Holds[0].Knobs {
					knobs = append(knobs, k.Name+" "+k.Try)
				}
				if next.Holds[0].Kind != s.hold || !slices.Equal(knobs, s.knobs) {
					t.Errorf("it's held back by %v, which %v change, want %v and %v: %+v", next.Holds[0].Kind, knobs, s.hold, s.knobs, next)
				}
			})
		})
	}
}
