package probes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxConnections bounds the port's connections. Further ones are closed at once.
	maxConnections = 64
	// shutdownGrace is how long answers may take when the port is closed.
	shutdownGrace = time.Second
)

// Port serves /healthz, /readyz and /metrics on a port of its own, to everybody who reaches it. There's nothing in
// it that anybody wrote.
type Port struct {
	Board *Board
	Hosts []string // further names by which it's called, without a port; addresses and localhost are known

	metrics atomic.Pointer[http.Handler]
}

// SetMetrics has it serve metrics from now on; until then they aren't there yet.
func (p *Port) SetMetrics(h http.Handler) { p.metrics.Store(&h) }

// Run serves until ctx ends, and closes the listener. It returns nil if ctx has ended it.
func (p *Port) Run(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           p.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo), // a client's broken connection isn't news
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(newBounded(l)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the port for monitoring on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		_ = srv.Close() // cuts off what didn't finish in time
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the port for monitoring on %s: %w", l.Addr(), err)
	}
	return nil
}

// Handler serves the three addresses, by GET and HEAD.
func (p *Port) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", p.Board.ServeHealthz)
	mux.HandleFunc("GET /readyz", p.Board.ServeReadyz)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		h := p.metrics.Load()
		if h == nil {
			http.Error(w, "there are no metrics before the start is over", http.StatusServiceUnavailable)
			return
		}
		(*h).ServeHTTP(w, r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A page of another's can have its name lead here, and would be allowed to read the answer then.
		if !p.isNamed(r.Host) {
			http.Error(w, "this isn't served by that name: monitoring.allowed_hosts names further ones", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// isNamed reports whether it may be called by the name in a Host header.
func (p *Port) isNamed(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(p.Hosts, func(known string) bool { return strings.EqualFold(known, name) })
}

// bounded is a listener that closes connections which are too many.
type bounded struct {
	net.Listener

	room chan struct{} // holds a token for each open connection
}

func newBounded(l net.Listener) *bounded { return &bounded{l, make(chan struct{}, maxConnections)} }

// Accept returns the next connection for which there's room.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.room <- struct{}{}:
			return &countedConn{c, sync.OnceFunc(func() { <-b.room })}, nil
		default:
			_ = c.Close()
		}
	}
}

// countedConn is a connection that gives its room free when it's closed.
type countedConn struct {
	net.Conn

	release func()
}

// Close closes the connection.
func (c *countedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
