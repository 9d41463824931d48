package app_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
)

// Claude Code's permission hook, put there by panebridge, waits while the dialog stands:
// a Yes from a chat goes by the hook, a key at the keyboard ends it, and a No is given by
// a key.
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

	q = asks("api")
	q.options = []int{len(q.prompt.Options) - 1}
	k.answerHere(q)
	over(q)
	if n := strings.Count(k.tmux("capture-pane", "-p", "-S", "-", "-t", k.run.Pane), byHook); n != 1 {
		t.Errorf("the hook is said to have allowed %d commands, want 1; screen:\n%s", n, k.screen(t.Context()))
	}
	k.check()
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
