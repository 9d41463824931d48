package memnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve answers requests on a listener until ctx ends, and returns when nothing
// of it runs any more: handlers that wait, such as a long poll, are told by their
// request's context.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	var gate gate
	server := &http.Server{
		Handler: gate.before(h), ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- server.Close() })
	err := server.Serve(l)
	if stop() { // the listener failed by itself
		return fmt.Errorf("serve the handler: %w", errors.Join(err, server.Close()))
	}
	err = <-closed
	gate.shut()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop serving the handler: %w", err)
	}
	return nil
}

// Start serves a handler on a network of its own, until stop is called, which returns when
// nothing of it runs any more, with what Serve returned.
func Start(h http.Handler) (n *Network, stop func() error) {
	n = New()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, n, h) }()
	return n, func() error {
		cancel()
		return <-ended
	}
}

// gate knows when no handler runs any more, which http.Server.Close doesn't wait
// for.
type gate struct {
	mu   sync.Mutex
	over bool
	busy sync.WaitGroup // unlike a lock, waiting for it lets a bubble's clock run
}

func (g *gate) before(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.enter() {
			return
		}
		defer g.busy.Done()
		h.ServeHTTP(w, r)
	})
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return false
	}
	g.busy.Add(1)
	return true
}

func (g *gate) shut() {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	g.busy.Wait()
}
