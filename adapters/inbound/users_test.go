package inbound_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
)

// Who uses a place: whoever has done something there within seven days, by the same name if the
// configuration says that several are one; also after a restart, and when the chat has moved.
func TestWhoUsesAPlace(t *testing.T) {
	inWorld(t, func(w *world) {
		w.opt = func(o *inbound.Options) { o.Access.Names = map[string]string{ann: "Ann", cleo: "Ann", bob: "Bob"} }
		w.restart()
		topic := group
		topic.Thread = "7"
		other := group
		other.Thread = "8"
		at := func(place adapters.Target, person string, a intake.Action) {
			t.Helper()
			ev := w.event(person, a)
			ev.Place = place
			w.do(ev)
		}
		want := func(place adapters.Target, names ...string) {
			t.Helper()
			for range 2 {
				if got := w.in.UsersOf(place, time.Now()); !slices.Equal(got, names) {
					t.Errorf("%s is used by %q, want %q", place, got, names)
				}
				w.restart()
			}
		}
		want(topic)
		at(topic, ann, intake.Said{Text: "hello"})
		at(topic, evil, intake.Said{Text: "who isn't let in uses nothing"})
		want(topic, "Ann")
		want(other, "Ann") // nobody has written there: whoever uses the chat
		at(other, bob, intake.Said{Text: "/help"})
		want(other, "Bob")
		want(topic, "Ann")
		want(group, "Bob", "Ann")
		w.pass(6 * 24 * time.Hour)
		at(topic, cleo, intake.Pressed{Data: "x"}) // who is Ann, too
		want(topic, "Ann")
		at(topic, dora, intake.Said{Text: "hello"})
		want(topic, "Somebody", "Ann")
		w.pass(2 * 24 * time.Hour)
		want(other, "Somebody", "Ann") // it's Bob's no more
		at(topic, "", intake.ChatMoved{To: "-100"})
		topic.Chat = "-100"
		if got := w.in.UsersOf(topic, time.Now()); !slices.Equal(got, []string{"Somebody", "Ann"}) {
			t.Errorf("where the chat has moved it's used by %q", got)
		}
	})
}

// A private chat is its person's, however long they haven't written there.
func TestAPrivateChatIsItsPersons(t *testing.T) {
	inWorld(t, func(w *world) {
		private := adapters.Target{Adapter: "chat", Chat: "1"}
		ev := w.event(ann, intake.Said{Text: "/help"})
		ev.Place, ev.Private = private, true
		w.do(ev)
		w.pass(300 * 24 * time.Hour)
		w.restart()
		if got := w.in.UsersOf(private, time.Now()); len(got) != 1 {
			t.Errorf("it's used by %q", got)
		}
	})
}

// Two people of one name are two.
func TestTwoOfOneNameAreTwo(t *testing.T) {
	inWorld(t, func(w *world) {
		for i, person := range []string{ann, dora} {
			w.say(person, "hello")
			if got := w.in.UsersOf(group, time.Now()); len(got) != i+1 {
				t.Errorf("after %d of them have written: %q", i+1, fmt.Sprint(got))
			}
		}
	})
}
