package app_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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

// Several questions of one call are asked one after the other as its record has them, in
// chats and here, and its hook is told all answers at once: the dialog stands at its first
// question until then, and whoever answers at the keyboard instead goes on there.
func TestLiveSeveralByHook(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if name != "claude" {
			t.Skip("its hooks can't answer questions")
		}
		k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: true, orders: true}, random)
		if err := k.run.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{"api", "telegram", "text", "discord", "keyboard", "none"} {
			if !t.Failed() {
				k.severalByHook(how)
			}
		}
	})
}

// severalByHook has the agent ask two questions, and answers the first with its second
// choice and the second with its first and third, or otherwise.
func (k *promptRig) severalByHook(how string) {
	k.Helper()
	o := k.word("several")
	k.plain(momentIdle, o)
	choices := agentlab.OrderChoices(o.tag)
	first, second := &question{kind: "several", tag: o.tag, how: how}, &question{kind: "several", tag: o.tag, how: how}
	if !k.comes(first) {
		k.Fatalf("no question; screen:\n%s", k.screen(k.Context()))
	}
	k.until("record", first, func() bool {
		all, err := k.api.Prompts(k.Context())
		k.must(err)
		i := slices.IndexFunc(all, func(p api.Prompt) bool { return p.ID == first.prompt.ID && p.Recorded })
		if i >= 0 {
			first.prompt = all[i]
		}
		return i >= 0
	})
	if !slices.Equal(labels(first.prompt), choices) || !strings.Contains(first.prompt.Body, "And which should "+o.tag) {
		k.Errorf("%s: it's asked %+v", o, first.prompt)
	}
	give := func(q *question, options ...int) {
		switch q.options = options; how {
		case "telegram":
			k.answerTelegram(q)
		case "discord":
			k.answerDiscord(q)
		default:
			k.answerHere(q)
		}
		if q.err != nil {
			k.Errorf("%s: %v", q, q.err)
		}
		k.settles(q)
	}
	give(first, 1)
	if shown := k.screen(k.Context()); !strings.Contains(shown, "☐ Way") || strings.Contains(shown, "☒") {
		k.Errorf("keys were pressed; screen:\n%s", shown)
	}
	if !k.until("second question", second, func() bool {
		open := k.seen.open()
		if len(open) == 1 {
			second.prompt = open[0]
		}
		return len(open) == 1 && open[0].ID != first.prompt.ID
	}) {
		return
	}
	if p := second.prompt; !p.Multi || p.Title != "And which should "+o.tag+" take along?" || !slices.Equal(labels(p), choices) || !strings.Contains(p.Body, "→ "+choices[1]) {
		k.Errorf("%s: it's asked %+v", o, p)
	}
	want := []string{choices[1], choices[0], choices[2]}
	switch how {
	case "keyboard": // takes its first choice, and of the second question the first
		k.must(k.run.Keys(k.Context(), "1"))
		k.settles(second)
		want = []string{choices[0]}
		k.must(k.run.Still(k.Context(), time.Second))
		k.must(k.run.Keys(k.Context(), "1", "Tab"))
		k.must(k.run.Still(k.Context(), time.Second))
		k.must(k.run.Keys(k.Context(), "1"))
	case "text":
		second.text = "as you like it, " + o.tag
		give(second)
		want = []string{choices[1], second.text}
	case "none":
		give(second, []int{}...)
		want = []string{choices[1]}
	default:
		give(second, 0, 2)
	}
	k.calm()
	results := strings.Join(k.run.Model.Results(o.tag), "\n")
	for _, c := range append(slices.Clone(choices), want...) {
		if strings.Contains(results, c) != slices.Contains(want, c) {
			k.Errorf("%s: the model was told %q, want %q", how, results, want)
		}
	}
	k.Logf("%s, %s: %q", o, how, results)
	said := k.screen(k.Context())
	if at := strings.LastIndex(said, o.tag+" go?"); at < 0 || strings.Contains(said[at:], "Allowed by PermissionRequest hook") == (how == "keyboard") {
		k.Errorf("%s: it wasn't answered as it should be; screen:\n%s", how, said)
	}
}
