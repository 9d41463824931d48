package cli_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/cli"
)

// What opencode's plug-in is told: first that its hook waits, so that it goes on, and then what
// was decided, as opencode takes it.
func TestHookAnswersARequest(t *testing.T) {
	for name, c := range map[string]struct{ event, answer, want string }{
		"once":      {"permission.asked", `{"decision":"allow"}`, `{"reply":"once"}`},
		"always":    {"permission.asked", `{"decision":"always"}`, `{"reply":"always"}`},
		"reject":    {"permission.asked", `{"decision":"deny"}`, `{"reply":"reject"}`},
		"otherwise": {"permission.asked", `{"decision":"deny","message":"no \"so\""}`, `{"reply":"reject","message":"no \"so\""}`},
		"answers":   {"question.asked", `{"decision":"allow","answers":[["a"],[],["b","c"]]}`, `{"answers":[["a"],[],["b","c"]]}`},
		"nothing":   {"permission.asked", `{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHookRig(t)
			server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path != "/api/v1/hooks/decision" {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(c.answer))
			})}
			go func() { _ = server.Serve(r.listener) }()
			t.Cleanup(func() { _ = server.Close() })
			var out, errs bytes.Buffer
			in := strings.NewReader(`{"id":"per_1","sessionID":"s","permission":"bash","metadata":{"command":"make"},"questions":[{"question":"Which?"}]}`)
			args := []string{"hook", "--state-dir", r.dir, "opencode", c.event, "--wait", "--verbose"}
			if code := cli.Main(context.Background(), cli.Build{}, args, cli.Stdio{In: in, Out: &out, Err: &errs}, func(string) (string, bool) { return "", false }); code != 0 {
				t.Fatalf("exit code %d, errors %q", code, &errs)
			}
			if got := out.String(); !strings.HasPrefix(got, "\n") || strings.TrimSpace(got) != c.want {
				t.Errorf("printed %q, want %q behind a line end; errors %q", got, c.want, &errs)
			}
		})
	}
}

// A permission hook that waits prints what was decided, in the form that Claude Code
// takes, and nothing if nothing was, or the daemon goes.
func TestHookWaitsForADecision(t *testing.T) {
	for name, c := range map[string]struct {
		answer, tool, want string
		args               []string
	}{
		"allowed":  {`{"decision":"allow"}`, "Bash", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, []string{"--wait"}},
		"refused":  {`{"decision":"deny","interrupt":true}`, "Bash", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","interrupt":true}}}`, []string{"--wait"}},
		"nothing":  {`{}`, "Bash", "", []string{"--wait"}},
		"gone":     {"", "Bash", "", []string{"--wait"}},
		"no flag":  {`{"decision":"allow"}`, "Bash", "", nil},
		"plan":     {`{"decision":"allow","input":{"plan":"x"},"mode":"default"}`, "ExitPlanMode", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"plan":"x"},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]}}}`, []string{"--wait"}},
		"question": {`{"decision":"allow","input":{"answers":{"a":"b"}}}`, "AskUserQuestion", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"answers":{"a":"b"}}}}}`, []string{"--wait"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHookRig(t)
			server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path != "/api/v1/hooks/decision" {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				time.Sleep(200 * time.Millisecond) // longer than other hooks may take
				if c.answer == "" {
					conn, _, err := http.NewResponseController(w).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					_ = conn.Close()
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(c.answer))
			})}
			go func() { _ = server.Serve(r.listener) }()
			t.Cleanup(func() { _ = server.Close() })
			var got string
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end); { // a busy machine has no time for the record
				var out, errs bytes.Buffer
				in := strings.NewReader(`{"session_id":"c","tool_name":"` + c.tool + `","tool_input":{"command":"make test"}}`)
				args := append([]string{"hook", "--state-dir", r.dir, "claude", "PermissionRequest"}, c.args...)
				if code := cli.Main(context.Background(), cli.Build{}, args, cli.Stdio{In: in, Out: &out, Err: &errs}, func(string) (string, bool) { return "", false }); code != 0 || errs.Len() > 0 {
					t.Fatalf("exit code %d, errors %q", code, &errs)
				}
				if got = strings.TrimSpace(out.String()); got == c.want {
					break
				}
			}
			if got != c.want {
				t.Errorf("printed %q, want %q", got, c.want)
			}
		})
	}
}
