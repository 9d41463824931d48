package inbound_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

func TestAQuestionIsShownAndAnswered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.question("pr_1", permission())
		posts := w.wantPosts("**agent asks for permission**\n\nDo you want to run this command?\n\n```\nrm -rf build\nmake\n```")
		want := []string{"Yes", "Yes, and don't ask again", "No", "Write an answer…", "Screen", "Keys"}
		if !posts[0].Ring || posts[0].To != group || !slices.Equal(labels(posts[:1]), want) {
			t.Errorf("got %+v", posts[0])
		}
		w.press(dora, w.button(posts, "Yes, and don't ask again"))
		w.wantAnswer("Answered: Yes, and don't ask again.")
		if got := w.asks.Took(); len(got) != 1 || got[0].Author != dora || got[0].Name != "Somebody" || !slices.Equal(got[0].Options, []int{1}) || got[0].Origin != group.String() {
			t.Errorf("answers %+v", got)
		}
		posts = w.wantPosts("Answered by Somebody: Yes, and don't ask again.")
		if posts[0].Message != "p1" || len(posts[0].Buttons) != 0 || posts[0].Ring {
			t.Errorf("got %+v, want an edit without buttons", posts[0])
		}
	})
}

// A question that a topic refuses is shown in the chat itself; where nothing takes it, that's
// said, where questions go that nobody answers is tried at once, and the place again and again.
func TestARefusedQuestionIsShown(t *testing.T) {
	topic := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "7"}
	for _, all := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.bind(w.idOf("agent"), topic, true)
			var refusing atomic.Bool
			refusing.Store(true)
			w.hub.mu.Lock()
			w.hub.refused = func(p adapters.Post) error {
				if refusing.Load() && (all || p.To == topic) {
					return errors.New("not here")
				}
				return nil
			}
			w.hub.mu.Unlock()
			if err := w.hub.Unbind(t.Context(), w.hub.BindingsAt(group)[0].ID); err != nil {
				t.Fatal(err)
			}
			p := w.question("pr_1", permission())
			w.pass(15 * time.Second)
			health := w.in.QuestionsHealth()
			if !all {
				if posts := w.wantPosts("agent asks for permission"); posts[0].To != group || !posts[0].Ring || health.Condition != intake.Well {
					t.Errorf("got %+v, health %+v", posts[0], health)
				}
				w.pass(time.Hour)
				w.wantPosts() // once
				w.close(p, "answered in the pane")
				w.wantPosts("Answered in the pane.")
				return
			}
			if w.wantPosts(); health.Condition != intake.Down || !strings.Contains(health.Detail, "not here") {
				t.Errorf("health %+v, want it down", health)
			}
			refusing.Store(false)
			w.pass(time.Minute)
			if w.wantPosts("agent asks for permission"); w.in.QuestionsHealth().Condition != intake.Well {
				t.Errorf("health %+v, want it well", w.in.QuestionsHealth())
			}
		})
	}
}

// Of questions that a chat refuses one is tried every half minute, for all: all are shown within that once
// the chat takes them, and one that it refuses for what it says doesn't hold up the others.
func TestRefusedQuestionsAreTriedOneForAll(t *testing.T) {
	inWorld(t, func(w *world) {
		var refusing atomic.Bool
		var tries atomic.Int32
		refusing.Store(true)
		w.hub.mu.Lock()
		w.hub.refused = func(p adapters.Post) error {
			tries.Add(1)
			switch {
			case refusing.Load():
				return errors.New("not here")
			case strings.Contains(p.Text, "never"):
				return errors.New("not that")
			}
			return nil
		}
		w.hub.mu.Unlock()
		for i := range 5 {
			d := permission()
			if i == 0 {
				d.Title = "never"
			}
			w.question(fmt.Sprintf("pr_%d", i), d)
		}
		w.pass(5 * time.Minute)
		tries.Store(0)
		w.pass(5 * time.Minute)
		if n := tries.Load(); n > 15 {
			t.Errorf("in five minutes %d were tried", n)
		}
		refusing.Store(false)
		w.pass(32 * time.Second)
		w.wantPosts("agent asks", "agent asks", "agent asks", "agent asks")
	})
}

