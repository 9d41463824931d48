package telegramtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/memnet"
)

// serve puts a handler on a network of pipes, and returns its client and what
// ends both.
func serve(t *testing.T, h http.Handler) (*http.Client, func()) {
	t.Helper()
	network := memnet.New()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- memnet.Serve(ctx, network, h) }()
	transport := network.Transport()
	return &http.Client{Transport: transport}, func() {
		cancel()
		ok(t, <-ended)
		transport.CloseIdleConnections()
	}
}

// send posts a form to sendMessage.
func (w *world) send(client *http.Client, form string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://api/bot"+w.Token()+"/sendMessage", strings.NewReader(form))
	ok(w.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return client.Do(r)
}

// broken sends and returns how that fails.
func (w *world) broken(client *http.Client, form string) error {
	resp, err := w.send(client, form)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		w.AddChat(telegramtest.ChatSpec{Username: "agents"}, w.ada)
		client, stop := serve(t, w)
		defer stop()
		sent := func() int {
			n := 0
			for _, chat := range w.Chats() {
				for _, m := range w.Messages(chat) {
					if m.Text == "x" {
						n++
					}
				}
			}
			return n
		}

		w.Inject(telegramtest.Fault{Method: "sendmessage", Times: 1, Cut: telegramtest.CutBefore})
		if err := w.broken(client, "chat_id=@agents&text=x"); !errors.Is(err, io.EOF) || sent() != 0 {
			t.Errorf("cut before: %v, %d sent", err, sent())
		}
		w.Inject(telegramtest.Fault{Times: 1, Cut: telegramtest.CutAfter})
		if err := w.broken(client, "chat_id=@agents&text=x"); !errors.Is(err, io.EOF) || sent() != 1 {
			t.Errorf("cut after: %v, %d sent", err, sent())
		}
		w.Inject(telegramtest.Fault{Times: 1, Code: 502, Body: "<html>502</html>"})
		resp, err := w.send(client, "chat_id=@agents&text=x")
		ok(t, err)
		body, err := io.ReadAll(resp.Body)
		ok(t, errors.Join(err, resp.Body.Close()))
		if resp.StatusCode != 502 || string(body) != "<html>502</html>" || resp.Header.Get("Content-Type") != "text/html" || sent() != 1 {
			t.Errorf("proxy: %d %q, %d sent", resp.StatusCode, body, sent())
		}
		calls := w.Calls()
		if codes := []int{calls[0].Code, calls[1].Code, calls[2].Code}; codes[0] != 0 || codes[1] != 200 || codes[2] != 502 || !calls[1].Faulted {
			t.Errorf("codes are %v", codes)
		}
		if n := len(w.Refusals()); n != 0 {
			t.Errorf("%d refusals were injected, but aren't marked so", n)
		}

		remove := w.Inject(telegramtest.Fault{Chat: w.group, Code: 500, Description: "Internal Server Error"})
		w.refused("sendMessage", args{"chat_id": w.group, "text": "x"}, 500, "Internal Server Error")
		w.must("sendMessage", args{"chat_id": w.forum, "text": "x"})
		remove()
		w.must("sendMessage", args{"chat_id": w.group, "text": "x"})

		w.Inject(telegramtest.Fault{Chat: w.group, Times: 1, RetryAfter: 40 * time.Second})
		w.refused("sendMessage", args{"chat_id": w.group, "text": "x"}, 429, "retry after 40")
		w.refused("sendMessage", args{"chat_id": w.group, "text": "x"}, 429, "retry after 80")
	})
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{Latency: func(string, int64) (time.Duration, time.Duration) {
			return 100 * time.Millisecond, 50 * time.Millisecond
		}})
		w.AddChat(telegramtest.ChatSpec{Username: "agents"}, w.ada)
		client, stop := serve(t, w)
		defer stop()
		start := time.Now()
		resp, err := w.send(client, "chat_id=@agents&text=x")
		ok(t, err)
		ok(t, resp.Body.Close())
		if at := w.Calls()[0].At.Sub(start); time.Since(start) != 150*time.Millisecond || at != 100*time.Millisecond {
			t.Errorf("answered after %v, arrived after %v", time.Since(start), at)
		}

		// A client that gives up: what has arrived has arrived.
		w.Inject(telegramtest.Fault{Times: 1, After: time.Hour})
		client.Timeout = 10 * time.Second
		if err := w.broken(client, "chat_id=@agents&text=y"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the call ended with %v", err)
		}
		if calls := w.Calls(); len(calls) != 2 || calls[1].Code != 200 {
			t.Errorf("calls are %+v", calls)
		}
	})
}
