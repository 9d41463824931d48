package telegram_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const first = sessions.ID("pb_000000000001")

// inForum mirrors all sessions to the forum.
func (w *world) inForum() *bridge {
	return w.bridge(adapters.MirrorRule{Session: "*", To: target(w.forum, 0)})
}

// withTopic begins a process that has mirrored a turn of a session to a topic of its own.
func (w *world) withTopic() (*bridge, telegramtest.Topic) {
	w.Helper()
	b := w.inForum()
	b.Start()
	b.Begin(first, "api")
	b.Print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
	after(time.Minute)
	return b, b.topic(w.forum, "api")
}

func TestTopicLivesWithItsSession(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.inForum()
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "api-refactor")
		after(time.Minute)
		if topics := w.Topics(w.forum); len(topics) != 0 {
			w.Errorf("a session that has said nothing has topics %+v", topics)
		}
		b.Print(first, adaptertest.Output{Lines: lines(1, 3)})
		after(time.Minute)
		b.Print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
		after(time.Minute)
		topic := b.topic(w.forum, "api-refactor")
		b.compare(topic.Place, first)
		if topic.Closed {
			w.Error("the topic of a session that's there is closed")
		}
		b.End(first)
		after(2 * time.Minute)
		if topic = b.topic(w.forum, "api-refactor"); !topic.Closed {
			w.Error("the session has ended, and its topic is open")
		}
		b.compare(topic.Place, first)
		if left := b.Hub.Status(""); len(left) != 0 {
			w.Errorf("bindings are left: %+v", left)
		}
		w.noRefusals()
	})
}

// The topic has its session's name, also one that it was given while the daemon was
// down. Several changes in a row are one call.
func TestTopicIsRenamedWithItsSession(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b, topic := w.withTopic()
		place := topic.Place
		for _, name := range []string{"a", "b", "c", "billing  🧾"} {
			b.House.Rename(first, name)
		}
		after(2 * time.Minute)
		if got := b.topic(w.forum, "billing 🧾").Place; got != place {
			w.Errorf("the topic is %v, and was %v", got, place)
		}
		if n := len(w.calls("editForumTopic")); n != 1 {
			w.Errorf("%d calls for one new name", n)
		}
		b.Stop()
		b.House.Rename(first, "invoices")
		b.Start()
		after(2 * time.Minute)
		if got := b.topic(w.forum, "invoices").Place; got != place {
			w.Errorf("the topic is %v, and was %v", got, place)
		}
		b.Stop()
		b.Start()
		after(2 * time.Minute)
		if n := len(w.calls("editForumTopic")); n != 2 {
			w.Errorf("%d calls for two new names", n)
		}
		b.Print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
		after(time.Minute)
		b.compare(place, first)
		b.Stop()
		w.noRefusals()
	})
}

// A session that somebody has begun, or asked for, has its topic at once, though it says
// nothing until it's asked; one that was adopted has it with its first output. It isn't made
// twice, over restarts either.
func TestATopicIsThereWhereSomebodyLooksForIt(t *testing.T) {
	for _, how := range []string{"begun", "asked for", "adopted"} {
		t.Run(how, func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				b := w.inForum()
				b.Start()
				defer func() { b.Stop() }()
				begin := b.House.Begin
				if how == "begun" {
					begin = b.House.BeginOwned
				}
				if err := begin(first, "api"); err != nil {
					w.Fatal(err)
				}
				if how == "asked for" {
					if _, err := b.Hub.Bind(w.Context(), first, target(w.forum, 0), adapters.ViewStream, true); err != nil {
						w.Fatal(err)
					}
				}
				after(3 * time.Second)
				want := 1
				if how == "adopted" {
					want = 0
				}
				if n := len(w.Topics(w.forum)); n != want {
					w.Errorf("after three seconds there are %d topics", n)
				}
				if n := len(w.CallsTo(w.forum)); n != want {
					w.Errorf("%d calls for a session that says nothing", n)
				}
				b.Stop()
				b.Start()
				after(time.Minute)
				b.Print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
				after(time.Minute)
				if n := len(w.Topics(w.forum)); n != 1 {
					w.Errorf("there are %d topics", n)
				}
				b.compare(b.topic(w.forum, "api").Place, first)
			})
		})
	}
}

