package inbound_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// A process is killed at each of its steps to the outside in turn, and the same event
// comes to the next one. It's typed once, submitted and told so. Only if it was being
// typed when the process was killed, its writer is told that nobody knows.
func TestAtMostOnceOverCrashes(t *testing.T) {
	scenarios := map[string]struct {
		event func(w *world) intake.Event
		text  string
	}{
		"a text":      {func(w *world) intake.Event { return w.event(ann, intake.Said{Text: "once"}) }, "once"},
		"an old text": {func(w *world) intake.Event { return w.pressedStale("once") }, "once"},
		"a text for one of two sessions": {func(w *world) intake.Event {
			w.bind(w.session("other"), group, true)
			w.say(ann, "once")
			return w.event(ann, intake.Pressed{Data: w.button(w.hub.take(), "other")})
		}, "once"},
	}
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			stride := 1
			if testing.Short() {
				stride = 4
			}
			for at := 1; ; at += stride {
				survived := false
				inWorld(t, func(w *world) {
					ev := s.event(w)
					w.process.mu.Lock()
					w.process.steps, w.process.killAt = 0, at
					w.process.mu.Unlock()
					_ = w.in.Handle(w.Context(), ev)
					w.pass(time.Minute)
					begun := w.process.intent.Load()
					survived = !w.process.killed()
					w.restart()
					w.do(ev)
					w.pass(time.Minute)
					w.restart()
					w.do(ev)
					w.pass(time.Hour)
					typed := strings.Join(w.panes.typed(), "|")
					said := ""
					for _, p := range w.hub.take() {
						said += p.Text + p.Reaction + " "
					}
					switch {
					case typed == s.text && strings.Contains(said, "👍"):
					case !begun, !strings.Contains(said, "Failed"),
						typed != "" && typed != s.text && typed != s.text+" (not submitted)":
						w.Errorf("killed at step %d, when it was being typed: %v; typed %q, said %q", at, begun, typed, said)
					}
				})
				if survived || t.Failed() {
					t.Logf("%d steps", at-1)
					break
				}
			}
		})
	}
}

// pressedStale is that an old text is to be run after all.
func (w *world) pressedStale(text string) intake.Event {
	w.Helper()
	ev := w.event(ann, intake.Said{Text: text})
	ev.At = time.Now().Add(-time.Hour)
	w.do(ev)
	synctest.Wait()
	return w.event(ann, intake.Pressed{Data: w.button(w.hub.take(), "Run")})
}

// A command that changes something isn't done again when nobody knows whether it was.
func TestACommandIsNotDoneAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.event(cleo, intake.Said{Text: "/pair viewer"})
		ev.Place.Chat, ev.Private = "3", true
		w.process.mu.Lock()
		w.process.steps, w.process.killAt = 0, 4 // its reply is made, and its end not written
		w.process.mu.Unlock()
		_ = w.in.Handle(w.Context(), ev)
		w.hub.take()
		w.restart()
		w.do(ev)
		w.wantPosts("Look whether it's done")
		w.do(ev)
		w.wantPosts()
	})
}
