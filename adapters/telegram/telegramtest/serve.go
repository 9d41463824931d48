package telegramtest

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
		return fmt.Errorf("serve the stand-in: %w", errors.Join(err, server.Close()))
	}
	err = <-closed
	gate.shut()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop serving the stand-in: %w", err)
	}
	return nil
}

// gate knows when no handler runs any more, which http.Server.Close doesn't wait
// for.
type gate struct {
	mu   sync.RWMutex
	over bool
}

func (g *gate) before(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.RLock()
		defer g.mu.RUnlock()
		if !g.over {
			h.ServeHTTP(w, r)
		}
	})
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}
