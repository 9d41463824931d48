package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
)

// Claude Code's permission hook, put there by panebridge, waits while the dialog stands:
// a Yes and a No from a chat go by the hook, a key at the keyboard ends it, and what the model
// is told of a No is the same by either.
func TestLivePermissionHook(t *testing.T) {
	if os.Getenv("PANEBRIDGE_AGENTS") == "" {
		t.Skip("PANEBRIDGE_AGENTS isn't set; make test-agents sets it")
	}
	m := liveMode{agent: "claude", width: 100, height: 40, screen: agentlab.Inline, hooks: true, orders: true}
	k := &promptRig{liveRig: beginLiveRig(t, m), random: rand.New(rand.NewPCG(1, 2))}
	k.watch()
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	asks := func(how string) *question {
		o := k.word("run")
		k.input(momentIdle, o)
		q := &question{kind: o.kind, tag: o.tag, how: how}
		if !k.comes(q) {
			t.Fatalf("no question; screen:\n%s", k.screen(t.Context()))
		}
		k.questions = append(k.questions, q)
		k.await("a hook that waits", func() bool { return k.waitingHooks() == 1 })
		time.Sleep(time.Second) // the daemon knows of it
		return q
	}
	over := func(q *question) {
		k.settles(q)
		k.await("the hook's end", func() bool { return k.waitingHooks() == 0 })
		k.calm()
	}
	const byHook = "Allowed by PermissionRequest hook"

	q := asks("api")
	q.options = []int{0}
	k.answerHere(q)
	over(q)
	if n := strings.Count(k.tmux("capture-pane", "-p", "-S", "-", "-t", k.run.Pane), byHook); n != 1 {
		t.Errorf("the hook is said to have allowed %d commands, want 1; screen:\n%s", n, k.screen(t.Context()))
	}

	q = asks("keyboard")
	q.keys = k.run.Agent.Approve
	q.err = k.run.Keys(t.Context(), q.keys...)
	over(q)

	refused := func(how string) (transcript string) {
		q := asks(how)
		q.options = []int{len(q.prompt.Options) - 1}
		if how == "keyboard" {
			q.keys = []string{fmt.Sprint(len(q.prompt.Options))}
			q.err = k.run.Keys(t.Context(), q.keys...)
		} else {
			k.answerHere(q)
		}
		over(q)
		return k.toldOf(q.tag)
	}
	for range 2 {
		if byHook, byKey := refused("api"), refused("keyboard"); byHook != byKey || byHook == "" {
			t.Errorf("the model is told of a No\n%s\nby the hook, and by the key\n%s", byHook, byKey)
		}
	}
	if n := strings.Count(k.tmux("capture-pane", "-p", "-S", "-", "-t", k.run.Pane), byHook); n != 1 {
		t.Errorf("the hook is said to have allowed %d commands, want 1; screen:\n%s", n, k.screen(t.Context()))
	}
	if n := k.byHook(); n != 3 {
		t.Errorf("the hook answered %d times, want 3", n)
	}
	k.check()
}

// toldOf is what the transcript has as told to the model after a call: the texts of the
// person's side, and by whom the call was refused.
func (k *promptRig) toldOf(tag string) string {
	k.Helper()
	var out []string
	called := false
	for _, path := range k.run.Transcripts() {
		text, err := os.ReadFile(path)
		k.must(err)
		for line := range strings.Lines(string(text)) {
			var r struct {
				Type    string
				Denial  string `json:"toolDenialKind"`
				Result  any    `json:"toolUseResult"`
				Message struct{ Content json.RawMessage }
			}
			var parts []struct{ Type, Text, Content string }
			if json.Unmarshal([]byte(line), &r) != nil || json.Unmarshal(r.Message.Content, &parts) != nil {
				continue
			}
			if r.Type == "assistant" {
				called = strings.Contains(line, "ran-"+tag)
			}
			for _, p := range parts {
				if called && r.Type == "user" {
					out = append(out, fmt.Sprintf("%s %q %q, %s, %v", p.Type, p.Text, p.Content, r.Denial, r.Result))
				}
			}
		}
	}
	return strings.Join(out, "\n")
}

// waitingHooks are the permission hooks of the agent that run.
func (k *promptRig) waitingHooks() int {
	n := 0
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	k.must(err)
	for _, path := range all {
		line, _ := os.ReadFile(path) // it may have ended
		words := strings.Split(string(line), "\x00")
		if strings.Contains(string(line), "PermissionRequest\x00--wait") && strings.Contains(string(line), k.dir) && !strings.HasSuffix(words[0], "sh") {
			n++
		}
	}
	return n
}
