package memnet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/memnet"
)

// A handler that's at work when serving ends is waited for, and told by its
// request's context; nobody gets in afterwards.
func TestServeEndsWithItsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		ctx, cancel := context.WithCancel(context.Background())
		atWork, done := make(chan struct{}), false
		ended := make(chan error, 1)
		go func() {
			ended <- memnet.Serve(ctx, network, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				close(atWork)
				<-r.Context().Done()
				time.Sleep(time.Second) // it has something to put away
				done = true
			}))
		}()
		transport := network.Transport()
		failed := make(chan error, 1)
		go func() {
			r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://anywhere/", http.NoBody)
			if err == nil {
				var resp *http.Response
				if resp, err = transport.RoundTrip(r); err == nil {
					err = resp.Body.Close()
				}
			}
			failed <- err
		}()
		<-atWork
		cancel()
		if err := <-ended; err != nil || !done {
			t.Errorf("serving ended with %v, the handler was done: %v", err, done)
		}
		if err := <-failed; !errors.Is(err, io.EOF) {
			t.Errorf("the request ended with %v", err)
		}
		if _, err := network.Dial(context.Background(), "", ""); !errors.Is(err, net.ErrClosed) {
			t.Errorf("dialling afterwards: %v", err)
		}
	})
}