// Somebody who answers a question's message with the number of an option has chosen that: with a
// "#", or alone where the question takes no text. What a place doesn't offer isn't chosen so, by
// nobody who may not.
func TestAQuestionIsAnsweredByNumber(t *testing.T) {
	for _, takesText := range []bool{false, true} {
		inWorld(t, func(w *world) {
			reply := func(person, text string) {
				w.do(w.event(person, intake.Said{Text: text, ReplyTo: "p1"}))
				w.pass(time.Second)
			}
			d := permission()
			if !takesText {
				d.Text = ""
			}
			w.question("pr_1", d)
			posts := w.wantPosts("agent asks for permission")
			if want := "1. Yes\n2. Yes, and don't ask again\n3. No\n\nReply to this message with a number to answer, as in “#1”."; !strings.HasSuffix(posts[0].Numbered, want) {
				t.Errorf("without buttons it says %q, want it to end %q", posts[0].Numbered, want)
			}
			reply(ann, "#2")
			w.wantPosts("Nothing was typed. Answering takes the role approver.")
			if takesText {
				reply(dora, "2")
				if got := w.asks.Took(); len(got) != 1 || got[0].Text != "2" {
					t.Errorf("answers %+v", got)
				}
				return
			}
			reply(dora, "#4")
			if got := w.asks.Took(); got != nil {
				t.Errorf("answers %+v", got)
			}
			w.hub.take()
			reply(dora, " 2. ")
			if got := w.asks.Took(); len(got) != 1 || !slices.Equal(got[0].Options, []int{1}) {
				t.Errorf("answers %+v", got)
			}
		})
	}
}

func TestAQuestionAnsweredAtTheKeyboardIsClosed(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.question("pr_1", permission())
		yes := w.button(w.wantPosts("asks for permission"), "Yes")
		w.close(p, "answered in the pane")
		if posts := w.wantPosts("Answered in the pane."); posts[0].Message != "p1" || posts[0].Buttons != nil {
			t.Errorf("got %+v", posts[0])
		}
		w.press(dora, yes)
		w.wantAnswer("This question is closed. Answered in the pane.")
		if got := w.asks.Took(); got != nil {
			t.Errorf("answers %+v", got)
		}
	})
}

// Nobody's press answers who may not, or what isn't there to be answered.
func TestWhyAQuestionIsNotAnswered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.question("pr_1", permission())
		yes := w.button(w.wantPosts("asks for permission"), "Yes")
		for _, person := range []string{ann, bob} {
			w.press(person, yes)
			w.wantAnswer("This takes the role approver.")
		}
		w.press(dora, "o:0123456789abcdef")
		w.wantAnswer("expired")
		w.press(dora, yes+"0")
		w.wantAnswer("isn't one of panebridge's")
		w.press(evil, yes)
		stale := w.event(dora, intake.Pressed{Data: yes})
		stale.At = time.Now().Add(-time.Hour)
		w.do(stale)
		if got := w.chat.take(); len(got) != 1 || !strings.Contains(got[0], "60 min ago") {
			t.Errorf("answers %q", got)
		}
		w.asks.Fail(fmt.Errorf("%w: the screen shows another question now", sessions.ErrConflict))
		w.press(dora, yes)
		w.wantAnswer("It isn't answered: ")
		w.asks.Fail(nil)
		w.wantPosts()
		if got := w.asks.Took(); got != nil {
			t.Errorf("answers %+v", got)
		}
		w.press(dora, yes) // the one that failed doesn't use it up
		w.wantAnswer("Answered: Yes.")
		w.press(cleo, yes)
		w.wantAnswer("This question is closed. Answered by Somebody: Yes.")
	})
}

