package adapters_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
)

// calls counts the calls of a method that an adapter's platform got.
func (r *rig) calls(adapter string, m adaptertest.Method) int {
	n := 0
	for _, a := range r.platforms[adapter].Arrivals() {
		if a.Call.Method == m {
			n++
		}
	}
	return n
}

// The thread made for a session is called as the session is, whenever it's renamed:
// also while the thread is being made. Threads that somebody else made keep theirs.
func TestThreadsAreCalledAsTheirSessions(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.form.OwnThread = true
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "one")
		r.house.Rename("pb_1", "two") // before there's anything to show
		r.print("pb_1", "hello")
		r.pass(time.Minute)
		if n := r.calls("a", adaptertest.RenameThread); n != 0 || len(r.platforms["a"].Threads("-1", "two")) != 1 {
			t.Errorf("%d calls; threads called two: %v", n, r.platforms["a"].Threads("-1", "two"))
		}
		r.house.Rename("pb_1", "three")
		r.house.Rename("pb_1", "four")
		r.pass(time.Minute)
		if n := r.calls("a", adaptertest.RenameThread); n != 1 || len(r.platforms["a"].Threads("-1", "four")) != 1 {
			t.Errorf("%d calls; threads called four: %v", n, r.platforms["a"].Threads("-1", "four"))
		}
		r.house.Rename("pb_1", "four")
		r.pass(time.Minute)
		r.stop()
		r.start()
		r.pass(time.Minute)
		if n := r.calls("a", adaptertest.RenameThread); n != 1 {
			t.Errorf("%d calls for a name that hasn't changed", n-1)
		}
	})
}

// What a rule says about names goes for new names, too.
func TestRulesFollowNames(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "agent-*", "a:-1"), rule(t, "shell-*", "a:-2")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.house.Rename("pb_1", "shell-1")
		r.pass(time.Minute)
		r.print("pb_1", "two")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")
		r.wantTexts("a", "-2", "two")
	})
}
