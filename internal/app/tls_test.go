package app_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/internal/browsertest"
)

// withTLS are the settings of the page as docs/page.md has them with TLS of its own, on an address.
func withTLS(t *testing.T, address string, c *certificate) (web map[string]any, public string) {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	public = "https://pane.example.com:" + port
	return webSettings(t, fill(t, shown(t, "TLS of its own", "yaml"), "https://pane.example.com:7333", public,
		"0.0.0.0:7333", address, "/etc/panebridge/page.pem", c.cert, "/etc/panebridge/page.key", c.key)), public
}

// The page with a certificate of its own, which is renewed while it's open.
func TestPageWithTLS(t *testing.T) {
	slow(t)
	page, dir := freeAddress(t), shortTemp(t)
	c := newCertificate(t, dir, "page", time.Hour, "pane.example.com")
	web, public := withTLS(t, page, c)
	s := newSiteOf(t, web)

	b := c.trusted(t, "pane.example.com")
	b.Ignore("status of 401") // it waits, or a request was signed for the start before
	s.letsDeviceIn(b, public)
	s.goesOn(b, []outage{{"the daemon", s.kill, s.start}})
	protocols := `[...new Set(performance.getEntriesByType('resource').map((e) => e.nextHopProtocol).filter(Boolean))].join()`
	if all := browsertest.Eval[string](b.Browser, protocols); all != "h2" {
		t.Errorf("requests went by %s", all)
	}
	b.Away(time.Now(), time.Now().Add(time.Hour))
	b.Do(chromedp.Navigate("about:blank"))

	before := newRemote(t, public, page, "", c).letIn(s.daemon, "viewer")
	proto, ended := before.listen()
	if proto != "HTTP/2.0" {
		t.Errorf("events come by %s", proto)
	}
	// First the certificate alone: whoever renews it may write the files one after the other.
	next := newCertificate(t, dir, "next", 2*time.Hour, "pane.example.com")
	moved := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	moved(next.cert, c.cert)
	s.await("word that the certificate can't be read", func() bool {
		if shows := s.shownCertificate(page); !shows.Equal(c.leaf) {
			t.Fatalf("it shows a certificate of %v, whose key it hasn't", shows.NotBefore)
		}
		said, err := os.ReadFile(filepath.Join(s.dir, "log"))
		return err == nil && strings.Contains(string(said), "certificate can't be read again")
	})
	moved(next.key, c.key)
	s.await("the new certificate", func() bool { return s.shownCertificate(page).Equal(next.leaf) })
	after := newRemote(t, public, page, "", next).letIn(s.daemon, "admin")
	if status, text := after.call("GET", "/api/v1/sessions", "", after.signed); status != 200 {
		t.Errorf("by the new certificate: %d %s", status, text)
	}
	select {
	case <-ended:
		t.Error("events ended as the certificate was renewed")
	default:
	}
	if status, text := before.call("GET", "/api/v1/sessions", "", before.signed); status != 200 {
		t.Errorf("by the connection of before: %d %s", status, text)
	}
	from := time.Now()
	if err := s.api.RevokeBrowser(s.ctx(), before.signer.ID); err != nil {
		t.Fatal(err)
	}
	<-ended
	if took := time.Since(from); took > time.Second {
		t.Errorf("events ended %v after the device was revoked", took)
	}
	s.stop()
}

// shownCertificate is what the page shows to who connects now.
func (s *site) shownCertificate(page string) *x509.Certificate {
	s.Helper()
	conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: "pane.example.com", InsecureSkipVerify: true}}).DialContext(s.ctx(), "tcp", page)
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
}

// A certificate that's no good is refused before the daemon begins, where the configuration names it.
func TestBadCertificatesAreRefused(t *testing.T) {
	slow(t)
	dir, page, program := shortTemp(t), freeAddress(t), builtProgram(t)
	good := newCertificate(t, dir, "good", time.Hour, "pane.example.com")
	foreign := newCertificate(t, dir, "foreign", time.Hour, "pane.example.com")
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wild := newCertificate(t, dir, "wild", time.Hour, "*.example.com")
	for _, tc := range []struct {
		name      string
		cert, key string
		says      string // "": it's good
		line      string
	}{
		{"another name", newCertificate(t, dir, "other", time.Hour, "other.example.com").cert, filepath.Join(dir, "other.key"), "its certificate is for other.example.com, and public_url says pane.example.com", "tls_cert_file"},
		{"over", newCertificate(t, dir, "over", -time.Hour, "pane.example.com").cert, filepath.Join(dir, "over.key"), "renew it", "tls_cert_file"},
		{"of another key", good.cert, foreign.key, "private key does not match", "tls_cert_file"},
		{"no certificate", empty, good.key, "read the page's certificate", "tls_cert_file"},
		{"no file", filepath.Join(dir, "none.pem"), good.key, "no such file", "tls_cert_file"},
		{"no key", good.cert, filepath.Join(dir, "none.key"), "no such file", "tls_key_file"},
		{"a folder", good.cert, dir, "not a regular file", "tls_key_file"},
		{"no name at all", newCertificate(t, dir, "nameless", time.Hour).cert, filepath.Join(dir, "nameless.key"), "no name at all", "tls_cert_file"},
		{"of all names below", wild.cert, wild.key, "", ""},
		{"good", good.cert, good.key, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			web, _ := withTLS(t, page, &certificate{cert: tc.cert, key: tc.key})
			text, err := yaml.Marshal(map[string]any{"adapters": map[string]any{"web": web}})
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err == nil {
				err = os.WriteFile(file, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			at := ""
			for i, line := range strings.Split(string(text), "\n") {
				if column := strings.Index(line, tc.line+": "); tc.line != "" && column >= 0 {
					at = fmt.Sprintf("%s:%d:%d: ", file, i+1, column+len(tc.line)+3)
				}
			}
			commands := [][]string{{"config", "check", "--config", file}}
			if tc.line != "" {
				commands = append(commands, []string{"run", "--config", file, "--state-dir", filepath.Join(filepath.Dir(file), "state")})
			}
			for _, args := range commands {
				out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
				if (err == nil) != (tc.line == "") || !strings.Contains(string(out), at) || !strings.Contains(string(out), tc.says) {
					t.Errorf("panebridge %s: %v, want one that says %q at %s\n%s", args[0], err, tc.says, at, out)
				}
			}
		})
	}
}
