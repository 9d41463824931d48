package qos_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

// TestNamedKnobsWouldChangeIt: each key that's named for what decides when a chat's next call is made has a value
// with which one is made earlier, unless two reasons end in the same moment.
func TestNamedKnobsWouldChangeIt(t *testing.T) {
	named, idle := map[string]int{}, map[string]int{}
	for seed := range drawtest.Seeds(t, drawtest.Times(1000, 60, 10)) {
		h := newForetold(t, rand.New(rand.NewPCG(seed, 8)), map[string]int{})
		seen := map[string]bool{}
		for range 100 {
			h.step()
			for _, chat := range h.chats {
				h.tryKnobs(chat, seen, named, idle)
			}
		}
	}
	t.Logf("named: %v; of these they'd change nothing: %v", named, idle)
	for key, n := range idle {
		if n > 2+named[key]/50 {
			t.Errorf("%s is named %d times and would change nothing in %d", key, named[key], n)
		}
	}
	for _, want := range []string{
		"pace group_mpm", "pace output_budget_ratio", "pace mode", "rounding rounding_ms",
		"session_tick min_session_tick_s", "window group_mpm", "window mode", "reserve reserve_mpm", "slow_start group_mpm",
	} {
		if named[want] == 0 && !testing.Short() {
			t.Errorf("the histories never had: %s", want)
		}
	}
}

// tryKnobs asks why a chat's next call isn't made yet, and tries other values of what's named: once for each call that it
// waits for.
func (h *foretold) tryKnobs(chat qos.ChatKey, seen map[string]bool, named, idle map[string]int) {
	x, known := h.engine.Explain(h.now, chat)
	if !known || len(x.Next) == 0 || len(x.Next[0].Holds) == 0 || x.Next[0].At.Before(h.now.Add(100*time.Millisecond)) {
		return
	}
	base := qos.ExplainUnder(h.engine, h.now, chat, h.opt)
	hold := x.Next[0].Holds[0]
	for _, other := range x.Next[0].Holds[1:] {
		if other.Until.Equal(x.Next[0].At) {
			return // two reasons end in the same moment: one key alone changes nothing
		}
	}
	call := fmt.Sprint(chat, hold.Kind, x.Next[0].Doc, x.Next[0].Key, x.Next[0].At.UnixNano())
	if seen[call] {
		return
	}
	seen[call] = true
	for _, knob := range hold.Knobs {
		named[hold.Kind.String()+" "+knob.Name]++
		earlier, tried := false, ""
		for _, o := range otherValues(h.opt, knob.Name) {
			y := qos.ExplainUnder(h.engine, h.now, chat, o)
			if len(y.Next) == 0 { // the options can't be
				continue
			}
			tried += fmt.Sprintf("\n%v, %v", y.Next[0].At, y.Next[0].Holds)
			earlier = earlier || !y.Next[0].At.IsZero() && y.Next[0].At.Before(base.Next[0].At)
		}
		if !earlier {
			idle[hold.Kind.String()+" "+knob.Name]++
			h.t.Logf("at %v %+v waits for %v, which %s wouldn't change:%s", h.now, x.Next[0], hold.Kind, knob.Name, tried)
		}
	}
}

// otherValues are options with other values of a knob, some of which may be refused.
func otherValues(o qos.Options, knob string) (out []qos.Options) {
	add := func(change func(*qos.Options)) {
		v := o
		v.Limits.Group.Windows = nil
		change(&v)
		out = append(out, v)
	}
	switch knob {
	case "group_mpm":
		for _, n := range []int{60, 600, 6000} {
			add(func(v *qos.Options) { v.GroupMPM = n })
		}
	case "output_budget_ratio":
		for _, r := range []float64{0.9, 1} {
			add(func(v *qos.Options) { v.OutputBudgetRatio = r })
		}
	case "mode":
		for _, m := range []qos.Mode{qos.Strict, qos.CoalesceOnly, qos.Off} {
			add(func(v *qos.Options) { v.Mode = m })
		}
	case "min_session_tick_s":
		add(func(v *qos.Options) { v.MinSessionTick = 100 * time.Millisecond })
	case "active_emitter_window_s":
		add(func(v *qos.Options) { v.ActiveEmitterWindow = time.Second })
	case "rounding_ms":
		add(func(v *qos.Options) { v.Rounding = time.Millisecond })
	case "reserve_mpm":
		for _, n := range []int{qos.NoReserve, 1, 2} {
			add(func(v *qos.Options) { v.ReserveMPM = n })
		}
	case "lend_reserve":
		add(func(v *qos.Options) { v.HardReserve = !v.HardReserve })
	}
	return out
}
