package app_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

// resumed is how a program is told to go on with the conversation before, which is the
// first that it offers.
var resumed = map[string][]string{
	"claude":   {"/resume", "Enter"},
	"codex":    {"/resume", "Down", "Enter"},
	"gemini":   {"/resume", "Down", "Enter"},
	"opencode": {"/sessions", "Down", "Enter"},
	"pi":       {"/resume", "Down", "Enter"},
	"qwen":     {"/resume", "Down", "Enter"},
}

// Real agent programs go back to an earlier conversation of their own: the session stays
// what it was, nothing of that conversation is told anew, and what's said there then is in
// the log once.
func TestLiveResumedConversations(t *testing.T) { eachLiveAgent(t, liveResumedConversations) }

func liveResumedConversations(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	keys := resumed[name]
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
	command := func(text string) {
		k.must(k.run.Paste(ctx, text))
		time.Sleep(time.Second) // it offers commands
		k.must(k.run.Keys(ctx, "Enter"))
		k.must(k.run.Still(ctx, settled))
	}
	k.turn(ctx, "Please say hello", nil)
	answers(1)
	s, err := k.api.Session(k.ctx(), string(k.id))
	k.must(err)
	first := s.Source
	command(anew[name])
	k.turn(ctx, "Please say hello once more", nil)
	answers(2)
	command(keys[0])
	t.Logf("it offers:\n%s", k.screen(ctx))
	for _, key := range keys[1:] {
		k.must(k.run.Keys(ctx, key))
		k.must(k.run.Still(ctx, settled))
	}
	t.Logf("it goes on with:\n%s", k.screen(ctx))
	k.turn(ctx, "Please say hello, back here again", nil)
	answers(3)
	time.Sleep(2 * time.Second) // for what mustn't come
	k.checkAnswers(k.logged())
	if s, err = k.api.Session(k.ctx(), string(k.id)); err != nil || s.Source != first {
		t.Errorf("its text is from %+v, %v; want %+v", s.Source, err, first)
	}
	if all, err := k.api.Sessions(k.ctx()); err != nil || len(all) != 1 || all[0].ID != k.id {
		t.Errorf("sessions %+v, %v", all, err)
	}
	if n := len(k.telegram.Topics(k.forum)); n != 1 {
		t.Errorf("%d topics", n)
	}
}
