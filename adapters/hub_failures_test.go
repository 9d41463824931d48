package adapters_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

func TestAFailingAdapterHoldsUpNoOther(t *testing.T) {
	for name, fault := range map[string]adaptertest.Fault{
		"hangs":       {Kind: adaptertest.Lost},
		"unreachable": {Kind: adaptertest.Unconnected},
		"bans":        {Kind: adaptertest.Throttled, RetryAfter: 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				t.Helper()
				r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "*", "b:-1")}
				r.platforms["b"].SetFault(func(adaptertest.Call) adaptertest.Fault { return fault })
				r.start()
				r.begin("pb_1", "agent-1")
				for i := range 20 {
					printed := time.Now()
					r.ends("pb_1", fmt.Sprint("line ", i))
					if took := time.Since(printed); took > 0 {
						t.Fatalf("telling of an event took %v", took)
					}
					r.pass(10 * time.Second)
				}
				seen := r.platforms["a"].Seen("-1", "")
				if len(seen) != 20 {
					t.Fatalf("the other chat has %d messages, want 20", len(seen))
				}
				for i, m := range seen {
					if late := m.At.Sub(seen[0].At) - time.Duration(i)*10*time.Second; late > time.Second {
						t.Errorf("final %d came %v late", i, late)
					}
				}
				var behind int64
				for _, st := range r.hub.Status("pb_1") {
					behind = max(behind, st.Pressure.Behind)
				}
				if behind != 20 {
					t.Errorf("%d lines are said to wait for the other, want 20", behind)
				}

				r.platforms["b"].SetFault(nil)
				r.pass(3 * time.Hour)
				seen = r.platforms["b"].Seen("-1", "")
				for _, w := range r.house.Compare(seen, adaptertest.Want{Session: "pb_1", To: 20, Oldest: 1, Doubts: []adaptertest.Doubt{
					{From: adapters.Position{Line: 1}, To: adapters.Position{Line: 21}},
				}}) {
					t.Error(w)
				}
				if rang := seen[len(seen)-1].Rang; !rang || len(seen) > 2 {
					t.Errorf("20 ends of turns came as %d messages, and the last rang: %v", len(seen), rang)
				}
			})
		})
	}
}

func TestASessionThatBeginsWhileTheDiskIsFullIsBoundLater(t *testing.T) {
	nothing := func(*rig) {}
	tests := map[string]struct {
		whileFull, then func(r *rig)
		want            string
		left            int
	}{
		"as it is":                {nothing, nothing, "one", 1},
		"the rules are reloaded":  {nothing, func(r *rig) { r.must(r.reload(r.rules)) }, "one", 1},
		"it has ended since then": {func(r *rig) { r.must(r.house.End("pb_1", "ended")) }, nothing, "one\nended", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				t.Helper()
				r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
				r.start()
				r.full.Store(true)
				r.begin("pb_1", "agent-1")
				r.print("pb_1", "one")
				r.pass(62 * time.Second)
				tt.whileFull(r)
				r.full.Store(false)
				tt.then(r)
				r.pass(10 * time.Second)
				r.wantTexts("a", "-1", tt.want)
				if n := len(r.hub.Status("")); n != tt.left {
					t.Errorf("%d bindings are left, want %d", n, tt.left)
				}
			})
		})
	}
}

func TestNothingIsSentThatCouldNotBeKept(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.process.SetFault(func(d adapters.Document) error {
			if d.Intent != nil {
				return sessions.ErrUnavailable
			}
			return nil
		})
		r.print("pb_1", "one")
		r.pass(10 * time.Minute)
		if n := len(r.platforms["a"].Arrivals()); n > 0 {
			t.Errorf("%d calls were made whose intent couldn't be kept", n)
		}
		r.process.SetFault(func(d adapters.Document) error {
			if d.Intent == nil {
				return sessions.ErrUnavailable
			}
			return nil
		})
		r.pass(2 * time.Minute)
		r.print("pb_1", "two") // the receipt before wasn't kept: that's no reason to send again
		r.pass(2 * time.Minute)
		r.wantTexts("a", "-1", "one\ntwo")
	})
}
