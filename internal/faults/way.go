package faults

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// Cut says when a connection breaks.
type Cut int

// Where a connection breaks: not at all, before the call took effect, or after it
// did and before the answer.
const (
	NoCut Cut = iota
	CutBefore
	CutAfter
)

// Wait lets time pass, or the client go; then its error is the context's.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// WriteRaw sends what a proxy in between would: a body as it is, with a status (0: 502)
// and a content type ("": text/html).
func WriteRaw(w http.ResponseWriter, status int, contentType, body string) {
	w.Header().Set("Content-Type", cmp.Or(contentType, "text/html"))
	w.WriteHeader(cmp.Or(status, http.StatusBadGateway))
	_, _ = w.Write([]byte(body)) // a client that's gone is none of the stand-in's business
}
