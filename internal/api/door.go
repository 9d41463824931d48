package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/browsers"
)

// door stands before everything on the TCP port. Any program and any page of
// any browser of this machine can reach a loopback port, and what a proxy hands on comes from
// anywhere. So it asks for
//   - a connection of the daemon's own user, of a trusted proxy or, by TLS, of another machine
//     (listener.go), and no word of a proxy that isn't trusted;
//   - a Host that names the loopback interface and this port, or one that the configuration
//     names, against pages whose name was made to point here (DNS rebinding);
//   - an Origin, where there is one, that is the page's own, for all that changes something and
//     for events, and a browser that says, where it does, that the page itself asks;
//   - a signature by a browser that was let in, for all but the page's files, which hold
//     nothing secret (package browsers).
type door struct {
	opts   Options
	port   string
	keeper *browsers.Doorkeeper
	api    http.Handler
	page   http.Handler
	tests  chan struct{} // holds a token for each test of a stream that's under way
}

func newDoor(o Options, port string, api http.Handler) *door {
	page := o.Page
	if page == nil {
		page = http.NotFoundHandler()
	}
	return &door{opts: o, port: port, keeper: o.Browsers, api: api, page: page, tests: make(chan struct{}, maxStreamTests)}
}

func portOf(l net.Listener) string {
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return ""
	}
	return port
}

// The calls that need no signature.
const (
	StartPath = "/api/v1/page/start" // GET: what's needed to sign
	keysPath  = "/api/v1/page/keys"  // POST: lets a browser in that has a token
	// StreamTestPath is a GET of two events that have nothing to tell, StreamTestPause apart.
	// Who reads them both at once is behind a proxy that gathers events.
	StreamTestPath = "/api/v1/page/stream-test"
)

// ServeHTTP lets a request in, or says why not.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	if why := foreignUser(r.Context()); why != "" {
		w.Header().Set("Connection", "close")
		forbid(w, why)
		return
	}
	v := d.opts.Reach.visitOf(r, d.port)
	if v.local {
		d.dropCookie(w, r)
	}
	r = r.WithContext(withVisit(r.Context(), v))
	switch {
	case v.refused != "":
		forbid(w, v.refused)
	case r.Header.Get("Service-Worker") == "script" && r.URL.Path != WorkerPath:
		endWorker(w)
	case isPage(r) && reads(r):
		d.serveFile(w, r)
	case needsOrigin(r) && !sameOrigin(r, v.origins), fromElsewhere(r.Header):
		forbid(w, "the request comes from another page"+saidOrigin(r))
	case r.URL.Path == StartPath && r.Method == http.MethodGet:
		writeJSON(w, http.StatusOK, d.signingStart())
	case r.URL.Path == StreamTestPath && r.Method == http.MethodGet:
		d.testStream(r.Context(), w) //nolint:contextcheck // it is the request's
	case r.URL.Path == keysPath && r.Method == http.MethodPost:
		if err := d.letIn(w, r); err != nil {
			d.refuse(w, err)
		}
	default:
		d.serveSigned(w, r)
	}
}

const (
	// StreamTestPause is what passes between the two events of a test.
	StreamTestPause = 300 * time.Millisecond
	// maxStreamTests bounds the tests at once, since nobody has to sign for one.
	maxStreamTests = 4
)

// testStream serves StreamTestPath.
func (d *door) testStream(ctx context.Context, w http.ResponseWriter) {
	select {
	case d.tests <- struct{}{}:
		defer func() { <-d.tests }()
	default:
		writeError(w, &Error{Status: http.StatusTooManyRequests, Code: codeTooMany, Message: "others try streams just now: try again"})
		return
	}
	out, err := newSSEWriter(w, time.Second)
	if err == nil {
		err = out.heartbeat()
	}
	if err != nil {
		return // who asked has gone
	}
	select {
	case <-ctx.Done():
	case <-time.After(StreamTestPause):
		_ = out.heartbeat() // as above
	}
}

func saidOrigin(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		return ": " + origin
	}
	return ""
}

// fromElsewhere reports whether a browser says that another page than this one asks (Fetch
// Metadata). Other programs say nothing.
func fromElsewhere(h http.Header) bool {
	site := h.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

func forbid(w http.ResponseWriter, message string) {
	writeError(w, &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: message})
}

