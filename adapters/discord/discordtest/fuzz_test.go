package discordtest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
)

// Whatever a body is: the answer is one that Discord gives, a refusal has words, and
// what's shown afterwards is within the limits.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		`{"content":"a","nonce":1,"enforce_nonce":true,"flags":4096,"allowed_mentions":{"parse":[]}}`,
		`{"embeds":[{"title":"t","fields":[{"name":"a","value":"b"}]}],"components":[{"type":1,"components":[{"type":2,"style":1,"label":"x","custom_id":"x"}]}]}`,
		`{"name":"t","type":11,"auto_archive_duration":60,"message":{"content":"x"}}`, `{"type":5,"data":{"flags":64}}`, `{"type":9,"data":{"title":"t"}}`,
		`{"archived":true,"locked":null}`, `[{"name":"a","description":"b","options":[{"type":1,"name":"x","description":"y","options":[]}]}]`,
		`{`, `null`, `7`, `{"content":null,"attachments":[{"id":"x"}],"message_reference":{"message_id":7}}`, `{"messages":["1","2"]}`,
	} {
		for route := range 8 {
			f.Add(uint8(route), seed)
		}
	}
	f.Fuzz(func(t *testing.T, route uint8, body string) {
		w := newWorld(t, discordtest.Options{})
		id, thread := w.send(w.text, "x"), w.thread("t")
		w.must(put, "/applications/"+w.Bot().ID+"/commands", []args{{"name": "stop", "description": "x"}})
		i := w.asked(w.ada.Command(w.text, "stop", nil))
		in := "/channels/" + w.text
		at := [][2]string{
			{post, in + "/messages"},
			{patch, in + "/messages/" + id},
			{post, in + "/threads"},
			{post, "/channels/" + w.forum + "/threads"},
			{patch, "/channels/" + thread},
			{post, callback(i)},
			{put, "/applications/" + w.Bot().ID + "/commands"},
			{post, in + "/messages/bulk-delete"},
		}[route%8]
		r := httptest.NewRequestWithContext(context.Background(), at[0], "http://discord.test/api/v9"+at[1], strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bot "+w.Token())
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		switch rec.Code {
		case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
			var a answer
			if json.Unmarshal(rec.Body.Bytes(), &a) != nil || a.Text == "" || a.Code == 0 {
				t.Errorf("%v %q is refused with %s", at, body, rec.Body)
			}
		default:
			t.Errorf("%v %q: %d %s", at, body, rec.Code, rec.Body)
		}
		for _, m := range w.SeenBy(w.ada.ID, w.text) {
			checkShown(t, m)
		}
	})
}

func checkShown(t *testing.T, m discordtest.Message) {
	t.Helper()
	empty := m.Content == "" && len(m.Embeds) == 0 && len(m.Files) == 0 && len(m.Rows) == 0 && m.Flags&discordtest.Loading == 0
	if len([]rune(m.Content)) > 2000 || strings.TrimSpace(m.Content) != m.Content || empty || len(m.Rows) > 5 || len(m.Embeds) > 10 {
		t.Errorf("shown is %+v", m)
	}
}
