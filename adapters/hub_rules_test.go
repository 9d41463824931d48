package adapters_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

func TestAChatMirrorsNothingWithoutARuleOrABind(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.ends("pb_1", "one")
		r.pass(time.Hour)
		for name, p := range r.platforms {
			if n := len(p.Arrivals()); n > 0 {
				t.Errorf("adapter %s made %d calls", name, n)
			}
		}
	})
}

func TestARuleBindsNewSessionsFromTheirBeginningAndOthersFromTheirNewestLine(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "agent-*", "a:-1"), rule(t, "*-2", "b:-2"), rule(t, "agent-2", "a:-1")}
		r.must(r.house.Begin("pb_1", "agent-1"))
		r.print("pb_1", "before the daemon")
		r.start()
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")

		// Its first lines come before the hub has had time for it.
		if err := r.house.Begin("pb_2", "agent-2"); err != nil {
			t.Fatal(err)
		}
		r.print("pb_2", "first")
		r.begin("pb_3", "shell")
		r.print("pb_3", "nobody's")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "first")
		r.wantTexts("b", "-2", "first")
		if n := len(r.hub.Status("pb_2")); n != 2 {
			t.Errorf("agent-2 has %d bindings, want one per target, which is 2", n)
		}
	})
}

func TestRulesAreAppliedAnewOnReload(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "agent-1", "a:-1"), rule(t, "agent-1", "a:-2")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		byHand := r.bind("pb_1", "b:-1", adapters.ViewStream)
		r.pass(time.Minute)

		moved := rule(t, "agent-1", "a:-2")
		moved.View = adapters.ViewFinal
		r.must(r.reload([]adapters.MirrorRule{moved, rule(t, "agent-1", "b:-3")}))
		r.print("pb_1", "two")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one") // its rule is gone
		r.wantTexts("a", "-2", "one") // waits for the end of the turn now
		r.wantTexts("b", "-1", "two") // by hand, and stays
		r.wantTexts("b", "-3", "two") // new: from the newest line
		r.ends("pb_1", "three")
		r.pass(time.Minute)
		r.wantTexts("a", "-2", "one", "two\nthree\ndone · 2 min")

		r.must(r.reload(nil))
		if got := r.hub.Status(""); len(got) != 1 || got[0].Binding.ID != byHand.ID {
			t.Errorf("without rules there is %+v, want the binding made by hand", got)
		}
	})
}

func TestARuleDoesNotBringBackWhatAPersonTookBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		b := r.hub.Status("pb_1")[0].Binding
		r.must(r.hub.Unbind(context.Background(), b.ID))
		r.print("pb_1", "two")
		r.must(r.reload(r.rules))
		r.print("pb_1", "and a half")
		r.stop()
		r.start()
		r.print("pb_1", "and more")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")

		// A person brings it back: from the newest line on.
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.print("pb_1", "three")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "three")
	})
}

func TestAllThatIsWrongWithRulesIsSaidAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		bad := rule(t, "a", "a:-1")
		bad.View = "sideways"
		err := r.reload([]adapters.MirrorRule{
			rule(t, "[", "a:-1"), rule(t, "x", "fax:1"), bad, rule(t, "y", "b:-77"), rule(t, "*", "a:-1"),
		})
		if err == nil {
			t.Fatal("no error")
		}
		for _, want := range []string{`"["`, `adapter "fax": what's enabled below ` + "`adapters`" + ` in the configuration is a, b`, `view "sideways"`, "chat -77 is not in the configuration"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q isn't in: %v", want, err)
			}
		}
		if n := len(r.hub.Status("")); n > 0 {
			t.Errorf("%d bindings were made all the same", n)
		}
	})
}

func TestABindingByRuleIsTriedAgainOnReload(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.platforms["a"].DeleteChat("-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.print("pb_1", "two")
		r.pass(time.Minute)
		if n := len(r.platforms["a"].Arrivals()); n > 7 || len(r.disabled) != 1 {
			t.Errorf("%d calls in two minutes to a chat that's gone, said %d times", n, len(r.disabled))
		}
		r.platforms["a"].AddGroup("-1", false)
		r.must(r.reload(r.rules))
		r.pass(5 * time.Second)
		r.wantTexts("a", "-1", "one\ntwo")
	})
}

// What a person did isn't changed by a rule for the same target, however it differs.
func TestARuleDoesNotChangeWhatAPersonDid(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-2")}
		r.start()
		r.begin("pb_1", "agent-1")
		byHand := r.bind("pb_1", "a:-1", adapters.ViewFinal)
		back := r.hub.Status("pb_1")[0].Binding
		r.must(r.hub.Unbind(context.Background(), back.ID))

		other := rule(t, "*", "a:-2")
		other.Input = true
		r.must(r.reload([]adapters.MirrorRule{rule(t, "*", "a:-1"), other}))
		for _, st := range r.hub.Status("pb_1") {
			switch {
			case st.Binding.ID == byHand.ID && st.Binding != byHand:
				t.Errorf("the rule made %+v of %+v", st.Binding, byHand)
			case st.Binding.ID == back.ID && (!st.Binding.Unbound || st.Open):
				t.Errorf("the rule brought back %+v", st.Binding)
			}
		}
	})
}
