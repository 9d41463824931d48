package app_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// opencode that directs a fleet reads behind the result of a tool how to listen, once, and
// that a member is at work and nobody listens, once in 30 s; nothing while somebody listens.
// Each is in the requests to its model.
func TestLiveReminder(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if name != "opencode" {
			t.Skip("it isn't behind the results of its tools that its model is told something")
		}
		liveReminder(t, name, random)
	})
}

func liveReminder(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: true, orders: true}, random)
	k.must(k.run.Ready(t.Context()))
	db, _ := mailOf(k.daemon)
	k.must(db.AddFleet(k.ctx(), "web", k.id, time.Now()))
	member, err := k.api.NewSession(k.ctx(), api.Create{Name: "member", Command: []string{"sh", "-c", "while :; do date +%N; sleep 0.2; done"}})
	k.must(err)
	k.must(db.AddMember(k.ctx(), "web", member.ID, false, time.Now()))
	k.await("the member at work", func() bool {
		s, err := k.api.Session(k.ctx(), string(member.ID))
		return err == nil && s.State == sessions.StateWorking
	})
	const listens, reminds = "in the background to hear of ends of turns", "Nobody listens for their notices"
	// What the model was told since some texts ago may come behind the next tool's result: a busy
	// machine's hook takes longer than opencode waits for it. So each time two tools are used.
	uses := func() {
		for range 2 {
			o := k.word("run")
			k.plain(momentIdle, o)
			k.answerCall(o.tag, true)
			k.calm()
		}
	}
	wants := func(when string, times int) {
		told := strings.Join(k.toolResults(), "\n")
		if n := strings.Count(told, reminds); n != times {
			t.Errorf("%s: the model was told %d times that nobody listens, want %d:\n%s", when, n, times, told)
		}
		if n := strings.Count(told, listens); n != 1 {
			t.Errorf("%s: the model was told %d times how to listen, want 1:\n%s", when, n, told)
		}
	}
	began := time.Now()
	uses()
	if time.Since(began) < inbox.RemindEvery { // else the second tool may have had it, too
		wants("two tools", 1)
	}
	time.Sleep(inbox.RemindEvery) // this is how often it's told at most
	before := strings.Count(strings.Join(k.toolResults(), "\n"), reminds)
	uses()
	wants("half a minute later", before+1)
	id, err := db.AddListener(k.ctx(), inbox.Listener{Session: inbox.Address(k.id), Process: inbox.Self(), Bell: "none"})
	k.must(err)
	time.Sleep(inbox.RemindEvery)
	uses()
	wants("with a listener", before+1)
	_, err = db.DropListener(k.ctx(), id)
	k.must(err)
	uses()
	wants("without it again", before+2)
}

// toolResults are the results of tools that the newest request has.
func (k *liveRig) toolResults() []string {
	for _, r := range slices.Backward(k.run.Model.Requests()) {
		if len(r.Results) > 0 {
			return r.Results
		}
	}
	return nil
}
