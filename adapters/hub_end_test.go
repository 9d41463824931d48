package adapters_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

func TestAnEndedSessionIsSentToItsEndAndForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "*", "b:-1")}
		r.rules[1].View = adapters.ViewFinal
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.must(r.house.End("pb_1", "session ended"))
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "session ended")
		r.wantTexts("b", "-1", "one\nsession ended")
		if left := r.hub.Status(""); len(left) > 0 {
			t.Errorf("bindings are left: %+v", left)
		}
		if kept, err := r.backend.Bindings(context.Background()); err != nil || len(kept) > 0 {
			t.Errorf("bindings are kept: %+v, %v", kept, err)
		}
		for _, name := range r.names {
			if snap, err := r.hub.Scheduler(name).Status(context.Background()); err != nil || snap.Documents != 0 {
				t.Errorf("the scheduler of %s has %d documents, %v", name, snap.Documents, err)
			}
		}
	})
}

func TestASessionThatEndedWhileTheDaemonWasDownIsSentToItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.stop()
		r.print("pb_1", "two")
		r.must(r.house.End("pb_1", "session ended"))
		r.start()
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "two\nsession ended")
		if left := r.hub.Status(""); len(left) > 0 {
			t.Errorf("bindings are left: %+v", left)
		}
	})
}

func TestAfterAllSessionsAreClosedNothingIsLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.qos.Mode = qos.Off
		r.start()
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		for i := range 500 {
			r.begin(sessions.ID(fmt.Sprint("pb_", i)), fmt.Sprint("agent-", i))
		}
		for i := range 500 {
			r.must(r.house.End(sessions.ID(fmt.Sprint("pb_", i)), "ended"))
		}
		r.pass(12 * time.Hour)
		if n := len(r.hub.Status("")) + r.hub.Watched(); n > 0 {
			t.Fatalf("%d bindings and sessions are left", n)
		}
		// The house and the platform remember everything; the rest must not.
		if grown := int64(heap()) - int64(before); grown > 4<<20 {
			t.Errorf("500 sessions later, %d bytes more are in use", grown)
		}
	})
}

func TestAnEndedSessionWhoseChatIsGoneIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.platforms["a"].DeleteChat("-1")
		r.must(r.house.End("pb_1", "session ended"))
		r.pass(20 * time.Minute)
		if st := r.hub.Status(""); len(st) > 0 {
			t.Errorf("there is still %+v", st)
		}
		if n := r.hub.Watched(); n > 0 {
			t.Errorf("%d sessions are still watched", n)
		}
	})
}

func TestAForgottenSessionLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "*", "b:-1")}
		r.start()
		r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Kind: adaptertest.Unconnected} })
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		r.print("pb_1", "one")
		r.print("pb_2", "eins")
		r.must(r.house.End("pb_1", "session ended"))
		r.must(r.hub.ForgetSession(context.Background(), "pb_1"))
		r.platforms["a"].SetFault(nil)
		r.pass(time.Hour)
		r.wantTexts("a", "-1", "eins") // what hadn't been sent isn't
		if st := r.hub.Status("pb_1"); len(st) > 0 || len(r.disabled) > 0 {
			t.Errorf("there is still %+v, and %+v was told", st, r.disabled)
		}
		if n := r.hub.Watched(); n != 1 {
			t.Errorf("%d sessions are watched, want the other one", n)
		}
		for _, name := range r.names {
			if n := r.snapshot(name).Documents; n != 1 {
				t.Errorf("the scheduler of %s has %d documents, want that of the other", name, n)
			}
		}
		r.must(r.hub.ForgetSession(context.Background(), "pb_9")) // nobody knows it: no error
	})
}

// What can't be sent in time after a session's end is said, kept, and tried again at
// the next start.
func TestTheRestOfAnEndedSessionIsTriedAgainAtTheNextStart(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.qos.FlushLimit = 10 * time.Minute
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Kind: adaptertest.Unconnected} })
		r.print("pb_1", "two")
		r.must(r.house.End("pb_1", "session ended"))
		r.pass(time.Hour)
		if len(r.disabled) != 1 || r.disabled[0].Disabled == "" {
			t.Errorf("it was told of %+v, want the one binding", r.disabled)
		}
		r.platforms["a"].SetFault(nil)
		r.pass(time.Hour)
		r.wantTexts("a", "-1", "one") // given up for now
		r.stop()
		r.start()
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "two\nsession ended")
		if st := r.hub.Status(""); len(st) > 0 {
			t.Errorf("there is still %+v", st)
		}
	})
}
