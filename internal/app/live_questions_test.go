package app_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
)

// Claude Code's hook answers its questions: one choice, several, and a text.
func TestLiveQuestionsByHook(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if name != "claude" {
			t.Skip("its hooks can't answer questions")
		}
		k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: true, orders: true}, random)
		if err := k.run.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"ask", "multi", "ask"} {
			o := k.word(kind)
			k.plain(momentIdle, o)
			q := &question{kind: kind, tag: o.tag}
			if !k.comes(q) {
				t.Fatalf("no question; screen:\n%s", k.screen(k.Context()))
			}
			choices := agentlab.OrderChoices(o.tag)
			want, r := choices[1:2], api.AnswerRequest{Options: []api.PromptChoice{{N: 2}}}
			if kind == "multi" {
				want, r.Options = []string{choices[0], choices[2]}, []api.PromptChoice{{N: 1}, {N: 3}}
			}
			if _, err := k.api.Answer(k.Context(), q.prompt.ID, r); err != nil {
				t.Errorf("answer %s: %v", o, err)
			}
			k.calm()
			results := strings.Join(k.run.Model.Results(o.tag), "\n")
			for _, c := range choices {
				if strings.Contains(results, c) != slices.Contains(want, c) {
					t.Errorf("the model was told %q, want %q", results, want)
				}
			}
			t.Logf("%s: %q", o, results)
			said := k.screen(k.Context()) // what keys answer isn't said to be allowed by a hook
			if at := strings.LastIndex(said, o.tag+" go?"); at < 0 || !strings.Contains(said[at:], "Allowed by PermissionRequest hook") {
				t.Errorf("it wasn't answered by the hook; screen:\n%s", said)
			}
		}
	})
}
