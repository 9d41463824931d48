package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/sessions"
)

// bench is a server with both doors open on real listeners.
type bench struct {
	daemon *apitest.Daemon
	client *client.Client // through the Unix socket
	socket string
	url    string // of the TCP door
	port   string
	keeper *browsers.Doorkeeper
	signer *browserstest.Signer // a browser that was let in
	stop   func()               // ends the server and waits for it
}

func setup(t *testing.T, change ...func(*api.Options)) *bench {
	t.Helper()
	broker := api.NewBroker()
	daemon := &apitest.Daemon{}
	broker.Follow(&daemon.Feed)
	keeper := browsers.New(time.Now(), &browserstest.Store{})
	opts := api.Options{
		Sessions: daemon, Output: daemon, Broker: broker, Browsers: keeper,
		Health: func() api.Health { return api.Health{State: api.HealthOK} },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "up 1\n")
		}),
		Page: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "the page")
		}),
	}
	for _, c := range change {
		c(&opts)
	}
	server, err := api.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	unix, tcp := listen(t, "unix", socket), listen(t, "tcp", "127.0.0.1:0")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, unix, tcp) }()
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	b := &bench{daemon: daemon, client: client.New(socket), socket: socket, url: "http://127.0.0.1:" + port, port: port, keeper: keeper}
	b.signer = b.letIn(t, "127.0.0.1:"+port)
	stopped := false
	b.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run returned %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Run doesn't return")
		}
	}
	t.Cleanup(b.stop)
	return b
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// answer is what a server answered.
type answer struct {
	status  int
	header  http.Header
	cookies []*http.Cookie
}

// send sends a request over TCP; mod may change it. Redirects aren't followed.
func (b *bench) send(t *testing.T, method, path, body string, mod func(*http.Request)) (answer, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if mod != nil {
		mod(r)
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return answer{resp.StatusCode, resp.Header, nil}, ""
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, resp.Cookies()}, string(text)
}

