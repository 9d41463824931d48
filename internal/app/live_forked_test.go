package app_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

// forked is how a program is told to go on with a copy of its conversation.
var forked = map[string][]string{
	"claude":   {"/branch"},
	"codex":    {"/fork"},
	"pi":       {"/clone"},
	"opencode": {"/fork", "Enter"},
}

// Real agent programs go on with a copy of their conversation: the session stays what it
// was, nothing is told anew, and what's said then is in the log once.
func TestLiveForkedConversations(t *testing.T) { eachLiveAgent(t, liveForkedConversations) }

func liveForkedConversations(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	keys := forked[name]
	if keys == nil {
		t.Skip("it isn't known how it's told to")
	}
	a := agentlab.Agents()[name]
	m := liveMode{agent: name, width: 100, height: 40, hooks: a.Hooks && random.IntN(2) == 0}
	t.Logf("%v", m)
	k := newLiveRig(t, m)
	ctx := t.Context()
	answers := func(n int) {
		k.await("an answer", func() bool { return len(blocksOf(k.logged(), sessions.KindAnswer)) >= n && !k.open() })
	}
	k.turn(ctx, "Please say hello", nil)
	answers(1)
	s, err := k.api.Session(k.ctx(), string(k.id))
	k.must(err)
	first := s.Source
	k.must(k.run.Paste(ctx, keys[0]))
	time.Sleep(time.Second) // it offers commands
	k.must(k.run.Keys(ctx, "Enter"))
	k.must(k.run.Still(ctx, settled))
	for _, key := range keys[1:] {
		k.must(k.run.Keys(ctx, key))
		k.must(k.run.Still(ctx, settled))
	}
	t.Logf("it goes on with:\n%s", k.screen(ctx))
	k.turn(ctx, "Please say hello once more", nil)
	answers(2)
	k.turn(ctx, "Please say hello, a third time", nil)
	answers(3)
	time.Sleep(2 * time.Second) // for what mustn't come
	k.checkAnswers(k.logged())
	if s, err = k.api.Session(k.ctx(), string(k.id)); err != nil || s.Source == first {
		t.Errorf("its text is from %+v, %v, as before", s.Source, err)
	}
	if all, err := k.api.Sessions(k.ctx()); err != nil || len(all) != 1 || all[0].ID != k.id {
		t.Errorf("sessions %+v, %v", all, err)
	}
	if n := len(k.telegram.Topics(k.forum)); n != 1 {
		t.Errorf("%d topics", n)
	}
}
