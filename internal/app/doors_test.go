package app_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

// doors is a daemon behind an nginx as docs/page.md has it, with devices of each role, a session
// that writes down what's typed to it, and one that asks.
type doors struct {
	*daemon

	host, proxy, page string // the public name with its port; addresses
	c                 *certificate
	viewer, operator  *remote
	approver, admin   *remote
	typed             string // path
	prompt            string // id
}

const doorSecret = "nobody outside reads this"

func newDoors(t *testing.T) *doors {
	t.Helper()
	const name = "pane.example.com"
	d := &doors{daemon: &daemon{T: t}, proxy: freeAddress(t), page: freeAddress(t)}
	_, port, err := net.SplitHostPort(d.proxy)
	if err != nil {
		t.Fatal(err)
	}
	d.host = name + ":" + port
	web := webSettings(t, fill(t, shown(t, "Caddy, nginx", "yaml"), name, d.host))
	web["listen"], web["allowed_hosts"] = d.page, []string{"other.example.com:" + port}
	d.daemon = newSiteOf(t, web).daemon
	d.c = newCertificate(t, d.dir, "proxy", time.Hour, name, "other.example.com")
	newNginx(t, d.proxy, d.page, false, d.c)
	d.viewer, d.operator = d.remote("").letIn(d.daemon, "viewer"), d.remote("").letIn(d.daemon, "operator")
	d.approver, d.admin = d.remote("").letIn(d.daemon, "approver"), d.remote("").letIn(d.daemon, "admin")

	d.typed = filepath.Join(d.dir, "typed")
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "kept", Command: []string{"sh", "-c", `echo "` + doorSecret + `"; exec cat >"$0"`, d.typed}}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "asks", Agent: "demo"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.api.Input(d.ctx(), "asks", "ask", true); err != nil {
		t.Fatal(err)
	}
	d.await("a question", func() bool {
		s, err := d.api.Session(d.ctx(), "asks")
		if err == nil {
			d.prompt = s.Prompt
		}
		return d.prompt != ""
	})
	return d
}

// remote is a device at the proxy, with a network address of its own; "": the system chooses.
func (d *doors) remote(from string) *remote {
	d.Helper()
	return newRemote(d.T, "https://"+d.host, d.proxy, from, d.c)
}

func atHost(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = []string{value} }
}

// knock is a request that's to be refused.
type knock struct {
	name         string
	who          *remote
	method, path string
	body         string
	mods         []func(*http.Request)
	want         int
	says         string
}

