package adapters_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

func TestBindRefusesWhatCannotBe(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		r.must(r.house.End("pb_2", "ended"))
		ctx := context.Background()
		for _, c := range []struct {
			id   sessions.ID
			to   adapters.Target
			view adapters.View
			want error
		}{
			{"pb_9", adapters.Target{Adapter: "a", Chat: "-1"}, "", sessions.ErrUnknown},
			{"pb_2", adapters.Target{Adapter: "a", Chat: "-1"}, "", sessions.ErrEnded},
			{"pb_1", adapters.Target{Adapter: "fax", Chat: "-1"}, "", sessions.ErrUnknown},
			{"pb_1", adapters.Target{Adapter: "a", Chat: "-1"}, "sideways", sessions.ErrInvalid},
		} {
			if _, err := r.hub.Bind(ctx, c.id, c.to, c.view, false); !errors.Is(err, c.want) {
				t.Errorf("bind %s to %s as %q: %v, want %v", c.id, c.to, c.view, err, c.want)
			}
		}
		if _, err := r.hub.Bind(ctx, "pb_1", adapters.Target{Adapter: "a", Chat: "-9"}, "", false); err == nil {
			t.Error("a chat that isn't in the adapter's configuration was bound")
		}
		if err := r.hub.Unbind(ctx, "bd_none"); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("unbind what isn't there: %v", err)
		}
	})
}

func TestABindingThatThePlatformRefusesIsDisabledAndCanBeRepaired(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		thread := r.platforms["a"].AddThread("-2", "made by hand")
		r.bind("pb_1", "a:-2/"+thread, adapters.ViewStream)
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.platforms["a"].DeleteThread("-2", thread)
		r.print("pb_1", "two")
		r.pass(time.Minute)
		if len(r.disabled) != 1 || r.disabled[0].Target.Thread != thread || !strings.Contains(r.disabled[0].Disabled, adaptertest.ThreadNotFound) {
			t.Fatalf("disabled: %+v", r.disabled)
		}
		r.stop()
		r.start()
		r.print("pb_1", "three")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one\ntwo", "three") // the others go on
		resting := 0
		for _, st := range r.hub.Status("pb_1") {
			if !st.Open && st.Binding.Disabled != "" {
				resting++
			}
		}
		if resting != 1 {
			t.Fatalf("after a restart: %+v", r.hub.Status("pb_1"))
		}

		r.bind("pb_1", "a:-3", adapters.ViewStream) // another place
		r.platforms["a"].DeleteChat("-3")
		r.print("pb_1", "four")
		r.pass(time.Minute)
		if len(r.disabled) != 2 {
			t.Errorf("disabled: %+v", r.disabled)
		}
	})
}

func TestARefusedBindingGoesOnWhereItWas(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.platforms["a"].DeleteChat("-1")
		r.print("pb_1", "two")
		r.pass(time.Minute)
		r.platforms["a"].AddGroup("-1", false) // the bot was asked back
		r.print("pb_1", "three")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "two\nthree")
	})
}

func TestABindingOfAnAdapterThatIsGoneRests(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.bind("pb_1", "b:-1", adapters.ViewStream)
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.stop()
		r.names = []string{"a"}
		r.start()
		r.print("pb_1", "two")
		r.pass(time.Minute)
		if st := r.hub.Status("pb_1"); len(st) != 1 || st[0].Open {
			t.Errorf("without its adapter: %+v", st)
		}
		r.stop()
		r.names = []string{"a", "b"}
		r.start()
		r.pass(time.Minute)
		r.wantTexts("b", "-1", "one", "two")
	})
}

func TestAViewCanChange(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.bind("pb_1", "a:-1", adapters.ViewFinal)
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.wantTexts("a", "-1")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")
		r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"live: x"}}))
		r.bind("pb_1", "a:-1", adapters.ViewScreen)
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "live: x")
	})
}

// Nothing is left of a binding that was made and taken back by hand, so that a rule
// may bind its target.
func TestWhatAPersonMadeAndTookBackIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		b := r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.must(r.hub.Unbind(context.Background(), b.ID))
		if st := r.hub.Status(""); len(st) > 0 {
			t.Errorf("there is still %+v", st)
		}
		r.must(r.reload([]adapters.MirrorRule{rule(t, "*", "a:-1")}))
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")
	})
}

// The platform's refusal of a call that was under way says nothing about a binding
// that's being taken back.
func TestARefusalDuringUnbindIsNotSaid(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		b := r.hub.Status("pb_1")[0].Binding
		r.storing = func() { r.hub.Refused(b) }
		r.must(r.hub.Unbind(context.Background(), b.ID))
		r.storing = nil
		r.pass(time.Minute)
		if st := r.hub.Status("pb_1"); len(st) != 1 || !st[0].Binding.Unbound || st[0].Binding.Disabled != "" || len(r.disabled) > 0 {
			t.Errorf("there is %+v, and %+v was told", st, r.disabled)
		}
	})
}

func TestALiveRegionThatAChatDoesNotShowCostsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		before := r.snapshot("a").Totals
		for range 100 {
			r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"live: x"}}))
			r.pass(time.Second)
		}
		if after := r.snapshot("a").Totals; after.Updates != before.Updates || after.Outcomes != before.Outcomes {
			t.Errorf("before %+v, after %+v", before, after)
		}
	})
}
