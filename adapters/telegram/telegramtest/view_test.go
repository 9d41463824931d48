package telegramtest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// ask sends the page a request and returns status and body.
func ask(t *testing.T, page http.Handler, method, path, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:7000"+path, strings.NewReader(body))
	rec := httptest.NewRecorder()
	page.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

func TestViewDoes(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	page := telegramtest.NewView(w.Server, "")
	m := say(w)
	w.must("editMessageReplyMarkup", of(w, m, args{"reply_markup": buttons("Stop", "stop")}))
	do := func(person int64, what string, message int, text string) string {
		t.Helper()
		_, body := ask(t, page, "POST", "/do/"+what, fmt.Sprintf(
			`{"person":"%d","chat":"%d","thread":"%d","message":"%d","text":%q}`, person, w.forum, w.topic, message, text))
		return strings.TrimSpace(body)
	}
	const done = `{"ok":true}`
	ada, bob := w.ada.ID, w.bob.ID
	for _, c := range []struct{ got, want string }{
		{do(ada, "say", m, "hello"), done},
		{do(ada, "edit", m+1, "hello!"), done},
		{do(bob, "edit", m+1, "mine"), "isn't Bob's"},
		{do(bob, "press", m, "stop"), done},
		{do(bob, "press", m, "go"), "has no button"},
		{do(bob, "react", m, "👍"), done},
		{do(bob, "delete", m+1, ""), "can't delete"},
		{do(ada, "delete", m+1, ""), done},
		{do(ada, "create-topic", 0, "docs"), done},
		{do(bob, "rename-topic", 0, "x"), "may not change"},
		{do(ada, "rename-topic", 0, "x"), done},
		{do(ada, "close-topic", 0, ""), done},
		{do(bob, "say", 0, "hi"), "is closed"},
		{do(ada, "reopen-topic", 0, ""), done},
		{do(ada, "fly", 0, ""), "nobody can do that"},
		{do(w.Bot().ID, "say", 0, "x"), "there's no person"},
		{do(ada, "delete-topic", 0, ""), done},
	} {
		if c.got != c.want && (c.want == done || !strings.Contains(c.got, c.want)) {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	path := fmt.Sprintf("/do/file?person=%d&chat=%d&name=..%%2Fa.html", ada, w.forum)
	if _, body := ask(t, page, "POST", path, "<script>"); strings.TrimSpace(body) != done {
		t.Errorf("a file: %s", body)
	}
	seen := w.See(telegramtest.Place{Chat: w.forum})
	file := seen[len(seen)-1]
	code, body := ask(t, page, "GET", fmt.Sprintf("/media/%d/%d", w.forum, file.ID), "")
	if code != 200 || body != "<script>" || file.File.Name != "../a.html" {
		t.Errorf("the file is %d %q", code, body)
	}
	for _, path := range []string{"/media/1/1", "/media/x/y", fmt.Sprintf("/media/%d/%d", w.forum, m)} {
		if code, _ := ask(t, page, "GET", path, ""); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
}