// What comes through a proxy gets in by a device's own key, at its name, by its roles, and by
// nothing else.
func TestDoorsBehindNginx(t *testing.T) {
	slow(t)
	d := newDoors(t)
	const sessions, start = "/api/v1/sessions", "/api/v1/page/start"
	input, keys, answer := sessions+"/kept/input", sessions+"/kept/keys", "/api/v1/prompts/"+d.prompt+"/answer"
	_, port, _ := net.SplitHostPort(d.proxy)
	local, _ := d.letIn()
	stranger := d.remote("")
	stranger.signer.ID, stranger.signer.Start = d.admin.signer.ID, d.admin.signer.Start
	owner := d.remote("")
	owner.signer = local
	ownerToken := func() string {
		a, err := d.api.NewAddress(d.ctx())
		if err != nil {
			t.Fatal(err)
		}
		_, token := enterAddress(a.URL)
		return token
	}
	const text, pressed = `{"text":"by a stranger"}`, `{"keys":["Enter"]}`
	sent := func(mods ...func(*http.Request)) []func(*http.Request) { return mods }
	changed := func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(`{"text":"by A stranger"}`)) }
	elsewhere := func(r *http.Request) { r.URL.Path = sessions + "/asks/input" }
	twice := func(r *http.Request) {
		d.admin.signer.Sign(r)
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(strings.NewReader(""))
		if resp, err := d.admin.client.Do(again); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("the first of two: %v, %v", resp, err)
		} else {
			_ = resp.Body.Close()
		}
	}
	a := d.admin
	for _, k := range []knock{
		{"no signature", a, "GET", sessions, "", nil, 401, ""},
		{"no signature, output", a, "GET", sessions + "/kept/output", "", nil, 401, ""},
		{"no signature, events", a, "GET", "/api/v1/events", "", nil, 401, ""},
		{"no signature, metrics", a, "GET", "/metrics", "", nil, 401, ""},
		{"no signature, typing", a, "POST", input, text, nil, 401, ""},
		{"another's id", stranger, "GET", sessions, "", sent(stranger.signed), 401, ""},
		{"a signature for another path", a, "POST", input, text, sent(a.signed, elsewhere), 401, ""},
		{"a signature for another body", a, "POST", input, text, sent(a.signed, changed), 401, ""},
		{"a signature a second time", a, "GET", sessions, "", sent(twice), 401, "replayed"},
		{"another host", a, "GET", sessions, "", sent(atHost("evil.example"), a.signed), 403, "isn't served by the name"},
		{"another host's files", a, "GET", "/", "", sent(atHost("evil.example")), 403, ""},
		{"the local name", a, "GET", sessions, "", sent(atHost(d.page), a.signed), 403, "proxy_set_header Host"},
		{"the local name in words", a, "GET", sessions, "", sent(atHost("localhost:"+port), a.signed), 403, ""},
		{"the name without its port", a, "GET", sessions, "", sent(atHost("pane.example.com"), a.signed), 403, ""},
		{"the name with another port", a, "GET", sessions, "", sent(atHost("pane.example.com:1"), a.signed), 403, ""},
		{"a name below", a, "GET", start, "", sent(atHost("a." + d.host)), 403, ""},
		{"a name above", a, "GET", start, "", sent(atHost("example.com:" + port)), 403, ""},
		{"the name with a dot", a, "GET", start, "", sent(atHost("pane.example.com.:" + port)), 403, ""},
		{"a device at another name of the page", a, "GET", sessions, "", sent(atHost("other.example.com:"+port), a.signed), 401, ""},
		{"another page types", a, "POST", input, text, sent(header("Origin", "https://evil.example"), a.signed), 403, "another page"},
		{"the page by http types", a, "POST", input, text, sent(header("Origin", "http://"+d.host), a.signed), 403, "another page"},
		{"another name of the page types", a, "POST", input, text, sent(header("Origin", "https://other.example.com:"+port), a.signed), 403, "another page"},
		{"no page types", a, "POST", input, text, sent(header("Origin", "null"), a.signed), 403, "another page"},
		{"another page listens", a, "GET", "/api/v1/events", "", sent(header("Origin", "https://evil.example"), a.signed), 403, "another page"},
		{"another page tries a stream", a, "GET", "/api/v1/page/stream-test", "", sent(header("Sec-Fetch-Site", "cross-site")), 403, "another page"},
		{"a stream is tried at another host", a, "GET", "/api/v1/page/stream-test", "", sent(atHost("evil.example")), 403, ""},
		{"another page asks first", a, "OPTIONS", input, "", sent(header("Origin", "https://evil.example"), header("Access-Control-Request-Method", "POST")), 403, ""},
		{"another page reads", a, "GET", sessions, "", sent(header("Sec-Fetch-Site", "cross-site"), a.signed), 403, "another page"},
		{"a page of the same site reads", a, "GET", sessions, "", sent(header("Sec-Fetch-Site", "same-site"), a.signed), 403, "another page"},
		{"the owner's key", owner, "GET", sessions, "", sent(owner.signed), 401, ""},
		{"the owner's key at its name", owner, "GET", sessions, "", sent(atHost(d.page), owner.signed), 403, ""},
		{"the owner's key, said to be local", owner, "GET", sessions, "", sent(atHost(d.page), header("X-Forwarded-For", "127.0.0.1"), owner.signed), 403, ""},
		{"the owner's key, the proxy's header crossed out", owner, "GET", sessions, "", sent(atHost(d.page), header("Connection", "X-Forwarded-For"), owner.signed), 403, ""},
		{"the owner's key, another header", owner, "GET", sessions, "", sent(atHost(d.page), header("Forwarded", "for=127.0.0.1;host="+d.page), owner.signed), 403, ""},
		{"another host in a header", owner, "GET", sessions, "", sent(header("X-Forwarded-Host", d.page), owner.signed), 401, ""},
		{"the word of a network", a, "GET", sessions, "", sent(header("Tailscale-User-Login", "owner@example.com"), header("X-Real-Ip", "127.0.0.1")), 401, ""},
		{"a viewer types", d.viewer, "POST", input, text, sent(d.viewer.signed), 403, "role"},
		{"a viewer presses", d.viewer, "POST", keys, pressed, sent(d.viewer.signed), 403, "role"},
		{"a viewer answers", d.viewer, "POST", answer, `{"option":1}`, sent(d.viewer.signed), 403, "role"},
		{"a viewer begins", d.viewer, "POST", sessions, `{"command":["sh"]}`, sent(d.viewer.signed), 403, "role"},
		{"a viewer ends", d.viewer, "DELETE", sessions + "/kept", "", sent(d.viewer.signed), 403, "role"},
		{"an operator answers", d.operator, "POST", answer, `{"option":1}`, sent(d.operator.signed), 403, "role"},
		{"an approver types", d.approver, "POST", input, text, sent(d.approver.signed), 403, "role"},
		{"an approver presses", d.approver, "POST", keys, pressed, sent(d.approver.signed), 403, "role"},
		{"an operator shares", d.operator, "POST", "/api/v1/page/shares", `{"roles":["admin"]}`, sent(d.operator.signed), 403, ""},
		{"an approver lists devices", d.approver, "GET", "/api/v1/page", "", sent(d.approver.signed), 403, ""},
		{"an operator revokes", d.operator, "DELETE", "/api/v1/page/browsers/" + a.signer.ID, "", sent(d.operator.signed), 403, ""},
		{"no signature, a file", a, "GET", sessions + "/kept/files?path=typed", "", nil, 401, ""},
		{"another page gets a file", a, "GET", sessions + "/kept/files?path=typed", "", sent(header("Sec-Fetch-Site", "cross-site"), a.signed), 403, "another page"},
		{"a viewer gets a file", d.viewer, "GET", sessions + "/kept/files?path=typed", "", sent(d.viewer.signed), 403, "role"},
		{"a viewer sends a file", d.viewer, "POST", sessions + "/kept/files", "x", sent(d.viewer.signed), 403, "role"},
		{"a viewer renames", d.viewer, "POST", sessions + "/kept/name", `{"name":"taken"}`, sent(d.viewer.signed), 403, "role"},
		{"a viewer starts it anew", d.viewer, "POST", sessions + "/kept/restart", "", sent(d.viewer.signed), 403, "role"},
		{"a viewer mirrors", d.viewer, "POST", sessions + "/kept/bindings", `{"to":"telegram:-1001"}`, sent(d.viewer.signed), 403, "role"},
		{"a viewer reads mail", d.viewer, "GET", "/api/v1/mail", "", sent(d.viewer.signed), 403, "role"},
		{"an approver writes mail", d.approver, "POST", "/api/v1/mail", `{"to":["kept"],"text":"by a stranger"}`, sent(d.approver.signed), 403, "role"},
		{"an operator reads a person's mail", d.operator, "GET", "/api/v1/people/owner/mailbox", "", sent(d.operator.signed), 403, "role"},
		{"a viewer begins a fleet", d.viewer, "POST", "/api/v1/fleets", `{"name":"all"}`, sent(d.viewer.signed), 403, "role"},
		{"an operator lists programs", d.operator, "GET", "/api/v1/programs", "", sent(d.operator.signed), 403, "role"},
		{"an operator reads the counters", d.operator, "GET", "/metrics", "", sent(d.operator.signed), 403, "role"},
		{"an admin plays a hook", a, "POST", "/api/v1/hooks", `{}`, sent(a.signed), 403, ""},
		{"an admin records", a, "GET", sessions + "/kept/recording", "", sent(a.signed), 403, "command line only"},
		{"an admin pairs", a, "POST", "/api/v1/pairings", `{"role":"admin"}`, sent(a.signed), 403, "command line only"},
	} {
		t.Run(k.name, func(t *testing.T) {
			resp := k.who.send(k.method, k.path, k.body, k.mods...)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != k.want || !strings.Contains(string(body), k.says) || strings.Contains(string(body), doorSecret) {
				t.Errorf("%d, want %d that says %q: %s, %v", resp.StatusCode, k.want, k.says, body, err)
			}
			for name := range resp.Header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
					t.Errorf("it has the header %s", name)
				}
			}
		})
	}
	t.Run("the owner's token", func(t *testing.T) {
		if status, body := d.remote("").enter(ownerToken()); status != 401 {
			t.Errorf("%d %s", status, body)
		}
		if status, body := d.remote("").enter(ownerToken(), atHost(d.page)); status != 403 {
			t.Errorf("at the local name: %d %s", status, body)
		}
	})
	t.Run("raw requests", func(t *testing.T) { d.rawRequests(t) })
	t.Run("codes", func(t *testing.T) { d.codes(t) })
	t.Run("a long body", func(t *testing.T) { d.longBody(t) })
	t.Run("a revoked device", func(t *testing.T) { d.revoked(t) })
	t.Run("guesses", func(t *testing.T) { d.guesses(t) })

	if typed, err := os.ReadFile(d.typed); err != nil || len(typed) > 0 {
		t.Errorf("typed was %q, %v", typed, err)
	}
	s, err := d.api.Session(d.ctx(), "asks")
	if all, errAll := d.api.Sessions(d.ctx()); err != nil || errAll != nil || s.Prompt != d.prompt || len(all) != 2 {
		t.Errorf("the question is %s, was %s, and sessions are %+v, %v %v", s.Prompt, d.prompt, all, err, errAll)
	}
	if status, body := a.call("GET", sessions+"/kept/output", "", a.signed); status != 200 || !strings.Contains(body, doorSecret) {
		t.Errorf("who may read it gets %d %s", status, body)
	}
}

