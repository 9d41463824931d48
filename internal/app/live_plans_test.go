package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// Claude Code's plan is shown whole, by its record, where the screen shows a part; approved
// elsewhere it's approved by its hook, and edits are asked about afterwards, whichever mode
// came before the plan, as with the key.
func TestLivePlansByHook(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if name != "claude" {
			t.Skip("its hooks can't answer for plans")
		}
		for _, m := range []liveMode{
			{agent: name, width: 100, height: 40, screen: agentlab.Inline, hooks: true, orders: true},
			{agent: name, width: 80, height: 24, screen: agentlab.Alt, hooks: true, orders: true},
		} {
			t.Run(m.String(), func(t *testing.T) {
				k := promptRigOf(t, m, random)
				if err := k.run.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
				k.inMode("plan mode on")
				k.plain(momentIdle, k.word("say")) // then it knows where its plan is written
				k.calm()
				for _, before := range []string{"accept edits on", "manual mode on"} {
					for _, kind := range []string{"plan", "longplan"} {
						for _, by := range []string{"hook", "key"} {
							k.planFrom(before, kind, by)
						}
					}
				}
			})
		}
	})
}

// inMode goes on to a mode, which is said at the screen's end.
func (k *promptRig) inMode(mode string) {
	k.Helper()
	for range 8 {
		k.must(k.run.Still(k.Context(), 300*time.Millisecond))
		if strings.Contains(k.screen(k.Context()), mode) {
			return
		}
		k.must(k.run.Keys(k.Context(), "BTab"))
	}
	k.Fatalf("no %q; screen:\n%s", mode, k.screen(k.Context()))
}

// planFrom has a plan made after a mode, and approves it by the hook or with the key.
func (k *promptRig) planFrom(before, kind, by string) {
	k.Helper()
	k.inMode(before)
	k.inMode("plan mode on")
	o := k.word(kind)
	k.plain(momentIdle, o)
	var p api.Prompt
	for end := time.Now().Add(20 * time.Second); p.ID == "" || !p.Recorded; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			k.Fatalf("%s: no plan with its record: %+v; screen:\n%s", o, p, k.screen(k.Context()))
		}
		all, err := k.api.Prompts(k.Context())
		k.must(err)
		if i := slices.IndexFunc(all, func(p api.Prompt) bool { return p.Kind == sessions.PromptPlan }); i >= 0 {
			p = all[i]
		}
	}
	whole := "1. Do " + o.tag + "\n2. Rest"
	for i := 3; kind == "longplan" && i <= 80; i++ {
		whole += fmt.Sprintf("\n%d. Step %d of %s", i, i, o.tag)
	}
	if !strings.HasPrefix(p.Body, whole) || p.Unseen || p.Cut {
		k.Errorf("%s: the plan is shown as %+v", o, p)
	}
	yes := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Label == "Yes, manually approve edits" }) + 1
	had := k.byHook()
	var err error
	if by == "key" {
		err = k.run.Keys(k.Context(), fmt.Sprint(yes))
	} else {
		_, err = k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: yes}})
	}
	if err != nil {
		k.Errorf("%s: %v", o, err)
	}
	k.calm()
	if n := k.byHook() - had; n != map[string]int{"hook": 1}[by] {
		k.Errorf("%s by %s: the hook answered %d times", o, by, n)
	}
	if results := strings.Join(k.run.Model.Results(o.tag), "\n"); !strings.Contains(results, "User has approved your plan") || !strings.Contains(results, whole) {
		k.Errorf("%s by %s: the model was told %q", o, by, results)
	}
	if !strings.Contains(k.screen(k.Context()), "manual mode on") {
		k.Errorf("%s by %s, after %q: the mode isn't that which was chosen; screen:\n%s", o, by, before, k.screen(k.Context()))
	}
	k.Logf("%s by %s after %q", o, by, before)
}

// byHook is how often the daemon said that a hook answered.
func (k *promptRig) byHook() int {
	k.Helper()
	said, err := os.ReadFile(filepath.Join(k.dir, "log"))
	k.must(err)
	return strings.Count(string(said), "hook answers its dialog")
}
