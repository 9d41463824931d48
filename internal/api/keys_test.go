package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// A request to begin a session, sent again with its key because nobody answered it, begins no other.
func TestASessionIsBegunOnceWithAKey(t *testing.T) {
	b := setup(t)
	signed := func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		b.sign(r)
	}
	create := func(body string) sessions.ID {
		got, text := b.send(t, http.MethodPost, "/api/v1/sessions", body, signed)
		var s sessions.Session
		if err := json.Unmarshal([]byte(text), &s); err != nil || got.status != http.StatusCreated {
			t.Errorf("%d %s", got.status, text)
		}
		return s.ID
	}
	var all sync.WaitGroup
	ids := make([]sessions.ID, 8)
	for i := range ids {
		all.Go(func() { ids[i] = create(`{"name":"one","key":"k"}`) })
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("begun were %v", ids)
		}
	}
	if id := create(`{"name":"two","key":"other"}`); id == ids[0] {
		t.Error("another key began none")
	}
	if n := len(b.daemon.Requests()); n != 2 {
		t.Errorf("%d sessions were begun", n)
	}
	for body, why := range map[string]string{
		`{"name":"x","key":"` + strings.Repeat("k", 65) + `"}`: `has at most 64 bytes`,
		`{"tmux":"%1","key":"k"}`:                              `don't go with it`,
	} {
		if got, text := b.send(t, http.MethodPost, "/api/v1/sessions", body, signed); got.status != http.StatusBadRequest || !strings.Contains(text, why) {
			t.Errorf("%s: %d %s", body, got.status, text)
		}
	}
}

// A text is taken back by its key before it comes; without a key nobody knows which.
func TestATextIsTakenBackByItsKey(t *testing.T) {
	b := setup(t)
	signed := func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		b.sign(r)
	}
	id := b.daemon.Add("one", "")
	path := "/api/v1/sessions/" + string(id) + "/input"
	text := `{"text":"hello","key":"k"}`
	for _, one := range []struct {
		path, body string
		status     int
		holds      string
	}{
		{"/withdraw", text, http.StatusOK, `"state":"cancelled"`},
		{"", text, http.StatusAccepted, `"state":"cancelled"`},
		{"", text, http.StatusAccepted, `"key":"k"`},
		{"", `{"text":"another","key":"k"}`, http.StatusAccepted, `"state":"stored"`},
		{"/withdraw", `{"text":"another","key":"k"}`, http.StatusOK, `"state":"submitted"`},
		{"/withdraw", `{"text":"late","key":"k","only_late":true}`, http.StatusOK, `"state":"cancelled"`},
		{"/withdraw", `{"text":"another","key":"k","only_late":true}`, http.StatusOK, `"state":"submitted"`},
		{"/withdraw", `{"text":"hello"}`, http.StatusBadRequest, "says which text"},
	} {
		if got, answer := b.send(t, http.MethodPost, path+one.path, one.body, signed); got.status != one.status || !strings.Contains(answer, one.holds) {
			t.Errorf("%s%s: %d %s", one.path, one.body, got.status, answer)
		}
	}
	// Another device gets no key: it has a digest of the text.
	path = "/api/v1/receipts/in_000000000002"
	if got, answer := b.send(t, http.MethodGet, path, "", b.letIn(t, "127.0.0.1:"+b.port).Sign); got.status != http.StatusOK || strings.Contains(answer, `"key"`) {
		t.Errorf("another device is told %d %s", got.status, answer)
	}
	if got, answer := b.send(t, http.MethodGet, path, "", b.sign); got.status != http.StatusOK || !strings.Contains(answer, `"key":"k"`) {
		t.Errorf("the device itself is told %d %s", got.status, answer)
	}
}
