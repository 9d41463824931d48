package app_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// Real Qwen Code asks whether it may fetch a page and begin a sub-agent, and the sub-agent whether
// it may run a command, with hooks and without: what's shown is all of the call, or only a refusal
// is taken.
func TestLiveCalls(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if name != "qwen" {
			t.Skip("its calls are asked about otherwise, or not at all")
		}
		for _, hooks := range []bool{true, false} {
			t.Run(fmt.Sprint("hooks ", hooks), func(t *testing.T) { liveCallsWith(t, name, hooks, random) })
		}
	})
}

func liveCallsWith(t *testing.T, name string, hooks bool, random *rand.Rand) {
	t.Helper()
	rounds := 4
	if drawtest.Stressed() {
		rounds = 20
	}
	k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: hooks, orders: true}, random)
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.plain(momentIdle, k.word("say"))
	k.calm()
	begins := agentlab.Agents()[name].Version() != "0.15.10" // which begins sub-agents without asking
	for i := range rounds {
		if t.Failed() {
			return // a question that stands open would have each of the others wait for minutes
		}
		if i%2 == 0 {
			o := k.word("fetch")
			k.plain(momentIdle, o)
			k.answerCall(o.tag, random.IntN(2) == 0, agentlab.OrderURL(o.tag), "Say what "+o.tag+" is")
			k.calm()
			continue
		}
		o := k.word("sub")
		k.plain(momentIdle, o)
		run := agentlab.OrderSub(o.tag)
		if begins && !k.answerCall(o.tag, random.IntN(4) > 0, "Run "+o.tag, "Please (run "+run+") for me") {
			k.calm()
			continue
		}
		yes := k.answerCall(run, random.IntN(2) == 0, agentlab.OrderCommand(run))
		k.calm()
		made, _ := filepath.Glob(filepath.Join(k.run.Cwd, agentlab.OrderFile(run)))
		if ran := len(made) > 0; ran != yes {
			t.Errorf("%s ran: %t, want %t; screen:\n%s", o, ran, yes, k.screen(k.Context()))
		}
	}
}

// answerCall allows a call, or refuses it: without its record only that is taken. It reports
// whether it was allowed.
func (k *promptRig) answerCall(tag string, yes bool, says ...string) bool {
	k.Helper()
	p, ok := k.asksAbout(tag)
	if !ok {
		k.Fatalf("no question about %s; prompts %+v; screen:\n%s", tag, k.seen.all(), k.screen(k.Context()))
	}
	k.Logf("%s: recorded %t, disputed %t, unseen %t: %q", tag, p.Recorded, p.Disputed, p.Unseen, p.Body)
	if p.Recorded != k.mode.hooks || p.Unseen == p.Recorded || p.Disputed {
		k.Errorf("%+v on the screen\n%s", p, k.screen(k.Context()))
	}
	for _, text := range says {
		if p.Recorded && !strings.Contains(p.Body, text) {
			k.Errorf("%q isn't shown of it:\n%s", text, p.Body)
		}
	}
	if p.Unseen {
		allows := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return !o.Refuses })
		if _, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: allows + 1}}); err == nil {
			k.Errorf("%+v was allowed, and not all of it was shown", p)
		}
		yes = false
	}
	option := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses != yes })
	if done, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: option + 1}}); err != nil || done.State != sessions.PromptAnswered {
		k.Errorf("answer %+v: %v; screen:\n%s", p, err, k.screen(k.Context()))
	}
	return yes
}