// A daemon that dies right after the last line closes the topic when it's back.
func TestTopicIsClosedAfterARestart(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b, _ := w.withTopic()
		b.Stop()
		b.End(first)
		b.Start()
		after(2 * time.Minute)
		b.Stop()
		if topic := b.topic(w.forum, "api"); !topic.Closed {
			w.Error("the session has ended, and its topic is open")
		}
		w.noRefusals()
	})
}

func TestDeletedTopicIsMadeAnew(t *testing.T) {
	for _, loses := range []bool{false, true} {
		inBubble(t, telegramtest.Options{}, func(w *world) {
			w.SetLosesTopics(w.forum, loses)
			b, old := w.withTopic()
			defer func() { b.Stop() }()
			if err := w.ada.DeleteTopic(old.Place); err != nil {
				w.Fatal(err)
			}
			b.Print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
			after(time.Minute)
			topic := b.topic(w.forum, "api")
			if topic.Place == old.Place {
				w.Fatal("the deleted topic is there")
			}
			want := adaptertest.Want{Session: first, After: 3, To: 6, Oldest: 1}
			if loses { // it stands in the chat itself, too
				want.Doubts = []adaptertest.Doubt{{From: adapters.Position{Line: 4}, To: adapters.Position{Line: 7}}}
			}
			for _, wrong := range b.House.Compare(b.seen(topic.Place), want) {
				w.Error(wrong)
			}
		})
	}
}

// A topic that a person has made, and bound, isn't made anew.
func TestBoundTopicThatWasDeleted(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		thread, err := w.ada.CreateTopic(w.forum, "mine")
		if err != nil {
			w.Fatal(err)
		}
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.forum, thread)})
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
		after(time.Minute)
		at := telegramtest.Place{Chat: w.forum, Thread: thread}
		b.compare(at, first)
		if err := w.ada.DeleteTopic(at); err != nil {
			w.Fatal(err)
		}
		b.Print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
		after(time.Minute)
		if st := b.Hub.Status(first); len(st) != 1 || !strings.Contains(st[0].Binding.Disabled, "message thread not found") {
			w.Errorf("the binding is %+v", st)
		}
	})
}

// Messages to General carry no topic's number, and actions there do.
func TestGeneral(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.forum, 1), Page: page("hello")})
		if r.Outcome != qos.Delivered {
			w.Errorf("a message to General: %+v", r)
		}
		if r := a.Typing(w.Context(), target(w.forum, 1)); r.Outcome != qos.Delivered || w.Doing(telegramtest.Place{Chat: w.forum}) != "typing" {
			w.Errorf("typing in General: %+v", r)
		}
		w.noRefusals()
	})
}

func TestReopen(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.inForum()
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: lines(1, 3)})
		after(time.Minute)
		at := b.topic(w.forum, "api").Place
		if err := w.ada.CloseTopic(at); err != nil {
			w.Fatal(err)
		}
		for range 2 { // opening an open one is no failure
			if err := b.Hub.ReopenThread(target(at.Chat, at.Thread)); err != nil {
				w.Fatal(err)
			}
			after(time.Minute)
		}
		if b.topic(w.forum, "api").Closed {
			w.Error("the topic is closed")
		}
		if err := b.Hub.ReopenThread(target(at.Chat, 0)); err == nil {
			w.Error("a chat was reopened")
		}
	})
}

func TestMigration(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.group, 0)})
		b.change = nil
		b.Start()
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
		after(time.Minute)
		b.compare(telegramtest.Place{Chat: w.group}, first)
		to, err := w.ada.Migrate(w.group, false)
		if err != nil {
			w.Fatal(err)
		}
		b.Print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
		after(time.Minute)
		b.Stop()
		b.Start()
		b.Print(first, adaptertest.Output{Lines: lines(7, 3), Ends: true})
		after(time.Minute)
		b.Stop()
		for _, wrong := range b.House.Compare(b.seen(telegramtest.Place{Chat: to}), adaptertest.Want{Session: first, After: 3, To: 9, Oldest: 1}) {
			w.Error(wrong)
		}
		if n := len(w.Refusals()); n != 1 {
			w.Errorf("%d calls were refused, want the one that told of the new number: %+v", n, w.Refusals())
		}
	})
}

