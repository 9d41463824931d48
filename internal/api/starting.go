package api

import (
	"context"
	"net"
	"net/http"
)

// ServeStarting serves the socket of a daemon that waits for what it needs to start, until ctx ends:
// its health, with the part that's missing, which must not block. All other calls are refused with
// what that part says.
func ServeStarting(ctx context.Context, unix net.Listener, missing func() Part) error {
	a := &api{opts: Options{Health: func() Health {
		return Health{State: HealthDown, Parts: []Part{missing()}, Starting: true}
	}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/health", func(w http.ResponseWriter, r *http.Request) { _ = a.health(w, r) }) // it has no errors
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, &Error{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: "panebridge hasn't started yet, and takes nothing: it waits for its " + missing().Name + ": " + missing().Detail})
	})
	return serve(ctx, unix, mux)
}
