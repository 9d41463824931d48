package inbound_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const quotedWords = "do you want to proceed"

// inQuoted runs a test in a world in which a dialog's words stand on the screen of the
// session: somebody has written them.
func inQuoted(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.ways = func(o *options) {
			o.Hands.Phrases = []string{quotedWords}
			o.Hands.Dialog = func(rows []string) string {
				if strings.Contains(strings.Join(rows, "\n"), quotedWords) {
					return quotedWords
				}
				return ""
			}
		}
		defer w.end()
		w.start()
		w.bind(w.session("agent"), group, true)
		w.say(ann, "echo "+quotedWords)
		w.pass(10 * time.Second)
		w.wantPosts("👍")
		test(w)
	})
}

// What only a dialog's words hold is sent when an approver says so, once, on the screen
// that the button is for.
func TestAnApproverSendsAnyway(t *testing.T) {
	inQuoted(t, func(w *world) {
		w.say(ann, "ls")
		w.pass(5 * time.Second)
		posts := w.wantPosts("Held: a dialog's words", "no dialog is recognised")
		if !posts[0].Ring || posts[1].Ring || posts[1].Message == "" {
			w.Errorf("posts %+v, want one that rings, and then is edited", posts)
		}
		button := w.button(posts, "Send anyway")
		w.button(posts[1:], "Take back")
		w.press(ann, button)
		w.wantAnswer("takes the role approver")
		w.pass(time.Second)
		w.wantTyped("echo " + quotedWords)
		w.press(dora, button)
		w.pass(5 * time.Second)
		w.wantAnswer("Sent anyway")
		w.wantTyped("echo "+quotedWords, "ls")
		if posts = w.wantPosts("Sent anyway by " + dora); posts[0].Message == "" || posts[0].Buttons != nil {
			w.Errorf("posts %+v, want the message edited, without buttons", posts)
		}
		w.press(dora, button)
		w.wantAnswer("Already used")
		w.wantTyped("echo "+quotedWords, "ls")
	})
}

// On another screen the button does nothing and says why; the message gets another.
func TestSendAnywayOnAnotherScreen(t *testing.T) {
	inQuoted(t, func(w *world) {
		w.say(ann, "ls")
		w.pass(5 * time.Second)
		button := w.button(w.hub.take(), "Send anyway")
		w.panes.mu.Lock()
		w.panes.sent = append(w.panes.sent, "a command of somebody else's")
		w.panes.mu.Unlock()
		w.press(dora, button)
		w.wantAnswer("screen")
		w.pass(30 * time.Second)
		button = w.button(w.wantPosts("no dialog is recognised"), "Send anyway")
		w.restart()
		w.pass(5 * time.Second)
		again := w.button(w.wantPosts("no dialog is recognised"), "Send anyway")
		w.press(dora, button)
		w.wantAnswer("The screen isn't the one")
		w.pass(5 * time.Second)
		w.press(dora, again)
		w.pass(5 * time.Second)
		w.wantAnswer("Sent anyway")
		w.wantTyped("echo "+quotedWords, "a command of somebody else's", "ls")
	})
}

// A button of a text that has moved on is closed, and says so.
func TestSendAnywayOfATextThatHasMovedOn(t *testing.T) {
	inQuoted(t, func(w *world) {
		w.say(ann, "ls")
		w.pass(5 * time.Second)
		posts := w.hub.take()
		w.press(ann, w.button(posts[1:], "Take back"))
		w.wantAnswer("Taken back")
		if edited := w.wantPosts("Taken back"); edited[0].Buttons != nil {
			w.Errorf("it still has %+v", edited[0].Buttons)
		}
		w.press(dora, w.button(posts, "Send anyway"))
		w.wantAnswer("cancelled already")
		w.pass(time.Minute)
		w.wantTyped("echo " + quotedWords)
	})
}
