package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ./internal/gen static served

//go:embed static/index.html static/manifest.webmanifest served
var files embed.FS

// Handler serves the page. It sets no security headers and asks for no signature:
// the server that mounts it does.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", newFile("text/html", read("static/index.html")))
	mux.Handle("GET /key.js", newFile("text/javascript", read("served/key.js")))
	mux.Handle("GET /page.js", newFile("text/javascript", read("served/page.js")))
	mux.Handle("GET /page.css", newFile("text/css", append([]byte(paletteCSS()), read("served/page.css")...)))
	mux.Handle("GET /service-worker.js", newFile("text/javascript", read("served/worker.js")))
	mux.Handle("GET /manifest.webmanifest", newFile("application/manifest+json", read("static/manifest.webmanifest")))
	for _, name := range []string{"icon-192.png", "icon-512.png", "icon-maskable-512.png", "badge-96.png"} {
		mux.Handle("GET /"+name, newFile("image/png", read("served/"+name)))
	}
	mux.HandleFunc("POST /markdown", markdown)
	return mux
}

func read(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic("web: " + err.Error()) // only for a file that isn't embedded
	}
	return text
}

// file is a file of the page, as it is and compressed: a phone may be far away. It's compressed for the first who
// takes it so: that takes more than many a run of the program, in which nobody asks.
type file struct {
	kind   string
	text   []byte
	packed func() []byte
}

func newFile(kind string, text []byte) *file {
	if !strings.HasPrefix(kind, "image/") {
		kind += "; charset=utf-8"
	}
	return &file{kind: kind, text: text, packed: sync.OnceValue(func() []byte { return pack(text) })}
}

func pack(text []byte) []byte {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("web: " + err.Error()) // memory takes all that's written
	}
	return packed.Bytes()
}

func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	text := f.text
	if takesGzip(r.Header) {
		h.Set("Content-Encoding", "gzip")
		text = f.packed()
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // who asked may have gone
}

// takesGzip reports whether a browser takes compressed files: all do. What gives encodings
// weights of its own gets the file as it is.
func takesGzip(h http.Header) bool {
	for encoding := range strings.SplitSeq(h.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(encoding) == "gzip" {
			return true
		}
	}
	return false
}