// letIn lets a browser in that knows the page by that address.
func (b *bench) letIn(t *testing.T, host string) *browserstest.Signer {
	t.Helper()
	s := browserstest.NewSigner()
	url, _ := b.keeper.NewAddress(time.Now(), "http://"+host)
	_, token, _ := strings.Cut(url, "#")
	known, err := b.keeper.Enrol(t.Context(), time.Now(), browsers.Visitor{Token: token, Host: host, Local: true, Label: "a test", Key: s.PublicKey()}, browsers.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	s.ID = known.Browser.ID
	s.Start, _ = b.keeper.Now(time.Now())
	s.Now = func() int64 { _, now := b.keeper.Now(time.Now()); return now }
	return s
}

// sign signs a request as the browser that was let in.
func (b *bench) sign(r *http.Request) { b.signer.Sign(r) }

func TestWhoMayEnterOverTCP(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	input := "/api/v1/sessions/" + string(id) + "/input"
	host := func(h string) func(*http.Request) {
		signer := b.letIn(t, h)
		return func(r *http.Request) { r.Host = h; signer.Sign(r) }
	}
	origin := func(o string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Origin", o)
			r.Header.Set("Content-Type", "application/json")
			b.sign(r)
		}
	}
	contentType := func(ct string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Content-Type", ct); b.sign(r) }
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, tc := range []struct {
		name, method, path string
		mod                func(*http.Request)
		want               int
	}{
		{"no signature", "GET", "/api/v1/sessions", nil, 401},
		{"no signature for metrics", "GET", "/metrics", nil, 401},
		{"no signature for a probe", "GET", "/healthz", nil, 401},
		{"signature for a probe", "GET", "/readyz", b.sign, 403},
		{"no signature for events", "GET", "/api/v1/events", nil, 401},
		{"no signature for Markdown", "POST", "/markdown", nil, 401},
		{"the page is for all of this user's browsers", "GET", "/", nil, 200},
		{"so are its files", "HEAD", "/page.js", nil, 200},
		{"so is what's needed to sign", "GET", "/api/v1/page/start", nil, 200},
		{"signature", "GET", "/api/v1/sessions", b.sign, 200},
		{"signature for metrics", "GET", "/metrics", b.sign, 200},
		{"signature for Markdown", "POST", "/markdown", b.sign, 200},
		{"bearer", "GET", "/api/v1/sessions", header("Authorization", "Bearer x"), 401},
		{"empty bearer", "GET", "/api/v1/sessions", header("Authorization", "Bearer "), 401},
		{"token in an API address", "GET", "/api/v1/sessions?token=x", nil, 401},
		{"cookie of an earlier release", "GET", "/api/v1/sessions", header("Cookie", "panebridge_"+b.port+"=x"), 401},
		{"browser that was never let in", "GET", "/api/v1/sessions", stranger(b).Sign, 401},
		{"browser at another address", "GET", "/api/v1/sessions", b.letIn(t, "localhost:"+b.port).Sign, 401},
		{"who may use the page", "GET", "/api/v1/page", b.sign, 200},
		{"a new address", "POST", "/api/v1/page/addresses", origin("http://127.0.0.1:" + b.port), 403},
		{"revoking what isn't there", "DELETE", "/api/v1/page/browsers/br_1", b.sign, 404},
		{"sharing", "POST", "/api/v1/page/shares", origin("http://127.0.0.1:" + b.port), 403},
		{"confirming", "POST", "/api/v1/page/browsers/br_1/confirm", origin("http://127.0.0.1:" + b.port), 403},
		{"revoking all", "POST", "/api/v1/page/rotate", b.sign, 403},

		{"localhost", "GET", "/api/v1/sessions", host("localhost:" + b.port), 200},
		{"other loopback address", "GET", "/api/v1/sessions", host("127.9.9.9:" + b.port), 200},
		{"IPv6 loopback", "GET", "/api/v1/sessions", host("[::1]:" + b.port), 200},
		{"rebound name", "GET", "/api/v1/sessions", host("evil.example:" + b.port), 403},
		{"rebound name for the page", "GET", "/", host("evil.example:" + b.port), 403},
		{"rebound name for what's needed to sign", "GET", "/api/v1/page/start", host("evil.example:" + b.port), 403},
		{"name that looks like localhost", "GET", "/api/v1/sessions", host("localhost.evil.example:" + b.port), 403},
		{"wrong port", "GET", "/api/v1/sessions", host("127.0.0.1:1"), 403},
		{"no port", "GET", "/api/v1/sessions", host("127.0.0.1"), 403},
		{"address of another machine", "GET", "/api/v1/sessions", host("10.0.0.1:" + b.port), 403},

		{"own origin", "POST", input, origin("http://127.0.0.1:" + b.port), 202},
		{"foreign origin", "POST", input, origin("http://evil.example"), 403},
		{"foreign origin lets itself in", "POST", "/api/v1/page/keys", origin("http://evil.example"), 403},
		{"origin of another port", "POST", input, origin("http://127.0.0.1:1"), 403},
		{"origin by another name", "POST", input, origin("http://localhost:" + b.port), 403},
		{"no origin to speak of", "POST", input, origin("null"), 403},
		{"foreign origin closes", "DELETE", "/api/v1/sessions/one", origin("http://evil.example"), 403},
		{"foreign origin listens", "GET", "/api/v1/events", origin("http://evil.example"), 403},
		{"own origin listens", "GET", "/api/v1/events", origin("http://127.0.0.1:" + b.port), 200},

		{"form", "POST", input, contentType("application/x-www-form-urlencoded"), 415},
		{"plain text", "POST", input, contentType("text/plain"), 415},
		{"no content type", "POST", input, b.sign, 415},
		{"JSON with charset", "POST", input, contentType("application/json; charset=utf-8"), 202},

		{"unknown call", "GET", "/api/v1/nothing", b.sign, 404},
		{"wrong method", "PUT", "/api/v1/sessions", b.sign, 405},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, text := b.send(t, tc.method, tc.path, `{"text":"hi"}`, tc.mod)
			if resp.status != tc.want {
				t.Errorf("%s %s: status %d, want %d: %s", tc.method, tc.path, resp.status, tc.want, text)
			}
			if resp.header.Get("X-Content-Type-Options") != "nosniff" || resp.header.Get("Cache-Control") != "no-store" ||
				!strings.Contains(resp.header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("security headers are missing: %v", resp.header)
			}
			if tc.want >= 400 && strings.HasPrefix(tc.path, "/api/") && !strings.HasPrefix(text, `{"error":{"code":"`) {
				t.Errorf("the error isn't JSON: %s", text)
			}
		})
	}
}

