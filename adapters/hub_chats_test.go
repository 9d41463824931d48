package adapters_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

func TestSessionsWithAThreadEachShareTheirChatsLimit(t *testing.T) {
	for name, keys := range map[string]bool{"of the chat": false, "of the thread": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, adaptertest.Options{Unlimited: keys}) // which counts by chats
				r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
				r.form.OwnThread, r.keys = true, keys
				r.start()
				const n = 4
				for i := range n {
					r.begin(sessions.ID(fmt.Sprint("pb_", i)), fmt.Sprint("agent-", i))
				}
				for k := range 60 {
					for i := range n {
						r.print(sessions.ID(fmt.Sprint("pb_", i)), fmt.Sprint("line ", k))
					}
					r.pass(time.Second)
				}
				r.pass(time.Minute)
				for i := range n {
					threads := r.platforms["a"].Threads("-1", fmt.Sprint("agent-", i))
					if len(threads) != 1 {
						t.Fatalf("agent-%d has %d threads", i, len(threads))
					}
					for _, w := range r.house.Compare(r.platforms["a"].Seen("-1", threads[0]), adaptertest.Want{
						Session: sessions.ID(fmt.Sprint("pb_", i)), To: 60, Oldest: 1,
					}) {
						t.Error(w)
					}
				}
				snap, err := r.hub.Scheduler("a").Status(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				want := 1
				if keys {
					want = n
				}
				docs := 0
				for _, c := range snap.Chats {
					if strings.Contains(string(c.Chat), "/") == keys {
						docs++
					}
				}
				if docs != want {
					t.Errorf("documents are in %d chats as limits count, want %d: %+v", docs, want, snap.Chats)
				}
			})
		})
	}
}

func TestAllSessionsFollowAChatThatHasMoved(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		r.print("pb_1", "one")
		r.print("pb_2", "eins")
		r.pass(time.Minute)
		r.platforms["a"].Migrate("-1", "-1001")
		r.print("pb_1", "two")
		r.pass(time.Minute)
		r.print("pb_2", "zwei")
		r.pass(time.Minute)
		if n := len(r.platforms["a"].Refusals(adaptertest.Upgraded)); n != 1 {
			t.Errorf("the platform had to say %d times that the chat has moved, want once", n)
		}
		r.stop()
		r.start()
		r.must(r.reload(r.rules))
		r.print("pb_1", "three")
		r.print("pb_2", "drei")
		r.pass(time.Minute)
		r.wantTexts("a", "-1001", "one", "eins", "two", "zwei", "three", "drei")
		if st := r.hub.Status("pb_1"); len(st) != 1 || st[0].Target.Chat != "-1001" || st[0].Binding.Target.Chat != "-1" {
			t.Errorf("status: %+v", st)
		}
	})
}
