package discordtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
)

// post sends a message over a client, and returns how that went.
func (w *world) post(client *http.Client, content string) (int, string, error) {
	r, err := http.NewRequestWithContext(context.Background(), post, "http://discord.test/api/v9/channels/"+w.text+"/messages",
		strings.NewReader(`{"content":"`+content+`"}`))
	ok(w, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bot "+w.Token())
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), errors.Join(err, resp.Body.Close())
}

func TestFaults(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		network, stop := w.serve()
		defer stop()
		transport := network.Transport()
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
		there := func() int { return len(w.Messages(w.text)) }

		w.Inject(discordtest.Fault{Call: "CreateMessage", Times: 1, Cut: discordtest.CutBefore})
		if _, _, err := w.post(client, "a"); !errors.Is(err, io.EOF) || there() != 0 {
			w.Errorf("cut before: %v, %d there", err, there())
		}
		w.Inject(discordtest.Fault{Times: 1, Cut: discordtest.CutAfter})
		if _, _, err := w.post(client, "a"); !errors.Is(err, io.EOF) || there() != 1 {
			w.Errorf("cut after: %v, %d there", err, there())
		}
		w.Inject(discordtest.Fault{Times: 1, Body: "<html>bad gateway</html>"})
		if status, body, err := w.post(client, "a"); status != 502 || !strings.Contains(body, "bad gateway") || err != nil || there() != 1 {
			w.Errorf("proxy: %d %q %v, %d there", status, body, err, there())
		}
		w.Inject(discordtest.Fault{Channel: w.text, Times: 1, Status: 500, Message: "500: Internal Server Error"})
		if status, body, _ := w.post(client, "a"); status != 500 || !strings.Contains(body, "Internal") || there() != 1 {
			w.Errorf("error: %d %q, %d there", status, body, there())
		}
		w.Inject(discordtest.Fault{Times: 1, After: time.Minute})
		if _, _, err := w.post(client, "a"); !errors.Is(err, context.DeadlineExceeded) || there() != 2 {
			w.Errorf("late answer: %v, %d there", err, there())
		}
		remove := w.Inject(discordtest.Fault{Before: time.Second})
		start := time.Now()
		if status, _, _ := w.post(client, "a"); status != 200 || time.Since(start) != time.Second {
			w.Errorf("slow: %d after %v", status, time.Since(start))
		}
		remove()
		if n := len(w.Refusals()); n != 0 {
			w.Errorf("%d refusals that a test asked for", n)
		}
	})
}

func TestLimitsByFault(t *testing.T) {
	inBubble(t, discordtest.Options{Limits: generous()}, func(w *world) {
		at, other := "/channels/"+w.text+"/messages", "/channels/"+w.thread("t")+"/messages"
		hello := args{"content": "x"}
		for scope, blocked := range map[discordtest.Scope]bool{
			discordtest.ScopeUser: false, discordtest.ScopeShared: false, discordtest.ScopeGlobal: true,
		} {
			w.Inject(discordtest.Fault{Call: "CreateMessage", Channel: w.text, Times: 1, RetryAfter: 40 * time.Second, Scope: scope})
			before := w.InvalidRequests()
			a := w.refused(post, at, hello, 429, 0, "rate limited")
			if a.After != 40 || a.header.Get("X-RateLimit-Scope") != string(scope) || a.Global != (scope == discordtest.ScopeGlobal) {
				w.Errorf("%s: %s %v", scope, a.body, a.header)
			}
			if counted := w.InvalidRequests() - before; (counted == 0) != (scope == discordtest.ScopeShared) {
				w.Errorf("%s counts %d towards a ban", scope, counted)
			}
			time.Sleep(39 * time.Second)
			if a := w.call(post, other, hello); (a.status == 429) != blocked {
				w.Errorf("%s: elsewhere %d", scope, a.status)
			}
			w.refused(post, at, hello, 429, 0, "rate limited")
			time.Sleep(time.Second)
			w.must(post, at, hello)
		}
	})
}

func TestLatency(t *testing.T) {
	inBubble(t, discordtest.Options{Latency: func(string, string) (time.Duration, time.Duration) { return time.Second, 2 * time.Second }}, func(w *world) {
		start := time.Now()
		w.send(w.text, "x")
		if calls := w.Calls(); time.Since(start) != 3*time.Second || calls[0].At.Sub(start) != time.Second || calls[0].Name != "CreateMessage" {
			w.Errorf("answered after %v; calls %+v", time.Since(start), calls)
		}
	})
}