// What a person must repair is said, and tried again: soon for twelve minutes, and then seldom.
func TestChatThatCantBeUsed(t *testing.T) {
	for name, broken := range map[string]struct {
		do    func(w *world) error
		words string
	}{
		"kicked": {func(w *world) error { return w.ada.KickBot(w.forum) }, "add it again"},
		"muted":  {func(w *world) error { return w.ada.MuteBot(w.forum) }, "the bot may not"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				if err := broken.do(w); err != nil {
					w.Fatal(err)
				}
				b := w.inForum()
				b.Start()
				defer func() { b.Stop() }()
				b.Begin(first, "api")
				b.Print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
				after(time.Hour)
				st := b.Hub.Status(first)
				if len(st) != 1 || !strings.Contains(st[0].Binding.Disabled, broken.words) {
					w.Errorf("the binding is %+v", st)
				}
				hour := len(w.CallsTo(w.forum))
				after(24 * time.Hour)
				if day := len(w.CallsTo(w.forum)) - hour; hour > 40 || day > 10 {
					w.Errorf("%d calls in an hour and %d in the day after", hour, day)
				}
			})
		})
	}
}

// Whatever a session is called, it gets a topic.
func TestAnyNameMakesATopic(t *testing.T) {
	for title, want := range map[string]string{
		"api": "api", " a \t\n b ": "a b", "": "session", "\u2800": "session", "\u200b\u2060": "session", "\u202e": "session", "\x1b": "session",
		strings.Repeat("\U0001f600", 200): strings.Repeat("\U0001f600", 127) + "…",
	} {
		inBubble(t, telegramtest.Options{}, func(w *world) {
			r := w.adapter(nil).Call(w.Context(), adapters.Op{Kind: adapters.KindThread, Target: target(w.forum, 0), Text: title})
			if r.Outcome != qos.Delivered {
				w.Fatalf("%q: %+v", title, r)
			}
			if name := w.Topics(w.forum)[0].Name; name != want {
				w.Errorf("%q became %q, want %q", title, name, want)
			}
		})
	}
}

// Topics that can be made and not written to are no reason to make one after the other: once
// anew, then all is shown in the chat itself, says so, and another is tried seldom. When they
// work again, so does the session's. Nothing is lost, and what's there twice is marked.
func TestTopicsThatCantBeWrittenTo(t *testing.T) {
	for name, tc := range map[string]struct {
		broken func(w *world, broken bool)
		first  bool // from the first message on
		made   int  // topics, the session's first included
	}{
		"refused, at first":          {func(w *world, b bool) { w.SetDeafTopics(w.forum, b) }, true, 1},
		"refused, from some time on": {func(w *world, b bool) { w.SetDeafTopics(w.forum, b) }, false, 2},
		"unsaid, at first":           {func(w *world, b bool) { w.SetHidesTopics(w.forum, b) }, true, 1},
		"unsaid, from some time on":  {func(w *world, b bool) { w.SetHidesTopics(w.forum, b) }, false, 2},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, restarted), func(t *testing.T) {
				inBubble(t, telegramtest.Options{}, func(w *world) {
					b := w.inForum()
					b.Start()
					defer func() { b.Stop() }()
					b.Begin(first, "api")
					if tc.first {
						tc.broken(w, true)
					}
					b.Print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
					after(time.Minute)
					tc.broken(w, true)
					for i := range 5 {
						b.Print(first, adaptertest.Output{Lines: lines(4+3*i, 3), Ends: true})
						after(time.Minute)
					}
					if restarted {
						b.Stop()
						b.Start()
					}
					b.Print(first, adaptertest.Output{Lines: lines(19, 3), Ends: true})
					after(2 * time.Minute)
					if n := len(w.calls("createForumTopic")); n != tc.made {
						w.Errorf("%d topics were made in nine minutes, want %d", n, tc.made)
					}
					general := telegramtest.Place{Chat: w.forum}
					shown := texts(w, general)
					if !strings.Contains(shown, "line 21") || strings.Count(shown, "can't be written to, so it's shown here") < 3 {
						w.Errorf("the chat itself shows\n%s", shown)
					}
					st := b.Hub.Status(first)
					if len(st) != 1 || !strings.Contains(st[0].Problem(), "its topic can't be written to") || st[0].Target != target(w.forum, 0) {
						w.Errorf("the binding is %+v", st)
					}
					if at := b.Hub.BindingsAt(target(w.forum, 0)); len(at) != 1 {
						w.Errorf("whoever writes there writes to %+v", at)
					}
					after(24 * time.Hour)
					b.Print(first, adaptertest.Output{Lines: lines(22, 3), Ends: true})
					after(24 * time.Hour)
					if n := len(w.calls("createForumTopic")); n > tc.made+3 {
						w.Errorf("%d topics were made in two days", n)
					}
					tc.broken(w, false)
					b.Print(first, adaptertest.Output{Lines: lines(25, 3), Ends: true})
					after(7 * time.Hour)
					b.Print(first, adaptertest.Output{Lines: lines(28, 3), Ends: true})
					after(time.Minute)
					if st := b.Hub.Status(first); st[0].Problem() != "" || st[0].Target.Thread == "" {
						w.Errorf("topics work again, and the binding is %+v", st)
					}
					all := ""
					for _, topic := range w.Topics(w.forum) {
						all += texts(w, topic.Place)
					}
					all += texts(w, general)
					for i := 1; i <= 30; i++ {
						if n := strings.Count(all, fmt.Sprintf("line %d of", i)); n != 1 && (n == 0 || !strings.Contains(all, "sent once more")) {
							w.Errorf("line %d is shown %d times:\n%s", i, n, all)
						}
					}
				})
			})
		}
	}
}