func TestAQuestionOutlivesTheDaemon(t *testing.T) {
	inWorld(t, func(w *world) {
		w.question("pr_1", permission())
		p := w.question("pr_2", permission())
		posts := w.wantPosts("asks for permission", "asks for permission")
		yes := w.button(posts[:1], "Yes")
		w.end()
		w.asks.Tell(nil)
		p.State, p.Reason = sessions.PromptClosed, "answered in the pane"
		w.asks.Change(p)
		w.start()
		w.pass(time.Second)
		closed := w.wantPosts("Answered in the pane.") // and the other isn't rung again
		if closed[0].Message != "p2" || closed[0].Buttons != nil {
			t.Errorf("got %+v", closed[0])
		}
		w.press(dora, yes)
		w.wantAnswer("Answered: Yes.")
		if posts := w.wantPosts("Answered by Somebody: Yes."); posts[0].Message != "p1" {
			t.Errorf("got %+v", posts[0])
		}
		w.restart()
		w.pass(time.Second)
		w.wantPosts()
	})
}

func TestTwoApproversOnTwoPlatformsPressAtOnce(t *testing.T) {
	const times = 1000
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		other := &chat{name: "other"}
		place := adapters.Target{Adapter: "other", Chat: "-2"}
		const eve = "other:1"
		w.opt = func(o *inbound.Options) {
			o.Platforms = append(o.Platforms, other)
			o.Access.Roles[eve] = roles(access.Approver)
			o.Access.Chats = append(o.Access.Chats, place)
			o.Access.Names = map[string]string{dora: "Dora", eve: "Eve"}
		}
		w.start()
		id := w.session("agent")
		w.bind(id, group, true)
		w.bind(id, place, true)
		wins := map[string]int{}
		for i := range times {
			w.question(fmt.Sprint("pr_", i), permission())
			posts := w.wantPosts("asks for permission", "asks for permission")
			slices.SortFunc(posts, func(a, b adapters.Post) int { return strings.Compare(a.To.Adapter, b.To.Adapter) })
			one := w.event(dora, intake.Pressed{Data: w.button(posts[:1], "Yes")})
			two := w.event(eve, intake.Pressed{Data: w.button(posts[1:], "No")})
			two.Place = place
			var both sync.WaitGroup
			for _, ev := range []intake.Event{one, two} {
				both.Go(func() {
					if err := w.in.Handle(t.Context(), ev); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			synctest.Wait()
			got := w.asks.Took()
			said, otherSaid := w.chat.take(), other.take()
			if len(got) != 1 || len(said) != 1 || len(otherSaid) != 1 {
				t.Fatalf("answers %+v; told %q and %q", got, said, otherSaid)
			}
			wins[got[0].Name]++
			winner, loser, of := said[0], otherSaid[0], "Dora: Yes."
			if got[0].Name == "Eve" {
				winner, loser, of = otherSaid[0], said[0], "Eve: No."
			}
			if !strings.HasPrefix(winner, "Answered: ") || !strings.HasSuffix(loser, "Answered by "+of) {
				t.Errorf("%s won; the winner was told %q, the other %q", got[0].Name, winner, loser)
			}
			for _, p := range w.wantPosts("Answered by "+of, "Answered by "+of) {
				if p.Message == "" || p.Buttons != nil {
					t.Errorf("%+v isn't an edit without buttons", p)
				}
			}
		}
		t.Logf("who won: %v", wins)
	})
}

// Of several options any number is chosen by buttons that change the message, which
// outlives the daemon.
func TestSeveralOptionsAreChosen(t *testing.T) {
	inWorld(t, func(w *world) {
		w.question("pr_1", sessions.Dialog{
			Kind: sessions.PromptMulti, Title: "Which tests?",
			Options: []sessions.DialogOption{{Label: "unit"}, {Label: "integration", Detail: "slow"}, {Label: strings.Repeat("very ", 20) + "long"}},
		})
		posts := w.wantPosts("asks you to choose any number")
		if text := posts[0].Text; !strings.Contains(text, "2. integration — slow") {
			t.Errorf("says %q", text)
		}
		for _, l := range labels(posts[:1]) {
			if utf8.RuneCountInString(l) > 40 {
				t.Errorf("button %q is longer than what's shown", l)
			}
		}
		w.press(ann, w.button(posts, "1. unit"))
		w.wantAnswer("takes the role approver")
		w.press(dora, w.button(posts, "2. integration"))
		w.press(cleo, w.button(posts, "1. unit"))
		edits := w.wantPosts("asks you", "asks you")
		if edits[1].Message != "p1" || edits[1].Ring || !slices.Contains(labels(edits[1:]), "✓ 1. unit") || !slices.Contains(labels(edits[1:]), "✓ 2. integration") {
			t.Errorf("got %+v", edits[1])
		}
		w.restart()
		w.press(dora, w.button(edits[1:], "✓ 1. unit"))
		edits = w.wantPosts("asks you")
		w.chat.take()
		w.press(dora, w.button(edits, "Send"))
		w.wantAnswer("Answered: integration.")
		if got := w.asks.Took(); len(got) != 1 || !slices.Equal(got[0].Options, []int{1}) {
			t.Errorf("answers %+v", got)
		}
		w.wantPosts("Answered by Somebody: integration.")
		w.press(dora, w.button(posts, "1. unit"))
		w.wantAnswer("This question is closed.")
	})
}

func TestATextIsTheAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		reply := func(person, text, to string) {
			w.do(w.event(person, intake.Said{Text: text, ReplyTo: to}))
		}
		w.question("pr_1", permission())
		write := w.button(w.wantPosts("asks for permission"), "Write an answer…")
		w.press(ann, write)
		w.wantAnswer("takes the role approver")
		w.press(dora, write)
		cancel := w.button(w.wantPosts("your next message here is the answer to"), "Cancel")
		w.press(cleo, cancel)
		w.press(dora, cancel)
		w.wantPosts("Canceled")
		w.chat.take()
		w.press(dora, write)
		w.hub.take()
		w.restart() // which doesn't forget it
		w.say(cleo, "/status")
		w.hub.take()
		w.say(dora, "//use make instead")
		w.wantPostsInAnyOrder("Answered: “/use make instead”.", "Answered by Somebody: “/use make instead”.")
		w.say(dora, "and go on")
		w.pass(5 * time.Second)
		w.wantTyped("and go on")
		w.hub.take()

		p := w.question("pr_2", permission())
		w.hub.take()
		msg := fmt.Sprint("p", w.hub.n)
		reply(ann, "no", msg)
		w.wantPosts("Nothing was typed. Answering takes the role approver.")
		old := w.event(dora, intake.Said{Text: "old", ReplyTo: msg})
		old.At = time.Now().Add(-time.Hour)
		w.do(old)
		w.wantPosts("Nothing was typed. It was written 60 min ago")
		w.asks.Fail(errors.New("the screen doesn't react"))
		reply(dora, "no", msg)
		w.wantPosts("Nothing was typed. It isn't answered: the screen doesn't react.")
		w.asks.Fail(nil)
		w.close(p, "answered in the pane")
		w.hub.take()
		reply(dora, "no", msg)
		w.wantPosts("Nothing was typed. This question is closed. Answered in the pane.")
		w.wantTyped("and go on")
	})
}

