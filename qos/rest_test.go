package qos_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// TestALineEndsARedrawnRegionsRest: a document rests for long after its live region was redrawn,
// and not any more once there's a line.
func TestALineEndsARedrawnRegionsRest(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.open("doc", group)
		a.want("doc", 1, false)
		a.pass(time.Second)
		a.sched.Touch("doc")
		a.pass(9 * time.Second)
		a.want("doc", 2, false)
		a.pass(time.Second)
		if calls := a.made(nil); len(calls) != 2 || calls[1].at != 10*time.Second {
			t.Errorf("the calls are %+v, want the second after 10 s", calls)
		}
	})
}

// TestFocusEndsARest: a session that somebody speaks to rests for the least tick from then on.
func TestFocusEndsARest(t *testing.T) {
	inArena(t, qos.Options{ActiveEmitterWindow: time.Hour}, nil, func(a *arena) {
		line := int64(0)
		for i := range 8 {
			a.open(docID(i), group)
		}
		for range 60 { // until they all count as active
			line++
			for i := range 8 {
				a.want(docID(i), line, false)
			}
			a.pass(time.Second)
		}
		a.pass(2 * time.Minute) // until all is there
		a.want(docID(0), 100, false)
		a.pass(time.Second)
		a.want(docID(0), 101, false)
		before := len(a.made(nil))
		a.pass(9 * time.Second)
		if calls := a.made(nil); len(calls) != before {
			t.Fatalf("it doesn't rest: %+v", calls[before:])
		}
		a.sched.FocusSession(qos.SessionKey(docID(0)))
		a.pass(0)
		if calls := a.made(nil); len(calls) != before+1 {
			t.Errorf("it rests on")
		}
	})
}
