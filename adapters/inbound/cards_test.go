package inbound_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// threaded binds a session to the group, as if a thread had been made for it.
func (w *world) threaded(id sessions.ID, thread string) adapters.Target {
	w.Helper()
	w.bind(id, group, true)
	at := group
	at.Thread = thread
	w.hub.mu.Lock()
	if w.hub.threads == nil {
		w.hub.threads = map[sessions.ID]string{}
	}
	w.hub.threads[id] = thread
	w.hub.mu.Unlock()
	w.in.HandlePlaced(id)
	synctest.Wait()
	return at
}

// sessionCards are the posts of sessions' cards, those alone.
func (w *world) sessionCards() []adapters.Post {
	return slices.DeleteFunc(w.hub.take(), func(p adapters.Post) bool { return !strings.Contains(p.Text, "/help says what else") })
}

// A session's card stands once in its thread. One that was posted while the process was killed says
// that it may be there already.
func TestACardStandsOnceOverCrashes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pass(time.Second)
		at := w.threaded(w.session("fresh"), "7")
		if got := w.sessionCards(); len(got) != 1 || got[0].To != at || got[0].Again || len(got[0].Buttons[0]) != 4 {
			t.Fatalf("got %+v", got)
		}
		w.restart()
		w.pass(time.Hour)
		if got := w.sessionCards(); len(got) > 0 {
			t.Errorf("after a restart: %+v", got)
		}

		w.hub.hold() // and nobody hears of the call
		at = w.threaded(w.session("other"), "8")
		w.hub.mu.Lock()
		posted := len(w.hub.held)
		w.hub.holds, w.hub.held = false, nil
		w.hub.mu.Unlock()
		w.restart()
		w.pass(time.Minute)
		if got := w.sessionCards(); posted != 1 || len(got) != 1 || got[0].To != at || !got[0].Again {
			t.Errorf("posted %d, then %+v", posted, got)
		}
	})
}

// A card that a chat refuses is tried again, one for all of them, and all of them when it takes one.
func TestRefusedCardsAreTriedOneForAll(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pass(time.Second)
		tries := 0
		w.hub.refuseSome(func(p adapters.Post) error {
			if strings.Contains(p.Text, "/help says what else") {
				tries++
				return errors.New("no")
			}
			return nil
		})
		for i := range 10 {
			w.threaded(w.session("s"+string(rune('a'+i))), string(rune('a'+i)))
		}
		w.hub.take()
		w.hub.mu.Lock() // which the hub holds as it asks
		tries = 0
		w.hub.mu.Unlock()
		w.pass(10 * time.Minute)
		w.hub.mu.Lock()
		if tries < 19 || tries > 60 {
			t.Errorf("tried %d times in ten minutes", tries)
		}
		w.hub.mu.Unlock()
		w.hub.refuseSome(nil)
		w.pass(31 * time.Second)
		if got := w.sessionCards(); len(got) != 10 {
			t.Errorf("then %d stand", len(got))
		}
	})
}

// Who began a session is told of it, also if the process ends before its thread is there.
func TestWhoBeganASessionIsToldAfterARestart(t *testing.T) {
	inHome(t, func(w *world, home string) {
		w.hub.ownThread = true
		w.pass(time.Second)
		w.say(ann, "/new claude ~")
		w.wantPosts()
		w.restart()
		w.pass(4 * time.Second)
		if got := w.wantPosts("**claude-1** begins in ~. Its topic is on its way: write to it there."); !got[0].Again {
			t.Errorf("got %+v", got)
		}
		w.restart()
		w.pass(time.Hour)
		w.wantPosts()
	})
}

// What was missed is told though the chat refuses it for a while, or the process is killed as it's told.
// What comes meanwhile is told by another message.
func TestWhatWasMissedIsToldWhateverHappens(t *testing.T) {
	inWorld(t, func(w *world) {
		agent := w.bound("agent")
		miss := func() {
			w.in.HandleOutput(sessions.OutputEvent{Session: agent, Complete: true})
			synctest.Wait()
		}
		w.say(ann, "/mute 1h")
		w.hub.take()
		miss()
		w.hub.refuseSome(func(p adapters.Post) error {
			if strings.Contains(p.Text, "While you were away") {
				return errors.New("no")
			}
			return nil
		})
		w.pass(2 * time.Hour)
		w.wantPosts()
		w.hub.refuseSome(nil)
		w.pass(11 * time.Minute)
		w.wantPosts("a turn ended")

		w.say(ann, "/mute 1h")
		w.hub.take()
		miss()
		w.hub.hold()
		w.pass(time.Hour + 2*time.Minute)
		w.say(ann, "/mute 1h")
		miss() // while it's under way
		w.hub.mu.Lock()
		w.hub.holds, w.hub.held = false, nil
		w.hub.mu.Unlock()
		w.restart()
		w.pass(time.Hour + 2*time.Minute)
		if got := w.hub.take(); len(got) == 0 || !got[len(got)-1].Again || !strings.Contains(got[len(got)-1].Text, "2 turns ended") {
			t.Errorf("got %+v", got)
		}
		w.restart()
		w.pass(time.Hour)
		w.wantPosts()
	})
}

// What's chosen of a question's options counts though the process is killed before the message shows
// it, which then is changed. The file beside a question isn't sent again.
func TestWhatAQuestionShowsOutlivesAKill(t *testing.T) {
	inWorld(t, func(w *world) {
		w.hub.maxFile = 10 << 20
		d := permission()
		d.Kind, d.Text, d.Body = sessions.PromptMulti, "", strings.Repeat("a row of what it's about\n", 400)
		d.Options = []sessions.DialogOption{{Label: "unit"}, {Label: "all"}}
		w.question("pr_1", d)
		posts := w.wantPosts("asks you to choose any number", "All of what it’s about, as it’s on the screen")
		if posts[1].File == nil {
			t.Fatalf("got %+v", posts[1])
		}
		w.hub.hold()
		w.press(dora, w.button(posts, "unit"))
		w.hub.mu.Lock()
		w.hub.holds, w.hub.held = false, nil
		w.hub.mu.Unlock()
		w.restart()
		w.pass(time.Minute)
		edit := w.wantPosts("asks you to choose any number")
		if edit[0].Message != "p1" || !slices.Contains(labels(edit), "✓ unit") {
			t.Errorf("got %+v", edit[0])
		}
		w.chat.take()
		w.press(dora, w.button(edit, "Send"))
		w.wantAnswer("Answered: unit.")
		w.wantPosts("Answered by Somebody: unit.")
		w.restart()
		w.pass(time.Hour)
		w.wantPosts()
	})
}

// What a writer is told of a text that's held follows the chat to another id, with and without a
// restart: it's told there anew, and so is what becomes of it.
func TestReceiptsFollowAChat(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.panes.setDialog(true)
			w.say(ann, "hello")
			w.pass(2 * time.Second)
			w.wantPosts("Held: ")
			to := adapters.Target{Adapter: "chat", Chat: "-100"}
			w.do(w.event("", intake.ChatMoved{To: to.Chat}))
			if restarts {
				w.restart()
			}
			w.pass(2 * time.Second)
			if got := w.wantPosts("Held: "); got[0].To != to || got[0].Message != "" || len(got[0].Buttons) != 1 {
				t.Errorf("restarts %v: got %+v", restarts, got)
			}
			w.panes.setDialog(false)
			w.pass(time.Minute)
			w.wantTyped("hello")
			if got := w.wantPosts("Typed and submitted now."); got[0].To != to || got[0].Message != "p2" {
				t.Errorf("restarts %v: got %+v", restarts, got)
			}
		})
	}
}
