package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// A question calls people once, wherever its session is mirrored, and not again
// until it was gone.
func TestAQuestionRingsOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		s, err := w.manager.Get("agent")
		if err != nil {
			t.Fatal(err)
		}
		state := func(st sessions.State) {
			ev := sessions.OutputEvent{Session: s.ID, State: st}
			w.manager.Output(ev)
			w.in.Output(ev)
			w.pass(5 * time.Second)
		}
		state(sessions.StateWorking)
		w.wantPosts()
		state(sessions.StateWaiting)
		state(sessions.StateWaiting)
		posts := w.wantPosts("**agent needs you**: a question is on its screen.")
		if !posts[0].Ring || posts[0].To != group {
			t.Errorf("got %+v", posts[0])
		}
		w.press(bob, w.button(posts, "Screen"))
		w.press(ann, w.button(posts, "Keys"))
		w.pass(time.Second)
		if answers := w.chat.take(); len(answers) == 0 || !strings.Contains(answers[0], "The screen has no rows") {
			t.Errorf("answers %q, want the screen's, which is empty here", answers)
		}
		if keyboard := w.hub.take(); len(keyboard) != 1 || len(keyboard[0].Buttons) < 5 {
			t.Errorf("got %+v, want a keyboard", keyboard)
		}
		state(sessions.StateIdle)
		state(sessions.StateWaiting)
		w.wantPosts("**agent needs you**: a question is on its screen.")
	})
}

// A question that can be read rings by itself; one that follows it and can't be does so
// after all.
func TestAQuestionThatIsReadDoesNotRingTwice(t *testing.T) {
	inWorld(t, func(w *world) {
		s, err := w.manager.Get("agent")
		if err != nil {
			t.Fatal(err)
		}
		w.in.Output(sessions.OutputEvent{Session: s.ID, State: sessions.StateWaiting})
		w.pass(time.Second)
		p := w.question("pr_1", permission())
		w.pass(time.Minute)
		w.wantPosts("asks for permission")
		w.close(p, "answered in the pane")
		w.pass(time.Minute)
		w.wantPosts("Answered in the pane.", "needs you**: a question is on its screen.")
	})
}
