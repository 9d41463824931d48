package discordtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
)

// upload sends a file in a form, with JSON beside it.
func (w *world) upload(path, name, content string) answer {
	w.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	ok(w, form.WriteField("payload_json", `{"content":"log","attachments":[{"id":0,"description":"of the run"}]}`))
	part, err := form.CreateFormFile("files[0]", name)
	ok(w, err)
	_, err = io.WriteString(part, content)
	ok(w, err)
	ok(w, form.Close())
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://discord.test/api/v9"+path, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", "Bot "+w.Token())
	return w.do(r)
}

type attachment struct {
	Filename    string `json:"filename"`
	Description string `json:"description"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
}

func attachments(t rapid.TB, a answer) []attachment {
	t.Helper()
	var m struct {
		Attachments []attachment `json:"attachments"`
	}
	ok(t, json.Unmarshal(a.body, &m))
	return m.Attachments
}

func TestFiles(t *testing.T) {
	limits := generous()
	limits.FileBytes = 100
	inBubble(t, discordtest.Options{Limits: limits}, func(w *world) {
		at := "/channels/" + w.text + "/messages"
		sent := w.upload(at, "run 1.log", "line\n")
		files := attachments(w, sent)
		if len(files) != 1 || files[0].Filename != "run_1.log" || files[0].Size != 5 || files[0].Description != "of the run" {
			w.Fatalf("the attachments are %+v", files)
		}
		fetch := func(url string) answer {
			return w.do(httptest.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody))
		}
		if a := fetch(files[0].URL); a.status != 200 || string(a.body) != "line\n" {
			w.Errorf("the file is %d %q", a.status, a.body)
		}
		if a := fetch(files[0].URL[:len(files[0].URL)-1]); a.status != 404 {
			w.Errorf("with a wrong signature: %d", a.status)
		}
		if a := w.upload(at, "big", string(make([]byte, 101))); a.status != 413 || a.Code != 40005 {
			w.Errorf("a file too large: %d %s", a.status, a.body)
		}
		// The address is good for a day; the message names a new one.
		time.Sleep(25 * time.Hour)
		if a := fetch(files[0].URL); a.status != 404 {
			w.Errorf("a day later: %d", a.status)
		}
		if a := fetch(attachments(w, w.call(http.MethodGet, at+"/"+sent.ID, nil))[0].URL); a.status != 200 {
			w.Errorf("a new address: %d", a.status)
		}
		// An edit that names no attachment takes them all away.
		w.must(http.MethodPatch, at+"/"+sent.ID, args{"attachments": []args{}})
		if m := must(w.Message(sent.ID)); len(m.Files) != 0 || m.Content != "log" {
			w.Errorf("the message is %+v", m)
		}
		id := said(w)(w.ada.Attach(w.text, "look", discordtest.Upload{Name: "../../etc/passwd", Content: []byte("x")}))
		if m := must(w.Message(id)); m.Files[0].Name != "passwd" {
			w.Errorf("a person's file is called %q", m.Files[0].Name)
		}
	})
}
