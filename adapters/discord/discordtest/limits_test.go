package discordtest_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
)

func (a answer) number(t rapid.TB, header string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(a.header.Get("X-RateLimit-"+header), 64)
	if err != nil {
		t.Fatalf("header %s: %v", header, err)
	}
	return n
}

func TestBuckets(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		other, messages := w.house.TextChannel("other").ID, "/channels/"+w.text+"/messages"
		hello := args{"content": "x"}
		var first answer
		for i := range 5 {
			a := w.call(post, messages, hello)
			if a.status != 200 || a.number(w, "Limit") != 5 || a.number(w, "Remaining") != float64(4-i) || a.number(w, "Reset-After") != float64(5-i) {
				w.Errorf("message %d: %d %v", i+1, a.status, a.header)
			}
			if i == 0 {
				first = a
			}
			time.Sleep(time.Second)
		}
		w.must(post, messages, hello) // the window has begun anew
		for range 4 {
			w.must(post, messages, hello)
		}
		time.Sleep(500 * time.Millisecond)
		a := w.refused(post, messages, hello, 429, 0, "You are being rate limited.")
		if a.After != 4.5 || a.Global || a.header.Get("Retry-After") != "5" || a.header.Get("X-RateLimit-Scope") != "user" || a.number(w, "Remaining") != 0 {
			w.Errorf("the refusal is %s, %v", a.body, a.header)
		}
		// Edits have a bucket of their own, and another channel the same one for itself.
		edit := w.call(patch, messages+"/"+first.ID, hello)
		elsewhere := w.call(post, "/channels/"+other+"/messages", hello)
		hash := func(a answer) string { return a.header.Get("X-RateLimit-Bucket") }
		if edit.status != 200 || hash(edit) == hash(first) || elsewhere.status != 200 || hash(elsewhere) != hash(first) || elsewhere.number(w, "Remaining") != 4 {
			w.Errorf("edit %d %s, elsewhere %d %s, first %s", edit.status, hash(edit), elsewhere.status, hash(elsewhere), hash(first))
		}
		time.Sleep(4500 * time.Millisecond)
		w.must(post, messages, hello) // who waits what it's told gets through
		if worst := w.Worst()[0]; worst.Call != "CreateMessage" || worst.Major != w.text || worst.Most != 10 {
			w.Errorf("the worst is %+v", worst) // 4 of the first window, all of the second, the refused one
		}
		if n := len(w.Refusals()); n != 1 || w.InvalidRequests() != 1 {
			w.Errorf("%d refusals, %d invalid", n, w.InvalidRequests())
		}
	})
}

func TestGlobalLimit(t *testing.T) {
	for _, without := range []bool{false, true} {
		limits := generous()
		limits.Global = discordtest.Window{}
		inBubble(t, discordtest.Options{Limits: limits, GlobalWithoutReset: without}, func(w *world) {
			w.must(put, "/applications/"+w.Bot().ID+"/commands", []args{{"name": "stop", "description": "x"}})
			time.Sleep(time.Second)
			for range 50 {
				w.send(w.text, "x")
			}
			a := w.refused(get, "/users/@me", nil, 429, 0, "rate limited")
			h := a.header
			if !a.Global || a.After != 1 || h.Get("X-RateLimit-Global") != "true" || h.Get("X-RateLimit-Scope") != "global" || h.Get("Retry-After") != "1" ||
				(h.Get("X-RateLimit-Reset-After") == "") != without || h.Get("X-RateLimit-Bucket") != "" {
				w.Errorf("the refusal is %s, %v", a.body, h)
			}
			// What answers an interaction isn't counted, nor stopped.
			i := must(w.Interaction(said(w)(w.ada.Command(w.text, "stop", nil))))
			w.must(post, "/interactions/"+i.ID+"/"+i.Token+"/callback", args{"type": 4, "data": args{"content": "x"}})
			w.must(post, "/webhooks/"+w.Bot().ID+"/"+i.Token, args{"content": "x"})
			time.Sleep(time.Second)
			w.must(get, "/users/@me", nil)
		})
	}
}

func TestRenamesAreFewerThanTheHeadersSay(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		thread := w.thread("a")
		rename := func(name string) answer { return w.call(patch, "/channels/"+thread, args{"name": name}) }
		if a := rename("b"); a.status != 200 || a.number(w, "Remaining") != 4 {
			w.Errorf("first: %d %v", a.status, a.header)
		}
		time.Sleep(17 * time.Second)
		rename("c")
		a := rename("d")
		if a.status != 429 || a.After != 583 || a.number(w, "Remaining") != 3 || a.number(w, "Reset-After") > 15 || a.header.Get("Retry-After") != "583" {
			w.Errorf("third: %d %s %v", a.status, a.body, a.header)
		}
		w.must(patch, "/channels/"+thread, args{"archived": true}) // what's no rename isn't concerned
		w.must(patch, "/channels/"+thread, args{"archived": false, "name": "c"})
		time.Sleep(583 * time.Second)
		if a := rename("d"); a.status != 200 {
			w.Errorf("after the wait: %d %s", a.status, a.body)
		}
		if st := must(w.Channel(thread)); strings.Join(append(st.Names, st.Name), "") != "abcd" {
			w.Errorf("its names were %v, now %s", st.Names, st.Name)
		}
	})
}