func TestOneReminderAndOneEscalation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		boss := adapters.Target{Adapter: "chat", Chat: "-9"}
		w.opt = func(o *inbound.Options) {
			o.RemindAfter, o.EscalateTo = 10*time.Minute, boss
			o.Access.Chats = append(o.Access.Chats, boss)
		}
		w.start()
		w.bind(w.session("agent"), group, true)
		w.question("pr_1", permission())
		w.wantPosts("asks for permission")
		w.pass(9 * time.Minute)
		w.restart()
		w.wantPosts()
		w.pass(2 * time.Minute)
		posts := w.hub.take()
		slices.SortFunc(posts, func(a, b adapters.Post) int { return strings.Compare(a.To.Chat, b.To.Chat) })
		if len(posts) != 2 || posts[0].ReplyTo != "p1" || !posts[0].Ring || !strings.Contains(posts[0].Text, "still waits for an answer**: Do you want") ||
			posts[1].To != boss || !posts[1].Ring || !strings.HasPrefix(posts[1].Text, "Nobody has answered this for 10 min.") {
			t.Fatalf("got %+v", posts)
		}
		w.restart()
		w.pass(time.Hour)
		w.wantPosts()
		ev := w.event(dora, intake.Pressed{Data: w.button(posts[1:], "No")})
		ev.Place = boss
		w.do(ev)
		w.wantAnswer("Answered: No.")
		closed := w.hub.take()
		slices.SortFunc(closed, func(a, b adapters.Post) int { return strings.Compare(a.Message, b.Message) })
		if len(closed) != 3 {
			t.Fatalf("got %+v, want what's asked, the reminder and what's asked elsewhere closed", closed)
		}
		for i, p := range closed {
			if p.Message != fmt.Sprint("p", i+1) || p.Ring || p.Buttons != nil || !strings.HasSuffix(p.Text, `Answered by Somebody: No\.`) || strings.Contains(p.Text, "still waits") {
				t.Errorf("got %+v", p)
			}
		}
		w.restart() // and that's all
		w.pass(time.Minute)
		w.wantPosts()
		w.question("pr_2", permission())
		w.in.SetPrompts(0, adapters.Target{})
		w.hub.take()
		w.pass(time.Hour)
		w.wantPosts()
	})
}

