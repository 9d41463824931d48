package probes_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/probes"
)

// A page from elsewhere whose name was made to lead here reads nothing; nor is there anything else.
func TestThePortIsServedByItsOwnNames(t *testing.T) {
	p := &probes.Port{Board: probes.NewBoard(), Hosts: []string{"Box.internal"}}
	h := p.Handler()
	for host, want := range map[string]int{
		"127.0.0.1:7334": http.StatusOK, "[::1]:7334": http.StatusOK, "localhost": http.StatusOK, "10.1.2.3:7334": http.StatusOK, "box.internal:7334": http.StatusOK,
		"evil.example:7334": http.StatusForbidden, "": http.StatusForbidden, "127.0.0.1.evil.example": http.StatusForbidden, "localhost.evil.example:7334": http.StatusForbidden,
	} {
		r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("called by %q it answers %d, want %d", host, w.Code, want)
		}
	}
	for call, want := range map[string]int{
		"POST /healthz": http.StatusMethodNotAllowed, "HEAD /readyz": http.StatusServiceUnavailable, "GET /api/v1/sessions": http.StatusNotFound, "GET /": http.StatusNotFound,
		"GET /metrics": http.StatusServiceUnavailable,
	} {
		method, path, _ := strings.Cut(call, " ")
		r := httptest.NewRequest(method, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s answers %d, want %d", call, w.Code, want)
		}
	}
}

// Somebody opens connections and says nothing: some are kept, and when they go, there's room again.
func TestConnectionsAreBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- (&probes.Port{Board: probes.NewBoard()}).Run(ctx, l) }()
	var idle []net.Conn
	closed := 0
	for range 100 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	for _, c := range idle {
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, io.EOF) || err != nil && strings.Contains(err.Error(), "reset") {
			closed++
		}
	}
	if closed != 36 {
		t.Errorf("of 100 connections %d were closed, want 36", closed)
	}
	for _, c := range idle {
		_ = c.Close()
	}
	end := time.Now().Add(time.Minute)
	for {
		resp, err := http.Get("http://" + l.Addr().String() + "/healthz")
		if err == nil {
			_ = resp.Body.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
