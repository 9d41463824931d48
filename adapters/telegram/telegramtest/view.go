package telegramtest

import (
	"crypto/subtle"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

//go:embed view
var viewFiles embed.FS

// viewPause is the least time between two signs of change to a browser.
const viewPause = 80 * time.Millisecond

// viewCookie proves that a browser was given the token.
const viewCookie = "view"

// view is the page that shows a stand-in as a phone would.
type view struct {
	s     *Server
	token string
}

// NewView returns a page that shows the stand-in's chats and topics as a phone
// would, and lets whoever opens it write, press, react and send files as any of
// the people. It answers to loopback names only. With a token it wants to be
// opened as /?token=TOKEN first: what's written there may end in somebody's
// terminal.
func NewView(s *Server, token string) http.Handler {
	v := &view{s, token}
	static, err := fs.Sub(viewFiles, "view")
	if err != nil {
		panic("telegramtest: " + err.Error()) // only for a path that isn't valid
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(static))
	mux.HandleFunc("GET /state", v.state)
	mux.HandleFunc("GET /events", v.events)
	mux.HandleFunc("GET /media/{chat}/{message}", v.file)
	mux.HandleFunc("POST /do/{what}", v.do)
	return v.guarded(http.NewCrossOriginProtection().Handler(mux))
}

func (v *view) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setViewHeaders(w.Header())
		switch {
		case !isLoopback(r.Host):
			http.Error(w, "this page is served to the machine itself only", http.StatusForbidden)
		case v.token != "" && v.isToken(r.URL.Query().Get("token")):
			http.SetCookie(w, &http.Cookie{Name: viewCookie, Value: v.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
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
	cookie, err := r.Cookie(viewCookie)
	return err == nil && v.isToken(cookie.Value)
}

// setViewHeaders forbids a browser whatever the page doesn't need.
func setViewHeaders(h http.Header) {
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

// events tells a browser that there's something new, as server-sent events.
func (v *view) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for {
		changed := v.s.Changed()
		if _, err := fmt.Fprint(w, "event: changed\ndata: {}\n\n"); err != nil {
			return
		}
		if flush.Flush() != nil {
			return
		}
		if wait(r.Context(), viewPause) != nil {
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
	var chat int64
	var message int
	if _, err := fmt.Sscan(r.PathValue("chat")+" "+r.PathValue("message"), &chat, &message); err != nil {
		http.NotFound(w, r)
		return
	}
	m, known := v.message(chat, message)
	if !known || m.File == nil {
		http.NotFound(w, r)
		return
	}
	kind := http.DetectContentType(m.File.Content)
	if m.File.Kind != Photo || !strings.HasPrefix(kind, "image/") {
		kind = "application/octet-stream"
		w.Header().Set("Content-Disposition", "attachment")
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(m.File.Content) // a browser that's gone
}

func (v *view) message(chat int64, id int) (Message, bool) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	c := v.s.chats[chat]
	if c == nil || c.byID[id] == nil {
		return Message{}, false
	}
	return *c.byID[id], true
}

func viewJSON(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what) // a browser that's gone
}
