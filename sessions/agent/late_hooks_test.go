package agent

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/recording"
)

// A machine at work starts a hook's process late. Agents wait for the hooks that may change
// a prompt or stop a tool; that of a turn's end comes when it comes, also within the next turn.
// A hook that can't be run tells nothing. Each turn has one end all the same.
func TestHooksAreLateOrLost(t *testing.T) {
	t.Parallel()
	set, recordings := loadAll(t)
	random := drawtest.Rand(t, 0)
	for _, r := range recordings {
		parts := partsOf(t, r)
		if len(parts.hooks) == 0 || len(parts.spans) == 0 {
			continue
		}
		for range drawtest.Times(40, 20, 4) {
			late := *parts
			late.hooks = withLateEnds(parts, random)
			m := mode{hooks: true, records: true, talking: random.IntN(2) == 0, phase: time.Duration(random.IntN(950)) * time.Millisecond}
			verdicts := newReplay(t, set, &late, m).run()
			if problem := alternate(verdicts); problem != "" {
				t.Errorf("%s: %s", r.Name, problem)
			}
			if turns, ends := countedEnds(verdicts, parts.spans); len(ends) != len(turns) {
				var at []time.Duration
				for _, h := range late.hooks {
					at = append(at, h.At)
				}
				t.Errorf("%s: turns end at %v, ends were seen at %v; hooks came at %v", r.Name, turns, ends, at)
			}
		}
	}
}

// withLateEnds are a recording's hooks with those of ends up to 6 s late, but no later than
// half a second behind the next prompt: an agent waits for the hook of that. Or else some of
// all its hooks are lost, and ends come half a second late at most.
func withLateEnds(r *parts, random *rand.Rand) []recording.Hook {
	hooks, late := slices.Clone(r.hooks), 6*time.Second
	if random.IntN(2) == 0 {
		late = time.Second / 2
		hooks = slices.DeleteFunc(hooks, func(recording.Hook) bool { return random.IntN(8) == 0 })
	}
	var last time.Duration
	for i := range hooks {
		h := &hooks[i]
		if slices.Contains(endHooks, h.Event) {
			h.At += time.Duration(random.Int64N(int64(late)))
			if next := slices.IndexFunc(hooks[i:], func(h recording.Hook) bool { return slices.Contains(promptHooks, h.Event) }); next >= 0 {
				h.At = min(h.At, hooks[i+next].At+500*time.Millisecond)
			}
		}
		h.At = max(h.At, last)
		last = h.At
	}
	return hooks
}

// Hooks of the ends of turns and of prompts.
var (
	endHooks    = []string{"Stop", "notify", "AfterAgent", "event:session.idle"}
	promptHooks = []string{"UserPromptSubmit", "BeforeAgent", "chat.message"}
)
