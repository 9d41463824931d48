package inbound_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

func TestAnOldMessageIsAskedAbout(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.event(ann, intake.Said{Text: "//run"})
		ev.At = time.Now().Add(-3 * time.Hour)
		w.do(ev)
		posts := w.wantPosts("3 h old")
		if posts[0].ReplyTo != ev.Message || !posts[0].Ring {
			w.Errorf("post %+v, want one that rings and answers %s", posts[0], ev.Message)
		}
		w.restart()
		w.pass(time.Hour)
		w.wantTyped()
		w.press(dora, w.button(posts, "Run"))
		w.wantAnswer("isn't for you")
		w.press(ann, w.button(posts, "Run"))
		w.pass(5 * time.Second)
		w.wantTyped("/run")
		w.wantPosts("Run.", "👍")
		w.chat.take()
		w.press(ann, w.button(posts, "Skip"))
		w.wantAnswer("Already used")
	})
}

func TestAnOldCommandIsAskedAbout(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.event(ann, intake.Said{Text: "/help"})
		ev.At = time.Now().Add(-11 * time.Minute)
		w.do(ev)
		posts := w.wantPosts("11 min old")
		w.press(ann, w.button(posts, "Run"))
		w.wantPosts("What you write here", "Run.")
	})
}

func TestAMessageOfTheFutureIsTyped(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.event(ann, intake.Said{Text: "early"})
		ev.At = time.Now().Add(time.Hour) // the platform's clock is ahead
		w.do(ev)
		w.pass(5 * time.Second)
		w.wantTyped("early")
	})
}

func TestHeldTextIsTypedWhenTheDialogCloses(t *testing.T) {
	inWorld(t, func(w *world) {
		w.held("one")
		w.say(ann, "two")
		w.pass(time.Minute)
		if posts := w.wantPosts("Waits: it waits behind another text: a dialog is open"); posts[0].Ring {
			w.Error("a text that waits behind another rings")
		}
		w.restart()
		w.pass(time.Minute)
		w.wantPosts()
		w.panes.setDialog(false)
		w.pass(time.Minute)
		w.wantTyped("one", "two")
		posts := w.wantPosts("Typed and submitted now", "Typed and submitted now")
		if posts[0].Message == "" {
			w.Error("the message that said it's held isn't edited")
		}
		w.restart()
		w.pass(time.Hour)
		w.wantPosts()
	})
}

func TestHeldTextThatWaitsTooLongIsAskedAbout(t *testing.T) {
	inWorld(t, func(w *world) {
		w.held("//one")
		w.say(ann, "two")
		w.pass(time.Minute)
		w.hub.take()
		w.pass(9*time.Minute + time.Second)
		// For a moment the second is the first to wait.
		all := slices.DeleteFunc(w.hub.take(), func(p adapters.Post) bool { return strings.HasPrefix(p.Text, "Held") })
		var posts []adapters.Post
		for i := 0; i+1 < len(all); i += 2 { // the message that says that it's held, and the question
			if was := all[i]; was.Message == "" || !strings.HasPrefix(was.Text, "Taken back: it waited") || len(was.Buttons) > 0 {
				w.Errorf("before the question comes %+v, want the held text's message to say that it was taken back", was)
			}
			posts = append(posts, all[i+1])
		}
		if len(posts) != 2 {
			w.Fatalf("posts %+v, want two questions", all)
		}
		w.panes.setDialog(false)
		w.pass(time.Hour)
		w.restart()
		w.pass(time.Hour)
		w.wantTyped()
		w.wantPosts()
		for i := range posts {
			w.press(ann, w.button(posts[i:], "Run"))
			w.pass(5 * time.Second)
		}
		w.wantTyped("/one", "two")
		w.wantPosts("Run.", "👍", "Run.", "👍")
	})
}

func TestFailuresAreSaidOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.held("never typed")
		if err := w.manager.Close(w.Context(), w.manager.List()[0].ID); err != nil {
			w.Fatal(err)
		}
		w.pass(time.Minute)
		w.wantPosts("Failed:")
		w.restart()
		w.pass(time.Hour)
		w.wantPosts()
	})
}

func TestWhatCannotBeToldIsToldLater(t *testing.T) {
	inWorld(t, func(w *world) {
		w.hub.refuse = errKilled
		w.panes.setDialog(true)
		w.say(ann, "x")
		w.pass(time.Minute)
		w.hub.mu.Lock()
		w.hub.refuse = nil
		w.hub.mu.Unlock()
		w.pass(time.Minute)
		w.wantPosts("Held")
	})
}
