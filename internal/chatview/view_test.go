package chatview_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/chatview"
)

// empty is a world where nothing is, and nothing can be done, but that has two files.
type empty struct {
	chatview.World
	mu      sync.Mutex
	changed chan struct{}
}

func (e *empty) Changed() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed
}

func (e *empty) change() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.changed)
	e.changed = make(chan struct{})
}

func (*empty) Do(string, chatview.Deed) error { return errors.New("nobody can") }

func (*empty) SendFile(string, chatview.Place, string, []byte) error { return errors.New("nobody can") }

func (*empty) File(address string) (content []byte, picture, ok bool) {
	switch address {
	case "a/page.html":
		return []byte("<script>"), true, true
	case "a/picture.png":
		return []byte("\x89PNG\r\n\x1a\n"), true, true
	}
	return nil, false, false
}

// ask sends the page a request and returns what it answers.
func ask(t *testing.T, page http.Handler, method, path, body string, set ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:7000"+path, strings.NewReader(body))
	for _, f := range set {
		f(r)
	}
	rec := httptest.NewRecorder()
	page.ServeHTTP(rec, r)
	if !strings.Contains(rec.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'") {
		t.Errorf("%s has the policy %q", path, rec.Header().Get("Content-Security-Policy"))
	}
	return rec
}

func TestKeepsStrangersOut(t *testing.T) {
	page := chatview.New(&empty{}, "s3cret")
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	cookie := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "view", Value: "s3cret"}) }
	elsewhere := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	for _, c := range []struct {
		method, path string
		set          []func(*http.Request)
		want         int
	}{
		{"GET", "/", nil, 401},
		{"GET", "/state", nil, 401},
		{"GET", "/?token=wrong", nil, 401},
		{"GET", "/?token=s3cret", nil, 303},
		{"GET", "/", []func(*http.Request){cookie}, 200},
		{"GET", "/", []func(*http.Request){cookie, host("evil.example")}, 403},
		{"GET", "/", []func(*http.Request){cookie, host("localhost:7000")}, 200},
		{"GET", "/", []func(*http.Request){cookie, host("[::1]:7000")}, 200},
		{"POST", "/do/say", []func(*http.Request){cookie, elsewhere}, 403},
		{"POST", "/do/say", []func(*http.Request){cookie}, 409},
		{"GET", "/index.go", []func(*http.Request){cookie}, 404},
	} {
		if rec := ask(t, page, c.method, c.path, "{}", c.set...); rec.Code != c.want {
			t.Errorf("%s %s: %d %q, want %d", c.method, c.path, rec.Code, rec.Body, c.want)
		}
	}
}

// A picture may be shown; what only says that it's one is saved.
func TestFiles(t *testing.T) {
	page := chatview.New(&empty{}, "")
	for path, want := range map[string]string{"a/picture.png": "image/png", "a/page.html": "application/octet-stream", "a/none": "text/plain; charset=utf-8"} {
		rec := ask(t, page, "GET", "/media/"+path, "")
		if got := rec.Header().Get("Content-Type"); got != want || (rec.Header().Get("Content-Disposition") == "attachment") != (path == "a/page.html") {
			t.Errorf("%s comes with %v", path, rec.Header())
		}
	}
}

func TestTellsOfChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &empty{changed: make(chan struct{})}
		page := chatview.New(w, "")
		ctx, cancel := context.WithCancel(t.Context())
		rec := httptest.NewRecorder()
		ended := make(chan struct{})
		go func() {
			page.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/events", nil))
			close(ended)
		}()
		time.Sleep(time.Second)
		for range 5 {
			w.change()
		}
		time.Sleep(time.Second)
		cancel()
		<-ended
		if n := strings.Count(rec.Body.String(), "event: changed"); n < 2 || n > 3 { // at once, and for all five or the last four
			t.Errorf("%d signs of change: %q", n, rec.Body)
		}
	})
}