func TestOldMessagesAreEditedSeldom(t *testing.T) {
	limits := generous()
	limits.OldEdits = discordtest.Window{}
	inBubble(t, discordtest.Options{Limits: limits}, func(w *world) {
		old := w.send(w.text, "x")
		edit := func(id, text string) answer {
			return w.call(patch, "/channels/"+w.text+"/messages/"+id, args{"content": text})
		}
		for range 10 {
			w.must(patch, "/channels/"+w.text+"/messages/"+old, args{"content": "young"})
		}
		time.Sleep(time.Hour + time.Second)
		for range 3 {
			if a := edit(old, "old"); a.status != 200 {
				w.Errorf("%d %s", a.status, a.body)
			}
		}
		if a := edit(old, "too often"); a.status != 429 || a.Code != 30046 || a.After != 20 {
			w.Errorf("the fourth edit: %d %s", a.status, a.body)
		}
		if a := edit(w.send(w.text, "new"), "x"); a.status != 200 {
			w.Errorf("a young message: %d %s", a.status, a.body)
		}
		time.Sleep(20 * time.Second)
		if a := edit(old, "later"); a.status != 200 {
			w.Errorf("later: %d %s", a.status, a.body)
		}
	})
}

func TestThreadsAreMadeSlowly(t *testing.T) {
	limits := generous()
	limits.Threads = discordtest.Window{Calls: 3, Per: 100 * time.Second}
	inBubble(t, discordtest.Options{Limits: limits}, func(w *world) {
		w.thread("one")
		w.must(post, "/channels/"+w.forum+"/threads", args{"name": "two", "message": args{"content": "x"}})
		w.thread("three")
		a := w.refused(post, "/channels/"+w.text+"/threads", args{"name": "four", "type": 11}, 429, 0, "rate limited")
		if a.header.Get("X-RateLimit-Scope") != "shared" || a.After != 150 || w.InvalidRequests() != 0 {
			w.Errorf("the refusal is %s, %v; %d invalid", a.body, a.header, w.InvalidRequests())
		}
		time.Sleep(100 * time.Second) // it's really over before the time that was told
		w.thread("four")
	})
}

func TestInvalidRequestsBringABan(t *testing.T) {
	for _, status := range []int{429, 403} {
		limits := generous()
		limits.Invalid = discordtest.Window{Calls: 100, Per: 10 * time.Minute}
		inBubble(t, discordtest.Options{Limits: limits, BanStatus: status}, func(w *world) {
			w.house.TextChannel("agents").Deny(discordtest.SendMessages)
			for range 99 {
				w.refused(post, "/channels/"+w.text+"/messages", args{"content": "x"}, 403, 50013, "")
			}
			for range 50 { // 400 and 404 don't count
				w.refused(get, "/channels/1", nil, 404, 10003, "")
			}
			w.must(get, "/users/@me", nil)
			if !w.Banned().IsZero() || w.InvalidRequests() != 99 {
				w.Errorf("banned until %v after %d", w.Banned(), w.InvalidRequests())
			}
			w.refused(post, "/channels/"+w.text+"/messages", args{"content": "x"}, 403, 50013, "")
			a := w.call(get, "/users/@me", nil)
			if a.status != status || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || a.header.Get("Retry-After") != "3600" ||
				!strings.Contains(string(a.body), "1015") || a.header.Get("X-RateLimit-Scope") != "" {
				w.Errorf("the wall says %d %v %s", a.status, a.header, a.body)
			}
			time.Sleep(time.Hour)
			w.must(get, "/users/@me", nil)
		})
	}
}

func TestTheBanIsAtTenThousand(t *testing.T) {
	limits := generous()
	inBubble(t, discordtest.Options{Limits: limits}, func(w *world) {
		w.house.TextChannel("agents").Deny(discordtest.ViewChannel)
		for range 9_999 {
			w.call(http.MethodGet, "/channels/"+w.text, nil)
			time.Sleep(50 * time.Millisecond) // 8 min 20 s in all
		}
		w.must(get, "/users/@me", nil)
		w.call(http.MethodGet, "/channels/"+w.text, nil)
		if a := w.call(get, "/users/@me", nil); a.status != 429 {
			w.Errorf("after 10,000 the answer is %d", a.status)
		}
	})
}
