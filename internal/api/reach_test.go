package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

const publicHost = "pane.example.ts.net"

// reaching has the page reached from elsewhere.
func reaching(r api.Reach) func(*api.Options) { return func(o *api.Options) { o.Reach = r } }

// proxied is a page behind a proxy of this machine.
var proxied = api.Reach{PublicURL: "https://" + publicHost, AllowedHosts: []string{"localhost:9000", "pane.lan:8443"}, BehindProxy: true}

// at has a request be one that a browser sends to a host, handed on by a proxy for an address;
// "": by none.
func at(s *browserstest.Signer, host, forwardedFor string, headers ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Host = host
		if forwardedFor != "" {
			r.Header.Set("X-Forwarded-For", forwardedFor)
		}
		if r.Method == http.MethodPost {
			r.Header.Set("Content-Type", "application/json")
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		if s != nil {
			s.Sign(r)
		}
	}
}

// device is a device that was let in with some roles.
func (b *bench) device(t *testing.T, host, name string, roles ...access.Role) *browserstest.Signer {
	t.Helper()
	share := browsers.Share{Name: name, Roles: access.Roles{}}
	for _, r := range roles {
		share.Roles[r] = true
	}
	url, _ := b.keeper.NewShare(time.Now(), "https://"+host, share)
	_, token, _ := strings.Cut(url, "#")
	s := browserstest.NewSigner()
	got, err := b.keeper.Enrol(t.Context(), time.Now(), browsers.Visitor{Token: token, Host: host, From: "100.64.0.7", Label: "Safari on iPhone", Key: s.PublicKey()}, browsers.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.keeper.Confirm(t.Context(), time.Now(), got.Browser.ID); err != nil {
		t.Fatal(err)
	}
	s.ID = got.Browser.ID
	s.Start, _ = b.keeper.Now(time.Now())
	s.Now = func() int64 { _, now := b.keeper.Now(time.Now()); return now }
	return s
}

func TestWhoMayEnterFromElsewhere(t *testing.T) {
	const input, far = "/api/v1/sessions/one/input", "100.64.0.7"
	plain, behind := setup(t), setup(t, reaching(proxied))
	elsewhere := setup(t, reaching(api.Reach{PublicURL: "https://" + publicHost, BehindProxy: true, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}))
	behind.daemon.Add("one", "claude")
	phone := func(b *bench) *browserstest.Signer { return b.device(t, publicHost, "Phone", access.Operator) }
	tunnel, odd := behind.letIn(t, "localhost:9000"), behind.device(t, "pane.lan:8443", "Tablet", access.Operator)
	away, home, lost := phone(behind), phone(plain), phone(elsewhere)
	for _, tc := range []struct {
		name         string
		b            *bench
		method, path string
		mod          func(*http.Request)
		want         int
		says         string
	}{
		{"a phone reads", behind, "GET", "/api/v1/sessions", at(away, publicHost, far), 200, ""},
		{"a phone says the port", behind, "GET", "/api/v1/sessions", at(behind.device(t, publicHost+":443", "P", access.Viewer), publicHost+":443", far), 200, ""},
		{"a phone types", behind, "POST", input, at(away, publicHost, far, "Origin", "https://"+publicHost), 202, ""},
		{"a phone says that the page asks", behind, "POST", input, at(away, publicHost, far, "Origin", "https://"+publicHost, "Sec-Fetch-Site", "same-origin"), 202, ""},
		{"a phone listens", behind, "GET", "/api/v1/events", at(away, publicHost, far), 200, ""},
		{"the page's files", behind, "GET", "/", at(nil, publicHost, far, "Sec-Fetch-Site", "cross-site"), 200, ""},
		{"a proxy that names nobody", behind, "GET", "/api/v1/sessions", at(away, publicHost, ""), 200, ""},
		{"a tunnel", behind, "GET", "/api/v1/sessions", at(tunnel, "localhost:9000", ""), 200, ""},
		{"a tunnel types", behind, "POST", input, at(tunnel, "localhost:9000", "", "Origin", "http://localhost:9000"), 202, ""},
		{"another name", behind, "GET", "/api/v1/sessions", at(odd, "pane.lan:8443", far), 200, ""},
		{"another name in capitals", behind, "GET", "/api/v1/sessions", at(odd, "PANE.lan:8443", far), 200, ""},
		{"this machine's browser beside the proxy", behind, "GET", "/api/v1/sessions", at(behind.signer, "127.0.0.1:"+behind.port, ""), 200, ""},

		{"no signature", behind, "GET", "/api/v1/sessions", at(nil, publicHost, far), 401, ""},
		{"a stranger's key", behind, "GET", "/api/v1/sessions", at(stranger(behind), publicHost, far), 401, ""},
		{"the owner's browser from afar", behind, "GET", "/api/v1/sessions", at(behind.signer, publicHost, far), 401, ""},
		{"a phone by another name", behind, "GET", "/api/v1/sessions", at(away, "localhost:9000", ""), 401, ""},
		{"an unknown name", behind, "GET", "/api/v1/sessions", at(away, "evil.example", far), 403, "isn't served by the name evil.example"},
		{"a name that begins so", behind, "GET", "/", at(away, publicHost+".evil.example", far), 403, ""},
		{"a name that ends so", behind, "GET", "/", at(away, "evil-"+publicHost, far), 403, ""},
		{"a name below", behind, "GET", "/", at(away, "a."+publicHost, far), 403, ""},
		{"a name with a dot behind", behind, "GET", "/", at(away, publicHost+".", far), 403, ""},
		{"another port", behind, "GET", "/", at(away, publicHost+":8443", far), 403, ""},
		{"a tunnel's other port", behind, "GET", "/", at(tunnel, "localhost:9001", ""), 403, ""},
		{"an empty host", behind, "GET", "/", at(away, " ", far), 403, ""},
		{"another page types", behind, "POST", input, at(away, publicHost, far, "Origin", "https://evil.example"), 403, "another page"},
		{"the page by http types", behind, "POST", input, at(away, publicHost, far, "Origin", "http://"+publicHost), 403, "another page"},
		{"no page types", behind, "POST", input, at(away, publicHost, far, "Origin", "null"), 403, "another page"},
		{"another page listens", behind, "GET", "/api/v1/events", at(away, publicHost, far, "Origin", "https://evil.example"), 403, ""},
		{"another page reads", behind, "GET", "/api/v1/sessions", at(away, publicHost, far, "Sec-Fetch-Site", "cross-site"), 403, "another page"},
		{"a page of the same site reads", behind, "GET", "/api/v1/sessions", at(away, publicHost, far, "Sec-Fetch-Site", "same-site"), 403, "another page"},
		{"another page signs", behind, "GET", "/api/v1/page/start", at(nil, publicHost, far, "Sec-Fetch-Site", "cross-site"), 403, ""},
		{"another page enters", behind, "POST", "/api/v1/page/keys", at(nil, publicHost, far, "Origin", "https://evil.example"), 403, ""},
		{"the host is replaced", behind, "GET", "/", at(nil, "127.0.0.1:"+behind.port, far, "X-Forwarded-Host", publicHost), 403, "proxy_set_header Host"},
		{"the host is replaced by another port", behind, "GET", "/", at(nil, "127.0.0.1:1", far), 403, "proxy_set_header Host"},
		{"the host is replaced, and a phone types", behind, "POST", input, at(behind.signer, "127.0.0.1:"+behind.port, far, "Origin", "https://"+publicHost), 403, "proxy_set_header Host"},

		{"a proxy that nobody expects", plain, "GET", "/", at(home, "127.0.0.1:"+plain.port, far), 403, "behind_proxy"},
		{"one that says so in one word", plain, "GET", "/", at(home, "127.0.0.1:"+plain.port, "", "Forwarded", "for=1.2.3.4"), 403, "behind_proxy"},
		{"one that names a host", plain, "GET", "/", at(home, "127.0.0.1:"+plain.port, "", "X-Forwarded-Host", "127.0.0.1"), 403, "behind_proxy"},
		{"tailscale serve that nobody expects", plain, "GET", "/", at(home, "127.0.0.1:"+plain.port, "", "Tailscale-User-Login", "a@example.com"), 403, "behind_proxy"},
		{"an empty word of a proxy", plain, "GET", "/", at(home, "127.0.0.1:"+plain.port, "", "X-Real-Ip", ""), 403, "behind_proxy"},
		{"a public name without one", plain, "GET", "/", at(home, publicHost, ""), 403, "isn't served by the name"},
		{"a proxy at another address", elsewhere, "GET", "/", at(lost, publicHost, far), 403, "trusted_proxies"},
		{"this machine's browser beside one", elsewhere, "GET", "/api/v1/sessions", at(elsewhere.signer, "127.0.0.1:"+elsewhere.port, ""), 200, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, text := tc.b.send(t, tc.method, tc.path, `{"text":"hi"}`, tc.mod)
			if resp.status != tc.want || !strings.Contains(text, tc.says) {
				t.Errorf("%s %s: status %d, want %d that says %q: %s", tc.method, tc.path, resp.status, tc.want, tc.says, text)
			}
		})
	}
}

