package telegramtest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// Any method with any body of any kind: an answer, and no panic.
func FuzzRequest(f *testing.F) {
	form := "--b\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n@agents\r\n--b--\r\n"
	for _, seed := range [][3]string{
		{"sendMessage", "application/json", `{"chat_id":"@agents","text":"x","entities":[{"type":"bold","offset":0,"length":1}]}`},
		{"sendMessage", "application/json", `{"chat_id":"@agents","text":"😀","reply_markup":{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}}`},
		{"sendMessage", "application/x-www-form-urlencoded", "chat_id=@agents&text=%3Cb%3Ex&parse_mode=HTML"},
		{"editMessageText", "application/json", `{"chat_id":"@agents","message_id":2,"text":"y"}`},
		{"sendDocument", "multipart/form-data; boundary=b", form},
		{"getUpdates", "application/json", `{"offset":-1,"limit":-1,"allowed_updates":["message"]}`},
		{"setMyCommands", "application/json", `{"commands":[{"command":"a","description":"b"}],"scope":{"type":"chat","chat_id":1}}`},
		{"setMessageReaction", "application/json", `{"chat_id":"@agents","message_id":2,"reaction":[{"type":"emoji","emoji":"👍"}]}`},
		{"deleteMessages", "application/json", `{"chat_id":"@agents","message_ids":[1,2,-3]}`},
		{"setWebhook", "", ""},
		{"createForumTopic", "application/json", `{"chat_id":"@agents","name":"x","icon_color":-1}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, kind, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // a long poll would wait
		defer cancel()
		s := telegramtest.New(telegramtest.Options{})
		chat := s.AddChat(telegramtest.ChatSpec{Username: "agents", Forum: true}, s.AddUser(telegramtest.User{FirstName: "Ada"}))
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
		r.URL.Path = "/bot" + s.Token() + "/" + method
		r.Header.Set("Content-Type", kind)
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		if ctx.Err() != nil {
			return // it did wait
		}
		var a answer
		if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil || a.OK != (rec.Code == http.StatusOK) {
			t.Errorf("the answer is %d %q", rec.Code, rec.Body)
		}
		for _, m := range s.Messages(chat) {
			checkShown(t, m)
		}
	})
}

// Any text in any mode: what's accepted is valid, and within the limits.
func FuzzText(f *testing.F) {
	for _, seed := range [][3]string{
		{"<b>x<i>y</i></b> &amp; &#x1f600;", "HTML", ""},
		{`<pre><code class="language-go">x</code></pre><a href="tg://user?id=500000001">a</a>`, "HTML", ""},
		{">q\n>*r*||\n```go\nx```![e](tg://emoji?id=1)[a](b.c)", "MarkdownV2", ""},
		{" \t\r😀\u202e /a@bcd @ada #x https://a.b ", "", `[{"type":"bold","offset":1,"length":3},{"type":"text_link","offset":3,"length":2,"url":"a.b"}]`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, text, mode, entities string) {
		w := newWorld(t, telegramtest.Options{})
		a := w.call("sendMessage", args{"chat_id": w.forum, "text": text, "parse_mode": mode, "entities": entities})
		if !a.OK {
			if !strings.HasPrefix(a.Description, "Bad Request: ") {
				t.Errorf("refused with %q", a.Description)
			}
			return
		}
		m, _ := w.Message(w.forum, a.id())
		checkShown(t, m)
		edited := w.call("editMessageText", args{"chat_id": w.forum, "message_id": m.ID, "text": m.Text, "entities": own(m.Entities)})
		if !strings.Contains(edited.Description, "message is not modified") {
			t.Errorf("%q %+v sent again as it was shown: %+v", m.Text, m.Entities, edited)
		}
	})
}

// own are the entities that a bot gives; Telegram finds the others again.
func own(list []telegramtest.Entity) []telegramtest.Entity {
	kept := []telegramtest.Entity{}
	for _, e := range list {
		if !strings.Contains("mention hashtag bot_command url email", e.Type) {
			kept = append(kept, e)
		}
	}
	return kept
}

func checkShown(t *testing.T, m telegramtest.Message) {
	t.Helper()
	units := 0
	for _, r := range m.Text {
		units++
		if r > 0xffff {
			units++
		}
	}
	if units > 4096 || !utf8.ValidString(m.Text) || m.Text != strings.Trim(m.Text, "\n") && len(m.Entities) == 0 {
		t.Errorf("a text of %d units is shown: %q", units, m.Text)
	}
	for _, e := range m.Entities {
		if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > units {
			t.Errorf("%+v lies outside %q", e, m.Text)
		}
	}
}
