package app_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

// continued is how a program ends, and the ways in which it's begun once more to go on with
// the conversation that it had.
var continued = map[string]struct {
	end  string
	ways [][]string
}{
	"claude":   {"/exit", [][]string{{"--continue"}, {"--continue", "--fork-session"}}},
	"codex":    {"/quit", [][]string{{"resume", "--last"}, {"fork", "--last"}}},
	"gemini":   {"/quit", [][]string{{"--resume", "latest"}}},
	"opencode": {"/exit", [][]string{{"--continue"}}},
	"qwen":     {"/quit", [][]string{{"--continue"}}},
	"pi":       {"/quit", [][]string{{"--continue"}}},
}

// Real agent programs end, and go on with their conversation, or a copy of it, in another
// run, which may be older than the daemon: the session stays what it was, nothing of the
// conversation is told anew, and what's said then is in the log once.
func TestLiveContinuedConversations(t *testing.T) { eachLiveAgent(t, liveContinuedConversations) }

func liveContinuedConversations(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	how, ok := continued[name]
	if !ok {
		t.Skip("it isn't known how it's told to")
	}
	a := agentlab.Agents()[name]
	m := liveMode{agent: name, width: 100, height: 40, hooks: a.Hooks && random.IntN(2) == 0, again: how.ways[random.IntN(len(how.ways))]}
	older := random.IntN(2) == 0
	t.Logf("%v, begun once more with %q; the daemon is younger: %t", m, m.again, older)
	k := newLiveRig(t, m)
	ctx := t.Context()
	answers := func(n int) {
		k.await("an answer", func() bool { return len(blocksOf(k.logged(), sessions.KindAnswer)) >= n && !k.open() })
	}
	k.turn(ctx, "Please say hello", nil)
	answers(1)
	if older {
		k.killed++
		k.kill()
	}
	k.must(k.run.Paste(ctx, how.end))
	time.Sleep(time.Second) // it offers commands
	k.must(k.run.Keys(ctx, "Enter"))
	time.Sleep(3 * time.Second)
	k.must(k.run.Still(ctx, settled))
	if older {
		k.begin()
		k.await("the daemon again", func() bool { _, err := k.api.Health(k.ctx()); return err == nil })
	}
	t.Logf("it goes on with:\n%s", k.screen(ctx))
	k.turn(ctx, "Please say hello once more", nil)
	answers(2)
	k.turn(ctx, "Please say hello, a third time", nil)
	answers(3)
	time.Sleep(2 * time.Second) // for what mustn't come
	k.checkAnswers(k.logged())
	if all, err := k.api.Sessions(k.ctx()); err != nil || len(all) != 1 || all[0].ID != k.id {
		t.Errorf("sessions %+v, %v", all, err)
	}
	if n := len(k.telegram.Topics(k.forum)); n != 1 {
		t.Errorf("%d topics", n)
	}
}
