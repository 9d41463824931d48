package telegramtest_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	ok(t, json.Unmarshal(raw, into))
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	ok(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))))
	return out.Bytes()
}

func pixel(t *testing.T) []byte {
	t.Helper()
	return picture(t, 1, 1)
}

// upload calls a method with a multipart body.
func (w *world) upload(method string, a map[string]string, field, name string, content []byte) answer {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for key, value := range a {
		ok(w.t, form.WriteField(key, value))
	}
	part, err := form.CreateFormFile(field, name)
	ok(w.t, err)
	_, err = part.Write(content)
	ok(w.t, err)
	ok(w.t, form.Close())
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, "/bot"+w.Token()+"/"+method, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return w.do(r)
}

func TestFilesAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		method, field string
		content       []byte
		caption       string
		want          string
	}{
		"empty":             {"sendDocument", "document", nil, "", "Bad Request: file must be non-empty"},
		"document too big":  {"sendDocument", "document", make([]byte, 50<<20+1), "", "Request Entity Too Large"},
		"body too big":      {"sendDocument", "document", make([]byte, 52<<20), "", "Request Entity Too Large"},
		"photo too big":     {"sendPhoto", "photo", make([]byte, 10<<20+1), "", "Bad Request: file of size 10485761 bytes is too big for a photo; the maximum size is 10485760 bytes"},
		"photo that's none": {"sendPhoto", "photo", []byte("text"), "", "Bad Request: IMAGE_PROCESS_FAILED"},
		"photo too narrow":  {"sendPhoto", "photo", picture(t, 1, 21), "", "Bad Request: PHOTO_INVALID_DIMENSIONS"},
		"photo too wide":    {"sendPhoto", "photo", picture(t, 9001, 1000), "", "Bad Request: PHOTO_INVALID_DIMENSIONS"},
		"caption too long":  {"sendDocument", "document", []byte("x"), strings.Repeat("😀", 513), "Bad Request: message caption is too long"},
		"other field":       {"sendDocument", "file", []byte("x"), "", "Bad Request: there is no document in the request"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && len(c.content) > 20<<20 {
				t.Skip("large")
			}
			w := newWorld(t, telegramtest.Options{})
			fields := map[string]string{"chat_id": "@agents", "caption": c.caption}
			w.AddChat(telegramtest.ChatSpec{Title: "public", Username: "agents"}, w.ada)
			if a := w.upload(c.method, fields, c.field, "x.bin", c.content); a.Description != c.want {
				t.Errorf("got %q, want %q", a.Description, c.want)
			}
		})
	}
}

func TestFilesComeAndGo(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	chat, err := json.Marshal(w.forum)
	ok(t, err)
	a := w.upload("sendDocument", map[string]string{"chat_id": string(chat), "caption": "*log*", "parse_mode": "MarkdownV2"},
		"document", "../../run log.txt", []byte("line 1\n"))
	seen, _ := w.Message(w.forum, a.id())
	if seen.File == nil || string(seen.File.Content) != "line 1\n" || seen.Text != "log" || seen.Entities[0].Type != "bold" {
		t.Fatalf("the document is %+v", seen)
	}

	id := got(t)(w.ada.SendFile(w.at(), "../../.bashrc", []byte("secret"), "look"))
	hers, _ := w.Message(w.forum, id)
	var file struct {
		Path string `json:"file_path"`
	}
	decode(t, w.must("getFile", args{"file_id": hers.File.ID}).Result, &file)
	if strings.Contains(file.Path, "..") {
		t.Errorf("the path is %q", file.Path)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/file/bot"+w.Token()+"/"+file.Path, nil))
	if rec.Body.String() != "secret" {
		t.Errorf("the download is %q", rec.Body)
	}

	w.must("sendDocument", args{"chat_id": w.forum, "document": hers.File.ID})
	if b := w.upload("sendDocument", map[string]string{"chat_id": string(chat), "document": "attach://other"}, "other", "a.txt", []byte("a")); !b.OK {
		t.Errorf("attach:// is refused: %+v", b)
	}
}

func TestBodiesOfAllKinds(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	form := url.Values{"chat_id": {"@agents"}, "text": {"a+b & c"}, "disable_notification": {"True"}}
	w.AddChat(telegramtest.ChatSpec{Username: "agents"}, w.ada)
	for _, r := range []*http.Request{
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/bot"+w.Token()+"/sendMessage?"+form.Encode(), nil),
		post(t, w, "application/x-www-form-urlencoded", form.Encode()),
		post(t, w, "application/json; charset=utf-8", `{"chat_id":"@agents","text":"a+b & c","disable_notification":true}`),
		post(t, w, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=chat_id\r\n\r\n@agents\r\n"+
			"--b\r\nContent-Disposition: form-data; name=text\r\n\r\na+b & c\r\n--b\r\nContent-Disposition: form-data; name=disable_notification\r\n\r\n1\r\n--b--\r\n"),
	} {
		a := w.do(r)
		if !a.OK {
			t.Errorf("%s: %+v", r.Header.Get("Content-Type"), a)
			continue
		}
		if calls := w.Calls(); calls[len(calls)-1].Params["text"] != "a+b & c" {
			t.Errorf("arguments are %v", calls[len(calls)-1].Params)
		}
	}
	if n := len(w.Rings()); n != 0 {
		t.Errorf("%d phones rang", n)
	}
	for _, r := range []*http.Request{
		post(t, w, "application/json", "{"),
		post(t, w, "application/x-www-form-urlencoded", "%zz"),
		post(t, w, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=x\r\n\r\n12"),
		post(t, w, "multipart/form-data; boundary=b", "nothing of the kind"),
		post(t, w, "multipart/form-data", "x"),
	} {
		if a := w.do(r); a.OK || !strings.HasPrefix(a.Description, "Bad Request: can't parse the request") {
			t.Errorf("%s: %+v", r.Header.Get("Content-Type"), a)
		}
	}
	empty := post(t, w, "multipart/form-data; boundary=b", "")
	empty.URL.Path = "/bot" + w.Token() + "/getMe"
	if a := w.do(empty); !a.OK {
		t.Errorf("an empty form: %+v", a)
	}
}

func post(t *testing.T, w *world, kind, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/bot"+w.Token()+"/sendMessage", io.NopCloser(strings.NewReader(body)))
	r.Header.Set("Content-Type", kind)
	return r
}
