package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

func TestMute(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		other := w.session("other")
		now := func(d time.Duration) time.Time { return time.Now().Add(d) }
		quiet := func(want bool, at time.Time) {
			w.Helper()
			if got := w.in.IsQuiet(group, id, at); got != want {
				w.Errorf("quiet at %s: %v", at, got)
			}
		}
		w.wantSaid(w.ask(ann, "/mute 1h"), "Here: nothing rings until ")
		w.restart()
		quiet(true, now(59*time.Minute))
		quiet(false, now(61*time.Minute))
		w.ask(ann, "/mute 2d")
		quiet(true, now(47*time.Hour))
		w.wantSaid(w.ask(ann, "/mute off"), "Here: finished turns, questions, exits and errors ring.")
		for after, want := range map[time.Duration]string{
			0:                "ring.",
			30 * time.Second: "ring. Turns of less than 30 s that end well are silent where nobody but who asked for them uses the place.",
			5 * time.Minute:  "ring. Turns of less than 5 min that end well",
		} {
			w.hub.ringAfter = after
			got := w.ask(ann, "/mute off")
			w.wantSaid(got, want)
			if after == 0 && strings.Contains(got, "silent") {
				w.Errorf("every end rings, and the answer is %q", got)
			}
		}
		quiet(false, now(0))
		w.wantSaid(w.ask(ann, "/mute 22:00-7 UTC"), "nothing rings from 22:00 to 07:00 (UTC).")
		quiet(true, time.Date(2030, 1, 1, 23, 0, 0, 0, time.UTC))
		quiet(true, time.Date(2030, 1, 1, 6, 59, 0, 0, time.UTC))
		quiet(false, time.Date(2030, 1, 1, 7, 0, 0, 0, time.UTC))
		w.wantSaid(w.ask(bob, "/status"), "Here: nothing rings from 22:00 to 07:00")
		w.ask(ann, "/mute off")
		w.wantSaid(w.ask(ann, "/mute other"), "**other**: nothing rings until /mute off.")
		quiet(false, now(0))
		if !w.in.IsQuiet(group, other, now(1000*time.Hour)) {
			w.Error("the session isn't muted")
		}
		for text, want := range map[string]string{
			"/mute 25:00-07:00": "Write /mute", "/mute 22:00-22:00": "are none", "/mute 22:00-07:00 Mars/Base": "time zone", "/mute 5s": "From a minute to a year",
			"/mute 9999d": "From a minute", "/mute 1h 2h": "Write /mute", "/mute agent nonsense": "Write /mute", "/mute -1h": "Write /mute", "/mute off off": "Write /mute",
		} {
			w.wantSaid(w.ask(ann, text), want)
		}
		quiet(false, now(0))
	})
}

// Who only looks may mute what's theirs alone.
func TestAViewerMutesTheirPrivateChat(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		ev := w.event(bob, intake.Said{Text: "/mute"})
		ev.Place, ev.Private = adapters.Target{Adapter: "chat", Chat: "2"}, true
		w.do(ev)
		w.wantPosts("nothing rings until")
		if !w.in.IsQuiet(ev.Place, id, time.Now()) || w.in.IsQuiet(group, id, time.Now()) {
			w.Error("not the private chat alone is quiet")
		}
	})
}
