package inbound_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

// held types a text while a dialog is open, and returns the button that takes it
// back. Any operator may press it, once.
func (w *world) held(text string) string {
	w.Helper()
	w.panes.setDialog(true)
	w.say(ann, text)
	w.pass(5 * time.Second)
	return w.button(w.wantPosts("Held"), "Take back")
}

func TestOneOfAThousandPressesWins(t *testing.T) {
	inWorld(t, func(w *world) {
		data := w.held("delete everything")
		var presses sync.WaitGroup
		for i := range 1000 {
			ev := w.event([]string{ann, dora, cleo}[i%3], intake.Pressed{Data: data})
			presses.Go(func() {
				if err := w.in.Handle(w.Context(), ev); err != nil {
					w.Error(err)
				}
			})
		}
		presses.Wait()
		synctest.Wait()
		won, late := 0, 0
		for _, a := range w.chat.take() {
			switch {
			case a == "Taken back.":
				won++
			case strings.HasPrefix(a, "Already used by Somebody"):
				late++
			}
		}
		if won != 1 || late != 999 {
			w.Errorf("%d presses won, %d were told it's used; want 1 and 999", won, late)
		}
		w.panes.setDialog(false)
		w.pass(time.Minute)
		w.wantTyped()
	})
}

func TestWhyAButtonDoesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		data := w.held("x")
		w.press(bob, data)
		w.wantAnswer("takes the role operator")
		ev := w.event(dora, intake.Pressed{Data: data})
		ev.Place = adapters.Target{Adapter: "chat", Chat: "-1", Thread: "5"}
		w.do(ev)
		w.wantAnswer("another chat")
		ev = w.event(dora, intake.Pressed{Data: data})
		ev.At = time.Now().Add(-time.Hour)
		w.do(ev)
		w.wantAnswer("60 min ago")
		for _, forged := range []string{"", "x", "o:", "o:" + strings.Repeat("0", 17), "o:../../../../../", strings.ToUpper(data), data + " "} {
			w.press(ann, forged)
			w.wantAnswer("isn't one of panebridge's")
		}
		w.press(ann, "o:0123456789abcdef")
		w.wantAnswer("expired")
		w.press(evil, data)
		if got := w.chat.take(); got != nil {
			w.Errorf("a stranger was answered %q", got)
		}
		w.restart()
		w.press(dora, data) // works after a restart
		w.wantAnswer("Taken back")
		w.wantPosts("Taken back")
		data = w.held("y")
		w.pass(8 * 24 * time.Hour)
		w.press(ann, data)
		w.wantAnswer("expired")
	})
}

func TestRunAndSkipExcludeEachOther(t *testing.T) {
	for _, first := range []int{0, 1} {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			inWorld(t, func(w *world) {
				offers := w.staleOffer()
				var presses sync.WaitGroup
				for i := range 40 {
					ev := w.event(ann, intake.Pressed{Data: offers[(first+i)%2]})
					presses.Go(func() {
						if err := w.in.Handle(w.Context(), ev); err != nil {
							w.Error(err)
						}
					})
				}
				presses.Wait()
				w.pass(5 * time.Second)
				said := ""
				for _, p := range w.hub.take() {
					said += p.Text + p.Reaction
				}
				switch said {
				case "Run.👍", "👍Run.":
					w.wantTyped("rm -rf .")
				case "Skipped.":
					w.wantTyped()
				default:
					w.Errorf("said %q", said)
				}
			})
		})
	}
}

// Of a press below a message that's too old, Telegram says the chat, and not the topic.
func TestAButtonOfAnOldMessageInATopicWorks(t *testing.T) {
	inWorld(t, func(w *world) {
		topic := group
		topic.Thread = "7"
		ask := w.event(bob, intake.Said{Text: "/sessions"})
		ask.Place = topic
		w.do(ask)
		refresh := w.button(w.wantPosts("Working"), "Refresh")
		w.pass(60 * 24 * time.Hour) // it was pinned
		w.press(bob, refresh)
		posts := w.wantPosts("Working")
		if len(posts) == 1 && posts[0].To != topic {
			w.Errorf("it was answered in %s, want %s", posts[0].To, topic)
		}
		elsewhere := w.event(bob, intake.Pressed{Data: refresh})
		elsewhere.Place.Thread = "8"
		w.chat.take()
		w.do(elsewhere)
		w.wantAnswer("another chat")
	})
}
