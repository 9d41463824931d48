package qos_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// TestFiguresOfAStatusAgree: the active sessions of the chats are the sum's, an idle chat decides nothing of what's
// said of all, and a chat without a call has a window all the same.
func TestFiguresOfAStatusAgree(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Chat == group {
				return throttled(10 * time.Second)
			}
			return nil
		}
		a.open("was silenced", group)
		a.want("was silenced", 1, false)
		a.pass(500 * time.Millisecond)
		a.answers(nil)
		a.pass(2 * time.Minute)
		a.feed("prints", "-1002")
		a.pass(time.Minute)
		s := a.snapshot()
		sum := 0.0
		for _, c := range s.Chats {
			sum += c.ActiveSessions
		}
		if sum != s.Load.ActiveSessions || sum != 1 {
			t.Errorf("%v sessions are active in the chats, and %v in all", sum, s.Load.ActiveSessions)
		}
		idle, busy := s.Chats[0], s.Chats[1]
		if idle.Multiplier == 1 || s.Load.Tick != busy.Tick || s.Load.Pace != 1 {
			t.Errorf("of %v and %v at %v the pace of all is %v, %v", idle.Tick, busy.Tick, idle.Multiplier, s.Load.Tick, s.Load.Pace)
		}
		if idle.CallsToPace != 5 || busy.CallsToPace != 0 {
			t.Errorf("the pace is whole in %d calls, and in %d", idle.CallsToPace, busy.CallsToPace)
		}
		if len(idle.Windows) == 0 || idle.Windows[0].Used != 0 {
			t.Errorf("of the idle chat's calls are used: %+v", idle.Windows)
		}
	})
}

// TestWhatTextLeavesIsWhatItsPaceLeaves, also where output_budget_ratio is what sets that pace.
func TestWhatTextLeavesIsWhatItsPaceLeaves(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.feed("prints", group)
		a.pass(time.Minute)
		a.post(group, "reply", qos.Interactive)
		a.pass(5 * time.Second)
		c := a.snapshot().Chats[0]
		if c.Tick != 3800*time.Millisecond || c.Reserve != 4 {
			t.Errorf("text every %v leaves %d of 20", c.Tick, c.Reserve)
		}
	})
}
