package app_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

// codexName is what Codex calls a sub-agent: it has names for them.
var codexName = regexp.MustCompile(`^↳ \S.* \(helper`)

// What the sub-agents of real Claude Code, Codex, Gemini CLI, opencode and Qwen Code say stands in
// the log once, each below who says it and in its own order, within no block of the agent's own
// answer; turns end as they would without them, and nothing internal is told.
func TestLiveSubAgents(t *testing.T) { eachLiveAgent(t, liveSubAgents) }

func liveSubAgents(t *testing.T, name string, _ *rand.Rand) {
	t.Helper()
	heads := map[string][]string{
		"claude":   {"↳ general-purpose (Look at the list):", "↳ general-purpose (Look again):"},
		"codex":    {"↳ somebody (helper one, look at the list):", "↳ somebody (helper two, look at the list):"},
		"gemini":   {"↳ sub-agent (helper one, look at the list):", "↳ sub-agent (helper two, look at the list):"},
		"opencode": {"↳ general (Look at the list):", "↳ general (Look again):"},
		"qwen":     {"↳ general-purpose (Look at the list):", "↳ general-purpose (Look again):"},
	}[name]
	if heads == nil || name == "qwen" && agentlab.Agents()[name].Version() == "0.15.10" { // which writes nothing of them
		t.Skip("what its sub-agents say isn't read")
	}
	m := liveMode{agent: name, width: 100, height: 40, screen: agentlab.Default}
	k := newLiveRig(t, m)
	ctx := t.Context()
	k.must(k.run.Submit(ctx, "Please have it looked at"))
	words := []string{"I am a helper, and I look at the list first.", "The helper has seen:\n\n1. one\n2. two"}
	if name == "gemini" { // which has them say it once more, to the tool that ends them
		words = append(words, words[1])
	}
	said := func() (all map[string][]string) {
		all = map[string][]string{}
		for _, block := range blocksOf(k.logged(), sessions.KindAnswer) {
			head, text, ok := strings.Cut(block, "\n\n")
			if !ok || !strings.HasPrefix(head, "↳ ") {
				head, text = "", block
			}
			if name == "codex" {
				head = codexName.ReplaceAllString(head, "↳ somebody (helper")
			}
			all[head] = append(all[head], text)
		}
		return all
	}
	k.await("what the sub-agents say", func() bool {
		if name == "qwen" { // which asks whether it may call them
			k.allowByKey("Do you want to proceed?")
		}
		all := said()
		return len(all[heads[0]]) >= len(words) && len(all[heads[1]]) >= len(words) && !k.open()
	})
	k.killed++
	k.kill()
	k.begin()
	k.await("the daemon again", func() bool { _, err := k.api.Health(k.ctx()); return err == nil })
	time.Sleep(3 * time.Second) // for what mustn't come
	all := said()
	for _, head := range heads {
		if got := strings.Join(all[head], "|"); got != strings.Join(words, "|") {
			t.Errorf("%s said %q", head, got)
		}
	}
	for head := range all {
		if head != "" && head != heads[0] && head != heads[1] {
			t.Errorf("%q speaks", head)
		}
	}
	if own := all[""]; len(own) == 0 || own[0] != "I begin by asking for help." {
		t.Errorf("the agent said %q", own)
	}
	for _, text := range all[""][1:] {
		if text != "Both have looked.\n\nThat is all there is to say." {
			t.Errorf("the agent said %q", text)
		}
	}
	for _, l := range k.logged() {
		task := name != "gemini" && name != "codex" && strings.Contains(l.Text, "helper one, look") // which names them by that
		if strings.Contains(l.Text, "system-reminder") || task {
			t.Errorf("it's told: %q", l.Text)
		}
	}
}

// allowByKey takes the first option of a dialog that asks something, at the pane.
func (k *liveRig) allowByKey(question string) {
	k.Helper()
	if strings.Contains(k.screen(k.ctx()), question) {
		k.must(k.run.Keys(k.ctx(), "1"))
	}
}