// stranger is a browser that has told itself how to sign.
func stranger(b *bench) *browserstest.Signer {
	s := browserstest.NewSigner()
	s.ID, s.Start, s.Now = b.signer.ID, b.signer.Start, b.signer.Now
	return s
}

func TestTCPDoorStaysShutWithoutBrowsers(t *testing.T) {
	broker := api.NewBroker()
	daemon := &apitest.Daemon{}
	broker.Follow(&daemon.Feed)
	server, err := api.NewServer(api.Options{Sessions: daemon, Output: daemon, Broker: broker, Health: func() api.Health { return api.Health{} }})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Run(t.Context(), nil, listen(t, "tcp", "127.0.0.1:0")); err == nil || !strings.Contains(err.Error(), "browsers") {
		t.Errorf("Run returned %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := api.NewServer(api.Options{})
	for _, name := range []string{"Sessions", "Output", "Broker", "Health"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v doesn't name %s", err, name)
		}
	}
}

func TestErrorsHaveTheirStatus(t *testing.T) {
	b := setup(t)
	b.daemon.Add("one", "")
	for _, tc := range []struct {
		err    error
		status int
		code   string
	}{
		{sessions.ErrUnknown, 404, "unknown"},
		{sessions.ErrEnded, 410, "ended"},
		{sessions.ErrConflict, 409, "conflict"},
		{sessions.ErrInvalid, 422, "invalid"},
		{sessions.ErrUnavailable, 503, "unavailable"},
		{errors.New("what"), 500, "internal"},
	} {
		want := fmt.Errorf("do something: %w", tc.err)
		b.daemon.Fail(want)
		err := b.client.Keys(t.Context(), "one", "Enter")
		var e *api.Error
		if !errors.As(err, &e) || e.Status != tc.status || e.Code != tc.code || e.Message != want.Error() {
			t.Errorf("%v: got %+v, want %d %s", tc.err, e, tc.status, tc.code)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	asJSON := func(r *http.Request) { r.Header.Set("Content-Type", "application/json"); b.sign(r) }
	for _, tc := range []struct {
		name, path, body string
		want             int
	}{
		{"greatest text, escaped", "/input", `{"text":"` + strings.Repeat(`\u0061`, sessions.MaxInputBytes) + `"}`, 202},
		{"text too long", "/input", `{"text":"` + strings.Repeat("a", sessions.MaxInputBytes+1) + `"}`, 413},
		{"body too long", "/input", `{"text":"` + strings.Repeat("a", 7*sessions.MaxInputBytes) + `"}`, 413},
		{"keys too long", "/keys", `{"keys":["` + strings.Repeat("a", 100<<10) + `"]}`, 413},
		{"no keys", "/keys", `{"keys":[]}`, 400},
		{"too many keys", "/keys", `{"keys":["a"` + strings.Repeat(`,"a"`, 100) + `]}`, 400},
		{"unknown field", "/input", `{"text":"a","enter":true}`, 400},
		{"null", "/input", " null\n", 400},
		{"not JSON", "/input", `text`, 400},
		{"two values", "/input", `{"text":"a"}{"text":"b"}`, 400},
		{"nothing", "/input", ``, 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, text := b.send(t, "POST", "/api/v1/sessions/"+string(id)+tc.path, tc.body, asJSON)
			if resp.status != tc.want {
				t.Errorf("status %d, want %d: %.200s", resp.status, tc.want, text)
			}
		})
	}
}

func TestBadQueries(t *testing.T) {
	b := setup(t)
	b.daemon.Add("one", "")
	for _, path := range []string{
		"/api/v1/events?from=1", "/api/v1/events?session=one&from=x", "/api/v1/events?session=one&from=-1", "/api/v1/events?session=one&from=1.2.3.4",
		"/api/v1/events?last=1", "/api/v1/events?session=one&last=0", "/api/v1/events?session=one&last=x", "/api/v1/events?session=one&last=1&from=1",
		"/api/v1/sessions/one/output?from=x", "/api/v1/sessions/one/output?from=-1", "/api/v1/sessions/one/output?limit=0",
		"/api/v1/sessions/one/output?limit=5001", "/api/v1/sessions/one/screen?format=png",
	} {
		if resp, text := b.send(t, "GET", path, "", b.sign); resp.status != 400 {
			t.Errorf("%s: status %d, want 400: %s", path, resp.status, text)
		}
	}
}

func TestCallsThroughTheClient(t *testing.T) {
	b := setup(t, func(o *api.Options) {
		o.Health = func() api.Health {
			return api.Health{State: api.HealthDown, Parts: []api.HealthPart{{Name: "store", State: api.HealthDown, LastSuccess: time.Now().Add(-time.Minute)}, {Name: "tmux"}}}
		}
	})
	ctx, c := t.Context(), b.client
	b.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {} // stays stored

	s, err := c.NewSession(ctx, api.Create{Name: "a b/c", Agent: "claude"})
	if err != nil || s.Name != "a b/c" || s.Agent != "claude" || s.Tmux.Pane != "%1" || s.Bindings == nil {
		t.Fatalf("NewSession: %+v, %v", s, err)
	}
	if _, err := c.NewSession(ctx, api.Create{Name: "a b/c"}); !hasStatus(err, 409) {
		t.Errorf("second NewSession: %v", err)
	}
	if list, err := c.Adopt(ctx, api.Create{Tmux: "%7"}); err != nil || len(list) != 1 {
		t.Errorf("Adopt: %+v, %v", list, err)
	}
	if _, err := c.Adopt(ctx, api.Create{Tmux: "%7", Cwd: "/"}); !hasStatus(err, 400) {
		t.Errorf("Adopt with a folder: %v", err)
	}
	if list, err := c.Sessions(ctx); err != nil || len(list) != 2 {
		t.Errorf("Sessions: %+v, %v", list, err)
	}
	if byName, err := c.Session(ctx, "a b/c"); err != nil || byName.ID != s.ID {
		t.Errorf("Session by name: %+v, %v", byName, err)
	}
	if _, err := c.Session(ctx, "nobody"); !hasStatus(err, 404) {
		t.Errorf("Session of no one: %v", err)
	}

	r, err := c.Input(ctx, "a b/c", "hello", false)
	if err != nil || r.Text != "hello" || r.Submit || r.Author != "cli" || r.State != sessions.ReceiptStored {
		t.Errorf("Input: %+v, %v", r, err)
	}
	if r, err = c.Cancel(ctx, r.ID); err != nil || r.State != sessions.ReceiptCancelled {
		t.Errorf("Cancel: %+v, %v", r, err)
	}
	if _, err = c.Cancel(ctx, r.ID); !hasStatus(err, 409) {
		t.Errorf("second Cancel: %v", err)
	}
	if r, err = c.Receipt(ctx, r.ID); err != nil || r.State != sessions.ReceiptCancelled {
		t.Errorf("Receipt: %+v, %v", r, err)
	}
	if err := c.Keys(ctx, "a b/c", "Escape", "C-c"); err != nil || strings.Join(b.daemon.Pressed(), " ") != "Escape C-c" {
		t.Errorf("Keys: %v, %v", b.daemon.Pressed(), err)
	}

	if out, err := c.Output(ctx, "a b/c", 0, 0); err != nil || out.Lines == nil || out.Gaps == nil || out.Next != 0 {
		t.Errorf("Output of nothing: %+v, %v", out, err)
	}
	b.daemon.Append(s.ID, sessions.KindPane, "one", "two", "three")
	if out, err := c.Output(ctx, "a b/c", 2, 1); err != nil || len(out.Lines) != 1 || out.Lines[0].Text != "two" || out.Next != 3 {
		t.Errorf("Output: %+v, %v", out, err)
	}
	b.daemon.SetScreen(s.ID, sessions.Screen{Rows: []string{"\x1b[31mred\x1b[0m <", ""}})
	for format, want := range map[string]string{
		"text": "red <\n\n", "ansi": "\x1b[31mred\x1b[0m <\n\n", "html": "<span class=\"f1\">red</span> &lt;\n\n",
	} {
		if got, err := c.Screen(ctx, "a b/c", format); err != nil || got != want {
			t.Errorf("Screen as %s: %q, %v", format, got, err)
		}
	}

	doc, err := c.Health(ctx)
	if err != nil || doc.State != api.HealthDown || len(doc.Parts) != 2 || doc.Parts[0].AgeSeconds == nil || *doc.Parts[0].AgeSeconds < 60 || doc.Parts[1].AgeSeconds != nil {
		t.Errorf("Health: %+v, %v", doc, err)
	}
	if err := c.CloseSession(ctx, "a b/c"); err != nil {
		t.Errorf("CloseSession: %v", err)
	}
}

func hasStatus(err error, status int) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Status == status
}

func TestInputSubmitsUnlessToldNotTo(t *testing.T) {
	b := setup(t)
	b.daemon.Add("one", "")
	b.send(t, "POST", "/api/v1/sessions/one/input", `{"text":"hi"}`, func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		b.sign(r)
	})
	if r := b.daemon.Receipts(); len(r) != 1 || !r[0].Submit || r[0].Author != "web" {
		t.Errorf("receipts are %+v", r)
	}
}

