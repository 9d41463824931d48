package inbound_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

func TestATextIsTypedAndItsWriterSeesIt(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.say(ann, "hello *there*")
		w.pass(5 * time.Second)
		w.wantTyped("hello *there*")
		posts := w.wantPosts("👍")
		if p := posts[0]; p.ReplyTo != ev.Message || p.To != group {
			w.Errorf("the reaction stands on %s in %s, want %s in %s", p.ReplyTo, p.To, ev.Message, group)
		}
		s := w.manager.List()[0]
		w.manager.Output(sessions.OutputEvent{Session: s.ID, Complete: true, Turn: sessions.Turn{Number: 1}})
		w.pass(time.Second)
		w.wantPosts("👌")
		w.manager.Output(sessions.OutputEvent{Session: s.ID, Complete: true, Turn: sessions.Turn{Number: 1}})
		w.restart()
		w.pass(time.Hour)
		w.wantPosts()
	})
}

// That a text is answered is said by a reaction as soon as the chat has room for it: what its turn
// ended with goes first. After a minute nobody looks for it any more.
func TestAReactionComesBehindWhatTheTurnEndedWith(t *testing.T) {
	for busy, want := range map[time.Duration][]string{0: {"👌"}, 12 * time.Second: {"👌"}, 50 * time.Second: {"👌"}, 2 * time.Minute: {}} {
		inWorld(t, func(w *world) {
			w.say(ann, "hello")
			w.pass(5 * time.Second)
			w.wantPosts("👍")
			w.hub.mu.Lock()
			w.hub.busy = true
			w.hub.mu.Unlock()
			w.manager.Output(sessions.OutputEvent{Session: w.manager.List()[0].ID, Complete: true, Turn: sessions.Turn{Number: 1}})
			w.pass(busy)
			w.wantPosts()
			w.hub.mu.Lock()
			w.hub.busy = false
			w.hub.mu.Unlock()
			w.pass(time.Hour)
			w.wantPosts(want...)
		})
	}
}

// Reasons are sentences; in another one they end without their stop.
func TestWhyAPlaceMirrorsNothingIsSaidPlainly(t *testing.T) {
	inWorld(t, func(w *world) {
		w.do(w.event("", intake.ChatLost{Why: "The bot was removed from the chat: add it again."}))
		w.say(ann, "hello")
		w.wantPosts("The bot was removed from the chat: add it again. /bind lets it go on.")
	})
}

// A text that was changed before it's known that it was written is typed as it stands there.
func TestATextThatWasChangedBeforeItCame(t *testing.T) {
	inWorld(t, func(w *world) {
		said := w.event(ann, intake.Said{Text: "rm -rf /tmp/x"})
		changed := w.event(ann, intake.Edited{Text: "ls /tmp/x"})
		others := w.event(bob, intake.Edited{Text: "of somebody else"})
		changed.Message, others.Message = said.Message, said.Message
		w.do(changed)
		w.do(others)
		w.do(said)
		w.pass(5 * time.Second)
		w.wantTyped("ls /tmp/x")
	})
}

// Where two share a bot, what's written for the other's session is answered, each text: in words,
// and by a sign within a minute. It's said who has the other, as far as that's known.
func TestATextForAnotherPanebridgesSessionIsAnswered(t *testing.T) {
	for _, gloomy := range []error{nil, errors.New("no reactions here")} {
		inWorld(t, func(w *world) {
			w.hub.gloomy = gloomy
			if err := w.hub.Unbind(t.Context(), w.hub.BindingsAt(group)[0].ID); err != nil {
				t.Fatal(err)
			}
			w.end()
			w.opt = func(o *inbound.Options) {
				o.Shared = func(adapter string) string { return map[string]string{"chat": "Process left"}[adapter] }
			}
			w.start()
			const words = "Process left shares its bot: if it shows a session here, it doesn't read what's written, and nothing was typed."
			for range 3 {
				for i := range 40 {
					ev, want := w.say(ann, "for the other"), words
					if i > 0 && gloomy == nil {
						want = "🤷"
					}
					if posts := w.wantPosts(want); len(posts) == 1 && posts[0].ReplyTo != ev.Message {
						w.Errorf("%q answers %s, want %s", want, posts[0].ReplyTo, ev.Message)
					}
					w.pass(time.Second)
				}
				w.pass(time.Minute)
			}
			w.wantTyped()
		})
	}
}