// setSecurityHeaders forbids a browser whatever the page doesn't need.
func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self' data:; manifest-src 'self'; worker-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// dropCookie has a browser forget the cookie by which earlier releases knew it. It opens
// nothing any more, but was sent to every port of this host.
func (d *door) dropCookie(w http.ResponseWriter, r *http.Request) {
	name := "panebridge_" + d.port
	if len(r.CookiesNamed(name)) > 0 {
		http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // not Secure: it must replace one that isn't
	}
}

// WorkerPath is where the page's own service worker is.
const WorkerPath = "/service-worker.js"

// endWorker answers a browser that looks for the newest version of a service worker elsewhere than
// the page's is, so it's one that another server left while it had the port: this one
// takes its place, ends itself, and has its tabs loaded anew. One that was left at WorkerPath is
// replaced by the page's own, which has them loaded anew, too.
func endWorker(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = io.WriteString(w, `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil((async () => {
  await self.registration.unregister();
  for (const tab of await self.clients.matchAll({ type: 'window' })) await tab.navigate(tab.url);
})()));
`)
}

// serveFile serves the page's files. The address that lets a browser in shows the page,
// and empties the browser's cache of what another server may have left there.
func (d *door) serveFile(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, browsers.EnterPath) {
		w.Header().Set("Clear-Site-Data", `"cache"`)
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = "/", ""
	}
	d.page.ServeHTTP(w, r)
}

