package telegram_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const first = sessions.ID("pb_000000000001")

// inForum mirrors all sessions to the forum.
func (w *world) inForum() *bridge {
	return w.bridge(adapters.Rule{Session: "*", To: target(w.forum, 0)})
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
			for _, wrong := range b.House.Compare(b.seen(topic.Place), adaptertest.Want{Session: first, After: 3, To: 6, Oldest: 1}) {
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
		b := w.bridge(adapters.Rule{Session: "*", To: target(w.forum, thread)})
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
			if err := b.Hub.Reopen(target(at.Chat, at.Thread)); err != nil {
				w.Fatal(err)
			}
			after(time.Minute)
		}
		if b.topic(w.forum, "api").Closed {
			w.Error("the topic is closed")
		}
		if err := b.Hub.Reopen(target(at.Chat, 0)); err == nil {
			w.Error("a chat was reopened")
		}
	})
}

func TestMigration(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge(adapters.Rule{Session: "*", To: target(w.group, 0)})
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

// What a person must repair is said once, and nothing is called any more.
func TestChatThatCantBeUsed(t *testing.T) {
	for name, broken := range map[string]struct {
		do    func(w *world) error
		words string
	}{
		"kicked":    {func(w *world) error { return w.ada.KickBot(w.forum) }, "add it again"},
		"muted":     {func(w *world) error { return w.ada.MuteBot(w.forum) }, "the bot may not"},
		"no rights": {func(w *world) error { return w.ada.SetBotRights(w.forum, &telegramtest.Rights{}) }, "make it an administrator"},
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
				if n := len(w.CallsTo(w.forum)); n != 1 {
					w.Errorf("%d calls, want 1", n)
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
