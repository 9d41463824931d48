package chatview

import (
	"crypto/subtle"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

//go:embed page
var files embed.FS

const (
	// pause is the least time between two signs of change to a browser.
	pause = 80 * time.Millisecond
	// cookie proves that a browser was given the token.
	cookie = "view"
	// maxDeed and maxUpload are the most bytes of what's done, and of a file.
	maxDeed   = 1 << 20
	maxUpload = 50 << 20
)

// view is the page of one world.
type view struct {
	world World
	token string
}

// New returns a page that shows a stand-in's chats and threads as a phone would, and lets
// whoever opens it write, press, choose, react and send files as any of the people. It
// answers to loopback names only. With a token it wants to be opened as /?token=TOKEN
// first: what's written there may end in somebody's terminal.
func New(w World, token string) http.Handler {
	v := &view{w, token}
	static, err := fs.Sub(files, "page")
	if err != nil {
		panic("chatview: " + err.Error()) // only for a path that isn't valid
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(static))
	mux.HandleFunc("GET /state", v.state)
	mux.HandleFunc("GET /events", v.events)
	mux.HandleFunc("GET /media/{address...}", v.file)
	mux.HandleFunc("POST /do/{what}", v.do)
	return v.guarded(http.NewCrossOriginProtection().Handler(mux))
}

func (v *view) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		switch {
		case !isLoopback(r.Host):
			http.Error(w, "this page is served to the machine itself only", http.StatusForbidden)
		case v.token != "" && v.isToken(r.URL.Query().Get("token")):
			//nolint:gosec // it isn't Secure, because the page is served over http, at this machine only
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: v.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
		case !v.authorized(r):
			http.Error(w, "open the address with its token", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (v *view) isToken(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(v.token)) == 1
}

func (v *view) authorized(r *http.Request) bool {
	if v.token == "" {
		return true
	}
	given, err := r.Cookie(cookie)
	return err == nil && v.isToken(given.Value)
}

// setHeaders forbids a browser whatever the page doesn't need.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// isLoopback: a name of somebody else's that points here would let his page in.
func isLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && addr.IsLoopback()
}

// state writes what a person sees at a place.
func (v *view) state(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	writeJSON(w, v.world.State(q.Get("person"), Place{q.Get("chat"), q.Get("thread")}))
}

// events tells a browser that there's something new, as server-sent events.
func (v *view) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for {
		changed := v.world.Changed()
		if _, err := fmt.Fprint(w, "event: changed\ndata: {}\n\n"); err != nil {
			return
		}
		if flush.Flush() != nil {
			return
		}
		rest := time.NewTimer(pause)
		select {
		case <-rest.C:
		case <-r.Context().Done():
			rest.Stop()
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// file sends the content of a message's file. Pictures may be shown in the page;
// everything else is saved.
func (v *view) file(w http.ResponseWriter, r *http.Request) {
	content, picture, ok := v.world.File(r.PathValue("address"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	kind := http.DetectContentType(content)
	if !picture || !strings.HasPrefix(kind, "image/") {
		kind = "application/octet-stream"
		w.Header().Set("Content-Disposition", "attachment")
	}
	w.Header().Set("Content-Type", kind)
	//nolint:gosec // it's a picture, or saved
	_, _ = w.Write(content) // a browser that's gone
}

// do does what somebody does in the page, as that person.
func (v *view) do(w http.ResponseWriter, r *http.Request) {
	if err := v.act(r); err != nil {
		w.WriteHeader(http.StatusConflict)
		writeJSON(w, map[string]string{"error": err.Error()})
		return
	}
	writeJSON(w, map[string]bool{"ok": true})
}

func (v *view) act(r *http.Request) error {
	if what := r.PathValue("what"); what != "file" {
		var d Deed
		if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxDeed)).Decode(&d); err != nil {
			return fmt.Errorf("read what to do: %w", err)
		}
		return v.world.Do(what, d)
	}
	q := r.URL.Query() // of a file that's the body
	content, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxUpload))
	if err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	return v.world.SendFile(q.Get("person"), Place{q.Get("chat"), q.Get("thread")}, q.Get("name"), content)
}

func writeJSON(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what) // a browser that's gone
}
