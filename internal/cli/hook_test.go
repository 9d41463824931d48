package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/cli"
	"github.com/panebridge/panebridge/sessions/agent"
)

// hookRig is a socket that hooks are posted to, and a daemon that takes them when it's
// told to.
type hookRig struct {
	dir      string
	env      map[string]string // more than a hook always has
	listener net.Listener
	mu       sync.Mutex
	heard    []agent.Hook
}

func newHookRig(t *testing.T) *hookRig {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "unix", filepath.Join(dir, "panebridge.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &hookRig{dir: dir, listener: l}
}

// answer takes what has been posted, and what will be.
func (r *hookRig) answer(t *testing.T) {
	t.Helper()
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var h agent.Hook
		if err := json.NewDecoder(req.Body).Decode(&h); err != nil || req.URL.Path != "/api/v1/hooks" {
			t.Errorf("%s: %v", req.URL, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.heard = append(r.heard, h)
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = server.Serve(r.listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

// wait returns what was heard when it's n calls.
func (r *hookRig) wait(t *testing.T, n int) []agent.Hook {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		r.mu.Lock()
		heard := slices.Clone(r.heard)
		r.mu.Unlock()
		if len(heard) >= n {
			return heard
		}
	}
	t.Fatalf("%d calls were not heard", n)
	return nil
}

// call runs the command, which must say nothing, and returns when it has ended.
func (r *hookRig) call(t *testing.T, in io.Reader, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := map[string]string{"HOME": r.dir, "TMUX": filepath.Join(r.dir, "tmux") + ",42,0", "TMUX_PANE": "%7"}
	maps.Copy(env, r.env)
	args = append([]string{"hook", "--state-dir", r.dir}, args...)
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Main(context.Background(), cli.Build{}, args, cli.Stdio{In: in, Out: &out, Err: &errs}, func(name string) (string, bool) {
			value, ok := env[name]
			return value, ok
		})
	}()
	select {
	case code := <-ended:
		if code != 0 || out.Len()+errs.Len() > 0 {
			t.Errorf("exit code %d, output %q, errors %q", code, &out, &errs)
		}
	case <-time.After(time.Minute): // it's 50 ms on a machine that isn't busy
		t.Fatal("the hook doesn't end")
	}
}

// until calls again until the record was heard of: on a machine that's busy there may
// be no time to read it.
func (r *hookRig) until(t *testing.T, conversation string, in func() io.Reader, args ...string) agent.Hook {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		r.mu.Lock()
		n := len(r.heard)
		r.mu.Unlock()
		r.call(t, in(), args...)
		h := r.wait(t, n+1)[n]
		if h.Conversation == conversation {
			return h
		}
		if time.Now().After(end) {
			t.Fatalf("heard %+v", h)
		}
	}
}

func text(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }

func TestHookIsPosted(t *testing.T) {
	r := newHookRig(t)
	r.answer(t)
	before := time.Now()
	h := r.until(t, "c", text(`{"session_id":"c","cwd":"/c","last_assistant_message":"yes"}`), "claude", "Stop")
	if h.Signal != agent.TurnDone || h.Pane != "%7" || h.TmuxPID != 42 || h.Text != "yes" {
		t.Errorf("heard %+v", h)
	}
	if len(h.PIDs) == 0 || h.PIDs[0] != os.Getppid() {
		t.Errorf("processes above %v, the nearest is %d", h.PIDs, os.Getppid())
	}
	if h.At.Before(before) || h.At.After(time.Now()) {
		t.Errorf("called at %v", h.At)
	}
	r.env = map[string]string{"PANEBRIDGE_HOOK_RECORD": `{"sessionID":"v"}`}
	if h := r.until(t, "v", text("not read"), "opencode", "session.idle"); h.Signal != agent.TurnDone {
		t.Errorf("heard %+v", h)
	}
	if h := r.until(t, "t", text("not read"), "codex", "notify", `{"type":"agent-turn-complete","thread-id":"t"}`); h.Signal != agent.TurnDone {
		t.Errorf("heard %+v", h)
	}
}

// What a call that a person is asked about is to do comes whole, however long it is up to
// the bound; a longer one is told as one that isn't known.
func TestHookTellsWholeCalls(t *testing.T) {
	r := newHookRig(t)
	r.answer(t)
	for _, size := range []int{140 << 10, agent.MaxHookInput - 100} {
		record := `{"session_id":"c` + strconv.Itoa(size) + `","tool_name":"Bash","tool_input":{"command":` + strconv.Quote(strings.Repeat("y", size)) + `}}`
		h := r.until(t, "c"+strconv.Itoa(size), text(record), "claude", "PermissionRequest")
		var got struct{ Command string }
		if err := json.Unmarshal(h.Input, &got); err != nil || len(got.Command) != size || h.Lost {
			t.Errorf("%d bytes: heard %d, lost %t, %v", size, len(got.Command), h.Lost, err)
		}
	}
	record := `{"session_id":"long","tool_name":"Bash","tool_input":{"command":"` + strings.Repeat("y", agent.MaxHookInput) + `"}}`
	if h := r.until(t, "long", text(record), "claude", "PermissionRequest"); !h.Lost || len(h.Input) > 0 {
		t.Errorf("of one that's too long %d bytes are heard, lost %t", len(h.Input), h.Lost)
	}
}

// One that comes behind another has a later time, also when both wait for a daemon
// that's held up; and what it's told it hears when it goes on.
func TestHookWithADaemonThatHangs(t *testing.T) {
	r := newHookRig(t)
	for _, event := range []string{"UserPromptSubmit", "PreToolUse", "Stop"} {
		r.call(t, strings.NewReader(`{"session_id":"c"}`), "claude", event)
	}
	r.answer(t)
	heard := r.wait(t, 3)
	slices.SortFunc(heard, func(a, b agent.Hook) int { return a.At.Compare(b.At) })
	var got []agent.Signal
	for _, h := range heard {
		got = append(got, h.Signal)
	}
	if want := []agent.Signal{agent.PromptSent, agent.ToolStart, agent.TurnDone}; !slices.Equal(got, want) {
		t.Errorf("by time they are %v, want %v", got, want)
	}
}

// endless is an input that isn't closed; with rest it goes on until the test has ended.
type endless struct {
	test context.Context //nolint:containedctx // a reader has no other way to hear of it
	text io.Reader
	rest string
}

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.text.Read(p); err == nil {
		return n, nil
	}
	if e.rest == "" {
		<-e.test.Done()
	}
	if e.test.Err() != nil {
		return 0, io.EOF
	}
	return copy(p, e.rest), nil
}

func TestHookWhoseInputIsNotAsItShould(t *testing.T) {
	const begin = `{"session_id":"c","cwd":"/c",`
	for name, in := range map[string]func() io.Reader{
		"never closed": func() io.Reader {
			return &endless{test: t.Context(), text: strings.NewReader(begin + `"a":{"b":"}"}}`)}
		},
		"never closed, half": func() io.Reader { return &endless{test: t.Context(), text: strings.NewReader(begin + `"a":`)} },
		"without end": func() io.Reader {
			return &endless{test: t.Context(), text: strings.NewReader(begin + `"a":"`), rest: strings.Repeat("x", 10_000)}
		},
		"huge":                   text(begin + `"a":"` + strings.Repeat("x", 8<<20) + `"}`),
		"more behind the object": text(begin + `"a":1}}}]{"session_id":"d"}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := newHookRig(t)
			r.answer(t)
			if h := r.until(t, "c", in, "claude", "Stop"); h.Signal != agent.TurnDone || h.Cwd != "/c" {
				t.Errorf("heard %+v", h)
			}
		})
	}
}

// late is an input that comes when a busy plug-in has got round to writing it.
type late struct {
	after time.Duration
	text  io.Reader
}

func (l *late) Read(p []byte) (int, error) {
	time.Sleep(l.after)
	l.after = 0
	return l.text.Read(p)
}

// A plug-in holds up nobody while it writes its record: what it tells is waited for, also
// where the machine is busy.
func TestHookOfAPlugInIsWaitedFor(t *testing.T) {
	r := newHookRig(t)
	r.answer(t)
	for event, record := range map[string]string{
		"permission.replied": `{"sessionID":"c","requestID":"per_1","reply":"reject"}`,
		"panebridge.replied": `{"sessionID":"c","requestID":"per_1","outcome":"given"}`,
	} {
		in := func() io.Reader { return &late{60 * time.Millisecond, strings.NewReader(record)} }
		if h := r.until(t, "c", in, "opencode", event); h.Request != "per_1" {
			t.Errorf("%s: heard %+v", event, h)
		}
	}
}
