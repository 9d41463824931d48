package web

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
	"time"
)

//go:embed static
var files embed.FS

// Handler serves the page. It sets no security headers and asks for no signature:
// the server that mounts it does.
func Handler() http.Handler {
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic("web: " + err.Error()) // only for a path that isn't valid
	}
	colours := paletteCSS()
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(static))
	mux.HandleFunc("GET /palette.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "palette.css", time.Time{}, strings.NewReader(colours))
	})
	mux.HandleFunc("POST /markdown", markdown)
	return mux
}