// rawRequests are some that no library sends.
func (d *doors) rawRequests(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"two hosts":               "GET /api/v1/sessions HTTP/1.1\r\nHost: " + d.host + "\r\nHost: " + d.page + "\r\n\r\n",
		"two lengths":             "POST /api/v1/page/keys HTTP/1.1\r\nHost: " + d.host + "\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/v1/sessions HTTP/1.1\r\nHost: " + d.page + "\r\n\r\n",
		"the local name as a URL": "GET http://" + d.page + "/api/v1/sessions HTTP/1.1\r\nHost: " + d.host + "\r\n\r\n",
		"no host":                 "GET /api/v1/sessions HTTP/1.0\r\n\r\n",
		"a proxy's own protocol":  "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\nGET /api/v1/sessions HTTP/1.1\r\nHost: " + d.page + "\r\n\r\n",
		"a header below":          "GET /api/v1/sessions HTTP/1.1\r\nHost: " + d.host + "\r\nX_Forwarded_For: 127.0.0.1\r\n\r\n",
	} {
		for _, sni := range []string{"pane.example.com", "evil.example", "localhost"} {
			conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: sni, InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", d.proxy)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(patience))
			_, _ = io.WriteString(conn, strings.Replace(text, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
			answer, _ := io.ReadAll(conn) // it may be broken off
			_ = conn.Close()
			if bytes.Contains(answer, []byte("HTTP/1.1 200")) || !bytes.HasPrefix(answer, []byte("HTTP/1.1 4")) || bytes.Contains(answer, []byte(doorSecret)) {
				t.Errorf("%s, by the name %s: %s", name, sni, answer)
			}
		}
	}
}

// codes: one is good once, not beside 16 newer ones, and lets nobody in by itself.
func (d *doors) codes(t *testing.T) {
	t.Helper()
	token := d.share("operator")
	first, second := d.remote(""), d.remote("")
	if status, body := first.enter(token); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := second.enter(token); status != 401 {
		t.Errorf("twice: %d %s", status, body)
	}
	for _, path := range []string{"/api/v1/sessions", "/api/v1/events", "/api/v1/sessions/kept/output"} {
		if status, body := first.call("GET", path, "", first.signed); status != 401 || !strings.Contains(body, "waiting") {
			t.Errorf("%s while it waits: %d %s", path, status, body)
		}
	}
	if err := d.api.RevokeBrowser(d.ctx(), first.signer.ID); err != nil {
		t.Fatal(err)
	}
	if status, body := first.call("GET", "/api/v1/sessions", "", first.signed); status != 401 || strings.Contains(body, "waiting") {
		t.Errorf("refused: %d %s", status, body)
	}
	late := d.share("admin")
	for range 16 {
		d.share("viewer")
	}
	if status, body := second.enter(late); status != 401 {
		t.Errorf("one of long ago: %d %s", status, body)
	}
}

// longBody is the longest that the page itself sends: what's drawn as Markdown at once.
func (d *doors) longBody(t *testing.T) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"blocks": [][]string{{strings.Repeat("a line of words\n", 1000)}}, "pad": strings.Repeat("x", 3<<20)})
	if err != nil {
		t.Fatal(err)
	}
	if status, text := d.viewer.call("POST", "/markdown", string(body), d.viewer.signed); status == http.StatusRequestEntityTooLarge {
		t.Errorf("%d MB: %d %s", len(body)>>20, status, text)
	}
}

