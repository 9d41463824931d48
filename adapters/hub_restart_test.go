package adapters_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/qos"
)

func TestARestartGoesOnWithoutAnythingNew(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.form.LiveRows = 3
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(10 * time.Second)
		r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"live: x"}}))
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one\nlive: x")
		r.ends("pb_1", "two")
		r.stop() // what matters is sent, and what's left is to take the live region away
		r.wantTexts("a", "-1", "one\nlive: x", "two\ndone · 1 min 10 s")
		r.print("pb_1", "three")
		r.ends("pb_1", "four")
		r.start()
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "two\ndone · 1 min 10 s", "three\nfour\ndone · less than 1 s")
		if seen := r.platforms["a"].Seen("-1", ""); !seen[2].Rang {
			t.Error("a turn that ended while the daemon was down didn't ring")
		}
	})
}

func TestWhatIsLeftBehindIsTidiedAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.form.LiveRows = 3
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(10 * time.Second)
		r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"live: x"}}))
		r.pass(time.Minute)
		r.ends("pb_1", "two")
		r.stop()
		r.start()
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "two\ndone · 1 min 10 s")
	})
}

func TestStoppingSendsWhatMattersAndKeepsTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "agent-2", "a:-2")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		for i := range 30 {
			r.print("pb_1", fmt.Sprint("line ", i))
			r.pass(100 * time.Millisecond)
		}
		r.print("pb_2", "working")
		r.ends("pb_2", "done") // a second after the call before, which is after the stop
		r.wantTexts("a", "-2", "working")
		stopping := time.Now()
		r.stop()
		if took := time.Since(stopping); took > 5*time.Second {
			t.Errorf("stopping took %v", took)
		}
		r.wantTexts("a", "-2", "working", "done\ndone · less than 1 s")
		r.start()
		r.pass(time.Minute)
		for _, w := range r.house.Compare(filter(r.platforms["a"].Seen("-1", ""), "line"), adaptertest.Want{Session: "pb_1", To: 30, Oldest: 1}) {
			t.Error(w)
		}
	})
}

func TestARestartCostsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.ends("pb_1", "one")
		r.pass(time.Minute)
		r.stop()
		r.start()
		r.pass(time.Hour)
		if got := r.snapshot("a").Totals.Outcomes; got != (qos.Totals{}).Outcomes {
			t.Errorf("slots were granted for nothing: %v", got)
		}
	})
}

// The edit of a message may have been made when the daemon dies. After the next
// start the message shows what's so then, though nothing more is printed.
func TestAnEditInDoubtIsSettledAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.form.LiveRows = 3
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(10 * time.Second)
		r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"live: x"}}))
		r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Kind: adaptertest.Unanswered} })
		r.pass(30 * time.Second)
		r.wantTexts("a", "-1", "one\nlive: x")
		r.process.Kill()
		r.stop()
		r.platforms["a"].SetFault(nil)
		r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{}}))
		r.start()
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")
	})
}

// What the platform refuses while the daemon stops is known after the next start.
func TestARefusalWhileStoppingIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.platforms["a"].DeleteChat("-1")
		r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Out: 2 * time.Second} })
		r.ends("pb_1", "two")
		r.stop()
		kept, err := r.backend.Bindings(context.Background())
		if err != nil || len(kept) != 1 || kept[0].Binding.Disabled == "" {
			t.Errorf("kept: %+v, %v", kept, err)
		}
	})
}

// Status can be asked for beside a session that a chat refused before the start: that one isn't open yet.
func TestStatusAfterAStartBesideWhatWasRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.platforms["a"].DeleteChat("-1")
		r.print("pb_1", "one")
		r.pass(5 * time.Second)
		r.stop()
		r.start()
		r.bind("pb_2", "a:-1", adapters.ViewStream)
		st := r.hub.Status("pb_2")
		if len(r.disabled) != 1 || len(st) != 1 || st[0].Failing != r.disabled[0].Disabled {
			t.Errorf("beside %+v the other has the status %+v", r.disabled, st)
		}
	})
}
