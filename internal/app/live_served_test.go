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
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// Codex in its daemon mode, with hooks and without, asks about commands, changes of files, tools
// of an MCP server, and one choice or several: what's answered from here is told to its app server without a key, as the call's
// record has it, and what's answered at the keyboard counts as ever.
func TestLiveServedQuestions(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if name != "codex" {
			t.Skip("it has no server that tells of its questions")
		}
		for _, hooks := range []bool{false, true} {
			t.Run(fmt.Sprint("hooks ", hooks), func(t *testing.T) { liveServed(t, hooks, random) })
		}
	})
}

func liveServed(t *testing.T, hooks bool, random *rand.Rand) {
	t.Helper()
	k := promptRigOf(t, liveMode{agent: "codex", width: 100, height: 40, hooks: hooks, orders: true, daemon: true, mcp: true}, random)
	if hooks {
		k.trustHooks()
	}
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.plain(momentIdle, k.word("say"))
	k.calm()
	k.await("a connection to the app server", func() bool { return k.said("app server tells of a session's questions") == 1 })
	kinds := []string{"put", "run", "write", "ask", "forge", "several", "put", "run", "write", "ask", "long", "two", "several", "several"}
	if drawtest.Stressed() {
		for range 50 - len(kinds) {
			kinds = append(kinds, kinds[random.IntN(14)])
		}
	}
	byServer := 0
	for i, kind := range kinds {
		if t.Failed() {
			break
		}
		if kind == "several" {
			byServer += k.servedSeveral([]string{"api", "text", "keyboard"}[(i+random.IntN(2))%3])
			continue
		}
		byServer += k.served(kind, i < 5, random)
	}
	if n := k.said("server answers its dialog"); n != byServer {
		t.Errorf("the server was told %d answers, want %d", n, byServer)
	}
	if t.Failed() {
		k.dump(k.logged())
	}
}

// served has the agent ask, answers, and returns how many answers its server was told.
func (k *promptRig) served(kind string, here bool, random *rand.Rand) (byServer int) {
	k.Helper()
	o := k.word(kind)
	k.plain(momentIdle, o)
	tags := []string{o.tag}
	if kind == "two" {
		tags = []string{o.tag + "1", o.tag + "2"}
	}
	refused := false
	for range tags {
		p, ok := k.servedPrompt(o, kind)
		if !ok {
			if !refused {
				k.Errorf("no question of %s; prompts %+v; screen:\n%s", o, k.seen.all(), k.screen(k.Context()))
			}
			break
		}
		want := map[string]string{"run": agentlab.OrderCommand(o.tag), "forge": readAsCommand(agentlab.OrderForged(o.tag)), "long": agentlab.OrderLong(o.tag), "write": "wrote-" + o.tag, "put": "  1. Allow\n      Field 1/1"}[kind]
		if want != "" && !strings.Contains(p.Body, want) {
			k.Errorf("it asks about\n%s\nand this is shown, %+v:\n%s", want, p, p.Body)
		}
		tag := o.tag
		if kind == "two" {
			tag = tags[0]
			if strings.Contains(p.Body, tags[1]) {
				tag = tags[1]
			}
		}
		yes := random.IntN(2) == 0
		option := 2
		if kind != "ask" {
			option = slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses != yes }) + 1
			refused = refused || !yes
		}
		if here || random.IntN(3) > 0 {
			done, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: option}})
			if err != nil || done.State != sessions.PromptAnswered {
				k.Errorf("answer %+v: %v; screen:\n%s", p, err, k.screen(k.Context()))
			}
			byServer++
		} else {
			k.must(k.run.Keys(k.Context(), fmt.Sprint(option)))
		}
		k.await("the end of the question", func() bool { return !k.seen.get(p.ID).went.IsZero() })
		if kind == "ask" {
			continue
		}
		k.await("what was answered", func() bool { return len(k.seen.open()) > 0 || !k.run.Model.Busy() })
		time.Sleep(700 * time.Millisecond)
		made := func() bool {
			found, _ := filepath.Glob(filepath.Join(k.run.Cwd, agentlab.OrderFile(tag)))
			return len(found) > 0
		}
		if yes {
			k.await("what was allowed", made)
		}
		if ran := made(); ran != yes {
			k.Errorf("%s, %s: done %t, want %t; screen:\n%s", o, tag, ran, yes, k.screen(k.Context()))
		}
	}
	k.calm()
	if kind == "ask" {
		results := strings.Join(k.run.Model.Results(o.tag), "\n")
		for i, c := range agentlab.OrderChoices(o.tag) {
			if strings.Contains(results, c) != (i == 1) {
				k.Errorf("%s: the model was told %q", o, results)
			}
		}
	}
	return byServer
}