// While an answer waits, it takes in what else somebody writes: many texts don't fill a chat.
func TestTextsThatNobodyTakesAreAnsweredTogether(t *testing.T) {
	inWorld(t, func(w *world) {
		if err := w.hub.Unbind(t.Context(), w.hub.BindingsAt(group)[0].ID); err != nil {
			t.Fatal(err)
		}
		w.hub.hold()
		var last intake.Event
		for range 400 {
			last = w.say(ann, "for nobody")
		}
		waiting := w.hub.release(nil)
		if len(waiting) > 1 {
			t.Errorf("%d posts wait at a time, want one in words, which counts the texts", len(waiting))
		}
		if p := waiting[len(waiting)-1]; !strings.Contains(p.Text, "None of your last 400 texts was typed") || p.ReplyTo != last.Message {
			t.Errorf("it says %q to %s", p.Text, p.ReplyTo)
		}
		w.hub.take()
		w.hub.hold()
		for range 400 {
			last = w.say(ann, "for nobody")
		}
		waiting = w.hub.release(errors.New("no reactions here"))
		if len(waiting) > 11 {
			t.Errorf("%d posts wait at a time, want 10 signs and one in words", len(waiting))
		}
		if posts := w.wantPosts("None of your last 400 texts was typed"); len(posts) == 1 && posts[0].ReplyTo != last.Message {
			t.Errorf("behind signs that were refused it answers %s, want %s", posts[0].ReplyTo, last.Message)
		}
	})
}

// Where a chat allows no reactions, what becomes of a text is said in words. After two that
// were refused none is tried for an hour.
func TestWithoutReactionsWordsSayWhatBecomesOfAText(t *testing.T) {
	for _, gloomy := range []error{nil, errors.New("no reactions here")} {
		inWorld(t, func(w *world) {
			w.hub.gloomy = gloomy
			w.say(ann, "seen")
			w.pass(time.Minute)
			if gloomy != nil {
				w.wantPosts("Typed and submitted.")
			}
			w.panes.mu.Lock()
			w.panes.blind = true
			w.panes.mu.Unlock()
			ev := w.say(ann, "unseen")
			w.pass(time.Minute)
			if gloomy == nil {
				if posts := w.hub.take(); len(posts) == 0 || posts[len(posts)-1].Reaction != "🤔" { // "typed" may be passed through
					w.Errorf("posts %+v, want a doubt at the end", posts)
				}
				return
			}
			if posts := w.wantPosts("Typed; unverified: the program doesn't show"); len(posts) == 1 && posts[0].ReplyTo != ev.Message {
				w.Errorf("it answers %s, want %s", posts[0].ReplyTo, ev.Message)
			}
			w.restart()
			w.pass(time.Hour)
			w.wantPosts()
		})
	}
}

// The doubt about a text is taken back when the agent says that it was asked it, also after
// a restart, once.
func TestTheDoubtAboutATextIsTakenBack(t *testing.T) {
	for n := range 4 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			defer w.end()
			var tell func(sessions.Asked)
			w.ways = func(o *options) {
				o.Asked = func(_ sessions.ID, to func(sessions.Asked)) func() {
					tell = to
					return func() {}
				}
			}
			w.start()
			w.bind(w.session("agent"), group, true)
			want := []string{"👍"}
			if n%2 == 1 {
				w.hub.gloomy = errors.New("no reactions here")
				want = []string{"Typed and submitted; the agent has it."}
			}
			w.panes.blind = true
			w.say(ann, "unseen")
			w.pass(time.Minute)
			if posts := w.hub.take(); len(posts) == 0 {
				t.Errorf("%d: there's no doubt", n)
			}
			if n >= 2 {
				w.restart()
				w.pass(time.Minute)
			}
			tell(sessions.Asked{Text: "unseen", At: time.Now()})
			w.pass(time.Minute)
			w.wantPosts(want...)
			w.restart()
			w.pass(time.Hour)
			w.wantPosts()
		})
	}
}

func TestASlashIsPassedOnWhenDoubled(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(ann, "//compact now")
		w.pass(5 * time.Second)
		w.wantTyped("/compact now")
		w.hub.take()
		w.say(ann, "/compact now")
		w.say(ann, "/compact@our_bot now")
		w.pass(5 * time.Second)
		w.wantPosts("There's no command /compact", "There's no command /compact")
		w.wantTyped("/compact now")
	})
}

func TestTheSameEventIsTypedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.say(ann, "once")
		w.do(ev)
		w.pass(time.Minute)
		w.do(ev)
		w.restart()
		w.do(ev)
		w.pass(time.Minute)
		w.wantTyped("once")
		w.wantPosts("👍")
	})
}

func TestOrderIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		var want []string
		for i := range 30 {
			text := strings.Repeat("x", i+1)
			want = append(want, text)
			w.say(ann, text)
		}
		w.pass(10 * time.Minute)
		w.wantTyped(want...)
	})
}

func TestAReplyDecidesBetweenSeveralSessions(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := w.Context()
		other := w.session("other")
		w.bind(other, group, true)
		b := adapters.Binding{ID: "bd_x", Session: other, Target: group, View: adapters.ViewStream, Origin: adapters.ByHand, CreatedAt: time.Now()}
		doc := adapters.NewDocument(0, adapters.LogProgress{})
		if err := w.store.PutBinding(ctx, b, &doc); err != nil {
			w.Fatal(err)
		}
		if err := w.store.PutDocument(ctx, b.ID, doc, &adapters.Message{ID: "77", From: adapters.Position{Line: 1}, To: adapters.Position{Line: 2}}); err != nil {
			w.Fatal(err)
		}
		w.do(w.event(ann, intake.Said{Text: "for other", ReplyTo: "77"}))
		w.pass(5 * time.Second)
		w.wantTyped("for other")
		w.wantPosts("👍")

		first := w.say(ann, "for whom")
		w.pass(5 * time.Second)
		w.wantTyped("for other")
		posts := w.wantPosts("Which session")
		agent := w.button(posts, "agent")
		w.press(dora, agent)
		w.wantAnswer("isn't for you")
		w.press(ann, agent)
		w.press(ann, w.button(posts, "other"))
		w.pass(5 * time.Second)
		w.wantTyped("for other", "for whom")
		receipts := w.hub.take()
		if len(receipts) != 2 || receipts[1].ReplyTo != first.Message {
			w.Errorf("posts %+v, want the question's end and a reaction to %s", receipts, first.Message)
		}
	})
}

// Where nobody knows in which thread something was written, a session that can't be shown at the moment
// may be meant, too.
func TestWhereThreadsArentNamedATextMayBeForWhoIsntShown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(w.session("other"), group, true)
		if err := w.hub.change(w.hub.BindingsAt(group)[0].ID, func(b *adapters.Binding) { b.Disabled = "Telegram refused to post a message" }); err != nil {
			w.Fatal(err)
		}
		w.hub.unnamed = true
		w.say(ann, "for whom")
		w.pass(5 * time.Second)
		w.wantTyped()
		w.press(ann, w.button(w.wantPosts("Which session"), "agent"))
		w.pass(5 * time.Second)
		w.wantTyped("for whom")
	})
}

// Who writes where no session takes it is told of each text, each person for themselves: in words,
// and by a sign where that was lately. Who may only look hears it once an hour.
func TestWhoWritesWhereNoSessionTakesItIsTold(t *testing.T) {
	inWorld(t, func(w *world) {
		b := w.hub.BindingsAt(group)[0]
		for _, x := range []struct {
			change func(*adapters.Binding)
			hint   string
		}{
			{func(b *adapters.Binding) { b.Unbound = true }, "No session is bound"},
			{func(b *adapters.Binding) { b.Unbound, b.Input = false, false }, "isn't typed"},
			{func(b *adapters.Binding) { b.Input, b.Disabled = true, "the bot was removed" }, "the bot was removed"},
			{func(b *adapters.Binding) { b.Disabled, b.Resting = "", true }, "/reopen"},
		} {
			if err := w.hub.change(b.ID, x.change); err != nil {
				w.Fatal(err)
			}
			for i := range 4 {
				want := x.hint
				if i > 0 {
					want = "🤷"
				}
				one, other := w.say(ann, "anybody?"), w.say(dora, "somebody?")
				if posts := w.wantPosts(want, want); len(posts) == 2 && (posts[0].ReplyTo != one.Message || posts[1].ReplyTo != other.Message) {
					w.Errorf("the answers are for %s and %s, want %s and %s", posts[0].ReplyTo, posts[1].ReplyTo, one.Message, other.Message)
				}
				w.pass(time.Minute)
			}
			w.pass(time.Minute)
			w.say(ann, "and now?")
			w.pass(time.Minute)
			w.wantPosts(x.hint)
		}
		for range 50 {
			w.say(bob, "may I?")
			w.pass(time.Minute)
		}
		w.wantPosts("takes the role operator")
		w.wantTyped()
	})
}

