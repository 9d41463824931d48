package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/web"
)

// answer is what the page's handler answers.
type answer struct {
	status, bytes int
	header        http.Header
}

// served returns what the page's handler answers, and the file in it as a browser has it.
func served(t *testing.T, path, encodings string) (answer, string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	r.Header.Set("Accept-Encoding", encodings)
	web.Handler().ServeHTTP(w, r)
	got := answer{status: w.Code, bytes: w.Body.Len(), header: w.Header()}
	if length := got.header.Get("Content-Length"); got.status == http.StatusOK && length != strconv.Itoa(got.bytes) {
		t.Errorf("%s has %d bytes, and says %s", path, got.bytes, length)
	}
	var body io.Reader = w.Body
	if got.header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		body = unpacked
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return got, string(text)
}

var (
	asked    = regexp.MustCompile(`<(?:script|link)\b[^>]*\b(?:src|href)="(/[^"]*)"`)
	imported = regexp.MustCompile(`\bfrom "|^\s*import "|@import\b|\bimport\(`)
)

// A browser keeps nothing of the page and asks for all of it each time: so that's few files, which
// ask for no more. The key's module, by which the page begins, is one of its own.
func TestThePageIsTwoScriptsAndOneStyleSheet(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{
		"/key.js": "text/javascript; charset=utf-8", "/page.js": "text/javascript; charset=utf-8", "/page.css": "text/css; charset=utf-8",
		"/manifest.webmanifest": "application/manifest+json; charset=utf-8", "/icon-maskable-512.png": "image/png",
	}
	_, index := served(t, "/", "")
	found := asked.FindAllStringSubmatch(index, -1)
	if len(found) != len(kinds) {
		t.Errorf("the page asks for %d files: %q", len(found), found)
	}
	for _, m := range found {
		got, text := served(t, m[1], "")
		if kind := got.header.Get("Content-Type"); got.status != http.StatusOK || kind != kinds[m[1]] {
			t.Errorf("%s: status %d, kind %q", m[1], got.status, kind)
		}
		text = strings.ReplaceAll(text, `from "./key.js"`, "")
		if more := imported.FindString(text); more != "" {
			t.Errorf("%s asks for more: %q", m[1], more)
		}
	}
	for _, path := range []string{"/app.js", "/style.css", "/served/page.js", "/static/index.html", "/index.html"} {
		if got, _ := served(t, path, ""); got.status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, got.status)
		}
	}
}

// A browser that takes compressed files gets the same in less.
func TestThePageIsServedCompressed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/key.js", "/page.js", "/page.css"} {
		plain, want := served(t, path, "")
		packed, got := served(t, path, "br, gzip")
		if got != want || want == "" {
			t.Errorf("%s is another when it's compressed", path)
		}
		if plain.header.Get("Content-Encoding") != "" || packed.header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is encoded as %q and %q", path, plain.header.Get("Content-Encoding"), packed.header.Get("Content-Encoding"))
		}
		if plain.header.Get("Vary") != "Accept-Encoding" || packed.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s doesn't say that it varies", path)
		}
		if refused, _ := served(t, path, "gzip;q=0"); refused.header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed for who refuses that", path)
		}
		if plain.bytes <= 2*packed.bytes {
			t.Errorf("%s has %d bytes, and %d compressed", path, plain.bytes, packed.bytes)
		}
	}
}
