package app_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

// rewound is how a program is told to forget the last turn of its conversation.
var rewound = map[string][]string{
	"claude": {"/rewind", "Enter", "Up", "Enter", "Enter"},
	"codex":  {"", "Escape", "Escape", "Enter"},
}

// Real agent programs go back behind a turn of their conversation, whose text they offer to
// write anew: nothing is told anew, and what's said then is in the log once.
func TestLiveRewoundConversations(t *testing.T) { eachLiveAgent(t, liveRewoundConversations) }

func liveRewoundConversations(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	keys := rewound[name]
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
	k.turn(ctx, "Please say hello once more", nil)
	answers(2)
	if keys[0] != "" {
		k.must(k.run.Paste(ctx, keys[0]))
		time.Sleep(time.Second) // it offers commands
	}
	for _, key := range keys[1:] {
		k.must(k.run.Keys(ctx, key))
		k.must(k.run.Still(ctx, settled))
	}
	t.Logf("it goes on with:\n%s", k.screen(ctx))
	k.must(k.run.Keys(ctx, "C-u"))
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
