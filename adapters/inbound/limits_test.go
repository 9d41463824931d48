package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// limited has a session's agent say that its account is limited for a while.
func (w *world) limited(id sessions.ID, d time.Duration) (until string) {
	w.Helper()
	now := time.Now()
	if err := w.manager.Choose(id, sessions.Source{Program: "claude", Transcript: "/t/" + string(id), Conversation: "1"}); err != nil {
		w.Fatal(err)
	}
	w.manager.Output(sessions.OutputEvent{Session: id, State: sessions.StateError, Reason: "its last turn failed: You've hit your limit", Usage: &sessions.Usage{
		Agent: "claude", Tokens: sessions.Tokens{Input: 1200, Output: 300}, CostUSD: 0.25, Context: &sessions.ContextUse{Used: 50_000, Window: 200_000},
		Limit: &sessions.UsageLimit{At: now, Until: now.Add(d)},
	}})
	w.pass(time.Second)
	return sessions.ClockUntil(now.Add(d), now)
}

// limitCards are the posts of cards about limits, those alone.
func (w *world) limitCards() (out []adapters.Post) {
	for _, p := range w.hub.take() {
		if strings.HasPrefix(p.Key, "card limit") {
			out = append(out, p)
		}
	}
	return out
}

// A chat is told that a session is limited, and has it go on by a button, and it's told by
// whom. /status and /usage say so, too.
func TestASessionGoesOnByAButton(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pass(time.Second)
		id := w.idOf("agent")
		until := w.limited(id, time.Hour)
		posts := w.limitCards()
		w.wantSaid(said(posts), "**agent** is limited until "+until+".")
		button := w.button(posts, "Go on then")
		w.press(bob, button)
		w.wantAnswer("role operator")
		w.press(ann, button)
		w.wantAnswer("“continue” is sent to agent at " + until)
		w.pass(time.Second)
		posts = w.limitCards()
		w.wantSaid(said(posts), "Then “continue” is sent, unless somebody writes before (")
		w.button(posts, "Don't go on")
		for _, command := range []string{"/usage", "/status"} {
			got := w.ask(bob, command)
			for _, want := range []string{"limited until " + until, "context 25 % full, 150k left", "1.5k tokens", "$0.25", "Then “continue” is sent"} {
				w.wantSaid(got, want)
			}
		}
		w.wantSaid(w.ask(bob, "/sessions"), "limited until "+until)
		w.wantTyped()
	})
}

// What waits is typed when the limit is over, by whoever asked for it, and the card says that it's over.
func TestWhatWaitsIsTypedWhenTheLimitIsOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pass(time.Second)
		id := w.idOf("agent")
		w.limited(id, time.Hour)
		w.press(ann, w.button(w.limitCards(), "Go on then"))
		w.pass(59 * time.Minute)
		w.wantTyped()
		w.hub.take()
		w.pass(2 * time.Minute)
		w.wantTyped("continue")
		w.wantSaid(said(w.limitCards()), "The limit of **agent** is over.")
		w.pass(24 * time.Hour)
		w.wantTyped("continue")
	})
}

// By a command as by a button, and taken back by either; somebody who writes takes it back, too.
func TestGoingOnIsTakenBack(t *testing.T) {
	for name, back := range map[string]func(w *world, posts []adapters.Post){
		"by a button":  func(w *world, posts []adapters.Post) { w.press(ann, w.button(posts, "Don't go on")) },
		"by a command": func(w *world, _ []adapters.Post) { w.say(ann, "/continue off") },
		"by a text":    func(w *world, _ []adapters.Post) { w.say(ann, "never mind") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.pass(time.Second)
				w.wantSaid(w.ask(ann, "/continue"), "No limit of agent is known")
				w.wantSaid(w.ask(bob, "/continue"), "takes the role operator")
				w.limited(w.idOf("agent"), time.Hour)
				w.hub.take()
				w.say(ann, "/continue")
				w.pass(time.Second)
				posts := w.hub.take()
				w.wantSaid(said(posts), "“continue” is sent to agent at")
				back(w, posts)
				w.pass(3 * time.Hour)
				want := []string{}
				if name == "by a text" {
					want = append(want, "never mind")
				}
				w.wantTyped(want...)
			})
		})
	}
}