// texts are the messages of a place, one after the other.
func texts(w *world, at telegramtest.Place) string {
	var all strings.Builder
	for _, m := range w.Messages(at.Chat) {
		if m.Thread == at.Thread {
			all.WriteString(m.Text + "\n")
		}
	}
	return all.String()
}

// Where Telegram doesn't say in which topic something is, a text may be for any session of the forum, and
// whoever wrote it is asked: it isn't typed into the one that's shown in the forum itself.
// So it is where the topic was refused, and nothing has shown yet whether topics are named.
func TestATextWhoseTopicIsntNamedIsTypedNowhereElse(t *testing.T) {
	for name, lose := range map[string]func(o *office){
		"answers don't name topics": func(o *office) { o.SetHidesTopics(o.forum, true) },
		"a topic is refused": func(o *office) {
			o.refuseTopics()
			o.SetHidesTopics(o.forum, true)
		},
	} {
		t.Run(name, func(t *testing.T) { playUnnamedTopic(t, lose) })
	}
}

func playUnnamedTopic(t *testing.T, lose func(o *office)) {
	t.Helper()
	dir := t.TempDir()
	inBubble(t, telegramtest.Options{}, func(w *world) {
		o := w.office(dir, w.forum)
		o.Open()
		defer o.Close()
		o.Begin(asking, "agent")
		o.Print(asking, adaptertest.Output{Lines: lines(1, 3)})
		o.Pass(20 * time.Second)
		lose(o)
		o.Begin(platformtest.Second, "second")
		o.Print(platformtest.Second, adaptertest.Output{Lines: lines(1, 3)})
		o.Pass(20 * time.Second)
		if _, err := w.ada.Say(o.topic(w.forum, "agent").Place, "for agent"); err != nil {
			w.Fatal(err)
		}
		o.Pass(20 * time.Second)
		if typed := o.Keyboard().Typed(); len(typed) > 0 {
			w.Fatalf("%q was typed into %s", typed[0].Text, typed[0].Session)
		}
		seen := w.seen(telegramtest.Place{Chat: w.forum})
		ask := seen[len(seen)-1]
		if _, err := o.Press(true, ask.ID, "agent"); err != nil {
			w.Fatalf("%v: %q", err, ask.Text)
		}
		o.Pass(20 * time.Second)
		if typed := o.Keyboard().Typed(); len(typed) != 1 || typed[0].Session != asking {
			w.Errorf("%+v was typed", typed)
		}
	})
}