func TestAHeldTextPointsToTheQuestion(t *testing.T) {
	inWorld(t, func(w *world) {
		w.panes.setDialog(true)
		w.question("pr_1", permission())
		w.hub.take()
		w.say(ann, "hello")
		w.pass(5 * time.Second)
		w.wantPosts("Answer [“Do you want to run this command?”](<chat:-1#p1>) first.")
	})
}

// What's too much for a message is cut, and says so.
func TestAQuestionFitsIntoAMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		d := permission()
		d.Title, d.Body, d.Cut = strings.Repeat("why? ", 200), strings.Repeat("a line of the plan\n", 5000), true
		for i := range 40 {
			d.Options = append(d.Options, sessions.DialogOption{Label: fmt.Sprint("an option that's quite long, much too long for a button ", i), Detail: strings.Repeat("x ", 500)})
		}
		w.question("pr_1", d)
		text := w.hub.take()[0].Text
		if n := adapters.UTF16Len(text); n > 4096 || n < 3000 {
			t.Errorf("it has %d units", n)
		}
		for _, part := range []string{"```\n…\na line of the plan", "plan\n…\n```", "more, on the screen", "1. Yes"} {
			if !strings.Contains(text, part) {
				t.Errorf("there's no %q in %s", part, text)
			}
		}
	})
}

// Where a session is shown that asks already, the question is shown at once; in a thread
// that's made for it later without ringing twice.
func TestAPlaceThatComesLaterShowsTheQuestion(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.question("pr_1", permission())
		first := w.wantPosts("asks for permission")
		other := adapters.Target{Adapter: "chat", Chat: "-2"}
		w.bind(p.Session, other, true)
		w.in.HandlePlaced(p.Session)
		synctest.Wait()
		posts := w.wantPosts("asks for permission")
		if posts[0].To != other || !posts[0].Ring || !slices.Contains(labels(posts), "Yes") {
			t.Errorf("got %+v", posts[0])
		}
		w.hub.mu.Lock()
		w.hub.bindings[1].Target.Thread = "7"
		w.hub.mu.Unlock()
		w.in.HandlePlaced(p.Session)
		w.in.HandlePlaced(p.Session)
		synctest.Wait()
		posts = w.wantPosts("asks for permission")
		if posts[0].To.Thread != "7" || posts[0].Ring || posts[0].Message != "" {
			t.Errorf("got %+v", posts[0])
		}
		w.press(dora, w.button(first, "No"))
		w.wantPosts("Answered by Somebody: No.", "Answered by Somebody: No.", "Answered by Somebody: No.")
	})
}

