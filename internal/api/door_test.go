package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/host"
)

// enrol lets a browser in over HTTP, signed by another if it's given.
func (b *bench) enrol(t *testing.T, url string, s, by *browserstest.Signer) (api.KeyAnswer, int) {
	t.Helper()
	_, token, _ := strings.Cut(url, "#")
	body, err := json.Marshal(api.KeyRequest{Token: token, Key: s.PublicKey()})
	if err != nil {
		t.Fatal(err)
	}
	got, text := b.send(t, "POST", "/api/v1/page/keys", string(body), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		if by != nil {
			by.Sign(r)
		}
	})
	var answer api.KeyAnswer
	_ = json.Unmarshal([]byte(text), &answer) // a refusal has none
	s.ID, s.Start, s.Now = answer.ID, answer.Start, func() int64 { _, now := b.keeper.Now(time.Now()); return now }
	return answer, got.status
}

// A browser is let in by an address that the command line makes, is listed, changes its
// key, and is revoked.
func TestBrowserIsLetInAndRevoked(t *testing.T) {
	b := setup(t)
	b.daemon.Add("one", "")
	ctx := t.Context()
	if err := b.client.RevokeBrowser(ctx, b.signer.ID); err != nil {
		t.Fatal(err)
	}
	address, err := b.client.NewAddress(ctx)
	if err != nil || !strings.HasPrefix(address.URL, b.url+"/new/") || time.Until(address.Expires) < 9*time.Minute {
		t.Fatalf("%+v, %v", address, err)
	}
	s := browserstest.NewSigner()
	answer, status := b.enrol(t, address.URL, s, nil)
	if status != http.StatusCreated || time.Until(answer.Expires) < 29*24*time.Hour {
		t.Fatalf("status %d, %+v", status, answer)
	}
	thief := browserstest.NewSigner()
	if _, status := b.enrol(t, address.URL, thief, nil); status != http.StatusUnauthorized {
		t.Errorf("the same address once more: status %d", status)
	}
	page, err := b.client.Page(ctx)
	if err != nil || page.URL != b.url+"/" || len(page.Browsers) != 1 || page.Browsers[0].ID != answer.ID || page.Browsers[0].Label != "Firefox on Linux" || page.Browsers[0].Address != "127.0.0.1:"+b.port {
		t.Errorf("%+v, %v", page, err)
	}
	next := browserstest.NewSigner()
	if answer, status = b.enrol(t, "", next, s); status != http.StatusCreated || answer.ID != s.ID {
		t.Errorf("another key: status %d, %+v", status, answer)
	}
	for what, one := range map[string]struct {
		signer *browserstest.Signer
		want   int
	}{"the new key": {next, 200}} {
		if got, text := b.send(t, "GET", "/api/v1/sessions", "", one.signer.Sign); got.status != one.want {
			t.Errorf("%s: %d %s", what, got.status, text)
		}
	}
	if got, _ := b.send(t, "GET", "/api/v1/sessions", "", s.Sign); got.status != http.StatusUnauthorized {
		t.Errorf("the old key: status %d", got.status)
	}
	unused, err := b.client.NewAddress(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := b.client.RotatePage(ctx); err != nil || done.Browsers != 1 {
		t.Errorf("rotated %+v, %v", done, err)
	}
	if got, text := b.send(t, "GET", "/api/v1/sessions", "", next.Sign); got.status != http.StatusUnauthorized || !strings.Contains(text, "panebridge page") {
		t.Errorf("rotated: %d %s", got.status, text)
	}
	if _, status := b.enrol(t, unused.URL, thief, next); status != http.StatusUnauthorized {
		t.Errorf("an address from before the rotation: status %d", status)
	}
}

// A request that's signed for another start or time is told for which it's to be signed;
// one that was taken is refused; a body must be the one that was signed.
func TestRefusalsSayWhatWouldBeRight(t *testing.T) {
	b := setup(t)
	b.daemon.Add("one", "")
	for name, wrong := range map[string]func(s *browserstest.Signer){
		"start": func(s *browserstest.Signer) { s.Start = "another" },
		"time":  func(s *browserstest.Signer) { s.Now = func() int64 { return 1 } },
	} {
		s := *b.signer
		wrong(&s)
		got, text := b.send(t, "GET", "/api/v1/sessions", "", s.Sign)
		var doc struct{ Error api.Error }
		if err := json.Unmarshal([]byte(text), &doc); err != nil || got.status != 401 || doc.Error.Code != "stale" || doc.Error.SigningStart == nil || doc.Error.Start != b.signer.Start || doc.Error.Now < time.Now().Unix()-5 {
			t.Errorf("%s: %d %s", name, got.status, text)
		}
	}
	var kept http.Header
	if got, _ := b.send(t, "GET", "/api/v1/sessions", "", func(r *http.Request) { b.sign(r); kept = r.Header.Clone() }); got.status != 200 {
		t.Fatalf("status %d", got.status)
	}
	if got, text := b.send(t, "GET", "/api/v1/sessions", "", func(r *http.Request) { r.Header = kept }); got.status != 401 || !strings.Contains(text, `"replayed"`) {
		t.Errorf("replayed: %d %s", got.status, text)
	}
	got, text := b.send(t, "POST", "/api/v1/sessions/one/input", `{"text":"mine"}`, func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		b.sign(r)
		other := `{"text":"evil"}`
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(other)), int64(len(other))
	})
	if got.status != 401 || len(b.daemon.Receipts()) > 0 {
		t.Errorf("another body: %d %s", got.status, text)
	}
}

