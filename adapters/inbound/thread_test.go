package inbound_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
)

func TestAClosedThreadRests(t *testing.T) {
	inWorld(t, func(w *world) {
		topic := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "9"}
		w.bind(w.session("other"), topic, true)
		at := func(a intake.Action) {
			ev := w.event(ann, a)
			ev.Place = topic
			w.do(ev)
			w.pass(5 * time.Second)
		}
		at(intake.ThreadClosed{})
		at(intake.ThreadClosed{})
		at(intake.Said{Text: "while it's closed"})
		w.wantPosts("/reopen")
		w.wantTyped()
		if b := w.hub.BindingsAt(topic)[0]; !b.Resting {
			w.Errorf("binding %+v, want it to rest", b)
		}
		if b := w.hub.BindingsAt(group)[0]; b.Resting {
			w.Error("a binding elsewhere rests")
		}
		at(intake.ThreadOpened{})
		at(intake.Said{Text: "open again"})
		w.wantTyped("open again")
		at(intake.ThreadDeleted{})
		at(intake.Said{Text: "still bound"})
		w.wantTyped("open again", "still bound")
	})
}

func TestAllOfAChatFollowsWhenItMoves(t *testing.T) {
	inWorld(t, func(w *world) {
		offers := w.staleOffer()
		if err := w.in.SetPreference(w.Context(), cards.Preference{Place: group, MutedUntil: cards.Forever}); err != nil {
			w.Fatal(err)
		}
		w.do(w.event("", intake.ChatMoved{To: "-100"}))
		w.do(w.event("", intake.ChatMoved{To: "-100"})) // the same twice
		w.restart()
		moved := adapters.Target{Adapter: "chat", Chat: "-100"}
		at := func(a intake.Action) {
			ev := w.event(ann, a)
			ev.Place = moved
			w.do(ev)
			w.pass(5 * time.Second)
		}
		at(intake.Said{Text: "hello from there"})
		at(intake.Pressed{Data: offers[0]})
		w.wantTyped("hello from there", "rm -rf .")
		for _, p := range w.hub.take() {
			if p.To != moved {
				w.Errorf("%q goes to %s", p.Text+p.Reaction, p.To)
			}
		}
		if !w.in.IsQuiet(moved, "", time.Now()) {
			w.Error("the chat isn't muted any more")
		}
	})
}

// Updates say that a chat has another id, or the answers to calls do, or both, in any order and any
// number of times, over restarts and kills. Everything follows it, once; once more only for a kill.
func TestAChatIsFollowedOnceWhoeverSaysThatItMoved(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(1000, 60, 10)) {
		inWorld(t, func(w *world) {
			random := rand.New(rand.NewPCG(seed, 5))
			if err := w.in.SetPreference(w.Context(), cards.Preference{Place: group, MutedUntil: cards.Forever}); err != nil {
				w.Fatal(err)
			}
			if err := w.store.PutGrant(w.Context(), access.Grant{Person: "chat:77", Role: access.Viewer, By: "cli", At: time.Now(), Chat: group, Checked: time.Now()}); err != nil {
				w.Fatal(err)
			}
			w.restart()
			to, kills := adapters.Target{Adapter: "chat", Chat: "-100"}, 0
			for range 1 + random.IntN(6) {
				if random.IntN(3) == 0 {
					kills++
					w.process.mu.Lock()
					w.process.steps, w.process.killAt = 0, 1+random.IntN(4)
					w.process.mu.Unlock()
				}
				ev := w.event("", intake.ChatMoved{To: to.Chat})
				switch random.IntN(3) {
				case 0:
					ev = w.event("", intake.ChatMoved{From: group.Chat})
					ev.Place = to
					fallthrough
				case 1:
					_ = w.in.Handle(w.Context(), ev)
				default:
					w.hub.learn(adapters.Move{Adapter: "chat", From: group.Chat, To: to.Chat})
					w.in.FollowMoves()
				}
				if w.pass(time.Minute); w.process.killed() || random.IntN(4) == 0 {
					w.restart()
				}
			}
			w.hub.learn(adapters.Move{Adapter: "chat", From: group.Chat, To: to.Chat}) // the platform says so again and again
			w.in.FollowMoves()
			w.restart()
			w.pass(time.Minute)
			if n := len(w.hub.moved); n == 0 || n > 1+kills {
				w.Errorf("it was followed %d times, with %d kills", n, kills)
			}
			if !w.in.KnowsChat(to) || !w.in.IsQuiet(to, "", time.Now()) {
				w.Error("the chat isn't known, or isn't muted any more")
			}
			grants, err := w.store.Grants(w.Context())
			if err != nil || len(grants) != 1 || grants[0].Chat != to {
				w.Errorf("what the group gave: %+v, %v", grants, err)
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestALostChatIsDisabledWithItsReason(t *testing.T) {
	inWorld(t, func(w *world) {
		w.do(w.event("", intake.ChatLost{Why: "the bot was removed from the chat"}))
		if b := w.hub.BindingsAt(group)[0]; b.Disabled != "the bot was removed from the chat" {
			w.Errorf("binding %+v", b)
		}
		w.do(w.event("", intake.ChatBack{}))
		if b := w.hub.BindingsAt(group)[0]; b.Disabled != "" {
			w.Errorf("the bot is back, and the binding is %+v", b)
		}
	})
}
