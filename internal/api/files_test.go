package api_test

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// A file comes in parts as they are, each with its place; what isn't one is refused before it's looked at.
func TestFilesAreTakenInParts(t *testing.T) {
	var mu sync.Mutex
	var taken []api.FilePart
	b := setup(t, func(o *api.Options) {
		o.Files = func(p api.FilePart) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if p.Name == "full" {
				return "", fmt.Errorf("%w: the disk is full", sessions.ErrUnavailable)
			}
			taken = append(taken, p)
			if p.Offset+int64(len(p.Bytes)) < p.Size {
				return "", nil
			}
			return "/home/user/project/.panebridge/in/photo.jpg", nil
		}
	})
	id := b.daemon.Add("one", "")
	path := "/api/v1/sessions/" + string(id) + "/files"
	send := func(query, contentType, body string) (int, string) {
		t.Helper()
		got, text := b.send(t, http.MethodPost, path+"?"+query, body, func(r *http.Request) {
			r.Header.Set("Content-Type", contentType)
			b.sign(r)
		})
		return got.status, text
	}
	const octets = "application/octet-stream"
	if status, text := send("name=photo.jpg&size=5&upload=abcdefgh", octets, "\x00\xff\x01"); status != http.StatusOK || strings.TrimSpace(text) != `{"received":3}` {
		t.Errorf("the first part: %d %s", status, text)
	}
	if status, text := send("name=photo.jpg&size=5&offset=3&upload=abcdefgh", octets, "23"); status != http.StatusOK || !strings.Contains(text, `"received":5,"path":"/home/user/project/.panebridge/in/photo.jpg"`) {
		t.Errorf("the last part: %d %s", status, text)
	}
	if len(taken) != 2 || string(taken[0].Bytes) != "\x00\xff\x01" || taken[1].Offset != 3 || taken[0].Key != taken[1].Key || taken[0].Session.ID != id {
		t.Errorf("taken are %+v", taken)
	}
	for what, tt := range map[string]struct {
		query, contentType, body string
		status                   int
	}{
		"another type":  {"name=x&size=1&upload=abcdefgh", "text/plain", "x", http.StatusUnsupportedMediaType},
		"no upload":     {"name=x&size=1", octets, "x", http.StatusBadRequest},
		"an odd upload": {"name=x&size=1&upload=../../../../x", octets, "x", http.StatusBadRequest},
		"no number":     {"name=x&size=-1&upload=abcdefgh", octets, "x", http.StatusBadRequest},
		"too much":      {"name=x&size=9000000&upload=abcdefgh", octets, strings.Repeat("x", 2<<20+1), http.StatusRequestEntityTooLarge},
		"a full disk":   {"name=full&size=1&upload=abcdefgh", octets, "x", http.StatusServiceUnavailable},
	} {
		if status, text := send(tt.query, tt.contentType, tt.body); status != tt.status {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	if len(taken) != 2 {
		t.Errorf("%d parts were taken", len(taken))
	}
}

// A file is given to who may type, as nothing that a browser shows or runs; what's refused says why, without secrets.
func TestFilesAreGivenAsNothingThatRuns(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, reaching(proxied), func(o *api.Options) {
		o.Masker = masker
		o.ReadFile = func(s sessions.Session, path string) (string, []byte, error) {
			if path != "a/Größe \"x\".html" {
				return "", nil, fmt.Errorf("there's no file %s in %s", path, s.Cwd)
			}
			return "Größe \"x\".html", []byte("<script>alert(1)</script>"), nil
		}
	})
	b.daemon.Add("one", "")
	operator, viewer := b.device(t, publicHost, "Operator", access.Operator), b.device(t, publicHost, "Viewer", access.Viewer)
	get := func(who *browserstest.Signer, path string) (answer, string) {
		t.Helper()
		return b.send(t, http.MethodGet, "/api/v1/sessions/one/files?"+url.Values{"path": {path}}.Encode(), "", at(who, publicHost, "100.64.0.7"))
	}
	got, text := get(operator, "a/Größe \"x\".html")
	kind, params, err := mime.ParseMediaType(got.header.Get("Content-Disposition"))
	if got.status != http.StatusOK || text != "<script>alert(1)</script>" || err != nil || kind != "attachment" || params["filename"] != "Größe \"x\".html" {
		t.Errorf("%d %s, %q", got.status, text, got.header.Get("Content-Disposition"))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "no-store",
	} {
		if h := got.header.Values(name); len(h) != 1 || h[0] != want {
			t.Errorf("%s is %q", name, h)
		}
	}
	if got, text := get(operator, secret); got.status != http.StatusUnprocessableEntity || !strings.Contains(text, "there's no file") || strings.Contains(text, secret) {
		t.Errorf("one that isn't there: %d %s", got.status, text)
	}
	if got, text := get(viewer, "a/Größe \"x\".html"); got.status != http.StatusForbidden || strings.Contains(text, "script") {
		t.Errorf("a viewer: %d %s", got.status, text)
	}
	if got, _ := get(operator, ""); got.status != http.StatusBadRequest {
		t.Errorf("no path: %d", got.status)
	}
}
