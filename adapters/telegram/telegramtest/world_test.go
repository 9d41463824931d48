package telegramtest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// world is a stand-in with a forum, a plain group, and two people.
type world struct {
	*telegramtest.Server
	t        *testing.T
	ada, bob *telegramtest.Person
	forum    int64 // owned by ada; the bot may do everything
	group    int64 // a basic group, owned by ada; the bot is an ordinary member
	topic    int   // in the forum, made by ada
}

func newWorld(t *testing.T, opts telegramtest.Options) *world {
	t.Helper()
	w := &world{Server: telegramtest.New(opts), t: t}
	w.ada = w.AddUser(telegramtest.User{FirstName: "Ada", LastName: "Lovelace", Username: "ada"})
	w.bob = w.AddUser(telegramtest.User{FirstName: "Bob"})
	w.forum = w.AddForum("agents", w.ada, w.bob)
	w.group = w.AddChat(telegramtest.ChatSpec{Title: "old group", Kind: telegramtest.Group}, w.ada, w.bob)
	w.topic = got(t)(w.ada.CreateTopic(w.forum, "api-refactor"))
	return w
}

// got fails the test for an error.
func got(t *testing.T) func(int, error) int {
	t.Helper()
	return func(n int, err error) int {
		t.Helper()
		ok(t, err)
		return n
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// at is a place in the forum's topic.
func (w *world) at() telegramtest.Place { return telegramtest.Place{Chat: w.forum, Thread: w.topic} }

// args are a call's arguments.
type args map[string]any

// answer is what the Bot API answers.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	ErrorCode   int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		MigrateToChatID int64 `json:"migrate_to_chat_id"`
		RetryAfter      int   `json:"retry_after"`
	} `json:"parameters"`
}

// id returns the message_id of the result.
func (a answer) id() int {
	var m struct {
		MessageID int `json:"message_id"`
	}
	_ = json.Unmarshal(a.Result, &m) // 0 is an answer too
	return m.MessageID
}

// call calls a method with a JSON body, without any network.
func (w *world) call(method string, a args) answer {
	w.t.Helper()
	if a == nil {
		a = args{} // a body that's null is refused
	}
	body, err := json.Marshal(a)
	ok(w.t, err)
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, "/bot"+w.Token()+"/"+method, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return w.do(r)
}

func (w *world) do(r *http.Request) answer {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	var a answer
	if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil {
		w.t.Fatalf("%s answers %q: %v", r.URL.Path, rec.Body, err)
	}
	if !a.OK && rec.Code != a.ErrorCode {
		w.t.Errorf("%s: status %d, error_code %d", r.URL.Path, rec.Code, a.ErrorCode)
	}
	return a
}

// must calls a method that has to work.
func (w *world) must(method string, a args) answer {
	w.t.Helper()
	got := w.call(method, a)
	if !got.OK {
		w.t.Fatalf("%s %v: %s", method, a, got.Description)
	}
	return got
}

// refused calls a method that must be refused in these words.
func (w *world) refused(method string, a args, code int, words string) answer {
	w.t.Helper()
	got := w.call(method, a)
	if got.OK || got.ErrorCode != code || !strings.Contains(got.Description, words) {
		w.t.Errorf("%s %v:\n got %d %s\nwant %d …%s…", method, a, got.ErrorCode, got.Description, code, words)
	}
	return got
}

func bold(offset, length int) []args {
	return []args{{"type": "bold", "offset": offset, "length": length}}
}

func buttons(text, data string) args {
	return args{"inline_keyboard": [][]args{{{"text": text, "callback_data": data}}}}
}
