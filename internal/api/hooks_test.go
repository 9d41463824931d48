package api_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions/agent"
)

// heard keeps what hooks have told.
type heard struct {
	mu   sync.Mutex
	list []agent.Hook
}

func (h *heard) hook(call agent.Hook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, call)
}

func (h *heard) take() []agent.Hook {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

func TestHookIsHanded(t *testing.T) {
	var h heard
	b := setup(t, func(o *api.Options) { o.Hooks = h.hook })
	want := agent.Hook{
		Agent: "claude", Event: "Stop", Signal: agent.TurnDone, Conversation: "c", Transcript: "/t", Cwd: "/c", Tool: "Bash",
		Text: "two\nlines", TmuxSocket: "/tmp/tmux", TmuxPID: 1, Pane: "%1", Session: "pb_1", PIDs: []int{3, 2},
		At: time.Now().Add(-time.Second).UTC().Truncate(time.Microsecond),
	}
	if _, err := b.client.Hook(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]agent.Hook{want}, h.take()); diff != "" {
		t.Error(diff)
	}
}

// What another version of panebridge might send is heard, as far as it's understood.
func TestHookOfAnotherVersion(t *testing.T) {
	var h heard
	b := setup(t, func(o *api.Options) { o.Hooks = h.hook })
	for name, body := range map[string]string{
		"an older":   `{"agent":"claude","event":"Stop"}`,
		"a later":    `{"version":7,"agent":"claude","event":"Stop","mood":{"good":true},"at":"2999-01-01T00:00:00Z"}`,
		"a new word": `{"version":1,"agent":"newcomer","event":"Stop","signal":"levitating"}`,
	} {
		before := time.Now()
		if got := postHook(t, b, body, "application/json"); got != http.StatusNoContent {
			t.Errorf("%s: status %d", name, got)
		}
		list := h.take()
		if len(list) != 1 || list[0].Event != "Stop" || list[0].At.Before(before) || list[0].At.After(time.Now()) {
			t.Errorf("%s: heard %+v", name, list)
		}
	}
}

func TestHookThatIsRefused(t *testing.T) {
	var h heard
	b := setup(t, func(o *api.Options) { o.Hooks = h.hook })
	long := strings.Repeat("x", 20<<10)
	for name, tt := range map[string]struct {
		body string
		want int
	}{
		"no agent":              {`{"event":"Stop"}`, http.StatusBadRequest},
		"no JSON":               {`{"agent":`, http.StatusBadRequest},
		"a type that isn't":     {`{"agent":"claude","pids":"1"}`, http.StatusBadRequest},
		"a long text":           {`{"agent":"claude","text":"` + long + `"}`, http.StatusBadRequest},
		"a long name":           {`{"agent":"claude","conversation":"` + long + `"}`, http.StatusBadRequest},
		"two lines":             {`{"agent":"claude","event":"a\nb"}`, http.StatusBadRequest},
		"a path that isn't":     {`{"agent":"claude","transcript":"../t"}`, http.StatusBadRequest},
		"many processes":        {`{"agent":"claude","pids":[1` + strings.Repeat(",1", 64) + `]}`, http.StatusBadRequest},
		"more than is read":     {`{"agent":"claude","text":"` + strings.Repeat(long, 500) + `"}`, http.StatusRequestEntityTooLarge},
		"what a page can send":  {`{"agent":"claude"}`, http.StatusUnsupportedMediaType},
		"an agent without name": {`{"agent":""}`, http.StatusBadRequest},
	} {
		contentType := "application/json"
		if tt.want == http.StatusUnsupportedMediaType {
			contentType = "text/plain"
		}
		if got := postHook(t, b, tt.body, contentType); got != tt.want {
			t.Errorf("%s: status %d, want %d", name, got, tt.want)
		}
	}
	if list := h.take(); len(list) > 0 {
		t.Errorf("heard %+v", list)
	}
}

// An agent's tools can reach the port; what an agent does, only its hooks may say.
func TestHooksAreForTheUnixSocket(t *testing.T) {
	var h heard
	b := setup(t, func(o *api.Options) { o.Hooks = h.hook })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/api/v1/hooks", strings.NewReader(`{"agent":"claude"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	b.sign(r)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusForbidden || len(h.take()) > 0 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestHookWithoutAnybodyToHear(t *testing.T) {
	b := setup(t)
	if _, err := b.client.Hook(t.Context(), agent.Hook{Agent: "claude"}); err != nil {
		t.Error(err)
	}
	b.stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := b.client.Hook(ctx, agent.Hook{Agent: "claude"}); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// postHook posts through the Unix socket, and returns the status.
func postHook(t *testing.T, b *bench, body, contentType string) int {
	t.Helper()
	var d net.Dialer
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "unix", b.socket)
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://panebridge/api/v1/hooks", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}
