package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// door stands before everything on the TCP port. Any program and any page of
// any browser of this machine can reach a loopback port, so it asks for
//   - a Host that names the loopback interface and this port, against pages
//     whose name was made to point here (DNS rebinding);
//   - the token, as a bearer token or as the cookie it was exchanged for;
//   - an Origin, where there is one, that is the page's own, for all that
//     changes something and for events.
type door struct {
	token  [sha256.Size]byte
	port   string
	cookie string // has the port in its name: cookies are shared by all ports of a host
	api    http.Handler
	page   http.Handler
}

func newDoor(o Options, port string, api http.Handler) *door {
	page := o.Page
	if page == nil {
		page = http.NotFoundHandler()
	}
	return &door{
		token: sha256.Sum256([]byte(o.Token)), port: port, cookie: "panebridge_" + port,
		api: api, page: page,
	}
}

func portOf(l net.Listener) string {
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return ""
	}
	return port
}

// ServeHTTP lets a request in, or says why not.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	switch {
	case !d.hostAllowed(r.Host):
		writeError(w, &Error{
			Status: http.StatusForbidden, Code: codeForbidden,
			Message: "this address is served to the machine itself only, as http://127.0.0.1:" + d.port,
		})
	case isPage(r) && r.Method == http.MethodGet && r.URL.Query().Has("token"):
		d.login(w, r)
	case !d.authorized(r):
		unauthorized(w, r)
	case needsOrigin(r) && !sameOrigin(r):
		writeError(w, &Error{
			Status: http.StatusForbidden, Code: codeForbidden,
			Message: "the request comes from another page: " + r.Header.Get("Origin"),
		})
	case isPage(r):
		d.page.ServeHTTP(w, r)
	default:
		d.api.ServeHTTP(w, r)
	}
}

// setSecurityHeaders forbids a browser whatever the page doesn't need.
func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// hostAllowed reports whether a Host header names the loopback interface and
// this port.
func (d *door) hostAllowed(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil { // no port: that of the scheme
		name, port = strings.Trim(host, "[]"), "80"
	}
	if port != d.port {
		return false
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

func isPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/metrics"
}

// login exchanges the token in the page's address for a cookie, and sends the
// browser to the address without it, so that it stays out of history,
// bookmarks and screenshots.
func (d *door) login(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	token := query.Get("token")
	if !d.tokenOK(token) {
		unauthorized(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // not Secure: the loopback port speaks plain HTTP
		Name: d.cookie, Value: url.QueryEscape(token), Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: 365 * 24 * 3600, // the token's own life is the daemon's affair
	})
	query.Del("token")
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: query.Encode()} // never //host
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

func (d *door) authorized(r *http.Request) bool {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return d.tokenOK(strings.TrimSpace(bearer))
	}
	for _, c := range r.CookiesNamed(d.cookie) {
		if token, err := url.QueryUnescape(c.Value); err == nil && d.tokenOK(token) {
			return true
		}
	}
	return false
}

// tokenOK takes the same time for every wrong token; the hash hides the length.
func (d *door) tokenOK(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], d.token[:]) == 1
}

// needsOrigin reports whether a foreign page could do harm by a request that it
// can't read the answer of, or by holding a stream open.
func needsOrigin(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return !reads || r.URL.Path == "/api/v1/events"
}

// sameOrigin reports whether a request has no Origin (it's no browser's, or a
// plain same-origin GET) or the origin it was sent to.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return origin == "" || origin == "http://"+r.Host
}

func unauthorized(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="panebridge"`)
	if !isPage(r) {
		writeError(w, &Error{
			Status: http.StatusUnauthorized, Code: codeUnauthorized,
			Message: "the token is missing or wrong: send it as “Authorization: Bearer …”, or open the address that `panebridge status --url` prints",
		})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = io.WriteString(w, unauthorizedPage)
}

const unauthorizedPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>panebridge</title>
<h1>panebridge</h1>
<p>This page needs its token.</p>
<p>Open the address that <code>panebridge status --url</code> prints.</p>
</html>
`