func TestWhatCannotBeTypedIsSaid(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(ann, "a\x1b[201~b")
		w.say(ann, strings.Repeat("x", sessions.MaxInputBytes+1))
		w.pass(5 * time.Second)
		w.wantPosts("control character", "send it as a file")
		if err := w.manager.Close(w.Context(), w.hub.BindingsAt(group)[0].Session); err != nil {
			w.Fatal(err)
		}
		w.say(ann, "still there?")
		w.wantPosts("No session is bound")
		w.wantTyped()
	})
}

func TestEditsAreNotSentAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.say(ann, "frist")
		w.pass(5 * time.Second)
		w.wantPosts("👍")
		edit := func(text string) {
			e := w.event(ann, intake.Edited{Text: text})
			e.Message = ev.Message
			w.do(e)
		}
		edit("first")
		posts := w.hub.take()
		w.wantSaid(said(posts), "Edits aren't sent by themselves")
		edit("first!")
		edit("first?")
		w.restart()
		edit("first.")
		w.do(w.event(ann, intake.Edited{Text: "of a message that was never sent"}))
		w.pass(5 * time.Second)
		w.wantPosts()
		w.wantTyped("frist")

		// The button sends the newest, once, for who wrote it.
		w.press(bob, w.button(posts, "Send the new text"))
		w.press(ann, w.button(posts, "Send the new text"))
		w.pass(5 * time.Second)
		w.press(ann, w.button(posts, "Send the new text"))
		w.pass(5 * time.Second)
		w.wantTyped("frist", "first.")
		w.hub.take()

		// Another edit is offered again, also of a text that was sent so before.
		edit("first")
		posts = w.hub.take()
		w.wantSaid(said(posts), "Edits aren't sent by themselves")
		edit("first.")
		w.press(ann, w.button(posts, "Send the new text"))
		w.pass(5 * time.Second)
		w.wantTyped("frist", "first.", "first.")
	})
}

// An edited text is what a new one would be: a command is done, and isn't typed.
func TestAnEditIsHandledAsANewText(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.say(ann, "hello")
		w.pass(5 * time.Second)
		w.hub.take()
		e := w.event(ann, intake.Edited{Text: "/help"})
		e.Message = ev.Message
		w.do(e)
		w.press(ann, w.button(w.hub.take(), "Send the new text"))
		w.pass(5 * time.Second)
		w.wantSaid(said(w.hub.take()), "/sessions")
		w.wantTyped("hello")
	})
}

// Who wrote something that can't be handled hears of it, strangers don't.
func TestGivenUp(t *testing.T) {
	inWorld(t, func(w *world) {
		w.in.HandleGivenUp(w.event("telegram:404", intake.Said{Text: "who's there?"}))
		w.in.HandleGivenUp(w.event(ann, intake.Said{Text: "run the tests"}))
		w.wantPosts("couldn't be done")
	})
}

// What others got, too, who use the same bot, in a place of nobody's, does nothing; it's answered
// with what each of them says, of which the platform takes one, and not at all where another may
// show a session.
func TestWhatIsCommonIsAnsweredAlike(t *testing.T) {
	var nonces [2][]string
	for i := range nonces {
		inWorld(t, func(w *world) {
			common := func(person, text string) {
				ev := w.event(person, intake.Said{Text: text})
				ev.Place, ev.Common = adapters.Target{Adapter: "chat", Chat: group.Chat, Thread: "elsewhere"}, true
				w.do(ev)
			}
			for _, own := range []bool{true, false} {
				w.hub.ownThread = own
				want := []string{"No session takes what's written here"}
				if !own {
					want = nil
				}
				common(ann, "text")
				for _, p := range w.wantPosts(want...) {
					nonces[i] = append(nonces[i], p.Nonce)
				}
				common(ann, "/new claude")
				for _, p := range w.wantPosts("from the list of commands") {
					nonces[i] = append(nonces[i], p.Nonce)
				}
				common(bob, "text")
				w.wantPosts()
			}
			w.wantTyped()
		})
	}
	if len(nonces[0]) != 3 || slices.Contains(nonces[0], "") || !slices.Equal(nonces[0], nonces[1]) {
		t.Errorf("the nonces are %q and %q", nonces[0], nonces[1])
	}
}
