package inbound_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// busy is a world whose agent queues what's written while it's at work.
type busy struct {
	*world
	id   sessions.ID
	turn int64
	tell func(sessions.Asked) // that the agent was asked a text; nil: nobody listens
}

func inBusy(t *testing.T, test func(b *busy)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &busy{world: newWorld(t)}
		b.ways = func(o *options) {
			o.Hands.Box = func(_ sessions.ID, s *sessions.Snapshot) sessions.InputBox {
				text, open := strings.CutPrefix(s.Rows[len(s.Rows)-1], "> ")
				return sessions.InputBox{Known: true, Open: open, Text: text, Queued: true}
			}
			o.Asked = func(_ sessions.ID, tell func(sessions.Asked)) func() {
				b.tell = tell
				return func() { b.tell = nil }
			}
		}
		defer b.end()
		b.start()
		b.id = b.session("agent")
		b.bind(b.id, group, true)
		b.begins()
		test(b)
	})
}

func (b *busy) output(ev sessions.OutputEvent) {
	ev.Session, ev.Turn.Number = b.id, b.turn
	b.manager.Output(ev)
	b.in.HandleOutput(ev)
	synctest.Wait()
}

func (b *busy) begins() {
	b.turn++
	b.output(sessions.OutputEvent{Turn: sessions.Turn{Open: true}})
}

func (b *busy) ends() {
	b.output(sessions.OutputEvent{Complete: true, Turn: sessions.Turn{EndedAt: time.Now()}})
}

// asked has the transcript say that the agent was asked a text.
func (b *busy) asked(text string) { b.tell(sessions.Asked{Text: text, At: time.Now()}) }

// write has a text submitted, and queued by the agent.
func (b *busy) write(text string) {
	b.Helper()
	b.say(ann, text)
	b.pass(5 * time.Second)
	b.wantPosts("Waits: queued: the agent is at work")
}

// wantPostsToEach wants these posts to each of n messages, and forgets them. Whose come
// first is left open: one message's reaction may overtake the other's answer.
func (b *busy) wantPostsToEach(n int, want ...string) {
	b.Helper()
	got := map[string][]string{}
	for _, p := range b.hub.take() {
		got[p.ReplyTo] = append(got[p.ReplyTo], p.Reaction+p.Text)
	}
	if len(got) != n {
		b.Errorf("posts to %d messages, want %d: %q", len(got), n, got)
	}
	for message, posts := range got {
		if !slices.Equal(posts, want) {
			b.Errorf("message %s: posts %q, want %q", message, posts, want)
		}
	}
}

// A queued text is answered by the end of the turn that took it up.
func TestAQueuedTextIsAnsweredByItsOwnTurn(t *testing.T) {
	for name, test := range map[string]func(b *busy){
		"the next turn": func(b *busy) {
			b.write("and then this")
			b.ends()
			b.pass(2 * time.Second)
			b.wantPosts() // one turn too early
			b.begins()
			b.pass(time.Minute)
			b.wantPosts()
			b.ends()
			b.pass(time.Second)
			b.wantPosts("Taken up, and answered.", "👌")
		},
		"the next turn, which its transcript says just before": func(b *busy) {
			b.write("and then this")
			b.asked("and then this")
			b.pass(time.Second)
			b.ends()
			b.begins()
			b.pass(time.Minute)
			b.wantPosts()
			b.ends()
			b.pass(time.Second)
			b.wantPosts("Taken up, and answered.", "👌")
		},
		"the turn that ran": func(b *busy) {
			b.write("and then this")
			b.asked("<wrapped>and then\nthis</wrapped> " + strings.Repeat("x", 30)) // which isn't it
			b.asked("And then\n  this")
			b.pass(5 * time.Second)
			b.wantPosts()
			b.ends()
			b.pass(time.Second)
			b.wantPosts("Taken up, and answered.", "👌")
		},
		"the turn that ran, at its very end": func(b *busy) {
			b.write("and then this")
			b.asked("and then this")
			b.ends()
			b.pass(9 * time.Second)
			b.wantPosts()
			b.pass(2 * time.Second)
			b.wantPosts("Taken up, and answered.", "👌")
		},
		"a turn each": func(b *busy) {
			b.write("first of two")
			b.write("second of two")
			b.ends()
			b.begins()
			b.pass(20 * time.Second)
			b.ends()
			b.pass(time.Second)
			b.wantPosts("Taken up, and answered.", "👌")
			b.begins()
			b.pass(time.Minute)
			b.wantPosts()
			b.ends()
			b.pass(time.Second)
			b.wantPosts("Taken up, and answered.", "👌")
		},
		"one turn for both": func(b *busy) {
			b.write("first of two")
			b.write("second of two")
			b.ends()
			b.begins()
			b.asked("first of two\nsecond of two")
			b.pass(time.Minute)
			b.wantPosts()
			b.ends()
			b.pass(time.Second)
			b.wantPostsToEach(2, "Taken up, and answered.", "👌")
		},
		"nobody knows": func(b *busy) {
			b.write("and then this")
			b.ends()
			b.pass(9 * time.Second)
			b.wantPosts()
			b.pass(2 * time.Second)
			b.wantPosts("can't be seen")
			b.begins()
			b.ends()
			b.restart()
			b.pass(time.Hour)
			b.wantPosts()
		},
		"nobody knows after a restart": func(b *busy) {
			b.write("and then this")
			b.restart()
			b.pass(3 * time.Minute)
			b.wantPosts("can't be seen")
		},
		"it was just starting": func(b *busy) {
			b.ends()
			b.write("the first")
			b.pass(time.Minute)
			b.wantPosts()
			b.begins()
			b.pass(time.Minute)
			b.ends()
			b.pass(time.Second)
			b.wantPosts("Taken up, and answered.", "👌")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBusy(t, func(b *busy) {
				test(b)
				b.pass(time.Second)
				if b.tell != nil {
					b.Error("the transcript is still listened to")
				}
			})
		})
	}
}

// What was said not to be delivered, and was, is said to be: in the message that said so.
func TestATextThatWasDeliveredAfterAllIsSaidToBe(t *testing.T) {
	for name, restarts := range map[string]bool{"at once": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			inBusy(t, func(b *busy) {
				b.panes.deaf = true
				b.say(ann, "list the files of this folder")
				b.pass(2 * time.Minute)
				b.wantPosts("✍", "Failed: the text is in the session's input box")
				if restarts {
					b.restart()
				}
				b.asked("list the files of this folder")
				b.pass(time.Second)
				posts := b.wantPosts("delivered after all")
				if len(posts) == 1 && posts[0].Message == "" {
					b.Error("it's a message of its own")
				}
				b.ends()
				b.pass(time.Minute)
				b.wantPosts("👌")
			})
		})
	}
}