// revoked: what a device has open ends within a second.
func (d *doors) revoked(t *testing.T) {
	t.Helper()
	one := d.remote("").letIn(d.daemon, "admin")
	_, ended := one.listen()
	from := time.Now()
	if err := d.api.RevokeBrowser(d.ctx(), one.signer.ID); err != nil {
		t.Fatal(err)
	}
	<-ended
	if took := time.Since(from); took > time.Second {
		t.Errorf("its events ended after %v", took)
	}
	if status, body := one.call("GET", "/api/v1/sessions", "", one.signed); status != 401 {
		t.Errorf("%d %s", status, body)
	}
}

// guesses are counted by the address that the proxy names, whatever who guesses says.
func (d *doors) guesses(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("this machine has one loopback address")
	}
	guesser := d.remote("127.0.0.2")
	for i := range 12 {
		says := header("X-Forwarded-For", fmt.Sprintf("10.0.0.%d", i))
		want := 401
		if i >= 10 {
			want = 429
		}
		if status, body := guesser.enter("AAAAAAAAAAAAAAAAAAAA", says); status != want {
			t.Errorf("guess %d: %d, want %d: %s", i, status, want, body)
		}
	}
	token := d.share("viewer")
	if status, body := guesser.enter(token, header("X-Forwarded-For", "127.0.0.1")); status != 429 {
		t.Errorf("what's right, after that: %d %s", status, body)
	}
	if status, body := d.remote("").enter(token); status != http.StatusAccepted {
		t.Errorf("from another address: %d %s", status, body)
	}
}
