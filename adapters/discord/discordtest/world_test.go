package discordtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/memnet"
)

// world is a stand-in with a guild, a text channel, a forum and two people.
type world struct {
	rapid.TB
	*discordtest.Server
	house       *discordtest.Guild
	text, forum string
	ada, bob    *discordtest.Person
}

func newWorld(t rapid.TB, opts discordtest.Options) *world {
	t.Helper()
	w := &world{TB: t, Server: discordtest.New(opts)}
	w.house = w.Guild("house")
	w.house.Allow(discordtest.ManageChannels | discordtest.ManageMessages | discordtest.EmbedLinks | discordtest.MentionEveryone)
	w.text, w.forum = w.house.TextChannel("agents").ID, w.house.ForumChannel("posts").ID
	w.ada, w.bob = w.Person("Ada"), w.Person("Bob")
	return w
}

// inBubble runs a test with a world in virtual time.
func inBubble(t *testing.T, opts discordtest.Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t, opts)) })
}

// serve puts the stand-in on a network of pipes.
func (w *world) serve() (*memnet.Network, func()) {
	w.Helper()
	network, stop := memnet.Start(w.Server)
	return network, func() { ok(w, stop()) }
}

func ok(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// said fails the test for an error.
func said(t rapid.TB) func(string, error) string {
	return func(id string, err error) string {
		t.Helper()
		ok(t, err)
		return id
	}
}

// args are a JSON object.
type args map[string]any

// answer is what the API answers.
type answer struct {
	status int
	header http.Header
	body   []byte
	ID     string  `json:"id"`
	Code   int     `json:"code"`
	Text   string  `json:"message"`
	After  float64 `json:"retry_after"`
	Global bool    `json:"global"`
}

// call calls the API without any network.
func (w *world) call(method, path string, body any) answer {
	w.Helper()
	text, err := json.Marshal(body)
	ok(w, err)
	if body == nil {
		text = nil
	}
	r := httptest.NewRequestWithContext(context.Background(), method, "http://discord.test/api/v9"+path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bot "+w.Token())
	return w.do(r)
}

func (w *world) do(r *http.Request) answer {
	w.Helper()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	a := answer{status: rec.Code, header: rec.Header(), body: rec.Body.Bytes()}
	_ = json.Unmarshal(a.body, &a) // a list has no such fields, and a message's text is no error
	return a
}

// must calls what has to work, and returns the id of what came of it.
func (w *world) must(method, path string, body any) string {
	w.Helper()
	a := w.call(method, path, body)
	if a.status >= 300 {
		w.Fatalf("%s %s %v: %d %s", method, path, body, a.status, a.body)
	}
	return a.ID
}

// refused calls what must be refused so.
func (w *world) refused(method, path string, body any, status, code int, words string) answer {
	w.Helper()
	a := w.call(method, path, body)
	if a.status != status || a.Code != code || !strings.Contains(string(a.body), words) {
		w.Errorf("%s %s %.200v:\n got %d %s\nwant %d, code %d, …%s…", method, path, body, a.status, a.body, status, code, words)
	}
	return a
}

// send sends a text and returns the message's id.
func (w *world) send(channel, text string) string {
	w.Helper()
	return w.must(http.MethodPost, "/channels/"+channel+"/messages", args{"content": text})
}

// thread makes a thread in the text channel.
func (w *world) thread(name string) string {
	w.Helper()
	return w.must(http.MethodPost, "/channels/"+w.text+"/threads", args{"name": name, "type": 11})
}
