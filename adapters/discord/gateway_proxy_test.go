package discord

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// proxy is one that's reached by TLS and lets who knows the password through.
func proxy(t *testing.T) (*url.URL, *tls.Config) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
		if r.Method != http.MethodConnect || name != "ada" || password != "secret" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer to.Close()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() { _, _ = io.Copy(to, conn) }()
		_, _ = io.Copy(conn, to)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, server.Client().Transport.(*http.Transport).TLSClientConfig
}

// echo is a listener that repeats what it's told, and its address.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// A proxy that's reached by TLS leads to the gateway; what it refuses is an error
// without the password.
func TestTunnel(t *testing.T) {
	u, roots := proxy(t)
	address := echo(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	u.User = url.UserPassword("ada", "secret")
	conn, err := proxyTunnel{proxy: u, roots: roots}.dial(ctx, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Errorf("read %q, %v", got, err)
	}
	u.User = url.UserPassword("ada", "wrong")
	if _, err := (proxyTunnel{proxy: u, roots: roots}).dial(ctx, "tcp", address); err == nil || strings.Contains(err.Error(), "wrong") || !strings.Contains(err.Error(), "407") {
		t.Errorf("the error is %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := (proxyTunnel{proxy: u, roots: roots}).dial(ended, "tcp", address); err == nil {
		t.Error("no error after the end")
	}
}

func TestProxyFor(t *testing.T) {
	configured := &url.URL{Scheme: "http", Host: "proxy:1"}
	if got, err := proxyFor("wss://gateway.discord.gg/?v=9", configured); err != nil || got != configured {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := proxyFor("::", nil); err == nil {
		t.Error("no error")
	}
}