// refuseTopics has the next message to a topic be refused, as if that were gone.
func (o *office) refuseTopics() {
	o.fate.Store(new(func(_ string, body []byte) faults.Fate {
		if found(toTopic, body, true) == "" {
			return faults.Fate{}
		}
		o.fate.Store(nil)
		return faults.Fate{Lost: true, Answer: refused(http.StatusBadRequest, "Bad Request: message thread not found")}
	}))
}

// Where a topic can't be written to and others can, what's written in the forum itself is for the session
// that's shown there, as soon as an answer has named another's topic.
func TestATextInAForumIsForWhoIsShownThereWhereTopicsAreNamed(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, telegramtest.Options{}, func(w *world) {
		o := w.office(dir, w.forum)
		o.Open()
		defer o.Close()
		o.Begin(asking, "agent")
		o.Print(asking, adaptertest.Output{Lines: lines(1, 3)})
		o.Pass(20 * time.Second)
		o.refuseTopics()
		o.Begin(platformtest.Second, "second")
		o.Print(platformtest.Second, adaptertest.Output{Lines: lines(1, 3)})
		o.Pass(20 * time.Second)
		o.Print(asking, adaptertest.Output{Lines: lines(4, 3), Ends: true})
		o.Pass(20 * time.Second)
		if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, "for second"); err != nil {
			w.Fatal(err)
		}
		o.Pass(20 * time.Second)
		if typed := o.Keyboard().Typed(); len(typed) != 1 || typed[0].Session != platformtest.Second {
			w.Errorf("%+v was typed", typed)
		}
	})
}

// Where the bot may not make topics and General is closed, a session can't be shown. Once it may, the
// session has its topic at once, and nothing is said any more.
func TestATopicIsMadeWhereTheBotMayAgain(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, telegramtest.Options{}, func(w *world) {
		o := w.office(dir, w.forum)
		o.Open()
		defer o.Close()
		o.Pass(20 * time.Second)
		all := telegramtest.AllRights()
		few := all
		few.ManageTopics = false
		if err := errors.Join(w.ada.SetBotRights(w.forum, &few), w.ada.CloseGeneral(w.forum)); err != nil {
			w.Fatal(err)
		}
		o.Begin(asking, "agent")
		o.Print(asking, adaptertest.Output{Lines: lines(1, 3)})
		o.Pass(24 * time.Second)
		if o.Wrong() == "" {
			w.Error("nothing is said")
		}
		if err := errors.Join(w.ada.ReopenGeneral(w.forum), w.ada.SetBotRights(w.forum, &all)); err != nil {
			w.Fatal(err)
		}
		o.Pass(20 * time.Second)
		if st := o.Hub.Status(asking); o.Wrong() != "" || st[0].Target.Thread == "" {
			w.Errorf("it's said that %q, and the binding is %+v", o.Wrong(), st)
		}
	})
}

// Of two sessions that were refused for one reason one is tried again for both. Where it's refused for
// another reason then, the other one is tried, too.
func TestWhatWasRefusedIsTriedWhateverBecomesOfAnother(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.inForum()
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(asking, "agent")
		b.Print(asking, adaptertest.Output{Lines: lines(1, 3)})
		after(time.Minute)
		w.fate.Store(new(func(method string, _ []byte) faults.Fate {
			if strings.HasPrefix(method, "get") {
				return faults.Fate{}
			}
			return faults.Fate{Lost: true, Answer: refused(http.StatusForbidden, "Forbidden: bot was kicked from the supergroup chat")}
		}))
		b.Begin(platformtest.Second, "second")
		b.Print(platformtest.Second, adaptertest.Output{Lines: lines(1, 3)})
		after(5 * time.Second) // no topic can be made, which both hear
		b.Print(asking, adaptertest.Output{Lines: lines(4, 3)})
		after(10 * time.Second) // nor anything be posted, which the first one hears
		w.fate.Store(nil)
		after(time.Minute)
		for _, id := range []sessions.ID{asking, platformtest.Second} {
			s, err := b.House.Get(string(id))
			if err != nil {
				t.Fatal(err)
			}
			if st := b.Hub.Status(id)[0]; st.Problem() != "" || st.Binding.Disabled != "" || st.Delivered < s.Lines {
				t.Errorf("%s is shown up to line %d of %d: %+v", s.Name, st.Delivered, s.Lines, st)
			}
		}
	})
}