// A text that's sent again with its key is the same one; another text is another, and so is one to another session.
func TestATextWithAKeyIsTypedOnce(t *testing.T) {
	b := setup(t)
	one, _ := b.daemon.Add("one", ""), b.daemon.Add("two", "")
	sent := func(session, body string) (status int, id string) {
		t.Helper()
		got, text := b.send(t, "POST", "/api/v1/sessions/"+session+"/input", body, func(r *http.Request) {
			r.Header.Set("Content-Type", "application/json")
			b.sign(r)
		})
		var receipt struct{ ID string }
		_ = json.Unmarshal([]byte(text), &receipt)
		return got.status, receipt.ID
	}
	status, id := sent("one", `{"text":"hi","key":"k1"}`)
	if again, same := sent("one", `{"text":"hi","key":"k1"}`); status != 202 || again != 202 || same != id || id == "" {
		t.Errorf("%d %s, and again %d %s", status, id, again, same)
	}
	for name, tt := range map[string]struct {
		session, body string
		want          int
	}{
		"another text":    {"one", `{"text":"ho","key":"k1"}`, 202},
		"another session": {"two", `{"text":"hi","key":"k1"}`, 202},
		"a long key":      {"one", `{"text":"hi","key":"` + strings.Repeat("k", 65) + `"}`, 400},
	} {
		if status, _ := sent(tt.session, tt.body); status != tt.want {
			t.Errorf("%s: %d, want %d", name, status, tt.want)
		}
	}
	if _, err := b.client.Input(t.Context(), "one", "hi", true); err != nil {
		t.Error(err)
	}
	if all := b.daemon.Receipts(); len(all) != 4 || all[0].Session != one || all[3].Author != "cli" {
		t.Errorf("receipts are %+v", all)
	}
}

