package chatviewtest

import (
	"context"
	"net/http"
	"testing"
)

// Screens is how many screens of a phone, of 390 by 844 pixels with what stands above and below its messages, the messages at a
// place take, which is named as in a page's address: "#-100123/7". The page was made with Token, of a world in which nothing
// happens any more.
func Screens(t *testing.T, page http.Handler, place string) float64 {
	t.Helper()
	p := Open(t, still(page), 390, 844)
	p.Phone()
	p.Until(`document.querySelectorAll('.entry').length > 0`)
	Eval[string](p, `location.hash = "`+place+`"`)
	p.Until(`document.querySelectorAll('.message').length > 0`)
	p.Shot("long-output")
	return Eval[float64](p, `(() => {
		const log = document.querySelector('#messages');
		const all = [...log.querySelectorAll('.message')].map((m) => m.getBoundingClientRect());
		return (Math.max(...all.map((r) => r.bottom)) - Math.min(...all.map((r) => r.top))) / log.clientHeight;
	})()`)
}

// still is a page that's never told of a change.
func still(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			page.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // a browser that's gone
		wait(r.Context())
	})
}

func wait(ctx context.Context) { <-ctx.Done() }
