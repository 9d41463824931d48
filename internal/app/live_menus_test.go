package app_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// Real agents' menus of models are found within a tick of being drawn, offer what's drawn, and
// are closed everywhere when they are in the pane. opencode's takes a search: no key is offered
// there that would be typed into it.
func TestLiveMenus(t *testing.T) { eachLiveAgent(t, liveMenus) }

func liveMenus(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	command := "/model"
	if name == "opencode" {
		command = "/models"
	}
	k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, orders: true}, random)
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	times := 1
	if liveDialogTimes() > 4 {
		times = liveDialogTimes()
	}
	for range times {
		k.openMenu(command)
	}
}

// openMenu opens a menu, looks what's told of it, and leaves it.
func (k *promptRig) openMenu(command string) {
	k.Helper()
	k.must(k.run.Keys(k.Context(), command))
	time.Sleep(time.Second) // it lists what begins so
	k.must(k.run.Keys(k.Context(), "Enter"))
	q := &question{kind: "menu", tag: command}
	found := k.until("question", q, func() bool {
		open := k.seen.open()
		if len(open) == 1 {
			q.prompt = open[0]
		}
		return len(open) == 1
	})
	if !found || !k.stays(q.prompt, false) {
		k.Fatalf("it isn't told; screen:\n%s", k.screen(k.Context()))
	}
	shown := k.screen(k.Context())
	k.Logf("%s %q, options %q", q.prompt.Kind, q.prompt.Title, labels(q.prompt))
	switch q.prompt.Kind {
	case sessions.PromptSetup:
		if q.tag = q.prompt.Title; len(q.prompt.Options) == 0 || slices.ContainsFunc(q.prompt.Options, func(o api.PromptOption) bool { return !strings.Contains(shown, o.Label) }) {
			k.Errorf("options %q; screen:\n%s", labels(q.prompt), shown)
		}
		k.foundInTime(q)
	case sessions.PromptUnread:
		if k.mode.agent != "opencode" || slices.ContainsFunc(q.prompt.Options, func(o api.PromptOption) bool { return o.Label == "Space" || len(o.Label) == 1 }) {
			k.Errorf("it's known by its keys %q; screen:\n%s", labels(q.prompt), shown)
		}
	default:
		k.Errorf("it's told as %+v", q.prompt)
	}
	k.must(k.run.Keys(k.Context(), "Escape"))
	k.until("end", q, func() bool { return !k.seen.get(q.prompt.ID).went.IsZero() })
	if q.prompt.Kind == sessions.PromptSetup {
		k.settles(q)
	}
	k.calm()
}