func TestNotRunning(t *testing.T) {
	dir := t.TempDir()
	if _, err := client.New(filepath.Join(dir, "none")).Sessions(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("no socket: %v", err)
	}
	stale := filepath.Join(dir, "stale")
	l := listen(t, "unix", stale).(*net.UnixListener)
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	if _, err := client.New(stale).Sessions(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("stale socket: %v", err)
	}
}

// outbound is one made-up platform.
type outbound struct {
	adapters []api.Adapter
	bindings []api.Binding
	err      error
}

func (o *outbound) Adapters(context.Context) ([]api.Adapter, error) { return o.adapters, o.err }
func (o *outbound) Explain(_ context.Context, chat string) (api.Explanation, error) {
	return api.Explanation{Chat: chat, Windows: []api.WindowUse{}, Next: []api.NextCall{}}, o.err
}
func (o *outbound) Bindings(sessions.ID) []api.Binding { return o.bindings }

func (o *outbound) Bind(_ context.Context, id sessions.ID, b api.Bind) (api.Binding, error) {
	if o.err != nil {
		return api.Binding{}, o.err
	}
	o.bindings = append(o.bindings, api.Binding{ID: "bd_" + string(id), To: b.To, View: b.View, Input: b.Input})
	return o.bindings[len(o.bindings)-1], nil
}

