package app_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
)

// remote is a device elsewhere, which reaches the page by https at its public name.
type remote struct {
	*testing.T

	client *http.Client
	base   string // the page's address, without the last slash
	signer *browserstest.Signer
}

// newRemote is a device that finds the name of an address of the page at another, takes a certificate for good, and
// has a network address of its own; "": the system chooses.
func newRemote(t *testing.T, base, at, from string, trusted ...*certificate) *remote {
	t.Helper()
	pool := x509.NewCertPool()
	for _, c := range trusted {
		pool.AddCert(c.leaf)
	}
	dialer := net.Dialer{Timeout: patience}
	if from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, at)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	r := &remote{T: t, base: base, client: &http.Client{Transport: transport}, signer: browserstest.NewSigner()}
	r.signer.Now = func() int64 { return time.Now().Unix() }
	return r
}

// send sends a request as mod has changed it, and returns the answer with its body open.
func (r *remote) send(method, path, body string, mod ...func(*http.Request)) *http.Response {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, m := range mod {
		m(req)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// call sends a request and reads the answer.
func (r *remote) call(method, path, body string, mod ...func(*http.Request)) (status int, text string) {
	r.Helper()
	resp := r.send(method, path, body, mod...)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Errorf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, string(read)
}

// signed is what signs a request with the device's key.
func (r *remote) signed(req *http.Request) { r.signer.Sign(req) }

// share makes a shared address, and returns its token.
func (d *daemon) share(roles ...string) string {
	d.Helper()
	made, err := d.api.SharePage(d.ctx(), api.ShareRequest{Name: strings.Join(roles, " and "), Roles: roles})
	if err != nil {
		d.Fatal(err)
	}
	_, token := enterAddress(made.URL)
	return token
}

// enter shows a token.
func (r *remote) enter(token string, mod ...func(*http.Request)) (status int, text string) {
	r.Helper()
	status, text = r.call(http.MethodPost, "/api/v1/page/keys", keyBody(r.signer, token), mod...)
	var answer api.KeyAnswer
	if status < 300 && json.Unmarshal([]byte(text), &answer) == nil {
		r.signer.ID, r.signer.Start = answer.ID, answer.Start
	}
	return status, text
}

// letIn has the device let in with roles.
func (r *remote) letIn(d *daemon, roles ...string) *remote {
	r.Helper()
	if status, text := r.enter(d.share(roles...)); status != http.StatusAccepted {
		r.Fatalf("%d %s", status, text)
	}
	if _, err := d.api.ConfirmDevice(d.ctx(), r.signer.ID); err != nil {
		r.Fatal(err)
	}
	return r
}

// listen opens the events of all sessions, and returns a channel that's closed when they end. It returns
// once they flow.
func (r *remote) listen() (proto string, ended <-chan struct{}) {
	r.Helper()
	resp := r.send(http.MethodGet, "/api/v1/events", "", r.signed) //nolint:bodyclose // closed below, when they end
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	if resp.StatusCode != http.StatusOK || !lines.Scan() {
		r.Fatalf("events: %d, %v", resp.StatusCode, lines.Err())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer resp.Body.Close()
		for lines.Scan() {
		}
	}()
	return resp.Proto, done
}
