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

func TestTopicLivesWithItsSession(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.inForum()
		b.start()
		defer func() { b.stop() }()
		b.begin(first, "api-refactor")
		after(time.Minute)
		if topics := w.Topics(w.forum); len(topics) != 0 {
			w.Errorf("a session that has said nothing has topics %+v", topics)
		}
		b.print(first, adaptertest.Output{Lines: lines(1, 3)})
		after(time.Minute)
		b.print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
		after(time.Minute)
		topic := b.topic(w.forum, "api-refactor")
		b.compare(topic.Place, first)
		if topic.Closed {
			w.Error("the topic of a session that's there is closed")
		}
		b.end(first)
		after(2 * time.Minute)
		if topic = b.topic(w.forum, "api-refactor"); !topic.Closed {
			w.Error("the session has ended, and its topic is open")
		}
		b.compare(topic.Place, first)
		if left := b.hub.Status(""); len(left) != 0 {
			w.Errorf("bindings are left: %+v", left)
		}
		w.noRefusals()
	})
}

// A daemon that dies right after the last line closes the topic when it's back.
func TestTopicIsClosedAfterARestart(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.inForum()
		b.start()
		b.begin(first, "api")
		b.print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
		after(time.Minute)
		b.stop()
		b.end(first)
		b.start()
		after(2 * time.Minute)
		b.stop()
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
			b := w.inForum()
			b.start()
			defer func() { b.stop() }()
			b.begin(first, "api")
			b.print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
			after(time.Minute)
			old := b.topic(w.forum, "api")
			if err := w.ada.DeleteTopic(old.Place); err != nil {
				w.Fatal(err)
			}
			b.print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
			after(time.Minute)
			topic := b.topic(w.forum, "api")
			if topic.Place == old.Place {
				w.Fatal("the deleted topic is there")
			}
			for _, wrong := range b.house.Compare(b.seen(topic.Place), adaptertest.Want{Session: first, After: 3, To: 6, Oldest: 1}) {
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
		b.start()
		defer func() { b.stop() }()
		b.begin(first, "api")
		b.print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
		after(time.Minute)
		at := telegramtest.Place{Chat: w.forum, Thread: thread}
		b.compare(at, first)
		if err := w.ada.DeleteTopic(at); err != nil {
			w.Fatal(err)
		}
		b.print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
		after(time.Minute)
		if st := b.hub.Status(first); len(st) != 1 || !strings.Contains(st[0].Binding.Disabled, "message thread not found") {
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
		b.start()
		defer func() { b.stop() }()
		b.begin(first, "api")
		b.print(first, adaptertest.Output{Lines: lines(1, 3)})
		after(time.Minute)
		at := b.topic(w.forum, "api").Place
		if err := w.ada.CloseTopic(at); err != nil {
			w.Fatal(err)
		}
		for range 2 { // opening an open one is no failure
			if err := b.hub.Reopen(target(at.Chat, at.Thread)); err != nil {
				w.Fatal(err)
			}
			after(time.Minute)
		}
		if b.topic(w.forum, "api").Closed {
			w.Error("the topic is closed")
		}
		if err := b.hub.Reopen(target(at.Chat, 0)); err == nil {
			w.Error("a chat was reopened")
		}
	})
}

func TestMigration(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge(adapters.Rule{Session: "*", To: target(w.group, 0)})
		b.change = nil
		b.start()
		b.begin(first, "api")
		b.print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
		after(time.Minute)
		b.compare(telegramtest.Place{Chat: w.group}, first)
		to, err := w.ada.Migrate(w.group, false)
		if err != nil {
			w.Fatal(err)
		}
		b.print(first, adaptertest.Output{Lines: lines(4, 3), Ends: true})
		after(time.Minute)
		b.stop()
		b.start()
		b.print(first, adaptertest.Output{Lines: lines(7, 3), Ends: true})
		after(time.Minute)
		b.stop()
		for _, wrong := range b.house.Compare(b.seen(telegramtest.Place{Chat: to}), adaptertest.Want{Session: first, After: 3, To: 9, Oldest: 1}) {
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
				b.start()
				defer func() { b.stop() }()
				b.begin(first, "api")
				b.print(first, adaptertest.Output{Lines: lines(1, 3), Ends: true})
				after(time.Hour)
				st := b.hub.Status(first)
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
