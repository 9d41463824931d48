package adaptertest

import (
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

func deletedMessage(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.platform.DeleteMessage(x.seen()[0].ID)
	x.print(t, Output{Lines: s.texts.lines(2, 10)})
	x.check(t, Want{After: 1, To: 3})
}

func frozenMessage(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.platform.Freeze(x.seen()[0].ID)
	x.print(t, Output{Lines: s.texts.lines(2, 10)})
	x.check(t, Want{To: 3})

	// If an edit may have been done before, the rest is in doubt.
	from := x.document().Shown
	x.unanswered(t, Output{Lines: s.texts.lines(2, 10)})
	x.platform.Freeze(x.seen()[1].ID)
	x.check(t, Want{To: 5, Doubts: []Doubt{{From: from, To: adapters.Place{Line: 6}}}})
}

func deletedThread(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	own := x.shape().OwnThread
	if !own {
		x.binding.Target.Thread = x.platform.AddThread(theChat, "made by hand")
		x.deliverer.Rebind(x.binding)
	}
	x.print(t, Output{Lines: []string{"begins"}})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	thread := x.document().Thread
	if !own {
		thread = x.binding.Target.Thread
	}
	if n := len(x.platform.Seen(theChat, thread)); n != 1 {
		t.Fatalf("the thread has %d messages, want 1", n)
	}
	x.platform.DeleteThread(theChat, thread)
	before := len(x.platform.Arrivals())
	x.print(t, Output{Lines: s.texts.lines(2, 10)})
	if own {
		x.check(t, Want{After: 1, To: 3})
		if n := len(x.platform.Arrivals()) - before; n != 3 && n != 4 {
			t.Errorf("%d calls, want an edit that finds nothing (and a message, where edits name no thread), a thread, a message", n)
		}
		return
	}
	r, err := x.deliver()
	if err == nil && r.Outcome == qos.Delivered { // an edit that finds no message
		r, err = x.deliver()
	}
	if err != nil || r.Outcome != qos.Rejected {
		t.Errorf("the call ended as %v (%v), want rejected", r.Outcome, err)
	}
}

func endedThread(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	closes := x.shape().ClosesThreads
	x.ready(t)
	if err := x.house.End(theSession, "session ended"); err != nil {
		t.Fatal(err)
	}
	failed := false
	x.platform.SetFault(func(c Call) Fault {
		if failed || c.Method != CloseThread {
			return Fault{}
		}
		failed = true
		return Fault{Kind: Unanswered}
	})
	if x.once(t, qos.Delivered); closes {
		x.once(t, qos.Uncertain)
	}
	x.check(t, Want{To: 2})
	if got := x.platform.Closed(theChat, x.document().Thread); got != closes {
		t.Errorf("the thread is closed: %v, want %v", got, closes)
	}
	x.once(t, qos.Unchanged)
}

func chatGone(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.platform.DeleteChat(theChat)
	x.print(t, Output{Lines: s.texts.lines(1, 10)})
	x.once(t, qos.ChatGone)
	if in := x.document().Intent; in != nil {
		t.Errorf("the call was refused, and its intent is kept: %+v", in)
	}
}

func chatMoved(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	if stays, ok := x.new(x.conn).(Stays); ok && stays.ChatsStay() {
		t.Skip("on the platform, chats keep their ids")
	}
	x.ready(t)
	const to = "-1009"
	x.platform.Migrate(theChat, to)
	x.print(t, Output{Lines: s.texts.lines(1, 10)})
	r := x.once(t, qos.Migrated)
	d := x.document()
	if want := x.new(x.conn).Chat(adapters.Target{Adapter: x.name(), Chat: to, Thread: d.Thread}); r.Chat != want || d.Chat != to {
		t.Errorf("the chat has moved to %s: the scheduler is told %q, the document %q", to, r.Chat, d.Chat)
	}
	x.check(t, Want{To: 2})
	if err := x.restart(false); err != nil {
		t.Fatal(err)
	}
	x.print(t, Output{Lines: s.texts.lines(1, 10)})
	x.check(t, Want{To: 3})
}