// A question of which not all can be seen has no button that allows anything, and gets them
// when it can.
func TestAQuestionThatIsNotSeenWhole(t *testing.T) {
	inWorld(t, func(w *world) {
		d := permission()
		d.Cut, d.Unseen, d.Options[2].Refuses = true, true, true
		p := w.question("pr_1", d)
		posts := w.wantPosts("Not all of what it’s about can be seen")
		if got := labels(posts); slices.Contains(got, "Yes") || slices.Contains(got, "Write an answer…") || !slices.Contains(got, "No") {
			t.Errorf("buttons are %q", got)
		}
		p.Dialog.Cut, p.Dialog.Unseen = false, false
		w.in.HandlePrompt(p)
		w.pass(time.Second)
		posts = w.wantPosts("asks for permission")
		if got := labels(posts); posts[0].Message == "" || posts[0].Ring || !slices.Contains(got, "Yes") || strings.Contains(posts[0].Text, "Not all") {
			t.Errorf("buttons are %q in %+v", got, posts[0])
		}
	})
}

// A call from a pane is for approvers to allow, and one that gives access for those who
// can give it. It's on no screen: it's in nobody's way.
func TestWhoMayAllowACall(t *testing.T) {
	for access, may := range map[bool]map[string]bool{
		false: {ann: false, bob: false, dora: true, cleo: true},
		true:  {ann: false, bob: false, dora: false, cleo: true},
	} {
		for person, may := range may {
			inWorld(t, func(w *world) {
				s, err := w.manager.Get("agent")
				if err != nil {
					t.Fatal(err)
				}
				w.asks.Change(sessions.Prompt{
					ID: "pr_1", Session: s.ID, State: sessions.PromptOpen, OpenedAt: time.Now(), Access: access,
					Dialog: sessions.Dialog{
						Kind: sessions.PromptCall, Title: "May it?", Body: "POST /x",
						Options: []sessions.DialogOption{{Label: "Allow it once"}, {Label: "Refuse"}},
					},
				})
				synctest.Wait()
				posts := w.wantPosts("**agent has a program that asks for something**\n\nMay it?\n\n```\nPOST /x\n```")
				if want := []string{"Allow it once", "Refuse", "Screen"}; !slices.Equal(labels(posts[:1]), want) {
					t.Errorf("its buttons are %q", labels(posts[:1]))
				}
				w.press(person, w.button(posts, "Allow it once"))
				if took := len(w.asks.Took()) == 1; took != may {
					t.Errorf("access %v: %s's word counts: %v", access, person, took)
				}
				w.say(ann, "hello")
				w.pass(2 * time.Second)
				w.wantTyped("hello")
			})
		}
	}
}

// What a question is about comes as a file where a message is too short for it, by the
// agent's own record where there's one; and again when the record comes later.
func TestAllOfAQuestionComesAsAFile(t *testing.T) {
	inWorld(t, func(w *world) {
		w.hub.maxFile = 1 << 20
		d := permission()
		d.Whole, d.Call, d.Cut = strings.Repeat("echo one of many rows\n", 5000)+"curl | sh", "c1", true
		p := w.question("pr_1", d)
		posts := w.hub.take()
		if len(posts) != 2 || posts[0].File != nil || posts[1].File == nil || string(posts[1].File.Data) != d.Whole+"\n" || posts[1].Ring {
			t.Fatalf("got %+v", posts)
		}
		w.in.HandlePrompt(p) // nothing new
		w.pass(time.Second)
		w.wantPosts()
		p.Dialog.Disputed, p.Dialog.Unseen = true, true
		w.in.HandlePrompt(p)
		w.pass(time.Second)
		posts = w.hub.take()
		if len(posts) != 2 || !strings.Contains(posts[0].Text, "isn’t in the agent’s own record") || !strings.Contains(string(posts[1].File.Data), "rm -rf build") {
			t.Fatalf("got %+v", posts)
		}
		short := permission()
		short.Whole, short.Call = "make", "c2"
		w.question("pr_2", short)
		for _, p := range w.hub.take() {
			if p.File != nil {
				t.Errorf("a short one is a file: %+v", p)
			}
		}
	})
}
