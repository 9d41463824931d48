package app_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

// What the sub-agents of a real Claude Code say stands in the log once, each below who says
// it and in its own order, within no block of the agent's own answer; turns end as they
// would without them, and nothing internal is told.
func TestLiveSubAgents(t *testing.T) {
	if os.Getenv("PANEBRIDGE_AGENTS") == "" {
		t.Skip("PANEBRIDGE_AGENTS isn't set; make test-agents sets it")
	}
	if only := os.Getenv("PANEBRIDGE_AGENT"); only != "" && only != "claude" {
		t.Skip("another agent is asked for")
	}
	m := liveMode{agent: "claude", width: 100, height: 40, screen: agentlab.Default}
	k := newLiveRig(t, m)
	ctx := t.Context()
	k.must(k.run.Submit(ctx, "Please have it looked at"))
	heads := []string{"↳ general-purpose (Look at the list):", "↳ general-purpose (Look again):"}
	words := []string{"I am a helper, and I look at the list first.", "The helper has seen:\n\n1. one\n2. two"}
	said := func() (all map[string][]string) {
		all = map[string][]string{}
		for _, block := range blocksOf(k.logged(), sessions.KindAnswer) {
			head, text, ok := strings.Cut(block, "\n\n")
			if !ok || !strings.HasPrefix(head, "↳ ") {
				head, text = "", block
			}
			all[head] = append(all[head], text)
		}
		return all
	}
	k.await("what the sub-agents say", func() bool {
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
		if strings.Contains(l.Text, "system-reminder") || strings.Contains(l.Text, "helper one, look") {
			t.Errorf("it's told: %q", l.Text)
		}
	}
}
