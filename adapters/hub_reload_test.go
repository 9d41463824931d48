package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

func (r *rig) snapshot(adapter string) qos.SchedulerStatus {
	r.Helper()
	s, err := r.hub.Scheduler(adapter).Status(context.Background())
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// limit is how many calls a minute a chat may get.
func (r *rig) limit(adapter, chat string) int {
	r.Helper()
	for _, c := range r.snapshot(adapter).Chats {
		if string(c.Chat) == chat {
			return c.Windows[0].Window.Calls
		}
	}
	r.Fatalf("the scheduler of %s knows no chat %s", adapter, chat)
	return 0
}

func TestReloadTunesTheSchedulersOfTheAdaptersItNames(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "*", "b:-1")}
		r.qos.MinSessionTick = 7 * time.Second // the adapters' own
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		var own time.Duration
		r.must(r.hub.Reload(context.Background(), adapters.Settings{Rules: r.rules, Tune: func(adapter string, o *qos.Options) {
			if adapter == "a" {
				o.GroupMPM, o.Mode = 5, qos.CoalesceOnly
				own = o.MinSessionTick
			}
		}}))
		if own != 7*time.Second {
			t.Errorf("the adapter's own knobs weren't the start: %v", own)
		}
		if a, b := r.limit("a", "-1"), r.limit("b", "-1"); a != 5 || b != 20 {
			t.Errorf("limits are %d and %d, want 5 and 20", a, b)
		}
		if a, b := r.snapshot("a").Mode, r.snapshot("b").Mode; a != qos.CoalesceOnly || b != qos.Strict {
			t.Errorf("modes are %v and %v", a, b)
		}
		r.must(r.reload(r.rules)) // which tunes nothing
		if a := r.limit("a", "-1"); a != 20 {
			t.Errorf("what was tuned before stays: %d", a)
		}
	})
}

func TestReloadSaysAllThatIsWrongAndChangesNothingThen(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		err := r.hub.Reload(context.Background(), adapters.Settings{
			Rules: []adapters.MirrorRule{rule(t, "*", "a:-2"), rule(t, "*", "fax:1"), rule(t, "[", "a:-77")},
			Tune: func(adapter string, o *qos.Options) {
				o.GroupMPM = 5
				if adapter == "b" {
					o.GroupMPM, o.OutputBudgetRatio = -1, 2
				}
			},
		})
		if err == nil {
			t.Fatal("no error")
		}
		for _, want := range []string{`adapter "fax"`, `mirror "[" to a:-77: the pattern`, "chat -77", "adapter b: group_mpm", "output_budget_ratio"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q isn't in: %v", want, err)
			}
		}
		if e, ok := errors.AsType[*adapters.RuleError](err); !ok || e.Index != 1 {
			t.Errorf("the first rule that's wrong is %+v, want that of index 1", e)
		}
		if e, ok := errors.AsType[*adapters.TuneError](err); !ok || e.Adapter != "b" {
			t.Errorf("the adapter whose options are wrong is %+v, want b", e)
		}
		if n := r.limit("a", "-1"); n != 20 {
			t.Errorf("an adapter was tuned all the same: %d", n)
		}
		if st := r.hub.Status(""); len(st) != 1 || st[0].Target.Chat != "-1" {
			t.Errorf("the rules were applied all the same: %+v", st)
		}
		r.begin("pb_2", "agent-2")
		if st := r.hub.Status("pb_2"); len(st) != 1 || st[0].Target.Chat != "-1" {
			t.Errorf("a new session is bound by the refused rules: %+v", st)
		}
	})
}

func TestNewRulesAreAppliedWhenTheDiskHasRoomAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		for i := range 3 {
			r.begin(sessions.ID(fmt.Sprint("pb_", i)), fmt.Sprint("agent-", i))
		}
		r.full.Store(true)
		r.must(r.reload([]adapters.MirrorRule{rule(t, "*", "a:-1")}))
		if n := len(r.hub.Status("")); n > 0 {
			t.Errorf("%d bindings that couldn't be kept", n)
		}
		r.full.Store(false)
		r.pass(time.Minute)
		if n := len(r.hub.Status("")); n != 3 {
			t.Errorf("%d sessions are bound, want 3", n)
		}
	})
}

func TestAHubWithWrongSettingsIsNotMade(t *testing.T) {
	_, err := adapters.NewHub(adapters.HubOptions{Settings: adapters.Settings{Rules: []adapters.MirrorRule{rule(t, "*", "fax:1")}}})
	if e, ok := errors.AsType[*adapters.RuleError](err); !ok || e.Index != 0 {
		t.Errorf("got %v", err)
	}
}
