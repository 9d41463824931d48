package telegramtest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// fill calls until it's refused, and returns how many went through.
func (w *world) fill(method string, a args) (int, answer) {
	w.t.Helper()
	for n := 0; ; n++ {
		a["text"] = fmt.Sprint(n)
		if got := w.call(method, a); !got.OK {
			return n, got
		}
	}
}

func TestWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		private := opened(w)
		for _, c := range []struct {
			method string
			a      args
			calls  int
			retry  int
		}{
			{"sendMessage", args{"chat_id": w.forum}, 20, 60},
			{"sendMessage", args{"chat_id": private}, 3, 3},
			{"sendChatAction", args{"chat_id": w.group, "action": "typing"}, 20, 3},
			{"setMyCommands", args{"commands": []args{{"command": "new", "description": "x"}}}, 4, 600},
		} {
			time.Sleep(time.Hour)
			n, got := w.fill(c.method, c.a)
			if n != c.calls || got.ErrorCode != 429 || got.Parameters.RetryAfter != c.retry ||
				got.Description != fmt.Sprintf("Too Many Requests: retry after %d", c.retry) {
				t.Errorf("%s %v: %d went through, then %+v; want %d and retry_after %d", c.method, c.a, n, got, c.calls, c.retry)
			}
			if c.retry == 3 && c.calls == 20 {
				continue // a cool-down is shorter than its window
			}
			time.Sleep(time.Duration(c.retry) * time.Second)
			if again := w.call(c.method, c.a); !again.OK {
				t.Errorf("%s %v after its time: %+v", c.method, c.a, again)
			}
		}
	})
}

func TestTopicsEditsAndDeletesShareOneWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		m := say(w)
		w.must("createForumTopic", args{"chat_id": w.forum, "name": "x"})
		w.must("setMessageReaction", of(w, m, args{"reaction": []args{thumb("👍")}}))
		w.must("pinChatMessage", of(w, m, args{}))
		w.refused("editMessageText", of(w, m, args{"text": "hello"}), 400, "not modified") // costs a slot too
		for i := range 14 {
			w.must("editMessageText", of(w, m, args{"text": fmt.Sprint(i)}))
		}
		w.must("deleteMessage", of(w, m, args{}))
		w.refused("sendMessage", args{"chat_id": w.forum, "text": "x"}, 429, "Too Many Requests")
		w.must("getChat", args{"chat_id": w.forum}) // reading is free
		for _, u := range w.Worst() {
			if u.Chat == w.forum && u.Family == telegramtest.Messages && u.Most != 21 {
				t.Errorf("the worst window had %d calls, want 21", u.Most)
			}
		}
		if list := w.CallsTo(w.forum); len(list) != 21 || !list[20].Refused() || list[20].RetryAfter != time.Minute || list[20].InPenalty {
			t.Errorf("the last of %d calls is %+v", len(list), list[len(list)-1])
		}
	})
}

func TestBotWindow(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	refused := 0
	for i := range 31 {
		g := w.AddChat(telegramtest.ChatSpec{Title: fmt.Sprint(i)}, w.ada)
		if a := w.call("sendMessage", args{"chat_id": g, "text": "x"}); !a.OK {
			refused++
			if a.Parameters.RetryAfter != 1 {
				t.Errorf("retry_after is %d", a.Parameters.RetryAfter)
			}
		}
	}
	if refused != 1 {
		t.Errorf("%d of 31 chats were refused", refused)
	}
}

func TestLongPenaltySilencesItsChatAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		w.Penalise(w.forum, "sendChatAction", 600*time.Second)
		a := w.refused("sendMessage", args{"chat_id": w.forum, "text": "x"}, 429, "retry after 1200")
		if a.Parameters.RetryAfter != 1200 {
			t.Errorf("retry_after is %d", a.Parameters.RetryAfter)
		}
		w.must("sendMessage", args{"chat_id": w.group, "text": "x"})
		if p := w.Penalties(); len(p) != 1 || p[0].Chat != w.forum || time.Until(p[0].Until) != 1200*time.Second {
			t.Errorf("penalties are %+v", p)
		}
		time.Sleep(1200 * time.Second)
		w.must("sendMessage", args{"chat_id": w.forum, "text": "x"})

		w.Penalise(w.group, "sendChatAction", 2*time.Second)
		w.must("sendMessage", args{"chat_id": w.group, "text": "x"})
		w.refused("sendChatAction", args{"chat_id": w.group, "action": "typing"}, 429, "retry after 4")

		w.Penalise(0, "", time.Minute)
		w.refused("sendMessage", args{"chat_id": w.forum, "text": "x"}, 429, "retry after 120")
		w.must("getMe", args{})
	})
}