// The cookie of earlier releases is taken from the browser as soon as it's seen.
func TestOldCookieIsTakenAway(t *testing.T) {
	b := setup(t)
	for _, path := range []string{"/", "/api/v1/sessions"} {
		got, _ := b.send(t, "GET", path, "", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: "panebridge_" + b.port, Value: "x"})
		})
		if len(got.cookies) != 1 || got.cookies[0].Name != "panebridge_"+b.port || got.cookies[0].MaxAge != -1 || got.cookies[0].Value != "" {
			t.Errorf("%s: cookies are %v", path, got.cookies)
		}
		if got, _ := b.send(t, "GET", path, "", nil); len(got.cookies) != 0 {
			t.Errorf("%s without one: cookies are %v", path, got.cookies)
		}
	}
}

func TestAddressThatLetsInEmptiesTheCache(t *testing.T) {
	b := setup(t)
	if got, text := b.send(t, "GET", "/new/abc", "", nil); got.status != 200 || text != "the page" || got.header.Get("Clear-Site-Data") != `"cache"` {
		t.Errorf("%d %s %v", got.status, text, got.header)
	}
	if got, text := b.send(t, "GET", "/any.js", "", func(r *http.Request) { r.Header.Set("Service-Worker", "script") }); got.status != 200 || !strings.Contains(text, "unregister") {
		t.Errorf("a worker's script: %d %s", got.status, text)
	}
}

// stream opens an event stream, and returns its status and body.
func (b *bench) stream(ctx context.Context, t *testing.T, s *browserstest.Signer) (int, io.ReadCloser) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", b.url+"/api/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	s.Sign(r)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.StatusCode, resp.Body
}

// Streams are bounded for each browser and in all, what's refused says so, and room
// that's given free is there again.
func TestStreamsAreBounded(t *testing.T) {
	b := setup(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	open := 0
	for n := range 17 {
		s := b.letIn(t, "127.0.0.1:"+b.port)
		for range 16 {
			status, body := b.stream(ctx, t, s)
			if status == http.StatusOK {
				open++
				continue
			}
			text, _ := io.ReadAll(body)
			if n != 16 || status != http.StatusServiceUnavailable || !bytes.Contains(text, []byte("too_many")) {
				t.Fatalf("browser %d, with %d open: %d %s", n, open, status, text)
			}
		}
		if n < 16 {
			status, body := b.stream(ctx, t, s)
			if text, _ := io.ReadAll(io.LimitReader(body, 300)); status != http.StatusTooManyRequests && n < 15 || !bytes.Contains(text, []byte("too_many")) {
				t.Fatalf("the 17th of browser %d: %d %s", n, status, text)
			}
		}
	}
	if open != 256 {
		t.Errorf("%d streams were opened", open)
	}
	// Other calls are served meanwhile.
	if got, text := b.send(t, "GET", "/api/v1/sessions", "", b.sign); got.status != 200 {
		t.Errorf("with all streams open: %d %s", got.status, text)
	}
	end()
	for deadline := time.Now().Add(time.Minute); ; {
		if status, _ := b.stream(t.Context(), t, b.signer); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no room is given free")
		}
	}
}

// What a browser has open ends when it's revoked, or all are.
func TestStreamsEndWhenTheirBrowserIsRevoked(t *testing.T) {
	b := setup(t)
	one, two := b.letIn(t, "127.0.0.1:"+b.port), b.letIn(t, "127.0.0.1:"+b.port)
	_, first := b.stream(t.Context(), t, one)
	_, second := b.stream(t.Context(), t, two)
	if err := b.client.RevokeBrowser(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, first); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	if _, err := b.client.RotatePage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, second); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
}

const gets = "PANEBRIDGE_API_GETS"

// TestMain plays the program of another user, which asks for the page.
func TestMain(m *testing.M) {
	url := os.Getenv(gets)
	if url == "" {
		os.Exit(m.Run())
	}
	resp, err := http.Get(url)
	if err != nil {
		fmt.Println(err) //nolint:forbidigo // for the test
		os.Exit(1)
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Print(resp.StatusCode, " ") //nolint:forbidigo // for the test
	_, _ = io.Copy(os.Stdout, resp.Body)
}

// getAs asks for an address as a user.
func getAs(t *testing.T, uid uint32, url string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = []string{gets + "=" + url}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return string(said)
}

// Another user's programs aren't served, not even the page's files. (Only root can play
// another user; what's made of the kernel's answer is tested in guard_test.go.)
func TestOtherUsersAreRefused(t *testing.T) {
	b := setup(t)
	if os.Geteuid() != 0 || !host.Knows(host.ConnectionUsers) {
		return
	}
	for _, path := range []string{"/", "/api/v1/page/start", "/api/v1/sessions", "/new/x"} {
		if said := getAs(t, 65_533, b.url+path); !strings.HasPrefix(said, "403 ") || !strings.Contains(said, "65533") {
			t.Errorf("%s: %s", path, said)
		}
		if said := getAs(t, 0, b.url+path); strings.HasPrefix(said, "403 ") {
			t.Errorf("%s as its own user: %s", path, said)
		}
	}
}

// Connections that say nothing are bounded, and end by themselves.
func TestConnectionsAreBounded(t *testing.T) {
	b := setup(t)
	var d net.Dialer
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for range 1100 {
		c, err := d.DialContext(t.Context(), "tcp", "127.0.0.1:"+b.port)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	closed := 0
	for _, c := range open[1024:] {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			closed++
		}
	}
	if closed < 70 {
		t.Errorf("%d of 76 connections too many were closed", closed)
	}
	_ = open[0].Close()
	for deadline := time.Now().Add(time.Minute); ; {
		resp, err := http.Get(b.url + "/")
		if err == nil {
			_ = resp.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no room is given free: %v", err)
		}
	}
}