func (o *outbound) Unbind(_ context.Context, id string) error {
	if len(o.bindings) == 0 || o.bindings[0].ID != id {
		return fmt.Errorf("%w binding %s", sessions.ErrUnknown, id)
	}
	o.bindings = nil
	return o.err
}

func TestAdaptersAreListed(t *testing.T) {
	list := []api.Adapter{{Name: "telegram", Mode: "strict", Multiplier: 1, Chats: []api.Chat{{Chat: "-1", Windows: []api.WindowUse{{Calls: 20, Seconds: 60, Used: 3}}}}}}
	out := &outbound{adapters: list}
	b := setup(t, func(o *api.Options) { o.Outbound = out })
	got, err := b.client.Adapters(t.Context())
	if diff := cmp.Diff(list, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	out.err = errors.New("no answer")
	if _, err := b.client.Adapters(t.Context()); err == nil {
		t.Error("a failure isn't told")
	}
	if got, err := setup(t).client.Adapters(t.Context()); err != nil || got == nil || len(got) != 0 {
		t.Errorf("without adapters: %v, %v; want an empty list", got, err)
	}
}

func TestAChatIsExplained(t *testing.T) {
	out := &outbound{}
	b := setup(t, func(o *api.Options) { o.Outbound = out })
	if x, err := b.client.Explain(t.Context(), "telegram:-1/7"); err != nil || x.Chat != "telegram:-1/7" || x.Next == nil {
		t.Errorf("explained %+v, %v", x, err)
	}
	if _, err := b.client.Explain(t.Context(), ""); err == nil {
		t.Error("no chat is explained")
	}
	if _, err := setup(t).client.Explain(t.Context(), "x"); err == nil {
		t.Error("without chats one is explained")
	}
}

func TestBinding(t *testing.T) {
	out := &outbound{}
	b := setup(t, func(o *api.Options) { o.Outbound = out })
	id := b.daemon.Add("one", "")
	want := api.Bind{To: "telegram:-1/7", View: "final", Input: true}
	got, err := b.client.Bind(t.Context(), "one", want)
	if err != nil || got.To != want.To || got.View != want.View || !got.Input {
		t.Fatalf("bound %+v, %v", got, err)
	}
	s, err := b.client.Session(t.Context(), string(id))
	if diff := cmp.Diff([]api.Binding{got}, s.Bindings); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if err := b.client.Unbind(t.Context(), "bd_none"); !isCode(err, "unknown") {
		t.Errorf("an unknown binding: %v", err)
	}
	if err := b.client.Unbind(t.Context(), got.ID); err != nil {
		t.Error(err)
	}
	if _, err := b.client.Bind(t.Context(), "none", want); !isCode(err, "unknown") {
		t.Errorf("an unknown session: %v", err)
	}
	without := setup(t)
	without.daemon.Add("one", "")
	if _, err := without.client.Bind(t.Context(), "one", want); !isCode(err, "conflict") || !strings.Contains(err.Error(), "adapters:") {
		t.Errorf("without a platform: %v", err)
	}
	if err := without.client.Unbind(t.Context(), "bd_none"); !isCode(err, "conflict") {
		t.Errorf("without a platform: %v", err)
	}
}

func isCode(err error, code string) bool {
	e, ok := errors.AsType[*api.Error](err)
	return ok && e.Code == code
}

func TestScreenAsAPicture(t *testing.T) {
	b := setup(t, func(o *api.Options) {
		o.Picture = func(s sessions.Screen) ([]byte, error) { return []byte("PNG of " + s.Rows[0]), nil }
	})
	b.daemon.SetScreen(b.daemon.Add("x", ""), sessions.Screen{Rows: []string{"red"}})
	if got, err := b.client.Screen(t.Context(), "x", "png"); err != nil || got != "PNG of red" {
		t.Errorf("%q, %v", got, err)
	}
}