// readAsCommand is how a question shows a command that has rows which look like a named value's.
func readAsCommand(command string) string { return "$ " + strings.ReplaceAll(command, "\n", "\n  ") }

// servedSeveral has the agent ask two questions at once, answers the first, and then the second
// by a choice, a text, or both at the keyboard; it returns how many answers its server was told.
func (k *promptRig) servedSeveral(how string) (byServer int) {
	k.Helper()
	o := k.word("several")
	k.plain(momentIdle, o)
	choices := agentlab.OrderChoices(o.tag)
	first, ok := k.servedPrompt(o, "several")
	if !ok || !slices.Equal(labels(first), append(slices.Clone(choices), "None of the above")) || !strings.Contains(first.Body, "And which should "+o.tag) {
		k.Errorf("%s: it's asked %+v; screen:\n%s", o, first, k.screen(k.Context()))
		return 0
	}
	answer := func(p api.Prompt, r api.AnswerRequest) {
		done, err := k.api.Answer(k.Context(), p.ID, r)
		if err != nil || done.State != sessions.PromptAnswered {
			k.Errorf("answer %+v: %v; screen:\n%s", p, err, k.screen(k.Context()))
		}
		k.await("the end of the question", func() bool { return !k.seen.get(p.ID).went.IsZero() })
	}
	answer(first, api.AnswerRequest{Option: &api.PromptChoice{N: 2}})
	if shown := k.screen(k.Context()); !strings.Contains(shown, "Question 1/2 (2 unanswered)") {
		k.Errorf("keys were pressed; screen:\n%s", shown)
	}
	var second api.Prompt
	k.await("the second question", func() bool {
		open := k.seen.open()
		if len(open) == 1 {
			second = open[0]
		}
		return len(open) == 1 && second.ID != first.ID
	})
	if second.Title != "And which should "+o.tag+" take along?" || !strings.Contains(second.Body, "→ "+choices[1]) {
		k.Errorf("%s: it's asked %+v", o, second)
	}
	want := []string{choices[1], choices[2]}
	switch byServer = 1; how {
	case "keyboard": // takes the first of each: what was answered elsewhere doesn't count then
		byServer, want = 0, choices[:1]
		k.must(k.run.Keys(k.Context(), "1"))
		k.await("the end of what was asked", func() bool { return !k.seen.get(second.ID).went.IsZero() })
		k.must(k.run.Still(k.Context(), time.Second))
		k.must(k.run.Keys(k.Context(), "1"))
	case "text":
		want[1] = "as you like it, " + o.tag
		answer(second, api.AnswerRequest{Text: want[1]})
	default:
		answer(second, api.AnswerRequest{Option: &api.PromptChoice{N: 3}})
	}
	k.calm()
	results := strings.Join(k.run.Model.Results(o.tag), "\n")
	for _, c := range append(slices.Clone(choices), want...) {
		if strings.Contains(results, c) != slices.Contains(want, c) {
			k.Errorf("%s, %s: the model was told %q, want %q", o, how, results, want)
		}
	}
	k.Logf("%s, %s: %q", o, how, results)
	return byServer
}

// servedPrompt is what's asked, once its record is known.
func (k *promptRig) servedPrompt(o order, kind string) (api.Prompt, bool) {
	k.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		all, err := k.api.Prompts(k.Context())
		k.must(err)
		for _, p := range all {
			if p.State == sessions.PromptOpen && strings.Contains(p.Title+p.Body, o.tag) && (p.Recorded && !p.Unseen || kind == "ask") {
				time.Sleep(300 * time.Millisecond)
				return p, true
			}
		}
		if kind == "two" && !k.run.Model.Busy() && len(k.seen.open()) == 0 && time.Since(k.seen.lastChange()) > 5*time.Second {
			break // refused with the first
		}
	}
	return api.Prompt{}, false
}

// trustHooks answers Codex' question about hooks that are new.
func (k *liveRig) trustHooks() {
	k.Helper()
	k.await("question about new hooks", func() bool { return strings.Contains(k.screen(k.Context()), "Trust all and continue") })
	k.must(k.run.Still(k.Context(), time.Second)) // it passes over keys at first
	k.must(k.run.Keys(k.Context(), "Down"))
	k.await("mark at trusting them", func() bool { return strings.Contains(k.screen(k.Context()), "› 2. Trust all") })
	k.must(k.run.Keys(k.Context(), "Enter"))
}

// said is how often the daemon's log says something.
func (k *liveRig) said(what string) int {
	k.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, "log"))
	k.must(err)
	return strings.Count(string(text), what)
}
