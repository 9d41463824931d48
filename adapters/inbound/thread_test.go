package inbound_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
)

func TestAClosedThreadRests(t *testing.T) {
	inWorld(t, func(w *world) {
		topic := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "9"}
		w.bind(w.session("other"), topic, true)
		at := func(a inbound.Action) {
			ev := w.event(ann, a)
			ev.Place = topic
			w.do(ev)
			w.pass(5 * time.Second)
		}
		at(inbound.ThreadClosed{})
		at(inbound.ThreadClosed{})
		at(inbound.Said{Text: "while it's closed"})
		w.wantPosts("/reopen")
		w.wantTyped()
		if b := w.hub.At(topic)[0]; !b.Resting {
			w.Errorf("binding %+v, want it to rest", b)
		}
		if b := w.hub.At(group)[0]; b.Resting {
			w.Error("a binding elsewhere rests")
		}
		at(inbound.ThreadOpened{})
		at(inbound.Said{Text: "open again"})
		w.wantTyped("open again")
		at(inbound.ThreadDeleted{})
		at(inbound.Said{Text: "still bound"})
		w.wantTyped("open again", "still bound")
	})
}

func TestAllOfAChatFollowsWhenItMoves(t *testing.T) {
	inWorld(t, func(w *world) {
		offers := w.staleOffer()
		if err := w.in.SetPreference(w.Context(), inbound.Preference{Place: group, MutedUntil: inbound.Forever}); err != nil {
			w.Fatal(err)
		}
		w.do(w.event("", inbound.ChatMoved{To: "-100"}))
		w.do(w.event("", inbound.ChatMoved{To: "-100"})) // the same twice
		w.restart()
		moved := adapters.Target{Adapter: "chat", Chat: "-100"}
		at := func(a inbound.Action) {
			ev := w.event(ann, a)
			ev.Place = moved
			w.do(ev)
			w.pass(5 * time.Second)
		}
		at(inbound.Said{Text: "hello from there"})
		at(inbound.Pressed{Data: offers[0]})
		w.wantTyped("hello from there", "rm -rf .")
		for _, p := range w.hub.take() {
			if p.To != moved {
				w.Errorf("%q goes to %s", p.Text+p.Reaction, p.To)
			}
		}
		if !w.in.Quiet(moved, "", time.Now()) {
			w.Error("the chat isn't muted any more")
		}
	})
}

func TestALostChatIsDisabledWithItsReason(t *testing.T) {
	inWorld(t, func(w *world) {
		w.do(w.event("", inbound.ChatLost{Why: "the bot was removed from the chat"}))
		if b := w.hub.At(group)[0]; b.Disabled != "the bot was removed from the chat" {
			w.Errorf("binding %+v", b)
		}
		w.do(w.event("", inbound.ChatBack{}))
		if b := w.hub.At(group)[0]; b.Disabled != "" {
			w.Errorf("the bot is back, and the binding is %+v", b)
		}
	})
}
