package inbound_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/sessions"
)

// What would have rung in a quiet time is told in one message when it ends, also if the
// daemon was restarted meanwhile.
func TestWhatWasMissedIsTold(t *testing.T) {
	inWorld(t, func(w *world) {
		agent, other := w.bound("agent"), w.session("other")
		topic := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "7"}
		w.bind(other, topic, true)
		ends := func(id sessions.ID) {
			w.in.HandleOutput(sessions.OutputEvent{Session: id, Complete: true})
			synctest.Wait()
		}
		ends(agent)
		w.pass(time.Hour)
		w.wantPosts() // it rang by itself

		w.say(ann, "/mute 1h")
		w.hub.take()
		for range 3 {
			ends(agent)
		}
		w.hub.brief = map[int64]bool{9: true} // which wouldn't have rung
		w.in.HandleOutput(sessions.OutputEvent{Session: agent, Complete: true, Turn: sessions.Turn{Number: 9}})
		synctest.Wait()
		ends(other)
		p := w.question("pr_1", permission())
		if posts := w.wantPosts("asks for permission"); posts[0].Ring {
			t.Error("it rang")
		}
		w.restart()
		w.in.HandleOutput(sessions.OutputEvent{Session: other, Exit: &sessions.Exit{}})
		w.pass(58 * time.Minute)
		w.wantPosts()
		w.pass(4 * time.Minute)
		posts := w.wantPosts("**While you were away:**")
		for _, part := range []string{
			"- [agent](<chat:-1#>): a question, 3 turns ended; it waits for an answer", "- [other](<chat:-1/7#>): a turn ended, the program ended",
		} {
			if !strings.Contains(posts[0].Text, part) {
				t.Errorf("there's no %q in %q", part, posts[0].Text)
			}
		}
		if !posts[0].Ring || posts[0].To != group {
			t.Errorf("got %+v", posts[0])
		}
		w.close(p, "answered in the pane")
		w.hub.take()
		w.restart()
		w.pass(time.Hour)
		w.wantPosts()
	})
}

// Who ends a quiet time by hand is told at once, and of what was muted alone.
func TestUnmutingTells(t *testing.T) {
	inWorld(t, func(w *world) {
		agent := w.bound("agent")
		w.say(ann, "/mute agent")
		w.hub.take()
		w.in.HandleOutput(sessions.OutputEvent{Session: agent, State: sessions.StateError})
		w.pass(10 * 24 * time.Hour)
		w.wantPosts()
		w.say(ann, "/mute agent off")
		w.pass(time.Second)
		w.wantPostsInAnyOrder("ring.", "agent](<chat:-1#>): an error")
	})
}

// bound is the id of a session by its name.
func (w *world) bound(name string) sessions.ID {
	w.Helper()
	s, err := w.manager.Get(name)
	if err != nil {
		w.Fatal(err)
	}
	return s.ID
}

// boards are the posts of pinned lists, those apart.
func (w *world) boards() (lists, pins []adapters.Post) {
	for _, p := range w.hub.take() {
		switch {
		case strings.HasPrefix(p.Key, "card pin"):
			pins = append(pins, p)
		case strings.HasPrefix(p.Key, "card board"):
			lists = append(lists, p)
		}
	}
	return lists, pins
}

// A forum has posts, and no place for a list beside them.
func TestAForumHasNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.opt = func(o *inbound.Options) { o.Pinned = true }
		w.start()
		w.hub.mu.Lock()
		w.hub.forum = true
		w.hub.mu.Unlock()
		w.bind(w.session("agent"), adapters.Target{Adapter: "chat", Chat: "-1", Thread: "7"}, true)
		w.pass(2 * time.Minute)
		if lists, pins := w.boards(); len(lists)+len(pins) > 0 {
			t.Errorf("lists %+v, pins %+v", lists, pins)
		}
	})
}

func TestAListIsKeptPinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.opt = func(o *inbound.Options) { o.Pinned = true }
		w.start()
		id := w.session("agent")
		w.bind(id, adapters.Target{Adapter: "chat", Chat: "-1", Thread: "7"}, true)
		w.session("secret") // which nobody mirrors there
		w.pass(2 * time.Minute)
		lists, pins := w.boards()
		if len(lists) != 1 || len(pins) != 1 || lists[0].To != group || lists[0].Ring || pins[0].Pin != "p1" ||
			lists[0].Text != "**Working: 1**\n\n- ◐ [agent](<chat:-1/7#>)" {
			t.Fatalf("lists %+v, pins %+v", lists, pins)
		}
		if kept, err := w.store.StandingCards(t.Context()); err != nil || len(kept) != 2 || strings.Contains(fmt.Sprint(kept), "agent") {
			t.Errorf("kept is %+v, %v: a session that's forgotten would still be named", kept, err)
		}
		w.restart()
		w.pass(time.Hour)
		if lists, pins = w.boards(); len(lists)+len(pins) > 0 {
			t.Errorf("sent again after a restart: %+v, pins %+v", lists, pins)
		}
		var last time.Time
		for i := range 200 {
			p := w.question(fmt.Sprint("pr_", i), permission())
			w.pass(4 * time.Second)
			w.close(p, "answered in the pane")
			w.pass(3 * time.Second)
			if lists, pins = w.boards(); len(lists) > 0 {
				if time.Since(last) < 25*time.Second || len(lists) > 1 || lists[0].Message != "p1" || len(pins) > 0 {
					t.Errorf("after %s: %+v, pins %+v", time.Since(last), lists, pins)
				}
				last = time.Now()
			}
		}
		if last.IsZero() {
			t.Error("it was never edited")
		}
		w.restart()
		w.pass(time.Hour)
		if lists, pins = w.boards(); len(lists) > 1 || len(pins) > 0 {
			t.Errorf("after a restart: %+v, pins %+v", lists, pins)
		}
		if _, err := w.hub.Bind(t.Context(), id, group, adapters.ViewFinal, false); err != nil {
			t.Fatal(err)
		}
		w.in.SetPinned(false)
		w.question("pr_last", permission())
		w.pass(time.Hour)
		if lists, pins = w.boards(); len(lists)+len(pins) > 0 {
			t.Errorf("though it's off: %+v, pins %+v", lists, pins)
		}
	})
}