// The owner's token is for browsers of this machine, by a name of the loopback interface and no
// proxy; and one that wasn't good there stays good where it is.
func TestTheOwnersTokenIsGoodOnThisMachineOnly(t *testing.T) {
	b := setup(t, reaching(proxied))
	url, _ := b.keeper.NewAddress(time.Now(), b.url)
	_, token, _ := strings.Cut(url, "#")
	enter := func(host, forwardedFor, origin string) int {
		t.Helper()
		body, err := json.Marshal(api.KeyRequest{Token: token, Key: browserstest.NewSigner().PublicKey()})
		if err != nil {
			t.Fatal(err)
		}
		resp, _ := b.send(t, http.MethodPost, "/api/v1/page/keys", string(body), at(nil, host, forwardedFor, "Origin", origin))
		return resp.status
	}
	if got := enter(publicHost, "100.64.0.7", "https://"+publicHost); got != 401 {
		t.Errorf("from afar: %d", got)
	}
	if got := enter(publicHost, "", "https://"+publicHost); got != 401 {
		t.Errorf("by a public name: %d", got)
	}
	if got := enter("127.0.0.1:"+b.port, "127.0.0.1", b.url); got != 403 {
		t.Errorf("handed on: %d", got)
	}
	if got := enter("127.0.0.1:"+b.port, "", b.url); got != 201 {
		t.Errorf("on this machine: %d", got)
	}
	if got := enter("127.0.0.1:"+b.port, "", b.url); got != 401 {
		t.Errorf("twice: %d", got)
	}
}

