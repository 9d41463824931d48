package app_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// doctor is what it says of a check; "": nothing. trusts is a file with certificates that the machine trusts.
func (s *site) doctor(check, trusts string) string {
	s.Helper()
	cmd := exec.CommandContext(s.ctx(), s.program, "doctor", "--json", "--config", filepath.Join(s.dir, "config.yaml"), "--state-dir", filepath.Join(s.dir, "state"))
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+trusts, "SSL_CERT_DIR=/nonexistent", "NO_PROXY=*")
	out, err := cmd.Output()
	var said struct {
		Findings []struct{ Check, State, Detail, Fix string }
	}
	if json.Unmarshal(out, &said) != nil {
		s.Fatalf("doctor: %v: %s", err, out)
	}
	for _, f := range said.Findings {
		if f.Check == check {
			if f.State != "ok" && f.Fix == "" {
				s.Errorf("%s has no word of what to do", f.Detail)
			}
			return f.State + " " + f.Detail
		}
	}
	return ""
}

// The doctor tries the page's public address as a device does, and says in words what's wrong there.
func TestDoctorTriesThePublicAddress(t *testing.T) {
	slow(t)
	proxy, page := freeAddress(t), freeAddress(t)
	_, port, err := net.SplitHostPort(proxy)
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteOf(t, map[string]any{"listen": page, "behind_proxy": true, "public_url": "https://localhost:" + port})
	good := newCertificate(t, s.dir, "good", time.Hour, "localhost")
	over := newCertificate(t, s.dir, "over", -time.Hour, "localhost")
	other := newCertificate(t, s.dir, "other", time.Hour, "pane.example.com")
	nowhere := freeAddress(t)
	const check, buffering = "page from outside", "proxy_buffering off;"
	for _, tc := range []struct {
		name   string
		c      *certificate
		change []string // of what docs/page.md shows
		trusts string
		says   string
	}{
		{"as docs/page.md has it", good, nil, good.cert, "ok https://localhost:" + port + " is good"},
		{"the Host is replaced", good, []string{"proxy_set_header Host $http_host;", ""}, good.cert, "broken https://localhost:" + port + ": panebridge refuses it: the proxy has replaced the Host"},
		{"another Host", good, []string{"$http_host", "evil.example"}, good.cert, "isn't served by the name evil.example"},
		{"events are gathered", good, []string{buffering, "proxy_ignore_headers X-Accel-Buffering;"}, good.cert, "broken https://localhost:" + port + ": a proxy gathers events"},
		{"events are gathered but for a header", good, []string{buffering, ""}, good.cert, "ok "},
		{"the page isn't there", good, []string{page, nowhere}, good.cert, "the proxy answers 502"},
		{"a login before it", good, []string{"location / {", "location / { return 302 https://login.example/;"}, good.cert, "leads on to https://login.example/"},
		{"another program", good, []string{"location / {", "location / { return 200 hello;"}, good.cert, "another program answers there"},
		{"without TLS", good, []string{"listen " + proxy + " ssl", "listen " + proxy}, good.cert, "what answers there doesn't speak TLS"},
		{"nobody trusts it", good, nil, other.cert, "warning https://localhost:" + port + ": its certificate is by nobody"},
		{"it's over", over, nil, over.cert, "broken https://localhost:" + port + ": its certificate is good from"},
		{"it's for another name", other, nil, other.cert, "its certificate is for another name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := fill(t, nginxServer(t, proxy, page, tc.c), tc.change...)
			nginx := newNginxOf(t, proxy, text, false)
			defer nginx.stop()
			if said := s.in(t).doctor(check, tc.trusts); !strings.Contains(said, tc.says) {
				t.Errorf("it says %q, want %q", said, tc.says)
			}
		})
	}
	if said := s.doctor(check, good.cert); !strings.Contains(said, "broken https://localhost:"+port+": nobody answers there") {
		t.Errorf("without a proxy it says %q", said)
	}
}

// With TLS of its own on all addresses, this machine's browsers have the page at the loopback interface's.
func TestDoctorKnowsThePageWithTLS(t *testing.T) {
	slow(t)
	page := freeAddress(t)
	c := newCertificate(t, shortTemp(t), "page", time.Hour, "localhost")
	_, port, err := net.SplitHostPort(page)
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteOf(t, map[string]any{"listen": "0.0.0.0:" + port, "public_url": "https://localhost:" + port, "tls_cert_file": c.cert, "tls_key_file": c.key})
	if said := s.doctor("page", c.cert); said != "ok served on https://127.0.0.1:"+port+"/" {
		t.Errorf("of the page it says %q", said)
	}
	if said := s.doctor("page from outside", c.cert); !strings.HasPrefix(said, "ok ") {
		t.Errorf("from outside it says %q", said)
	}
	if at := s.url(); !strings.HasPrefix(at, "https://127.0.0.1:"+port+"/new/") {
		t.Errorf("the address is %s", at)
	}
}
