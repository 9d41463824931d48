package app_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

// anew is how a program is told to begin a new conversation.
var anew = map[string]string{"claude": "/clear", "codex": "/new", "gemini": "/clear", "opencode": "/new", "qwen": "/clear", "pi": "/new"}

// Real agent programs begin a new conversation, in another transcript: the session stays
// what it was, and what's said then is in its log once, also where the turn was short and
// no hook tells of it. What panebridge sends then is said to be answered.
func TestLiveNewConversations(t *testing.T) { eachLiveAgent(t, liveNewConversations) }

func liveNewConversations(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	a := agentlab.Agents()[name]
	m := liveMode{agent: name, width: 100, height: 40, hooks: a.Hooks && random.IntN(2) == 0}
	m.daemon = name == "codex" && !m.hooks && random.IntN(2) == 0
	t.Logf("%v", m)
	k := newLiveRig(t, m)
	ctx := t.Context()
	answers := func(n int) {
		k.await("an answer", func() bool { return len(blocksOf(k.logged(), sessions.KindAnswer)) >= n && !k.open() })
	}
	k.turn(ctx, "Please say hello", nil)
	answers(1)
	k.must(k.run.Paste(ctx, anew[name]))
	time.Sleep(time.Second) // it offers commands
	k.must(k.run.Keys(ctx, "Enter"))
	k.must(k.run.Still(ctx, settled))
	k.turn(ctx, "Please say hello once more", nil)
	answers(2)
	const sent = "Please say hello for the last time" // by panebridge
	r, err := k.api.Input(k.ctx(), string(k.id), sent, true)
	k.must(err)
	k.asked = append(k.asked, sent)
	k.await("the answer of what was sent", func() bool {
		r, err = k.api.Receipt(k.ctx(), r.ID)
		return err == nil && r.State == sessions.ReceiptAnswered
	})
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