func isPage(r *http.Request) bool {
	switch r.URL.Path {
	case "/metrics", "/healthz", "/readyz": // else whoever asks here whether it's well would get the page, and take it for a yes
		return false
	}
	return !strings.HasPrefix(r.URL.Path, "/api/")
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// needsOrigin reports whether a foreign page could do harm by a request that it
// can't read the answer of, or by holding a stream open.
func needsOrigin(r *http.Request) bool { return !reads(r) || r.URL.Path == "/api/v1/events" }

// sameOrigin reports whether a request has no Origin (it's no browser's, or a
// plain same-origin GET) or one of the page's.
func sameOrigin(r *http.Request, origins []string) bool {
	origin := r.Header.Get("Origin")
	return origin == "" || slices.Contains(origins, origin)
}

// serveSigned hands on a request that a browser has signed which was let in.
func (d *door) serveSigned(w http.ResponseWriter, r *http.Request) {
	checked, err := d.keeper.Check(r.Context(), time.Now(), r)
	if err == nil {
		err = readSigned(w, r, checked)
	}
	if err != nil {
		d.refuse(w, err)
		return
	}
	r = r.WithContext(withBrowser(r.Context(), checked.Browser))
	if isPage(r) {
		d.page.ServeHTTP(w, r)
		return
	}
	d.api.ServeHTTP(w, r)
}

// maxSignedBytes bounds a body, which is read as a whole to be compared with its digest:
// what the page has drawn as Markdown at once is the greatest.
const maxSignedBytes = max(maxInputBodyBytes, 4<<20)

// readSigned reads a request's body and puts what was read in its place, unless it isn't
// the one that was signed.
func readSigned(w http.ResponseWriter, r *http.Request, c browsers.SignedRequest) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSignedBytes))
	if err != nil {
		return bodyError(err)
	}
	if sha256.Sum256(body) != c.Digest {
		return browsers.ErrUnknown
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

func (d *door) refuse(w http.ResponseWriter, err error) {
	e := d.refusal(err)
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Signature realm="panebridge"`) // a scheme of which browsers know nothing to ask
	}
	writeError(w, e)
}

// refusal is what a request is answered that isn't let in. Some errors are the API's own.
func (d *door) refusal(err error) *Error {
	switch {
	case errors.Is(err, browsers.ErrStale):
		now := d.signingStart()
		return &Error{Status: http.StatusUnauthorized, Code: codeStale, Message: err.Error(), SigningStart: &now}
	case errors.Is(err, browsers.ErrReplayed):
		return &Error{Status: http.StatusUnauthorized, Code: codeReplayed, Message: err.Error()}
	case errors.Is(err, browsers.ErrWaiting):
		return &Error{Status: http.StatusUnauthorized, Code: codeWaiting, Message: err.Error()}
	case errors.Is(err, browsers.ErrBusy), errors.Is(err, browsers.ErrGuesses):
		return &Error{Status: http.StatusTooManyRequests, Code: codeTooMany, Message: err.Error()}
	case errors.Is(err, browsers.ErrUnknown), errors.Is(err, browsers.ErrToken):
		return &Error{Status: http.StatusUnauthorized, Code: codeUnauthorized, Message: err.Error()}
	}
	return toError(err)
}

// SigningStart is what a browser needs to sign requests.
type SigningStart struct {
	Start string `json:"start"` // the name of this start of the daemon
	Now   int64  `json:"now"`   // its time, in seconds since 1970
}

func (d *door) signingStart() SigningStart {
	start, now := d.keeper.Now(time.Now())
	return SigningStart{Start: start, Now: now}
}

// KeyRequest is the body of POST /api/v1/page/keys. It needs a token, or the signature of
// a browser that's known and changes its key.
type KeyRequest struct {
	Token string `json:"token"`
	Key   []byte `json:"key"` // the public key, as WebCrypto's format "raw" has it
}

// KeyAnswer says how a browser is known from now on.
type KeyAnswer struct {
	SigningStart

	ID      string    `json:"id"`
	Expires time.Time `json:"expires"`
	// Number is what its person compares while the browser waits for somebody's word, until
	// Expires; "": it's let in.
	Number string `json:"number,omitempty"`
}

// letIn serves POST /api/v1/page/keys.
func (d *door) letIn(w http.ResponseWriter, r *http.Request) error {
	now := time.Now()
	if d.opts.placeOf(r.Context()).Inside {
		return &Error{Status: http.StatusForbidden, Code: codeInside, Message: "programs in sessions' panes aren't let in: open the address in a browser that was begun elsewhere"}
	}
	checked, unsigned := d.keeper.Check(r.Context(), now, r)
	if errors.Is(unsigned, browsers.ErrStale) {
		return unsigned
	}
	if unsigned == nil {
		if err := readSigned(w, r, checked); err != nil {
			return err
		}
	}
	var body KeyRequest
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	v := visitIn(r.Context())
	got, err := d.keeper.Enrol(r.Context(), now, browsers.Visitor{
		Token: body.Token, Host: r.Host, Local: v.local, From: v.from, Label: labelOf(r.UserAgent()), Key: body.Key,
	}, checked.Browser)
	if err != nil {
		return err
	}
	answer := KeyAnswer{SigningStart: d.signingStart(), ID: got.Browser.ID, Expires: got.Browser.Expires}
	if got.Waiting == nil {
		writeJSON(w, http.StatusCreated, answer)
		return nil
	}
	answer.Expires, answer.Number = got.Waiting.Until, got.Waiting.Number
	d.opts.Log.Info("a device waits to be let in", "device", got.Browser.ID, "label", got.Browser.Label, "from", v.from)
	writeJSON(w, http.StatusAccepted, answer)
	return nil
}

// labelOf says in a few words which browser a User-Agent header is of.
func labelOf(agent string) string {
	program, system := "a browser", ""
	for _, p := range [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}} {
		if strings.Contains(agent, p[0]) {
			program = p[1]
			break
		}
	}
	for _, s := range [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, s[0]) {
			system = " on " + s[1]
			break
		}
	}
	return program + system
}

type browserKey struct{}

func withBrowser(ctx context.Context, b browsers.Browser) context.Context {
	return context.WithValue(ctx, browserKey{}, b)
}

// browserOf returns the browser that a request is from; an empty one on the Unix socket.
func browserOf(ctx context.Context) browsers.Browser {
	b, _ := ctx.Value(browserKey{}).(browsers.Browser)
	return b
}

// foreignUser says why a connection isn't served at all; "": it is.
func foreignUser(ctx context.Context) string {
	c, ok := ctx.Value(guardedKey{}).(*guardedConn)
	switch {
	case !ok || c.whose != whoseForeign:
		return ""
	case errors.Is(c.err, errUntrusted):
		return c.err.Error()
	case c.err != nil:
		return fmt.Sprintf("the page is served to its own user only, and the system doesn't say whose this connection is (%v)", c.err)
	}
	return fmt.Sprintf("the page is served to its own user only, and this connection is of the user with the id %d; "+
		"for a proxy of another user set adapters.web.behind_proxy to true", c.uid)
}
