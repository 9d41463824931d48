package qos_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// TestStagedChatsAreExplained: in five chats a session's text isn't there yet, each for another
// reason. What's said first is the reason, with the knobs that would change it.
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
			hold: qos.HoldWindow, knobs: []string{"group_mpm", "mode"},
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
			hold: qos.HoldOthers, knobs: []string{"group_mpm", "mode"},
		},
		"its own tick": {
			opt: qos.Options{MinSessionTick: 20 * time.Second},
			stage: func(a *arena) {
				a.feed(session, group)
			},
			hold: qos.HoldSessionTick, knobs: []string{"min_session_tick_s"},
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
					knobs = append(knobs, k.Name)
				}
				if next.Holds[0].Kind != s.hold || !slices.Equal(knobs, s.knobs) {
					t.Errorf("it's held back by %v, which %v change, want %v and %v: %+v", next.Holds[0].Kind, knobs, s.hold, s.knobs, next)
				}
			})
		})
	}
}