// In a forum whose topics can't be written to one session finds it out for all: the others are shown
// in the forum itself, over a restart, and get their topics soon after one can be written to.
func TestTopicsThatCantBeWrittenToCostOne(t *testing.T) {
	for _, broken := range []func(w *world, b bool){
		func(w *world, b bool) { w.SetDeafTopics(w.forum, b) }, func(w *world, b bool) { w.SetHidesTopics(w.forum, b) },
	} {
		inBubble(t, telegramtest.Options{}, func(w *world) {
			b := w.inForum()
			b.Start()
			defer func() { b.Stop() }()
			broken(w, true)
			var ids []sessions.ID
			for i := range 5 {
				id := sessions.ID(fmt.Sprintf("pb_00000000001%d", i))
				ids = append(ids, id)
				b.Begin(id, fmt.Sprint("agent-", i))
				b.Print(id, adaptertest.Output{Lines: lines(1, 3), Ends: true})
				after(time.Minute)
				if i == 2 {
					b.Stop()
					b.Start()
				}
			}
			if n := len(w.calls("createForumTopic")); n != 1 {
				w.Errorf("%d topics were made for five sessions", n)
			}
			for _, id := range ids {
				if st := b.Hub.Status(id)[0]; !strings.Contains(st.Problem(), "its topic can't be written to") || st.Delivered < 3 {
					w.Errorf("the binding is %+v", st)
				}
			}
			broken(w, false)
			for range 4 {
				for i, id := range ids {
					b.Print(id, adaptertest.Output{Lines: lines(4+i, 1), Ends: true})
				}
				after(15 * time.Minute)
			}
			for _, id := range ids {
				if st := b.Hub.Status(id)[0]; st.Problem() != "" || st.Target.Thread == "" {
					w.Errorf("topics work again, and the binding is %+v", st)
				}
			}
			if n := len(w.calls("createForumTopic")); n > 7 {
				w.Errorf("%d topics were made for five sessions", n)
			}
		})
	}
}

// Where the bot may make no topics, all sessions are shown in the forum itself and say why; one asks
// again now and then. When it may, those that somebody looks for get their topics at once.
func TestWithoutTheRightToMakeTopics(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		if err := w.ada.SetBotRights(w.forum, &telegramtest.Rights{}); err != nil {
			w.Fatal(err)
		}
		b := w.inForum()
		b.Start()
		defer func() { b.Stop() }()
		ids := []sessions.ID{first, "pb_000000000002", "pb_000000000003"}
		for i, id := range ids {
			b.Begin(id, fmt.Sprint("agent-", i))
			b.Print(id, adaptertest.Output{Lines: lines(1, 3), Ends: true})
		}
		for range 24 {
			after(time.Hour)
			b.Print(first, adaptertest.Output{Lines: lines(4, 1), Ends: true})
		}
		after(time.Minute)
		if n := len(w.calls("createForumTopic")); n < 3 || n > 12 {
			w.Errorf("a topic was asked for %d times in a day", n)
		}
		shown := texts(w, telegramtest.Place{Chat: w.forum})
		for i, id := range ids {
			if st := b.Hub.Status(id)[0]; st.Binding.Disabled != "" || !strings.Contains(st.Problem(), "its topic can't be made") || !strings.Contains(st.Problem(), "make it an administrator") || st.Delivered < 3 {
				w.Errorf("the binding is %+v", st)
			}
			if !strings.Contains(shown, fmt.Sprintf("[agent-%d: its topic can't be made, so it's shown here]", i)) {
				w.Errorf("the forum shows\n%s", shown)
			}
		}
		rights := telegramtest.AllRights()
		if err := w.ada.SetBotRights(w.forum, &rights); err != nil {
			w.Fatal(err)
		}
		if err := b.Hub.ReviveChat(w.Context(), "telegram", strconv.FormatInt(w.forum, 10)); err != nil {
			w.Error(err)
		}
		for _, id := range ids {
			b.Print(id, adaptertest.Output{Lines: lines(30, 1), Ends: true})
		}
		after(5 * time.Minute)
		for _, id := range ids {
			if st := b.Hub.Status(id)[0]; st.Problem() != "" || st.Target.Thread == "" {
				w.Errorf("the bot may make topics, and the binding is %+v", st)
			}
		}
	})
}