// What a device may do is what its roles say, and no more, call by call.
func TestDevicesDoWhatTheirRolesSay(t *testing.T) {
	b := setup(t, reaching(proxied))
	roles := map[string][]access.Role{"viewer": {access.Viewer}, "operator": {access.Operator}, "approver": {access.Approver}, "both": {access.Operator, access.Approver}, "admin": {access.Admin}}
	signers := map[string]*browserstest.Signer{}
	for name, r := range roles {
		signers[name] = b.device(t, publicHost, name, r...)
	}
	tried := 0
	for call, needs := range api.NeededRoles() {
		method, path, _ := strings.Cut(call, " ")
		for _, fill := range [][2]string{{"/sessions/{id}", "/sessions/one"}, {"{id}", "none"}, {"{name}", "ann"}, {"{person}", "telegram:1"}} {
			path = strings.ReplaceAll(path, fill[0], fill[1])
		}
		for name, r := range roles {
			has := access.Roles{}
			for _, one := range r {
				has[one] = true
			}
			may := needs != "" && has.Has(needs)
			resp, text := b.send(t, method, path, `{}`, at(signers[name], publicHost, "100.64.0.7"))
			refused := resp.status == 403 && (strings.Contains(text, `"code":"role"`) || strings.Contains(text, "for the command line only"))
			if refused == may {
				t.Errorf("a device of an %s at %s, which takes %q: %d %s", name, call, needs, resp.status, text)
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("only %d were tried", tried)
	}
}

// A shared address is good once, lets nobody in before somebody has said so, and nobody whom
// somebody has refused.
func TestSharedAddresses(t *testing.T) {
	b := setup(t, reaching(proxied))
	share := func(body string) (int, string) {
		t.Helper()
		made, err := b.client.SharePage(t.Context(), api.ShareRequest{Name: "Ann's phone", Roles: strings.Fields(body)})
		if err != nil {
			t.Fatal(err)
		}
		origin, token, _ := strings.Cut(made.URL, "#")
		if !strings.HasPrefix(origin, "https://"+publicHost+"/new/") {
			t.Errorf("the address is %s", made.URL)
		}
		return len(token), token
	}
	_, token := share("operator approver")
	enter := func(token, from string) (*browserstest.Signer, api.KeyAnswer, int) {
		t.Helper()
		s := browserstest.NewSigner()
		body, err := json.Marshal(api.KeyRequest{Token: token, Key: s.PublicKey()})
		if err != nil {
			t.Fatal(err)
		}
		resp, text := b.send(t, http.MethodPost, "/api/v1/page/keys", string(body), at(nil, publicHost, from, "Origin", "https://"+publicHost, "User-Agent", "iPhone Safari/600"))
		var answer api.KeyAnswer
		_ = json.Unmarshal([]byte(text), &answer) // an error has none
		s.ID, s.Start = answer.ID, answer.Start
		s.Now = func() int64 { _, now := b.keeper.Now(time.Now()); return now }
		return s, answer, resp.status
	}
	ask := func(s *browserstest.Signer, method, path string) (int, string) {
		t.Helper()
		resp, text := b.send(t, method, path, "", at(s, publicHost, "100.64.0.7"))
		return resp.status, text
	}
	device, answer, status := enter(token, "100.64.0.7")
	if status != http.StatusAccepted || len(answer.Number) != 7 {
		t.Fatalf("%d %+v", status, answer)
	}
	if _, _, status := enter(token, "100.64.0.8"); status != 401 {
		t.Errorf("a code that was used: %d", status)
	}
	for _, path := range []string{"/api/v1/page/me", "/api/v1/sessions", "/api/v1/events", "/metrics"} {
		if status, text := ask(device, http.MethodGet, path); status != 401 || !strings.Contains(text, `"code":"waiting"`) {
			t.Errorf("%s while it waits: %d %s", path, status, text)
		}
	}
	if status, text := ask(stranger(b), http.MethodGet, "/api/v1/page/me"); status != 401 || strings.Contains(text, "waiting") {
		t.Errorf("a stranger: %d %s", status, text)
	}
	page, err := b.client.Page(t.Context())
	if err != nil || len(page.Waiting) != 1 || page.Waiting[0].Number != answer.Number || page.Waiting[0].From != "100.64.0.7" ||
		page.Waiting[0].Name != "Ann's phone" || strings.Join(page.Waiting[0].Roles, " ") != "operator approver" {
		t.Fatalf("%+v, %v", page.Waiting, err)
	}
	if _, err := b.client.ConfirmDevice(t.Context(), answer.ID); err != nil {
		t.Fatal(err)
	}
	if status, text := ask(device, http.MethodGet, "/api/v1/page/me"); status != 200 || !strings.Contains(text, `"roles":["operator","approver"]`) {
		t.Errorf("once it's let in: %d %s", status, text)
	}
	if _, err := b.client.ConfirmDevice(t.Context(), answer.ID); err == nil {
		t.Error("it's let in twice")
	}
	if err := b.client.RevokeBrowser(t.Context(), answer.ID); err != nil {
		t.Fatal(err)
	}
	if status, text := ask(device, http.MethodGet, "/api/v1/page/me"); status != 401 || !strings.Contains(text, `"code":"unauthorized"`) {
		t.Errorf("once it's revoked: %d %s", status, text)
	}

	_, token = share("")
	refused, answer, _ := enter(token, "100.64.0.7")
	if err := b.client.RevokeBrowser(t.Context(), answer.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.client.ConfirmDevice(t.Context(), answer.ID); err == nil {
		t.Error("what was refused is let in")
	}
	if status, text := ask(refused, http.MethodGet, "/api/v1/page/me"); status != 401 || strings.Contains(text, "waiting") {
		t.Errorf("once it's refused: %d %s", status, text)
	}

	for range 10 { // guesses from one address
		if _, _, status := enter("A"+token[1:], "100.64.0.9"); status != 401 {
			t.Errorf("a guess: %d", status)
		}
	}
	_, token = share("")
	if _, _, status := enter(token, "100.64.0.9"); status != 429 {
		t.Errorf("the right code behind many guesses: %d", status)
	}
	if _, _, status := enter(token, "100.64.0.10"); status != 202 {
		t.Errorf("from another address: %d", status)
	}
	if _, err := b.client.SharePage(t.Context(), api.ShareRequest{Roles: []string{"king"}}); err == nil || !strings.Contains(err.Error(), "viewer, operator, approver and admin") {
		t.Errorf("a role that there isn't: %v", err)
	}
	if _, err := setup(t).client.SharePage(t.Context(), api.ShareRequest{}); err == nil || !strings.Contains(err.Error(), "adapters.web.public_url") {
		t.Errorf("without an address: %v", err)
	}
}

// A device that isn't an admin's gets no secret of what a session has shown.
func TestDevicesGetNoSecrets(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, reaching(proxied), func(o *api.Options) { o.Masker = masker })
	id := string(b.daemon.Add("one", "claude"))
	b.daemon.Append(sessions.ID(id), sessions.KindAnswer, "the key is "+secret)
	phone, laptop := b.device(t, publicHost, "Phone", access.Operator), b.device(t, publicHost, "Laptop", access.Admin)
	read := func(s *browserstest.Signer, path string) (int, string) {
		t.Helper()
		resp, text := b.send(t, http.MethodGet, "/api/v1/"+path, "", at(s, publicHost, "100.64.0.7"))
		return resp.status, text
	}
	if status, text := read(phone, "sessions/"+id+"/output"); status != 200 || strings.Contains(text, secret) || !strings.Contains(text, "the key is") || strings.Contains(text, `"secrets"`) {
		t.Errorf("an operator's phone: %d %s", status, text)
	}
	if status, text := read(laptop, "sessions/"+id+"/output"); status != 200 || !strings.Contains(text, secret) || !strings.Contains(text, `"secrets"`) {
		t.Errorf("an admin's laptop: %d %s", status, text)
	}
	if status, text := read(phone, "sessions/"+id+"/screen?secrets=show"); status != 403 || !strings.Contains(text, `"code":"role"`) {
		t.Errorf("secrets of the screen: %d %s", status, text)
	}
	for _, query := range []string{"", "?session=" + id + "&from=0"} {
		ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/api/v1/events"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		at(phone, publicHost, "100.64.0.7")(r)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for part, printed := make([]byte, 4096), false; !strings.Contains(all.String(), "event: output"); {
			n, err := resp.Body.Read(part)
			all.Write(part[:n])
			if err != nil {
				t.Fatalf("the events end with %v: %s", err, all.String())
			}
			if !printed {
				printed = true
				b.daemon.Append(sessions.ID(id), sessions.KindAnswer, "again "+secret)
			}
		}
		_ = resp.Body.Close()
		end()
		if strings.Contains(all.String(), secret) {
			t.Errorf("events%s: %s", query, all.String())
		}
	}
}
